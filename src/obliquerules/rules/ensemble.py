"""RuleEnsemble: a constant and a sequence of weighted rules, which together score rows."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, Column, Columns, as_block
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.files.encoding import ensemble_content
from obliquerules.rules.files.fields import write_document
from obliquerules.rules.proposition import Proposition, Test
from obliquerules.rules.redundancy import simplify
from obliquerules.rules.rounding.coarsening import HasValue
from obliquerules.rules.rounding.rounded import Rounding, round_ensemble
from obliquerules.rules.rule import Rule, Weight, as_weight, read_rule
from obliquerules.rules.text.bands import BandTable, band_tables, in_order
from obliquerules.rules.text.formats import ensemble_html, ensemble_text
from obliquerules.rules.text.parsing import Reader, read_heading


@dataclass(frozen=True, slots=True)
class RuleEnsemble:
    """The additive model f(x) = b0 + sum_i b_i q_i(x), as a value.

    A score means: the constant, then the weights of the rules that fire, each multiplied by its factor if it has one, added
    from left to right in double precision.

    Parameters
    ----------
    rules : iterable of Rule
    intercept : float, default=0.0
        The constant b0. It is the rule without a condition: printed as ``if True``, kept by every slice, free of complexity.
    columns : sequence of str or Column, optional
        One name for each column of X, used for printing; a `Column` says what it holds besides numbers.
    outputs : sequence of str, optional
        With many classes, their names: there is a score for each of them, and rules have as many weights. Without them there is
        one score.

    Attributes
    ----------
    used_columns : tuple of int
        The columns that occur in a condition or a factor, in ascending order.

    Examples
    --------
    >>> from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
    >>> oblique = Conjunction([Proposition([0, 1], [2.81, 1.5], -0.28)])
    >>> ensemble = RuleEnsemble([Rule(-3.85, oblique)], 1.79, ["variance", "skewness"])
    >>> print(ensemble)
    +1.79 if True
    -3.85 if 2.81 variance + 1.5 skewness >= -0.28
    >>> ensemble.complexity, ensemble([[0.5, 0.5], [-3.0, 1.0]]).tolist()
    (4, [-2.06, 1.79])
    """

    rules: tuple[Rule, ...]
    intercept: Weight
    columns: Columns | None
    outputs: tuple[str, ...] | None
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        intercept: float | Iterable[float] = 0.0,
        columns: Iterable[str | Column] | None = None,
        outputs: Iterable[str] | None = None,
    ) -> None:
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "outputs", None if outputs is None else tuple(map(str, outputs)))
        constant = as_weight(intercept)
        if self.outputs is not None and constant == 0.0:
            constant = (0.0,) * len(self.outputs)
        object.__setattr__(self, "intercept", constant)
        object.__setattr__(self, "columns", None if columns is None else Columns.of(columns))
        for rule in self.rules:
            if not isinstance(rule, Rule):
                raise TypeError(f"An ensemble is made of rules; got {type(rule).__name__}.")
        if not all(map(math.isfinite, self.intercepts)):
            raise ValueError(f"The intercept of an ensemble must be finite; got {intercept}.")
        if self.outputs is not None and (len(self.outputs) < 2 or len(set(self.outputs)) < len(self.outputs)):
            raise ValueError(f"The outputs of an ensemble must be two or more different names; got {list(self.outputs)}.")
        n = None if self.outputs is None else len(self.outputs)
        for weight in (self.intercept, *(rule.weight for rule in self.rules)):
            if (len(weight) if isinstance(weight, tuple) else None) != n:
                wanted = "one weight" if n is None else f"{n} weights, one for each output"
                raise ValueError(f"Each rule of this ensemble, and its intercept, must have {wanted}; got {weight}.")
        used = sorted({column for rule in self.rules for column in rule.used_columns})
        object.__setattr__(self, "used_columns", tuple(used))
        if self.columns is not None and used and used[-1] >= len(self.columns):
            raise ValueError(f"A rule uses column {used[-1]}, but there are only {len(self.columns)} feature names.")
        if self.columns is not None:
            for rule in self.rules:
                rule.check(self.columns)

    @property
    def intercepts(self) -> tuple[float, ...]:
        """The constant of each score, also if there is only one."""
        return self.intercept if isinstance(self.intercept, tuple) else (self.intercept,)

    def output_name(self, output: int) -> str | None:
        """Return the name of one of the classes; None if there is one score without a name."""
        return None if self.outputs is None else self.outputs[output]

    def of_output(self, output: int) -> RuleEnsemble:
        """Return the ensemble of one of the scores: its constant, and the rules that change it, each with one weight."""
        if self.outputs is None:
            return self
        rules = [
            Rule(rule.weights[output], rule.condition, rule.factor) for rule in self.rules if output in rule.classes_with_weight
        ]
        return RuleEnsemble(rules, self.intercepts[output], self.columns)

    @property
    def weight_table(self) -> NDArray[np.float64]:
        """The constant and the weights of the rules, shape (1 + n_rules,) or, with many classes, (1 + n_rules, n_classes)."""
        return np.array([self.intercept, *(rule.weight for rule in self.rules)], dtype=np.float64)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns."""
        return None if self.columns is None else self.columns.names

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleEnsemble: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleEnsemble:
        """Return one rule, or with a slice the ensemble of those rules with the same constant."""
        if isinstance(index, slice):
            return self.with_rules(self.rules[index])
        return self.rules[index]

    def with_rules(self, rules: Iterable[Rule], intercept: float | Iterable[float] | None = None) -> RuleEnsemble:
        """Return an ensemble of other rules on the same columns, with another constant or the same."""
        return RuleEnsemble(rules, self.intercept if intercept is None else intercept, self.columns, self.outputs)

    def shifted(self, amount: float) -> RuleEnsemble:
        """Return the ensemble with a number added to all its scores."""
        return self if amount == 0.0 else self.with_rules(self.rules, np.add(self.intercept, amount))

    def with_weights(self, weights: Sequence[Any], intercept: float | Iterable[float]) -> RuleEnsemble:
        """Return the ensemble with other rule weights and another constant; the conditions stay."""
        if len(weights) != len(self.rules):
            raise ValueError(f"weights must hold one number for each of the {len(self.rules)} rules; got {len(weights)}.")
        rules = [replace(rule, weight=weight) for weight, rule in zip(weights, self.rules, strict=True)]
        return self.with_rules(rules, intercept)

    def with_weight_table(self, table: NDArray[np.float64]) -> RuleEnsemble:
        """Return the ensemble with the constant and the weights of a table, as `weight_table` returns it."""
        return self.with_weights(table[1:].tolist(), table[0])

    def with_propositions(self, change: Callable[[Test], Test]) -> RuleEnsemble:
        """Return the ensemble with a function applied to each proposition and membership; the weights stay."""
        conditions = [tuple(map(change, rule.condition)) for rule in self.rules]
        if all(new == rule.condition.propositions for new, rule in zip(conditions, self.rules, strict=True)):
            return self
        rules = zip(conditions, self.rules, strict=True)
        return self.with_rules(replace(rule, condition=Conjunction(tests)) for tests, rule in rules)

    @property
    def complexity(self) -> int:
        """What a reader must take in, C(f) in the paper; the constant is free.

        It is the complexity of all rules, and one for each slope whose origin says what a missing value counts as.
        """
        columns, slopes = self.columns, [rule.factor for rule in self if rule.factor and not len(rule.condition)]
        counted = sum(one.has_origin and columns is not None and columns[one.column].missing for one in slopes)
        return sum(rule.complexity for rule in self.rules) + counted

    def block(self, X: ArrayLike | Block) -> Block:
        """Return rows as a block of the columns of this ensemble."""
        if self.columns is not None:
            return as_block(X, len(self.columns), self.columns, exactly=True)
        return as_block(X, 1 + max(self.used_columns, default=-1))

    def __call__(self, X: ArrayLike | Block, offset: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the raw score f(x) of each row of X, shape (n_samples,) or, with many classes, (n_samples, n_classes).

        An offset, in the same shape, is added to the constant before the rules are.
        """
        block = self.block(X)
        score = np.repeat(np.array([self.intercept]), len(block), axis=0)
        if offset is not None:
            score += offset
        with np.errstate(over="ignore"):
            for rule in self.rules:
                score += rule.contribution(block)
        return score

    def fires(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X and each rule whether the rule fires, shape (n_samples, n_rules)."""
        block = self.block(X)
        fired = np.empty((len(block), len(self.rules)), dtype=np.bool_)
        for index, rule in enumerate(self.rules):
            fired[:, index] = rule.condition(block)
        return fired

    def simplified(self) -> RuleEnsemble:
        """Return an ensemble with the same score for every X that is no harder to read; see `simplify`."""
        return simplify(self)

    def ordered(self) -> RuleEnsemble:
        r"""Return the ensemble with the rules on one variable alone next to each other, in order of their thresholds.

        They stand where the first of them was; all other rules stay in their order. Because scores are added in the order of
        rules, a score may change in its last digits. What a fit returns is ordered.

        Examples
        --------
        >>> from obliquerules import RuleEnsemble
        >>> print(RuleEnsemble.parse("+1 if x0 >= 5\n+2 if x1 + x0 >= 3\n+3 if x0 >= 4").ordered())
        +0 if True
        +3 if x0 >= 4
        +1 if x0 >= 5
        +2 if x1 + x0 >= 3
        # x0 alone: below 4 +0, to below 5 +3, from 5 +4
        """
        return self.with_rules(in_order(self.rules))

    def band_tables(self) -> tuple[BandTable, ...]:
        """Return what the rules on one variable alone add up to, for each variable that two or more rules use alone."""
        return band_tables(self)

    def rounded(
        self,
        X: ArrayLike | Block,
        *,
        digits: int = 3,
        y: ArrayLike | None = None,
        loss: HasValue | None = None,
        sample_weight: ArrayLike | None = None,
        tolerance: float = 0.0,
        integers: bool = False,
        offset: NDArray[np.float64] | None = None,
    ) -> Rounding:
        """Return the ensemble in short decimals, with a certificate of what that changes on the rows of X.

        The numbers in conditions become the shortest decimals with which no row changes side or comes close to a threshold.
        The printed ensemble can be read back exactly, unless `Rounding.digits` has a number above 7, or a condition on one
        column that all rows meet, or none, keeps another weight than 1 or -1.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The rows that must not change side; best those that the ensemble was learned from.
        digits : int, default=3
            The significant digits wanted for rule weights. More are kept if the mean loss would otherwise rise by more than
            0.1 % and more than the tolerance or, without a loss, if a score would change by more than 0.5 % of the range of
            scores. The constant is rounded no more coarsely than the largest weight.
        y : array of shape (n_samples,), optional
            Targets as the loss takes them: 0 and 1 for two classes.
        loss : object with a method ``value(y, score)``, optional
            Such as a `Loss`.
        sample_weight : array of shape (n_samples,), optional
            The weights of the rows in the mean loss.
        tolerance : float, default=0.0
            By how much the mean loss may rise. If it may, conditions are shortened further, so that rows may change side,
            and rule weights may have fewer than ``digits`` digits.
        integers : bool, default=False
            Prefer whole numbers of at most 1000 as weights in oblique conditions, where no row changes side.
        offset : array in the shape of the scores, optional
            What is added to the scores before their loss is measured.

        Examples
        --------
        >>> from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
        >>> oblique = Conjunction([Proposition([0, 1], [1.0, 0.61803], -0.28192)])
        >>> rounding = RuleEnsemble([Rule(-3.85421, oblique)], 1.79345).rounded([[0.0, 0.5], [1.0, 0.5], [-3.0, 1.0]])
        >>> print(rounding.ensemble)
        +1.79 if True
        -3.85 if x0 + 0.6 x1 >= -1
        >>> rounding.rows_changed, rounding.digits
        (0, (3, 3, 1, 1))
        """
        return round_ensemble(self, self.block(X), digits, y, loss, sample_weight, tolerance, integers, offset)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble as JSON with exact numbers; `load_model` reads it back."""
        write_document(path, ensemble_content(self))

    def to_text(self, format: str = "plain", *, exact: bool = False) -> str:  # noqa: A002  # the word users look for
        r"""Return the ensemble as text.

        Parameters
        ----------
        format : {"plain", "markdown", "latex", "sentences"}, default="plain"
            ``"plain"``: one line for each rule, as ``print`` shows it and `parse` reads it. ``"markdown"``: a table.
            ``"latex"``: a tabular. ``"sentences"``: one sentence for each rule; those of an estimator say
            more, because it knows what the score means, and its Markdown has a column of odds ratios. All but ``"latex"`` end
            with the `band_tables`; in plain text, they are lines that begin with ``#``.
        exact : bool, default=False
            Write every number in full. Otherwise numbers of more than seven digits, as the weights of rules are before
            `rounded`, are written with four.

        Examples
        --------
        >>> from obliquerules import RuleEnsemble
        >>> ensemble = RuleEnsemble.parse("+1.79 if True\n-3.85 if age - 2 bmi >= 3 & bmi <= 18", ["age", "bmi"])
        >>> print(ensemble.to_text("sentences"))
        The score starts at 1.79.
        If age minus 2 times bmi is at least 3 and bmi is at most 18, the score falls by 3.85.
        """
        return ensemble_text(self, format, exact=exact)

    @classmethod
    def parse(cls, text: str, columns: Iterable[str | Column] | None = None) -> RuleEnsemble:
        r"""Return the ensemble that prints as this text: the inverse of ``to_text("plain")``.

        It is equal to the ensemble that was printed if that was done with ``exact=True``, or if no number has more than seven
        digits and conditions on one column have the weight 1 or -1, as after `rounded`. A level that its column does not have
        is refused. :ref:`The grammar <grammar>` is part of the guide.

        Parameters
        ----------
        text : str
            One rule in each line. A first line whose condition is ``True`` is the constant; without one it is zero. Lines that
            begin with ``#`` are skipped. With many classes, the first line names them, as ``red | blue | green | if``, and each
            rule has a weight, or a blank, for each of them.
        columns : sequence of str or Column, optional
            The names of all columns, each once, or the columns themselves, without which levels cannot be checked. In the text,
            a name stands in quotes, as in JSON, if it could be taken for something else. Without names, columns are x0, x1, and
            so on.

        Examples
        --------
        >>> from obliquerules import RuleEnsemble
        >>> print(RuleEnsemble.parse('+1.5 if True\n-2 if age >= 50 & "a + b" <= 3', ["age", "a + b"]))
        +1.5 if True
        -2 if age >= 50 & "a + b" <= 3
        """
        reader, outputs, rules = Reader(columns), None, list[Rule]()
        lines = enumerate(text.split("\n"), start=1)
        told = [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]
        for place, (number, line) in enumerate(told):
            try:
                if place == 0 and (outputs := read_heading(line)) is not None:
                    continue
                rules.append(read_rule(line, reader, outputs))
            except ValueError as error:
                raise ValueError(f"Line {number}: {error}") from error
        constant = rules.pop(0).weight if rules and rules[0].is_constant else 0.0
        return cls(rules, constant, reader.columns, outputs)

    def _repr_html_(self) -> str:
        return ensemble_html(self)

    def __str__(self) -> str:
        return self.to_text()


def used_columns(ensembles: Iterable[RuleEnsemble]) -> list[int]:
    """Return the columns that occur in any of the ensembles, in ascending order."""
    return sorted({column for ensemble in ensembles for column in ensemble.used_columns})


def renumbered(ensemble: RuleEnsemble, place: Mapping[int, int], columns: Iterable[str | Column] | None) -> RuleEnsemble:
    """Return the ensemble on other columns.

    Parameters
    ----------
    ensemble : RuleEnsemble
    place : mapping of int to int
        The new position of each column that rules use.
    columns : iterable of str or Column, or None
        The new columns.

    Examples
    --------
    >>> from obliquerules import RuleEnsemble
    >>> print(renumbered(RuleEnsemble.parse("+1 if x0 - x1 >= 3"), {0: 7, 1: 9}, None))
    +0 if True
    +1 if x7 - x9 >= 3
    """

    def moved(one: Any) -> Any:
        if isinstance(one, int):
            return place[one]
        if isinstance(one, Proposition):
            return replace(one, columns=tuple(map(moved, one.columns)))
        return one and replace(one, column=place[one.column])

    rules = [Rule(rule.weight, Conjunction(map(moved, rule.condition)), moved(rule.factor)) for rule in ensemble]
    return RuleEnsemble(rules, ensemble.intercept, columns, ensemble.outputs)
