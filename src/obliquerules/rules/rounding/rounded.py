"""Rounding: an ensemble in short decimals, with a certificate of what that changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block
from obliquerules.rules.numbers import ALL_DIGITS, rounded_to, significant_digits
from obliquerules.rules.rounding.coarsening import HasValue, Targets, coarsened, exponent
from obliquerules.rules.rounding.shortening import Shortening, length
from obliquerules.rules.rule_parts import Membership

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble

# Rounded rule weights may move a score by this share of the range of scores, and raise the mean loss by this share of it.
SCORE_TOLERANCE = 5e-3
LOSS_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Rounding:
    """An ensemble in short decimals, and the certificate of what rounding has changed on the rows it was made with.

    Attributes
    ----------
    ensemble : RuleEnsemble
        The rounded ensemble. Every number in it is the double nearest to a short decimal.
    digits : tuple of int
        The significant digits of each printed number, from the constant to the last threshold.
    rows_changed : int
        The number of rows that changed side of some condition: zero, unless a tolerance was given.
    score_change : float
        The largest change of a score.
    loss_before, loss_after : float or None
        The mean loss of the exact and of the rounded ensemble, where targets and a loss were given.
    """

    ensemble: RuleEnsemble
    digits: tuple[int, ...]
    rows_changed: int
    score_change: float
    loss_before: float | None = None
    loss_after: float | None = None


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The exact ensemble and the rows on which a rounded one is compared with it."""

    exact: RuleEnsemble
    X: Block
    targets: Targets | None
    tolerance: float

    @cached_property
    def score(self) -> Vector:
        """The exact scores."""
        return self.exact(self.X)

    @cached_property
    def loss_before(self) -> float | None:
        """The mean loss of the exact ensemble."""
        return self.mean_loss(self.exact)

    def mean_loss(self, ensemble: RuleEnsemble) -> float | None:
        """Return the mean loss; None if there is nothing to measure it with."""
        return None if self.targets is None else self.targets.mean(ensemble(self.X))

    def score_change(self, ensemble: RuleEnsemble) -> float:
        """Return the largest change of a score."""
        return float(np.abs(ensemble(self.X) - self.score).max(initial=0.0))

    def accepts(self, ensemble: RuleEnsemble) -> bool:
        """Say whether rule weights are exact enough: by the loss or, without one, by the scores."""
        if self.loss_before is not None and (after := self.mean_loss(ensemble)) is not None:
            return after - self.loss_before <= max(self.tolerance, LOSS_TOLERANCE * abs(self.loss_before))
        spread = float(np.ptp(self.score)) if len(self.score) else 0.0
        # A constant has no range; then its size is the measure.
        scale = spread or float(np.abs(self.score).max(initial=0.0))
        return self.score_change(ensemble) <= SCORE_TOLERANCE * scale

    def certify(self, ensemble: RuleEnsemble) -> Rounding:
        """Return the rounded ensemble with its certificate."""
        changed = np.zeros(len(self.X), dtype=np.bool_)
        tests = ((test for rule in one for test in rule.condition) for one in (self.exact, ensemble))
        for before, after in zip(*tests, strict=True):
            if before != after:
                changed |= before(self.X) != after(self.X)
        digits, change = tuple(_printed_digits(ensemble)), self.score_change(ensemble)
        return Rounding(ensemble, digits, int(np.count_nonzero(changed)), change, self.loss_before, self.mean_loss(ensemble))


def round_ensemble(
    ensemble: RuleEnsemble,
    X: Block,
    digits: int,
    y: ArrayLike | None,
    loss: HasValue | None,
    sample_weight: ArrayLike | None,
    tolerance: float,
    integers: bool,
    offset: Vector | None,
) -> Rounding:
    """Return the ensemble in short decimals; see `RuleEnsemble.rounded`."""
    if (y is None) != (loss is None):
        raise ValueError("y and loss must be given together: the one says nothing without the other.")
    if not 1 <= digits <= ALL_DIGITS:
        raise ValueError(f"digits must be a whole number from 1 to {ALL_DIGITS}; got {digits!r}.")
    if not 0.0 <= tolerance < math.inf or (tolerance > 0.0 and loss is None):
        raise ValueError(f"tolerance must be a number that is not negative, and needs y and loss; got {tolerance!r}.")
    weight = np.ones(len(X)) if sample_weight is None else _vector(sample_weight, "sample_weight", len(X))
    targets = None if y is None or loss is None else Targets(_vector(y, "y", len(X)), weight, loss, offset)
    yardstick = Yardstick(ensemble, X, targets, tolerance)
    shortening = Shortening(X, integers=integers)
    if targets is None or tolerance == 0.0:
        rounded = shortening.ensemble(ensemble)
    else:
        (rounded,) = coarsened([ensemble], [yardstick.score], X, targets, [tolerance], shortening)
    # The constant and the rule weights get the fewest digits that the yardstick accepts.
    for fewest in range(1 if tolerance > 0.0 else digits, ALL_DIGITS):
        short = _with_rounded_weights(rounded, fewest)
        if short is not None and yardstick.accepts(short):
            return yardstick.certify(short)
    return yardstick.certify(rounded)


def _with_rounded_weights(ensemble: RuleEnsemble, digits: int) -> RuleEnsemble | None:
    """Round rule weights to ``digits`` digits, and the constant no more coarsely than the largest of them.

    Otherwise a constant that is much larger than the weights, such as a mean price, would be the coarsest number in the sum.
    None if a number would become infinite.
    """
    weights = [[rounded_to(weight, digits) for weight in rule.weights] for rule in ensemble]
    largest = max((abs(weight) for row in weights for weight in row), default=0.0)
    constants = []
    for constant in ensemble.intercepts:
        more = exponent(constant) - exponent(largest) if largest > 0.0 else 0
        constants.append(rounded_to(constant, digits + max(0, more)))
    table = np.array([constants, *weights])
    if not np.isfinite(table).all():
        return None
    return ensemble.with_weight_table(table if ensemble.outputs is not None else table[:, 0])


def _printed_digits(ensemble: RuleEnsemble) -> Iterator[int]:
    """Yield the significant digits of each number that is printed; weights of +1 and -1 in conditions are not."""
    yield from map(significant_digits, ensemble.intercepts)
    for rule in ensemble:
        yield from (significant_digits(rule.weights[output]) for output in rule.classes_with_weight)
        yield from () if rule.factor is None else map(significant_digits, rule.factor.numbers)
        for proposition in rule.condition:
            if isinstance(proposition, Membership):
                continue
            if len(proposition.columns) == 1:
                yield length(proposition)
            else:
                yield from (significant_digits(weight) for weight in proposition.weights if abs(weight) != 1.0)
                yield significant_digits(proposition.threshold)


def _vector(numbers: Any, name: str, size: int) -> Vector:
    vector = np.asarray(numbers, dtype=np.float64)
    if vector.shape != (size,):
        raise ValueError(f"{name} must hold one number for each of the {size} rows of X; got shape {vector.shape}.")
    return vector
