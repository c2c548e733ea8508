"""Rule table: what each rule says, how many rows it covers and what they are like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Block, Model, Rule, RuleEnsemble
from obliquerules.rules.numbers import readable
from obliquerules.rules.records import Records, aligned
from obliquerules.rules.style import PLAIN

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RuleSummary:
    """One rule and the rows that it covers.

    Attributes
    ----------
    rule : int or None
        The position of the rule in the ensemble, from 0; None for the constant.
    condition : str
        The condition as text; ``"True"`` for the constant.
    weight : float
        What the rule adds to the score of a row that it covers.
    complexity : int
    coverage : float
        The weighted share of the rows for which the condition holds.
    mean_contribution : float
        The mean over all rows of what the rule adds to the score: its weight times its coverage.
    purity : float or None
        The mean target of the covered rows: the share of the positive class, or the mean of y. None if there is no target or
        no covered row.
    """

    rule: int | None
    condition: str
    weight: float
    complexity: int
    coverage: float
    mean_contribution: float
    purity: float | None


@dataclass(frozen=True)
class RuleTable(Records[RuleSummary]):
    """The rules of an ensemble with the rows that they cover; prints as a table.

    Attributes
    ----------
    rules : tuple of RuleSummary
        The constant, which covers all rows, and then the rules in the order of the ensemble.
    target : str
        What `RuleSummary.purity` is called in the printed table.
    """

    rules: tuple[RuleSummary, ...]
    target: str = "mean target"

    def _records(self) -> tuple[RuleSummary, ...]:
        return self.rules

    def __str__(self) -> str:
        with_target = any(rule.purity is not None for rule in self.rules)
        heading = ["rule", "weight", "complexity", "coverage", "mean contribution", self.target, "condition"]
        lines = [heading, *(_cells(rule) for rule in self.rules)]
        return aligned(lines if with_target else [[*line[:5], line[6]] for line in lines])


def _cells(rule: RuleSummary) -> list[str]:
    return [
        "" if rule.rule is None else str(rule.rule),
        PLAIN.signed(rule.weight),
        str(rule.complexity),
        f"{100 * rule.coverage:.1f} %",
        PLAIN.signed(rule.mean_contribution),
        "-" if rule.purity is None else readable(rule.purity),
        rule.condition,
    ]


def rule_table(model: Model, X: NDArray[np.float64] | Block, y: Vector | None, weight: Vector) -> RuleTable:
    """Describe each rule by the rows of X that it covers, given the targets as numbers and the row weights."""
    ensemble = model.ensemble
    always = np.ones((len(X), 1), dtype=np.bool_)
    covered = weight[:, None] * np.hstack([always, ensemble.fires(X)])
    # The same sum in numerator and denominator makes the share of a rule that covers all rows exactly one.
    mass = covered.sum(axis=0)
    totals = None if y is None else (y[:, None] * covered).sum(axis=0)
    rules = [
        _summary(
            ensemble,
            index - 1,
            rule,
            float(mass[index] / mass[0]),
            None if totals is None or mass[index] == 0.0 else float(totals[index] / mass[index]),
        )
        for index, rule in enumerate((Rule(ensemble.intercept), *ensemble))
    ]
    return RuleTable(tuple(rules), model.target_name)


def _summary(ensemble: RuleEnsemble, index: int, rule: Rule, coverage: float, purity: float | None) -> RuleSummary:
    return RuleSummary(
        None if index < 0 else index,
        rule.condition.describe(ensemble.columns),
        rule.weight,
        rule.complexity,
        coverage,
        coverage * rule.weight,
        purity,
    )
