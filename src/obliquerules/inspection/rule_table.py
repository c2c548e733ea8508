"""Rule table: what each rule says, how many rows it covers and what they are like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.inspection.classes import by_class, difference, row_amounts, weights_of
from obliquerules.rules import Block, Model, Rule
from obliquerules.rules.numbers import readable
from obliquerules.rules.rule import Weight, as_weight
from obliquerules.rules.text.records import Records, TextTable, without_unused
from obliquerules.rules.text.style import PLAIN


@dataclass(frozen=True)
class RuleSummary:
    """One rule and the rows that it covers.

    Attributes
    ----------
    rule : int or None
        The position of the rule in the ensemble, from 0; None for the constant.
    condition : str
        The condition as text; ``"True"`` for the constant.
    weight : float or tuple of float
        What the rule adds to the score of a row that it covers; with many classes, to that of each class. With a factor, this
        is multiplied by it.
    complexity : int
    coverage : float
        The weighted share of the rows for which the condition holds.
    mean_contribution : float or tuple of float
        The mean over all rows of what the rule adds to the score, or to that of each class: without a factor, its weight times
        its coverage.
    purity : float, tuple of float or None
        The mean target of the covered rows: the share of the positive class, of each of many classes, or the mean of y. None if
        there is no target or no covered row.
    factor : str or None
        What the weight is multiplied by, as text, if anything.
    """

    rule: int | None
    condition: str
    weight: Weight
    complexity: int
    coverage: float
    mean_contribution: Weight
    purity: Weight | None
    factor: str | None = None


@dataclass(frozen=True)
class RuleTable(Records[RuleSummary]):
    """The rules of an ensemble with the rows that they cover; prints as a table.

    Attributes
    ----------
    rules : tuple of RuleSummary
        The constant, which covers all rows, and then the rules in the order of the ensemble.
    target : str
        What `RuleSummary.purity` is called in the printed table.
    classes : tuple of str
        The names of the classes if there are many; the table then has a column of weights for each of them.
    """

    rules: tuple[RuleSummary, ...]
    target: str = "mean target"
    classes: tuple[str, ...] = ()

    def _records(self) -> tuple[RuleSummary, ...]:
        return self.rules

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each rule, with its factor if any of them has one.

        With many classes, weights, mean contributions and shares are under their names.
        """
        if not self.classes:
            return without_unused("factor", super().to_dicts())
        return [
            {"rule": rule.rule, "condition": rule.condition, "complexity": rule.complexity, "coverage": rule.coverage}
            | by_class("weight", self.classes, rule.weight)
            | by_class("mean_contribution", self.classes, rule.mean_contribution)
            | by_class("share", self.classes, rule.purity)
            for rule in self.rules
        ]

    def _parts(self) -> Iterator[TextTable]:
        with_target = any(rule.purity is not None for rule in self.rules)
        amounts = map(PLAIN.output, self.classes) if self.classes else ("weight",)
        mean = () if self.classes else ("mean contribution",)
        heading = ["rule", *amounts, "complexity", "coverage", *mean, self.target, "condition"]
        lines = [heading, *(self._cells(rule) for rule in self.rules)]
        yield TextTable(lines if with_target else [[*line[:-2], line[-1]] for line in lines])

    def _cells(self, rule: RuleSummary) -> list[str]:
        is_rule_of_many = rule.rule is not None and bool(self.classes)
        purity = "-"
        if isinstance(rule.purity, tuple):  # the most frequent class and its share
            share = max(rule.purity)
            purity = f"{PLAIN.output(self.classes[rule.purity.index(share)])} {100 * share:.1f} %"
        elif rule.purity is not None:
            purity = readable(rule.purity)
        return [
            "" if rule.rule is None else str(rule.rule),
            # Blank for classes without a weight.
            *("" if is_rule_of_many and not one else PLAIN.amount(one, rule.factor) for one in weights_of(rule.weight)),
            str(rule.complexity),
            f"{100 * rule.coverage:.1f} %",
            *(() if self.classes else (PLAIN.signed(difference(rule.mean_contribution)),)),
            purity,
            rule.condition,
        ]


def rule_table(model: Model, X: NDArray[np.float64] | Block, y: Vector | None, weight: Vector) -> RuleTable:
    """Describe each rule by the rows of X that it covers, given the targets as numbers and the row weights."""
    ensemble = model.ensemble
    block, outputs = ensemble.block(X), ensemble.outputs
    always = np.ones((len(block), 1), dtype=np.bool_)
    covered = weight[:, None] * np.hstack([always, ensemble.fires(block)])
    # The same sum in numerator and denominator makes the share of a rule that covers all rows exactly one.
    mass = covered.sum(axis=0)
    means = [None] * len(mass) if y is None else _means(y, covered, mass, outputs)
    found = []
    for index, rule in enumerate((Rule(ensemble.intercept), *ensemble)):
        coverage = float(mass[index] / mass[0])
        factor = coverage if rule.factor is None else float((covered[:, index] * rule.factor(block)).sum() / mass[0])
        found.append(
            RuleSummary(
                index - 1 if index else None,
                rule.condition.describe(ensemble.columns),
                rule.weight,
                rule.complexity,
                coverage,
                as_weight(factor * np.asarray(rule.weight)),
                means[index],
                None if rule.factor is None else rule.factor.describe(ensemble.columns),
            )
        )
    return RuleTable(tuple(found), model.target_name if outputs is None else "most frequent", outputs or ())


def _means(y: Vector, covered: Vector, mass: Vector, outputs: tuple[str, ...] | None) -> list[Weight | None]:
    """Return the mean target, or the share of each class, among the rows that each rule covers; None if there are none."""
    targets = [y] if outputs is None else [(y == code).astype(np.float64) for code in range(len(outputs))]
    totals = np.column_stack([(target[:, None] * covered).sum(axis=0) for target in targets])
    means = np.divide(totals, mass[:, None], out=np.zeros_like(totals), where=mass[:, None] > 0.0)
    found = row_amounts(means[:, 0] if outputs is None else means)
    return [mean if size > 0.0 else None for mean, size in zip(found, mass.tolist(), strict=True)]
