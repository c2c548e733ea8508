"""Path table: the sizes on a path of ensembles, their expected losses, the automatic size; and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from obliquerules.losses import Loss
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.numbers import readable
from obliquerules.rules.text.records import Records, TextTable, without_unused

Item = TypeVar("Item")

# The automatic size gives away at most this share of what the best size gains over the constant, in mean loss.
TOLERANCE = 0.02
# Losses are printed so that what the best size gains has this many digits.
GAIN_DIGITS = 3


@dataclass(frozen=True)
class PathMember:
    """One size of a path.

    Attributes
    ----------
    complexity : int
    rules : int
        The number of terms: rules and slopes.
    ridge : float or None
        The ridge of its weights, in rows; None if it is not known.
    expected_loss : float or None
        The loss to expect on new rows, in the measure that `PathTable.measure` names; None if it is not known.
    standard_error : float or None
        Its standard error; None unless it is cross-validated.
    explained : float or None
        The share of the constant's expected loss that the rules take away: of the squared loss, R squared.
    predicts : bool
        Whether it is the member that predicts or, after edits, with which they began.
    """

    complexity: int
    rules: int
    ridge: float | None
    expected_loss: float | None
    standard_error: float | None
    explained: float | None
    predicts: bool


@dataclass(frozen=True)
class PathTable(Records[PathMember]):
    """The sizes of a path with their expected losses; prints as a table.

    Attributes
    ----------
    members : tuple of PathMember
        From the smallest to the largest.
    measure : str
        The measure of the expected loss, such as ``"log loss"``.
    auto : int or None
        The position of the automatic size, that of ``at("auto")``; None if the expected losses are not known.
    separated : int or None
        The complexity from which on the expected losses are not to be trusted, because the training classes are separated.
    edited : int or None
        The complexity of the edited ensemble that predicts; None without edits.
    """

    members: tuple[PathMember, ...]
    measure: str
    auto: int | None = None
    separated: int | None = None
    edited: int | None = None

    @classmethod
    def of(
        cls,
        path: Sequence[RuleEnsemble],
        loss: Loss,
        present: int,
        *,
        ridges: Sequence[float] = (),
        expected: Sequence[float] = (),
        standard_errors: Sequence[float] = (),
        separated: int | None = None,
        selected: int | None = None,
        edited: int | None = None,
    ) -> PathTable:
        """Return the table of a path, given what a `Model` knows of it."""
        nothing = [None] * len(path)
        members = tuple(
            PathMember(one.complexity, len(one), ridge, None, None, None, place == present)
            for place, (one, ridge) in enumerate(zip(path, ridges or nothing, strict=True))
        )
        if not expected:
            return cls(members, loss.risk_name, selected, edited=edited)
        # Held-out rows show what other rows of separated classes are like.
        separated = None if standard_errors else separated
        risks = np.maximum(expected, 0.0)  # a perfect fit may cost less than nothing by rounding
        shown = loss.shown_risk(risks).tolist()
        errors = loss.shown_error(risks, np.array(standard_errors)).tolist() if standard_errors else nothing
        shares = [1.0 - one / expected[0] for one in expected] if expected[0] > 0.0 else nothing
        members = tuple(
            replace(one, expected_loss=risk, standard_error=error, explained=share)
            for one, risk, error, share in zip(members, shown, errors, shares, strict=True)
        )
        sizes = [one.complexity for one in members]
        auto = automatic(expected, sizes, separated) if selected is None else selected
        return cls(members, loss.risk_name, auto, separated, edited)

    def _records(self) -> tuple[PathMember, ...]:
        return self.members

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each size, without what is not known of any."""
        records = super().to_dicts()
        for name in ("ridge", "expected_loss", "standard_error", "explained"):
            records = without_unused(name, records)
        return records

    def _parts(self) -> Iterator[str | TextTable]:
        lines = [["complexity", "rules", "ridge", f"{self._kind} {self.measure}", "standard error", "explained", ""]]
        for place, one in enumerate(self.members):
            marks = ["predicts" if self.edited is None else "edited"] if one.predicts else []
            lines.append(
                [
                    str(one.complexity),
                    str(one.rules),
                    "-" if one.ridge is None or not one.rules else readable(one.ridge),
                    self._amount(one.expected_loss),
                    self._amount(one.standard_error),
                    "-" if one.explained is None else f"{100.0 * one.explained:.1f} %",
                    ", ".join([*marks, *(["auto"] if place == self.auto else [])]),
                ]
            )
        optional = ("ridge", "expected_loss", "standard_error", "explained")
        known = [any(getattr(one, name) is not None for one in self.members) for name in optional]
        shown = [True, True, *known, True]
        yield TextTable([[cell for cell, wanted in zip(line, shown, strict=True) if wanted] for line in lines])
        if self.separated is not None:
            yield f"Expected losses are {self._distrust}."

    @property
    def verdict(self) -> str:
        """What to expect of the size that predicts, on one line; empty if it is not known."""
        if self.auto is None or self.members[0].expected_loss is None:
            return ""
        here, best, auto = next(one for one in self.members if one.predicts), self._best, self.members[self.auto]
        error = "" if here.standard_error is None else f" +- {self._amount(here.standard_error)}"
        edited = "" if self.edited is None else f"{self.edited}, edited from complexity "
        before = "" if self.edited is None else " before the edits"
        constant, least = self._amount(self.members[0].expected_loss), self._amount(best.expected_loss)
        return "; ".join(
            [
                f"Complexity {edited}{here.complexity}: {self._kind} {self.measure}{before} {self._amount(here.expected_loss)}"
                f"{error} (constant {constant}; best {least} at {best.complexity})",
                *([] if auto is here else [f"auto would take {auto.complexity}"]),
                *([] if self.separated is None else [self._distrust]),
            ]
        )

    @property
    def _kind(self) -> str:
        return "expected" if all(one.standard_error is None for one in self.members) else "cross-validated"

    @property
    def _distrust(self) -> str:
        return f"not to be trusted from complexity {self.separated} on, which separates the classes"

    @property
    def _best(self) -> PathMember:
        """The smallest size of the least expected loss among those that may be trusted."""
        within = [self.members[place] for place in trusted([one.complexity for one in self.members], self.separated)]
        return min(within, key=lambda one: (one.expected_loss or 0.0, one.complexity))

    def _amount(self, loss: float | None) -> str:
        """Return a loss with as many decimals as the gain of the best size over the constant deserves."""
        if loss is None:
            return "-"
        constant = self.members[0].expected_loss or 0.0
        gain = constant - (self._best.expected_loss or 0.0)
        scale = gain if gain > 0.0 else constant
        decimals = max(0, GAIN_DIGITS - 1 - math.floor(math.log10(scale))) if 0.0 < scale < math.inf else 0
        return f"{loss:.{decimals}f}"


