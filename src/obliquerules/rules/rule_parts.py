"""Parts of a rule: memberships and propositions, which are its conditions, and factors."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block, Column, Columns, Level, as_block, as_level
from obliquerules.rules.text.style import PLAIN, Style, listed_levels


@dataclass(frozen=True, slots=True)
class Membership:
    """The condition that a column has one of the listed levels.

    A level that was never seen is in no list: it does not meet ``in``, and it meets ``not in``. Where the value is missing,
    the condition holds only if it says so.

    Parameters
    ----------
    column : int
    levels : iterable of str, int or bool
        The listed levels; none of them for the condition that the value is missing.
    negated : bool, default=False
        Whether the condition is that the level is none of those listed.
    missing : bool, default=False
        Whether the condition holds where the value is missing.
    ordered : bool, default=False
        Whether the levels are all those from one level on, or up to one, of a column whose levels are ordered. The condition
        then prints as ``at least`` or ``at most`` that level, and counts as one level.

    Examples
    --------
    >>> print(Membership(0, ["red", "blue"]).describe(["colour"]))
    colour in {red, blue}
    >>> print(Membership(0, ["yes"], missing=True).describe(["smoker"]))
    smoker = yes or missing
    >>> print(Membership(0, [], missing=True).describe(["age"]))
    age is missing
    """

    column: int
    levels: tuple[Level, ...]
    negated: bool = False
    missing: bool = False
    ordered: bool = False
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self, column: int, levels: Iterable[Level], negated: bool = False, missing: bool = False, ordered: bool = False
    ) -> None:
        listed = tuple(map(as_level, [levels] if isinstance(levels, str | int | bool) else levels))
        if negated and len(listed) == 1 and isinstance(listed[0], bool):
            # Booleans have two levels, so that one of them is enough.
            listed, negated = (not listed[0],), False
        place = operator.index(column)
        values = place, listed, bool(negated), bool(missing), bool(ordered), (place,)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)
        if self.column < 0:
            raise ValueError(f"The column of a membership must not be negative; got {self.column}.")
        if not all(isinstance(level, str | int | bool) for level in self.levels):
            raise ValueError(f"Levels are text, whole numbers or booleans; got {list(self.levels)}.")
        if len({(type(level), level) for level in self.levels}) < len(self.levels):
            raise ValueError(f"The levels of a membership must be different; got {list(self.levels)}.")
        if not self.levels and self.negated == self.missing:
            raise ValueError("A membership without levels says that a value is missing, or that it is not.")
        if self.ordered and not self.levels:
            raise ValueError("A membership in ordered levels lists one or more of them.")

    @property
    def complexity(self) -> int:
        """One for the condition, one for each listed level (one for all that are in a row) and one for ``missing``."""
        return 1 + self.listing

    @property
    def listing(self) -> int:
        """What is read of the condition besides that it is one: its levels and whether a value is missing."""
        return (1 if self.ordered else len(self.levels)) + (self.missing or not self.levels)

    @property
    def is_upright(self) -> bool:
        """Whether the condition reads without a negation."""
        return not self.negated

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether the condition holds."""
        block = as_block(X, 1 + self.column)
        column = block.column(self.column)
        if self.levels and column.levels is None:
            raise ValueError(f"Column '{column.name}' holds numbers, so that a condition on levels says nothing of it.")
        # A place for each level, then one for levels that the column does not have, then one for missing values.
        size = len(column.levels or ())
        if self.column not in block.places:
            values = block.matrix[:, self.column]
            known = np.where((values < 0.0) | (size == 0), size, values)
            block.places[self.column] = np.where(np.isnan(values), size + 1, known).astype(np.intp)
        answers = np.full(size + 2, self.negated)
        keys = [(type(level), level) for level in self.levels]
        answers[[column.codes[key] for key in keys if key in column.codes]] = not self.negated
        answers[-1] = self.missing
        return answers[block.places[self.column]]

    def has(self, level: Level) -> bool:
        """Say whether the condition holds for a level that is not missing."""
        return any(type(level) is type(one) and level == one for one in self.levels) != self.negated

    def check_levels(self, column: Column) -> None:
        """Raise if the column does not have a listed level."""
        unknown = [level for level in self.levels if (type(level), level) not in column.codes]
        if unknown and column.levels is not None:
            listed = listed_levels(column.levels)
            raise ValueError(f"Column '{column.name}' has no level {PLAIN.level(unknown[0])}; its levels are {listed}.")

    def opposite(self) -> Membership:
        """Return the condition that holds exactly where this one does not."""
        return Membership(self.column, self.levels, not self.negated, not self.missing, self.ordered)

    def with_missing(self, missing: bool) -> Membership:
        """Return the same condition on levels, with another answer where the value is missing."""
        if not self.levels or missing == self.missing:
            return self
        return Membership(self.column, self.levels, self.negated, missing, self.ordered)

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text."""
        column = Column(f"x{self.column}") if columns is None else Columns.of(columns)[self.column]
        return style.membership(column, self)

    def __str__(self) -> str:
        return self.describe()


Summand = int | Membership


@dataclass(frozen=True, slots=True)
class Proposition:
    """The condition x.w >= t, with w given by its non-zero entries.

    What it means is fixed to the last bit: the products weight * value are added from left to right in double precision, and
    the sum is compared with ``>=`` to the threshold. A row with a missing value in one of the columns meets it only if
    ``missing`` is true. A membership in the sum is 1 where it holds and 0 elsewhere, and never missing.

    Parameters
    ----------
    columns : sequence of int or Membership
        The columns of X that take part, and conditions on levels, each once, in the order in which their products are added and
        printed.
    weights : sequence of float
        One finite, non-zero weight for each column.
    threshold : float
    missing : bool, default=False
        Whether the condition holds where a value that it needs is missing.

    Attributes
    ----------
    used_columns : tuple of int
        The columns that take part, those of memberships too, each once.

    Examples
    --------
    >>> condition = Proposition([0, 1], [2.81, 1.5], -0.28)
    >>> print(condition.describe(["variance", "skewness"]))
    2.81 variance + 1.5 skewness >= -0.28
    >>> condition([[0.0, 0.0], [-1.0, 1.0]]).tolist()
    [True, False]
    >>> print(Proposition([0, Membership(1, ["yes"])], [1, 12], 60).describe(["age", "smoker"]))
    age + 12 (smoker = yes) >= 60
    """

    columns: tuple[Summand, ...]
    weights: tuple[float, ...]
    threshold: float
    missing: bool = False
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(self, columns: Sequence[Summand], weights: Sequence[float], threshold: float, missing: bool = False) -> None:
        summands = tuple(one if isinstance(one, Membership) else operator.index(one) for one in columns)
        used = dict.fromkeys(summand if isinstance(summand, int) else summand.column for summand in summands)
        object.__setattr__(self, "columns", summands)
        object.__setattr__(self, "used_columns", tuple(used))
        self._set(weights, threshold, missing)
        if len(set(summands)) != len(summands) or min(used) < 0:
            raise ValueError(f"The columns of a proposition must be different and not negative; got {list(summands)}.")

    def _set(self, weights: Iterable[float], threshold: float, missing: bool) -> None:
        """Set the numbers, once they are known to be good."""
        object.__setattr__(self, "weights", tuple(map(float, weights)))
        object.__setattr__(self, "threshold", float(threshold) + 0.0)  # no negative zero, which prints as zero
        object.__setattr__(self, "missing", bool(missing))
        if not self.columns or len(self.columns) != len(self.weights):
            raise ValueError(
                f"A proposition needs one weight for each of one or more columns; got {len(self.columns)} columns and "
                f"{len(self.weights)} weights."
            )
        if not all(map(math.isfinite, self.weights)) or 0.0 in self.weights:
            raise ValueError(f"The weights of a proposition must be finite and not zero; got {list(self.weights)}.")
        if not math.isfinite(self.threshold):
            raise ValueError(f"The threshold of a proposition must be finite; got {self.threshold}.")

    def with_numbers(self, weights: Sequence[float], threshold: float) -> Proposition:
        """Return the condition on the same columns, which need no check, with other weights and another threshold."""
        other = object.__new__(Proposition)
        object.__setattr__(other, "columns", self.columns)
        object.__setattr__(other, "used_columns", self.used_columns)
        other._set(weights, threshold, self.missing)
        return other

    def with_missing(self, missing: bool) -> Proposition:
        """Return the condition with another answer where a value is missing."""
        return self if missing == self.missing else self._turned(self.weights, self.threshold, missing)

    def _turned(self, weights: tuple[float, ...], threshold: float, missing: bool) -> Proposition:
        """Return a condition on the same columns with the same numbers, or all of them with the other sign."""
        other = object.__new__(Proposition)
        values = (self.columns, weights, threshold, missing, self.used_columns)
        for name, value in zip(_SLOTS, values, strict=True):
            object.__setattr__(other, name, value)
        return other

    @property
    def complexity(self) -> int:
        """One for the threshold, one for each column, one for each level of a membership and one for ``or missing``."""
        return 1 + self.missing + sum(1 if isinstance(summand, int) else summand.listing for summand in self.columns)

    @property
    def only_number(self) -> int | None:
        """The column of numbers that the condition is on alone; None if it is on anything else."""
        return self.columns[0] if len(self.columns) == 1 and isinstance(self.columns[0], int) else None

    @property
    def is_upright(self) -> bool:
        """Whether the first weight is positive."""
        return self.weights[0] > 0.0

    def summands(self, X: ArrayLike | Block) -> list[Vector]:
        """Return the values of each column and membership of the sum."""
        block = as_block(X, 1 + max(self.used_columns))
        return [summand_values(summand, block) for summand in self.columns]

    def project(self, X: ArrayLike | Block) -> Vector:
        """Return x.w for each row, added in the order that defines the model; NaN where a value is missing."""
        block = as_block(X, 1 + max(self.used_columns))
        summands = [summand_values(summand, block) for summand in self.columns]
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.weights[0] * summands[0]
            for weight, values in zip(self.weights[1:], summands[1:], strict=True):
                total = total + weight * values
        return total

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether the condition holds."""
        block = as_block(X, 1 + max(self.used_columns))
        holds: NDArray[np.bool_] = self.project(block) >= self.threshold
        return holds | self.lacks(block) if self.missing else holds

    def lacks(self, block: Block) -> NDArray[np.bool_]:
        """Return which rows lack a value that the condition needs."""
        numbers = [summand for summand in self.columns if isinstance(summand, int)]
        return np.asarray(np.isnan(block.matrix[:, numbers]).any(axis=1))

    def opposite(self) -> Proposition:
        """Return -x.w >= -t, with the other answer where a value is missing.

        It holds where this condition does not; where x.w equals t, both hold.
        """
        weights = tuple([-weight for weight in self.weights])
        return self._turned(weights, 0.0 - self.threshold, not self.missing)

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text, turned so that the first variable has no minus."""
        return style.proposition(None if columns is None else Columns.of(columns), self)

    def __str__(self) -> str:
        return self.describe()


Test = Proposition | Membership
_SLOTS = ("columns", "weights", "threshold", "missing", "used_columns")


def summand_values(summand: Summand, block: Block) -> Vector:
    """Return the values of a column, or 1 where a membership holds and 0 elsewhere."""
    return block.matrix[:, summand] if isinstance(summand, int) else summand(block).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Factor:
    """The value of a column of numbers, clipped to limits and counted from an origin; zero where it is missing.

    Parameters
    ----------
    column : int
    origin : float, default=0.0
        What is subtracted from the value.
    lower, upper : float
        Limits that a value beyond them is replaced by, so that no outlier can carry a prediction away; by default, none.

    Examples
    --------
    >>> Factor(0, origin=50.0, lower=20.0).describe(["age"])
    '(max(age, 20) - 50)'
    >>> Factor(0, origin=50.0, lower=20.0)([[60.0], [10.0], [float("nan")]]).tolist()
    [10.0, -30.0, 0.0]
    >>> above_50 = Factor(0, origin=50.0, lower=50.0)
    >>> above_50.is_hinge, above_50.complexity, above_50([[60.0], [10.0]]).tolist()
    (True, 2, [10.0, 0.0])
    """

    column: int
    origin: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        if isinstance(self.column, bool) or not isinstance(self.column, int | np.integer) or self.column < 0:
            raise ValueError(f"The column of a factor must be a whole number that is not negative; got {self.column!r}.")
        object.__setattr__(self, "column", int(self.column))
        for name in ("origin", "lower", "upper"):
            object.__setattr__(self, name, float(getattr(self, name)) + 0.0)
        if not math.isfinite(self.origin):
            raise ValueError(f"The origin of a factor must be finite; got {self.origin}.")
        if not self.lower < self.upper or math.inf in (self.lower, -self.upper):
            raise ValueError(f"The lower limit of a factor must be below the upper; got {self.lower} and {self.upper}.")

    @property
    def is_clipped(self) -> bool:
        """Whether there is a limit."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    @property
    def is_hinge(self) -> bool:
        """Whether values count from one of the limits, and so only on one side of it."""
        return self.origin in (self.lower, self.upper)

    @property
    def complexity(self) -> int:
        """One for the column, and one for each limit, which may be the knot of a hinge."""
        return 1 + math.isfinite(self.lower) + math.isfinite(self.upper)

    @property
    def has_origin(self) -> bool:
        """Whether an origin is printed that is neither zero nor a limit."""
        return self.origin != 0.0 and not self.is_hinge

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that are printed: finite limits, and the origin unless it is zero."""
        limits = tuple(limit for limit in (self.lower, self.upper) if math.isfinite(limit))
        return limits if self.origin == 0.0 else (*limits, self.origin)

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.float64]:
        """Return the factor of each row."""
        values = self.clipped(as_block(X, self.column + 1))
        return np.where(np.isnan(values), 0.0, values - self.origin)

    def clipped(self, X: Block) -> NDArray[np.float64]:
        """Return the value of each row, clipped to the limits; NaN where it is missing."""
        return np.clip(X.matrix[:, self.column], self.lower, self.upper)

    def check(self, columns: Columns) -> None:
        """Raise unless the column holds numbers."""
        if columns[self.column].levels is not None:
            raise ValueError(f"Column '{columns[self.column].name}' has levels, and no numbers to multiply a weight by.")

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the factor as text, in the names of the given columns."""
        return style.factor(None if columns is None else Columns.of(columns), self)

    def __str__(self) -> str:
        return self.describe()
