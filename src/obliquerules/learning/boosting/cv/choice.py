"""The choice of a size: the smallest whose held-out risk is within a tolerance of the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliquerules.learning.boosting.cv.held_out import HeldOut
from obliquerules.parameters import check_real
from obliquerules.rules.path_table import TOLERANCE

ONE_STANDARD_ERROR, PAIRED = "1se", "paired"
DEFAULT_TOLERANCE: str | float = TOLERANCE


@dataclass(frozen=True)
class Choice:
    """The chosen member of a path.

    Attributes
    ----------
    best, chosen : int
        The positions of the member of the least risk and of the chosen one.
    still_falls : bool
        Whether the last member is the best, and better than every other by more than a standard error.
    """

    best: int
    chosen: int
    still_falls: bool


def choose(held_out: HeldOut, tolerance: str | float) -> Choice:
    """Choose the smallest member within the tolerance; the first is the constant."""
    risk = held_out.risk
    best = int(risk.argmin())
    excess, error = risk - risk[best], held_out.standard_error(less=best)
    limit = error if tolerance == PAIRED else held_out.standard_error()[best]
    if not isinstance(tolerance, str):
        limit = min(limit, float(tolerance) * excess[0])
    within = excess <= limit
    if tolerance != 0.0 and excess[0] <= error[0]:  # any share of what noise gains is nothing
        within[0] = True
    still_falls = 0 < best == len(risk) - 1 and bool((excess > error)[:-1].all())
    return Choice(best, int(within.argmax()), still_falls)


def check_tolerance(name: str, value: Any) -> None:
    """Raise unless the value is "1se", "paired" or a number of at least 0."""
    if isinstance(value, str) and value in (ONE_STANDARD_ERROR, PAIRED):
        return
    try:
        check_real(name, value, 0.0)
    except ValueError as error:
        known = f"'{ONE_STANDARD_ERROR}', '{PAIRED}' or a finite number of at least 0"
        raise ValueError(f"{name} must be {known}; got {value!r}.") from error