def trusted(complexities: Sequence[int], separated: int | None) -> list[int]:
    """Return the positions of the sizes up to the first that separates the classes.

    Left out of a fit to separated classes, a row is missed by none of the other rows: any further size looks perfect.
    """
    return [place for place, size in enumerate(complexities) if separated is None or size <= separated]


def automatic(expected: Sequence[float], complexities: Sequence[int], separated: int | None = None) -> int:
    """Return the position of the smallest size whose expected loss is next to the least; see `TOLERANCE`.

    >>> automatic([0.69, 0.45, 0.405, 0.4], [0, 3, 5, 9])
    2
    >>> automatic([0.69, 0.45, 0.02, 0.001], [0, 3, 5, 9], separated=5)
    2
    """
    places = trusted(complexities, separated)
    least = min(expected[place] for place in places)
    limit = least + TOLERANCE * max(expected[0] - least, 0.0)
    return min((place for place in places if expected[place] <= limit), key=lambda place: (complexities[place], place))


def pareto(items: Iterable[Item], cost: Callable[[Item], tuple[float, float]]) -> list[Item]:
    """Return the items whose loss is lower than that of all simpler ones, in order of complexity.

    Of items with the same complexity and loss, the first is kept. A front can be grown item by item: the front of a front and
    further items is the front of all items.

    Parameters
    ----------
    items : iterable
    cost : callable
        Returns the complexity and the loss of an item.

    Examples
    --------
    >>> pareto([(3, 0.5), (0, 1.0), (2, 0.5), (2, 0.7), (5, 0.1)], cost=lambda item: item)
    [(0, 1.0), (2, 0.5), (5, 0.1)]
    """
    front: list[Item] = []
    for item in sorted(items, key=cost):
        if not front or cost(item)[1] < cost(front[-1])[1]:
            front.append(item)
    return front
