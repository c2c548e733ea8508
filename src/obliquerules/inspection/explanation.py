"""Explanation: why a row has its prediction, as the rules that fire, how clearly, and the score that they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model, Proposition, Rule, RuleEnsemble
from obliquerules.rules.decimals.numbers import in_full, readable
from obliquerules.rules.records import Records, aligned
from obliquerules.rules.style import PLAIN, column_names

Vector = NDArray[np.float64]

# The number of rows that are printed.
PRINTED_ROWS = 10


@dataclass(frozen=True)
class PropositionMargin:
    """How clearly a row meets or misses one condition.

    Attributes
    ----------
    condition : str
        The condition as text.
    value : float
        The left side of the printed condition: the value of the variable, or the weighted sum.
    margin : float
        x.w - t, in the units of the data: the distance to the threshold. Negative if the condition does not hold.
    holds : bool
    """

    condition: str
    value: float
    margin: float
    holds: bool


@dataclass(frozen=True)
class RuleContribution:
    """What one rule does for one row.

    Attributes
    ----------
    rule : int
        The position of the rule in the ensemble, from 0.
    condition : str
        The condition as text.
    weight : float
    fires : bool
        Whether all conditions hold.
    contribution : float
        What the rule adds to the score: its weight if it fires, else zero.
    margins : tuple of PropositionMargin
    """

    rule: int
    condition: str
    weight: float
    fires: bool
    contribution: float
    margins: tuple[PropositionMargin, ...]


@dataclass(frozen=True)
class RowExplanation:
    """Why one row has its prediction; prints as a calculation.

    Attributes
    ----------
    row : int
        The position of the row in X, from 0.
    intercept : float
        The constant, with which every score starts.
    rules : tuple of RuleContribution
        In the order of the ensemble.
    score : float
        The constant and the contributions of the rules, added from left to right; equal to the last bit.
    prediction : object
        What the estimator predicts.
    values : dict
        The value of each variable that occurs in a rule.
    headline : str
        The prediction in words.
    total : str
        What the score is called.
    remarks : tuple of str
        One sentence for each value that lies far outside what the model was learned from.
    """

    row: int
    intercept: float
    rules: tuple[RuleContribution, ...]
    score: float
    prediction: Any
    values: dict[str, float]
    headline: str
    total: str
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        fired = [rule for rule in self.rules if rule.fires]
        missed = [rule for rule in self.rules if not rule.fires]
        lines = [
            (PLAIN.signed(self.intercept), "to start with"),
            *((PLAIN.signed(rule.contribution), f"because {_reasons(rule.margins)}") for rule in fired),
            (PLAIN.signed(self.score), f"in all, the {self.total}"),
        ]
        parts = [self.headline, _indented(lines)]
        if missed:
            others = [(PLAIN.signed(rule.weight), f"if {_reasons(_unmet(rule))}") for rule in missed]
            parts += ["Not counted, because a condition is not met:", _indented(others)]
        if self.values:
            parts.append("Values: " + ", ".join(f"{name} = {in_full(value)}" for name, value in self.values.items()))
        return "\n".join((*parts, *self.remarks))


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
        """Return one dict for each row and rule, the constant first (its rule is None)."""
        return [record for row in self.rows for record in _as_dicts(row)]

    def __str__(self) -> str:
        if len(self.rows) == 1:
            return str(self.rows[0])
        parts = [f"Row {row.row}. {row}" for row in self.rows[:PRINTED_ROWS]]
        if len(self.rows) > PRINTED_ROWS:
            parts.append(f"... and {len(self.rows) - PRINTED_ROWS} rows more.")
        return "\n\n".join(parts)


def _as_dicts(row: RowExplanation) -> list[dict[str, Any]]:
    constant = RuleContribution(-1, "True", row.intercept, True, row.intercept, ())
    return [
        {
            "row": row.row,
            "rule": None if rule is constant else rule.rule,
            "condition": rule.condition,
            "fires": rule.fires,
            "contribution": rule.contribution,
            "margins": [margin.margin for margin in rule.margins],
            "score": row.score,
            "prediction": row.prediction,
        }
        for rule in (constant, *row.rules)
    ]


def _unmet(rule: RuleContribution) -> list[PropositionMargin]:
    return [margin for margin in rule.margins if not margin.holds]


def _reasons(margins: Sequence[PropositionMargin]) -> str:
    return " & ".join(f"{margin.condition} (it is {_margin_text(margin)})" for margin in margins) or "always"


def _margin_text(margin: PropositionMargin) -> str:
    return f"{readable(margin.value)}, {'met' if margin.holds else 'missed'} by {readable(abs(margin.margin))}"


def _indented(lines: list[tuple[str, str]]) -> str:
    return "\n".join(f"  {line}" for line in aligned(lines).split("\n"))


def explain(model: Model, X: NDArray[np.float64]) -> Explanation:
    """Say for each row which rules fired, how clearly their conditions hold, and what they add up to."""
    ensemble, scores = model.ensemble, model.scores(X)
    columns = ensemble.used_columns
    names = dict(zip(columns, column_names(columns, ensemble.feature_names), strict=True))
    contributions = [_contributions(index, rule, ensemble, X) for index, rule in enumerate(ensemble)]
    predictions = model.decisions(scores).tolist()
    return Explanation(
        tuple(
            RowExplanation(
                row,
                ensemble.intercept,
                tuple(of_rule[row] for of_rule in contributions),
                score,
                predictions[row],
                {name: float(X[row, column]) for column, name in names.items()},
                model.headline(score),
                model.wording.total,
                tuple(_remarks(model, names, X[row])),
            )
            for row, score in enumerate(scores.tolist())
        )
    )


def _remarks(model: Model, names: Mapping[int, str], row: Vector) -> Iterator[str]:
    """Yield what there is to say about values that lie far outside the range in training."""
    for one in model.ranges:
        if one.column in names and one.far_outside(row[one.column]):
            usual = f"nearly all from {readable(one.low)} to {readable(one.high)}"
            value = in_full(float(row[one.column]))
            yield f"Far outside what the rules were learned from: {names[one.column]} = {value} (there: {usual})."


def _contributions(index: int, rule: Rule, ensemble: RuleEnsemble, X: NDArray[np.float64]) -> list[RuleContribution]:
    """Return what a rule does for each row."""
    text = rule.condition.describe(ensemble.feature_names)
    margins = [_margins(proposition, ensemble, X) for proposition in rule.condition]
    rows = zip(rule.condition(X).tolist(), rule.contribution(X).tolist(), strict=True)
    return [
        RuleContribution(index, text, rule.weight, fires, added, tuple(of_proposition[row] for of_proposition in margins))
        for row, (fires, added) in enumerate(rows)
    ]


def _margins(proposition: Proposition, ensemble: RuleEnsemble, X: NDArray[np.float64]) -> list[PropositionMargin]:
    text = proposition.describe(ensemble.feature_names)
    single = len(proposition.columns) == 1
    side = 1.0 if proposition.weights[0] > 0.0 else -1.0
    projections = proposition.project(X)
    values = X[:, proposition.columns[0]] if single else side * projections
    return [
        PropositionMargin(
            text, float(value), float(projection - proposition.threshold), bool(projection >= proposition.threshold)
        )
        for value, projection in zip(values, projections, strict=True)
    ]
