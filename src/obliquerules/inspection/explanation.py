"""Explanation: why a row has its prediction, as the rules that fire, how clearly, and the score that they add up to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.classes import Comparison, comparisons, difference, row_amounts
from obliquerules.inspection.variables import Facts, Value, amount_text, value_of, value_text
from obliquerules.rules import Block, Column, Factor, Membership, Model, Proposition, Rule, Test
from obliquerules.rules.columns import Level
from obliquerules.rules.numbers import readable
from obliquerules.rules.rule import Weight, as_weight
from obliquerules.rules.text.records import Records, Shown, TextTable, without_unused
from obliquerules.rules.text.style import PLAIN, votes_needed

# The number of rows that are printed.
PRINTED_ROWS = 10


@dataclass(frozen=True)
class PropositionMargin:
    """How clearly a row meets or misses one condition.

    Attributes
    ----------
    condition : str
        The condition as text.
    value : float, str, int, bool, date, time, duration or None
        The left side of the printed condition: the value of the variable, which may be a level or a date, the weighted sum, or
        how many of several 0/1 inputs are as the condition lists them. None where a value is missing.
    margin : float or None
        x.w - t, in the units of the data: the distance to the threshold. Negative if the condition does not hold. None for
        conditions on levels, on a single 0/1 column, and where a value is missing: there is nothing between met and missed.
    holds : bool
    fact : str
        What the row has, in words, such as ``"it is 101"``; empty where the condition has said it.
    clearance : str
        The margin in words, such as ``"missed by 0.5"``; empty if there is none.
    """

    condition: str
    value: Value
    margin: float | None
    holds: bool
    fact: str = ""
    clearance: str = ""

    @property
    def text(self) -> str:
        """The condition, what the row has, and by how much that meets or misses the condition."""
        remark = ", ".join(filter(None, (self.fact, self.clearance)))
        return f"{self.condition} ({remark})" if remark else self.condition


@dataclass(frozen=True)
class FactorValue:
    """What the weight of a rule is multiplied by for one row.

    Attributes
    ----------
    factor : str
        The factor as text, such as ``"(age - 50)"``.
    value : float, date, time, duration or None
        The value of the variable, before it is clipped; None if it is missing.
    amount : float
        What the weight is multiplied by: the value, clipped and counted from its origin. Zero if the value is missing.
    fact : str
        What the row has, in words, such as ``"age is 60"``.
    product : str
        The calculation, such as ``"+0.31 x (60 - 50)"``.
    """

    factor: str
    value: Value
    amount: float
    fact: str
    product: str


@dataclass(frozen=True)
class RuleContribution:
    """What one rule does for one row.

    Attributes
    ----------
    rule : int
        The position of the rule in the ensemble, from 0.
    condition : str
        The condition as text.
    weight : float or tuple of float
        With many classes, one for each of them.
    fires : bool
        Whether all conditions hold.
    contribution : float or tuple of float
        What the rule adds to the score, or to that of each class: its weight if it fires, times its factor if it has one, else
        zero.
    margins : tuple of PropositionMargin
    multiplied : FactorValue or None
        What the weight is multiplied by, if anything.
    """

    rule: int
    condition: str
    weight: Weight
    fires: bool
    contribution: Weight
    margins: tuple[PropositionMargin, ...]
    multiplied: FactorValue | None = None

    @property
    def factor(self) -> str | None:
        """What the weight is multiplied by, as text, if anything."""
        return None if self.multiplied is None else self.multiplied.factor

    def reasons(self, *, margins: bool = True) -> str:
        """Return the conditions, each with what the row has, and how the contribution is calculated if there is a factor."""
        told = [(one if margins else replace(one, clearance="")).text for one in self.margins]
        reasons = " & ".join(told)
        if self.multiplied is None:
            return reasons or "always"
        if not self.fires:
            return f"{reasons}: {self.factor if isinstance(self.weight, tuple) else PLAIN.amount(self.weight, self.factor)}"
        return f"{', and '.join(filter(None, (reasons, self.multiplied.fact)))}: {self.multiplied.product}"


@dataclass(frozen=True)
class RowOffset:
    """What the prediction for a row was given besides its inputs.

    Attributes
    ----------
    kind : {"exposure", "offset"}
        An offset is added to the score, after the constant and before the rules; an exposure multiplies the prediction.
    names : tuple of str
        The name of its column; of an offset for many classes, one for each of them.
    amount : float or tuple of float
        With many classes, one offset for each of them.
    without : float or None
        The prediction for an exposure of 1.
    mean_name : str
        What is multiplied by an exposure.
    """

    kind: str
    names: tuple[str, ...]
    amount: Weight
    without: float | None = None
    mean_name: str = ""

    def words(self, between: Comparison | None = None) -> str:
        """Return where it comes from; of an offset for many classes, the columns of the two that are compared."""
        names = self.names if between is None else (self.names[between.first], self.names[between.second])
        return f"given ({', '.join(names)})"


@dataclass(frozen=True)
class RowExplanation(Shown):
    """Why one row has its prediction; prints as a calculation.

    With many classes, the calculation says why this class and not another: it compares the scores of two of them.

    Attributes
    ----------
    row : int
        The position of the row in X, from 0.
    intercept : float or tuple of float
        The constant, with which every score starts; with many classes, one for each of them.
    rules : tuple of RuleContribution
        In the order of the ensemble.
    score : float or tuple of float
        The constant, the offset if one is given, and the contributions of the rules, added from left to right; equal to the
        last bit. With many classes, this is so for each of them.
    prediction : object
        What the estimator predicts.
    values : dict
        The value of each variable that occurs in a rule: a number, a level, a date, a time or a duration; None if it is
        missing.
    headline : str
        The prediction in words.
    total : str
        What the score is called, or with many classes the difference between two of them.
    remarks : tuple of str
        One sentence for each value that lies far outside what the model was learned from.
    facts : tuple of str
        The values in words.
    between : Comparison or None
        With many classes, the two that are compared: the predicted one and, by default, the runner-up.
    given : RowOffset or None
        The exposure or the offset of the row, if it has one.
    """

    row: int
    intercept: Weight
    rules: tuple[RuleContribution, ...]
    score: Weight
    prediction: Any
    values: dict[str, Value]
    headline: str
    total: str
    remarks: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    between: Comparison | None = None
    given: RowOffset | None = None

    @property
    def offset(self) -> RowOffset | None:
        """What is added to the constant before the rules, if anything."""
        return self.given if self.given is not None and self.given.kind == "offset" else None

    @property
    def exposure(self) -> RowOffset | None:
        """What multiplies the prediction, if anything."""
        return self.given if self.given is not None and self.given.kind == "exposure" else None

    @property
    def spoken(self) -> tuple[RuleContribution, ...]:
        """The rules that say something of the score, or of either of the two classes that are compared."""
        return tuple(rule for rule in self.rules if self.between is None or self.between.concerns(rule.weight))

    def shown(self, amount: Weight) -> float:
        """Return an amount as the calculation shows it: itself or, with many classes, the difference of two of them."""
        return difference(amount, self.between)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each rule, the constant and the offset first; see `Explanation.to_dicts`."""
        constants = [RuleContribution(-1, "True", self.intercept, True, self.intercept, ())]
        if self.offset is not None:
            constants.append(RuleContribution(-1, self.offset.words(), self.offset.amount, True, self.offset.amount, ()))
        return [
            {
                "row": self.row,
                "rule": None if rule.rule < 0 else rule.rule,
                "condition": rule.condition,
                "fires": rule.fires,
                "contribution": self.shown(rule.contribution),
                "margins": [margin.margin for margin in rule.margins],
                "factor": rule.factor,
                "factor_value": None if rule.multiplied is None else rule.multiplied.amount,
                "score": self.shown(self.score),
                "prediction": self.prediction,
            }
            | ({} if self.exposure is None else {"exposure": self.exposure.amount})
            | ({} if self.between is None else self.between.record(rule.contribution, self.score))
            for rule in (*constants, *self.rules)
        ]

    def _parts(self) -> list[str | TextTable]:
        fired = [rule for rule in self.spoken if rule.fires]
        missed = [rule for rule in self.spoken if not rule.fires]
        lines: list[tuple[str, ...]] = [
            *([] if self.between is None else [(*self.between.heading, "difference", "")]),
            (*self._sums(self.intercept), "to start with"),
            *([] if self.offset is None else [(*self._sums(self.offset.amount), self.offset.words(self.between))]),
            *((*self._amounts(rule.contribution), f"because {rule.reasons()}") for rule in fired),
            (*self._sums(self.score), f"in all, the {self.total}"),
        ]
        if self.exposure is not None:  # which leads from the score to the prediction
            name = self.exposure.mean_name
            lines += [
                (readable(self.exposure.without or 0.0), f"the {name} for an exposure of 1"),
                (f"x {readable(difference(self.exposure.amount))}", self.exposure.words()),
                (readable(self.prediction), f"in all, the {name}"),
            ]
        parts: list[str | TextTable] = [self.headline, TextTable(lines, headed=self.between is not None, indent="  ")]
        if missed:
            others = []
            for rule in missed:
                named = (
                    PLAIN.amount(difference(rule.weight), rule.factor)
                    if self.between is None
                    else self.between.named(rule.weight, rule.factor)
                )
                unmet = " & ".join(margin.text for margin in rule.margins if not margin.holds)
                others.append((named, f"if {unmet}"))
            parts += ["Not counted, because a condition is not met:", TextTable(others, headed=False, indent="  ")]
        parts += [] if self.between is None else list(self.between.remarks(self.score, len(self.rules) - len(self.spoken)))
        if self.facts:
            parts.append("Values: " + ", ".join(self.facts))
        return [*parts, *self.remarks]

    def _sums(self, amount: Weight) -> tuple[str, ...]:
        """Return the cells of a line: the amount or, of two classes, that of each and the difference."""
        each = () if self.between is None else tuple(map(PLAIN.signed, self.between.of(amount)))
        return *each, PLAIN.signed(self.shown(amount))

    def _amounts(self, amount: Weight) -> tuple[str, ...]:
        """Return the same for a rule, blank for a class of which it says nothing."""
        each = () if self.between is None else self.between.of(amount)
        return *(PLAIN.signed(one) if one else "" for one in each), PLAIN.signed(self.shown(amount))


