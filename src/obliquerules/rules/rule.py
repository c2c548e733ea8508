"""Rule: a weight, the condition under which it counts, and what it is multiplied by, if anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block, Column, Columns, as_block
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.factor import Factor
from obliquerules.rules.text.parsing import Reader
from obliquerules.rules.text.style import PLAIN, Style

# One number, or one for each score.
Weight = float | tuple[float, ...]


def as_weight(weight: float | Iterable[float]) -> Weight:
    """Return one number as a double, and several as a tuple of them."""
    given = np.asarray(weight, dtype=np.float64)
    # No weight is a negative zero, which prints as zero.
    return float(given + 0.0) if given.ndim == 0 else tuple((given + 0.0).tolist())


@dataclass(frozen=True)
class Slope:
    """A factor as a term: its value where a condition holds, zero elsewhere, in units of a scale.

    Like a conjunction, it can be asked for its tests; the only one is the slope itself, which nothing can shorten or refine.
    """

    factor: Factor
    scale: float = 1.0  # in training, the standard deviation of the factor on the rows that meet the condition
    incomplete: bool = False  # values of the column are missing: then the origin says what they count as
    condition: Conjunction = field(default_factory=Conjunction)

    @classmethod
    def of(cls, factor: Factor, X: Block, row_weight: Vector, condition: Conjunction | None = None) -> Slope:
        """Return the slope with its scale on some rows: 1 if the factor is constant there."""
        where = Conjunction() if condition is None else condition
        held = where(X) & ~np.isnan(X.matrix[:, factor.column])
        values, counted = factor(X)[held], row_weight[held]
        total, spread = float(np.add.reduce(counted)), 0.0
        if total > 0.0:
            mean = float(np.add.reduce(counted * values)) / total
            spread = math.sqrt(float(np.add.reduce(counted * (values - mean) ** 2)) / total)
        return cls(factor, spread if 0.0 < spread < math.inf else 1.0, factor.column in X.incomplete, where)

    @property
    def complexity(self) -> int:
        """What is read in factor and condition; see `Factor`."""
        return self.factor.complexity + (self.incomplete and self.factor.has_origin) + self.condition.complexity

    @property
    def used_columns(self) -> tuple[int, ...]:
        """The columns of the condition and of the factor, in ascending order."""
        return tuple(sorted({self.factor.column, *self.condition.used_columns}))

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Slope]:
        return iter((self,))

    def __call__(self, X: Block) -> Vector:
        """Return the value of each row."""
        values = self.factor(X) / self.scale
        return values if not self.condition.propositions else np.where(self.condition(X), values, 0.0)


# What has a weight: 0 or 1 for each row, or a number.
Term = Conjunction | Slope


@dataclass(frozen=True, slots=True)
class Rule:
    """A weight that is added to the score of the rows that meet a condition, or one weight for each of several scores.

    Parameters
    ----------
    weight : float or sequence of float
        With many classes, one for each of them: zero for those of which the rule says nothing.
    condition : Conjunction, optional
    factor : Factor or int, optional
        A column, whose value the weight is multiplied by; a number is the position of one. Without a condition, the rule is a
        *slope*. A missing value adds nothing.

    Attributes
    ----------
    used_columns : tuple of int
        The columns of the condition and of the factor, in ascending order.

    Examples
    --------
    >>> print(Rule(1.46))
    +1.46 if True
    >>> Rule.parse("-2 if x0 >= 3").contribution([[1.0], [4.0]]).tolist()
    [0.0, -2.0]
    >>> Rule([0.5, 0.0, -1.0]).classes_with_weight
    (0, 2)
    >>> print(Rule([0.5, 0.0, -1.0], factor=1))
    class 0 +0.5 x1, class 2 -1 x1 if True
    >>> print(Rule(0.31, factor=0))
    +0.31 x0
    >>> Rule.parse("+0.5 (age - 50) if age >= 40", ["age"]).contribution([[30.0], [40.0], [60.0]]).tolist()
    [0.0, -5.0, 5.0]
    """

    weight: Weight
    condition: Conjunction
    factor: Factor | None
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self, weight: float | Iterable[float], condition: Conjunction | None = None, factor: Factor | int | None = None
    ) -> None:
        object.__setattr__(self, "weight", as_weight(weight))
        object.__setattr__(self, "condition", Conjunction() if condition is None else condition)
        if not all(map(math.isfinite, self.weights)):
            raise ValueError(f"The weight of a rule must be finite; got {weight}.")
        if not isinstance(self.condition, Conjunction):
            raise TypeError(f"The condition of a rule is a Conjunction; got {type(condition).__name__}.")
        object.__setattr__(self, "factor", factor if factor is None or isinstance(factor, Factor) else Factor(factor))
        own = () if self.factor is None else (self.factor.column,)
        object.__setattr__(self, "used_columns", tuple(sorted({*self.condition.used_columns, *own})))

    @property
    def term(self) -> Term:
        """What the weight is for."""
        return self.condition if self.factor is None else Slope(self.factor, condition=self.condition)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight for each score, also if there is only one."""
        return self.weight if isinstance(self.weight, tuple) else (self.weight,)

    @property
    def classes_with_weight(self) -> tuple[int, ...]:
        """The positions of the scores that the rule changes; the only one if there is only one."""
        if not isinstance(self.weight, tuple):
            return (0,)
        return tuple(output for output, weight in enumerate(self.weight) if weight != 0.0)

    @property
    def complexity(self) -> int:
        """One for each weight that is not zero, and the complexity of factor and condition; a constant is free.

        With one score, the weight counts whatever it is. Beside a condition, the origin of a factor counts: it does not only
        move the constant.
        """
        if self.is_constant:
            return 0
        counted = len(self.classes_with_weight) + self.condition.complexity
        if self.factor is None:
            return counted
        return counted + self.factor.complexity + (self.factor.has_origin and len(self.condition) > 0)

    @property
    def is_constant(self) -> bool:
        """Whether the rule adds the same to the score of every row."""
        return self.factor is None and not self.condition.propositions

    def scale(self, X: Block, row_weight: Vector) -> float:
        """Return the standard deviation of the factor where the condition holds; 1 without a factor."""
        return 1.0 if self.factor is None else Slope.of(self.factor, X, row_weight, self.condition).scale

    def check(self, columns: Columns) -> None:
        """Raise unless the columns hold what condition and factor need: numbers or levels."""
        self.condition.check(columns)
        if self.factor is not None:
            self.factor.check(columns)

    def contribution(self, X: ArrayLike | Block) -> NDArray[np.float64]:
        """Return what the rule adds to the score of each row: its weight where its condition holds, zero elsewhere.

        With a factor, the weight is multiplied by it. With many classes, the shape is (n_samples, n_classes).
        """
        block = as_block(X, 1 + max(self.used_columns, default=-1))
        return self.where(self.condition(block), block)

    def where(self, holds: NDArray[np.bool_], block: Block) -> NDArray[np.float64]:
        """Return what the rule adds to the score of each row, given where its condition holds."""
        unit = 1.0 if self.factor is None else self.factor(block)
        if not isinstance(self.weight, tuple):
            return np.where(holds, self.weight * unit, 0.0)
        added = np.zeros((len(holds), len(self.weight)))
        for output in self.classes_with_weight:
            added[:, output] = np.where(holds, self.weight[output] * unit, 0.0)
        return added

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.float64]:
        """Return the contribution of the rule to each row."""
        return self.contribution(X)

    def describe(
        self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN, outputs: Sequence[str] | None = None
    ) -> str:
        """Return the rule as text, in the names of the given columns and, with many classes, of the given outputs."""
        amounts = self.amounts(columns, style, outputs)
        # Of many classes, a slope says that it always holds, so that its text is no condition.
        if self.factor is not None and not self.condition.propositions and not isinstance(self.weight, tuple):
            return amounts
        return f"{amounts} if {self.condition.describe(columns, style)}"

    def amounts(
        self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN, outputs: Sequence[str] | None = None
    ) -> str:
        """Return the weight, or those of some classes, with the factor if there is one."""
        factor = None if self.factor is None else self.factor.describe(columns, style)
        if not isinstance(self.weight, tuple) or not self.classes_with_weight:
            return style.amount(self.weights[0], factor)
        names = list(map(str, range(len(self.weight)))) if outputs is None else outputs
        return ", ".join(f"{style.output(names[k])} {style.amount(self.weight[k], factor)}" for k in self.classes_with_weight)

    @classmethod
    def parse(cls, text: str, columns: Iterable[str | Column] | None = None, outputs: Sequence[str] | None = None) -> Rule:
        """Return the rule that prints as this text; see `RuleEnsemble.parse`.

        With many classes, ``outputs`` are their names, and the text names those that the rule speaks for.

        >>> Rule.parse("-3.85 if bmi >= 30", ["age", "bmi"]).weight
        -3.85
        >>> Rule.parse("red +1.5, blue -2 if x0 >= 3", outputs=["red", "green", "blue"]).weight
        (1.5, 0.0, -2.0)
        """
        return read_rule(text, Reader(columns), outputs)

    def __str__(self) -> str:
        return self.describe()


def read_rule(text: str, reader: Reader, outputs: Sequence[str] | None = None) -> Rule:
    """Return a rule from its text, in the names that the reader knows and, with many classes, those of the outputs."""
    weight, factor, tests = reader.rule(text, outputs)
    assert weight is not None
    return Rule(weight, Conjunction(test for test, _ in tests), factor)