@dataclass(frozen=True)
class Explanation(Records[RowExplanation]):
    """Why each row has its prediction; one row prints as a calculation.

    Attributes
    ----------
    rows : tuple of RowExplanation
        In the order of X.
    """

    rows: tuple[RowExplanation, ...]

    def _records(self) -> tuple[RowExplanation, ...]:
        return self.rows

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each row and rule, the constant first, and then the offset if there is one (their rule is None).

        If any rule has a factor, ``factor`` is that as text and ``factor_value`` what the weight is multiplied by in this row;
        both are None for rules without one.

        With many classes, ``contribution`` and ``score`` are differences between the predicted class and the one that it is
        compared ``against``; those of each class follow, under its name.
        """
        records = [record for row in self.rows for record in row.to_dicts()]
        return without_unused("factor_value", without_unused("factor", records))

    def _parts(self) -> Iterator[str | TextTable]:
        if len(self.rows) == 1:
            yield from self.rows[0]._parts()
            return
        for index, row in enumerate(self.rows[:PRINTED_ROWS]):
            headline, *others = row._parts()
            yield from [""] if index else []
            yield f"Row {row.row}. {headline}"
            yield from others
        if len(self.rows) > PRINTED_ROWS:
            yield from ("", f"... and {len(self.rows) - PRINTED_ROWS} rows more.")


def explain(
    model: Model,
    X: NDArray[np.float64] | Block,
    words: Mapping[tuple[int, int], Level] = MappingProxyType({}),
    given: Vector | None = None,
    *,
    versus: Any = None,
) -> Explanation:
    """Say for each row which rules fired, how clearly their conditions hold, and what they add up to.

    Parameters
    ----------
    model : Model
    X : Block, or array of shape (n_samples, n_features)
    words : dict of (int, int) to str, int or bool, optional
        What levels that were never seen in fit are called, by row and column.
    given : array of shape (n_samples,) or (n_samples, n_classes), optional
        The exposure or the offset of each row, which a model that has one needs.
    versus : object, optional
        With many classes, the label of the one with which the predicted class is compared. Without it, and where it is the
        predicted class itself, that is the runner-up.
    """
    ensemble = model.ensemble
    facts = Facts(ensemble.block(X), words)
    given = model_offset(model, given, len(facts.block))
    scores = model.scores(facts.block, given)
    between = comparisons(model, scores, versus)
    columns = {column: facts.column(column) for column in ensemble.used_columns}
    contributions = [_contributions(index, rule, facts, ensemble.outputs) for index, rule in enumerate(ensemble)]
    row_scores, predictions = row_amounts(scores), model.decisions(scores, given).tolist()
    return Explanation(
        tuple(
            RowExplanation(
                row,
                ensemble.intercept,
                tuple(of_rule[row] for of_rule in contributions),
                row_scores[row],
                predictions[row],
                {column.name: facts.value(row, index) for index, column in columns.items()},
                model.headline(score, None if given is None else given[row]),
                model.wording.total if (two := between[row]) is None else two.total,
                tuple(_remarks(model, columns, facts.block.matrix[row])),
                tuple(facts.sentence(row, column) for column in columns),
                two,
                _given(model, score, given, row),
            )
            for row, score in enumerate(scores)
        )
    )


def _given(model: Model, score: Vector, given: Vector | None, row: int) -> RowOffset | None:
    """Return what the prediction for a row was given."""
    if model.offset is None or given is None:
        return None
    kind, names, amount = model.offset.kind, model.offset.names, as_weight(given[row])
    if kind == "offset":
        return RowOffset(kind, names, amount)
    return RowOffset(kind, names, amount, float(model.means(score)), model.mean_name)


def _remarks(model: Model, columns: Mapping[int, Column], row: Vector) -> Iterator[str]:
    """Yield what there is to say about values that lie far outside the range in training."""
    for one in model.ranges:
        number, reach = float(row[one.column]), 0.5 * (one.high - one.low)
        if one.column in columns and not math.isnan(number) and not one.low - reach <= number <= one.high + reach:
            column = columns[one.column]
            low, high = (value_text(value_of(column, end), rounded=True) for end in (one.low, one.high))
            what = f"{column.name} = {value_text(value_of(column, number))} (there: nearly all from {low} to {high})"
            yield f"Far outside what the rules were learned from: {what}."


def _contributions(index: int, rule: Rule, facts: Facts, outputs: Sequence[str] | None) -> list[RuleContribution]:
    """Return what a rule does for each row."""
    text = rule.condition.describe(facts.block.columns)
    margins = [_margins(test, facts) for test in rule.condition]
    holds = rule.condition(facts.block)
    multiplied: list[FactorValue | None] = [None] * len(holds)
    if rule.factor is not None:
        factor, named = rule.factor, rule.factor.describe(facts.block.columns)
        multiplied = [
            FactorValue(named, facts.value(row, factor.column), amount, *_product(rule, factor, outputs, facts, row))
            for row, amount in enumerate(factor(facts.block).tolist())
        ]
    with np.errstate(over="ignore"):  # as in the scores of the model
        rows = zip(holds.tolist(), row_amounts(rule.where(holds, facts.block)), multiplied, strict=True)
    return [
        RuleContribution(index, text, rule.weight, fires, added, tuple(of_test[row] for of_test in margins), times)
        for row, (fires, added, times) in enumerate(rows)
    ]


def _product(rule: Rule, factor: Factor, outputs: Sequence[str] | None, facts: Facts, row: int) -> tuple[str, str]:
    """Return what a row has in the column of a factor, and the product of that and the weight, in words."""
    column, number = facts.column(factor.column), float(facts.block.matrix[row, factor.column])
    name = PLAIN.name(column.name)
    if math.isnan(number):
        return f"{name} is missing", f"{rule.amounts(facts.block.columns, outputs=outputs)} adds nothing"
    clipped = min(max(number, factor.lower), factor.upper)
    said, counted = (value_text(value_of(column, one), rounded=True) for one in (number, clipped))
    product = PLAIN.counted(column, counted, factor.origin)
    # Two signs in a row are hard to read.
    product = f"({product})" if product.startswith("-") else product
    weights = Rule(rule.weight).amounts(outputs=outputs)
    weights = f"({weights})" if len(rule.classes_with_weight) > 1 else weights
    return f"{name} is {said}" + (f", clipped to {counted}" if clipped != number else ""), f"{weights} x {product}"


def _margins(test: Test, facts: Facts) -> list[PropositionMargin]:
    """Return how clearly each row meets or misses a condition."""
    text, holds = test.describe(facts.block.columns), test(facts.block).tolist()
    if isinstance(test, Membership):
        return [_of_levels(text, test, facts, row, held) for row, held in enumerate(holds)]
    lacking, sums = test.lacks(facts.block).tolist(), test.project(facts.block).tolist()
    return [
        _without_value(text, test, facts, row, held) if lacks else _of_sum(text, test, facts, row, total)
        for row, (held, lacks, total) in enumerate(zip(holds, lacking, sums, strict=True))
    ]


def _of_levels(text: str, membership: Membership, facts: Facts, row: int, holds: bool) -> PropositionMargin:
    value = facts.value(row, membership.column)
    # Where one level is asked for and the row has it, the condition says it all; so does one on whether there is a value.
    has_it = holds and value is not None and len(membership.levels) == 1 and not membership.negated
    said = has_it if membership.levels else value is None
    return PropositionMargin(text, value, None, holds, "" if said else f"it is {facts.text(row, membership.column)}")


def _without_value(text: str, proposition: Proposition, facts: Facts, row: int, holds: bool) -> PropositionMargin:
    """Return the answer of a sum that needs a value which is missing."""
    numbers = [term for term in proposition.columns if isinstance(term, int)]
    names = [PLAIN.name(facts.column(term).name) for term in numbers if math.isnan(facts.block.matrix[row, term])]
    fact = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing"
    return PropositionMargin(text, None, None, holds, "it is missing" if len(proposition.columns) == 1 else fact)


def _of_sum(text: str, proposition: Proposition, facts: Facts, row: int, total: float) -> PropositionMargin:
    """Return the margin of a sum: of a single column, of votes of 0/1 inputs, or of anything else."""
    holds, margin = total >= proposition.threshold, total - proposition.threshold
    wanted = votes_needed(facts.block.columns, proposition)
    single = proposition.only_number
    if single is not None:
        return _of_number(text, facts, row, single, margin, holds, said=wanted is not None)
    if wanted is not None:
        votes = total + sum(weight < 0.0 for weight in proposition.weights)
        fact = "" if votes == len(proposition.columns) else f"{readable(votes) if votes else 'none'} of them"
        return PropositionMargin(text, votes, margin, holds, fact)
    value = total if proposition.is_upright else -total
    return PropositionMargin(text, value, margin, holds, f"it is {readable(value)}", _clearance(readable(abs(margin)), holds))


def _of_number(text: str, facts: Facts, row: int, index: int, margin: float, holds: bool, *, said: bool) -> PropositionMargin:
    """Return the margin of a condition on one column; on a 0/1 column, there is none."""
    column, value = facts.column(index), facts.value(row, index)
    fact = f"it is {value_text(value, rounded=True)}"
    if column.kind == "flag":
        return PropositionMargin(text, value, None, holds, "" if said and holds else fact)
    return PropositionMargin(text, value, margin, holds, fact, _clearance(amount_text(column, abs(margin)), holds))


def _clearance(amount: str, holds: bool) -> str:
    return f"{'met' if holds else 'missed'} by {amount}"
