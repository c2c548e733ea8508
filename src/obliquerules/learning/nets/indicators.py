"""Indicators: levels and missing values as columns of numbers for networks, and their rules taken back to levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from obliquerules.data.level_sums import levels_of
from obliquerules.data.scaling import filled_with_means
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.rules import Block, Column, Conjunction, Membership, Proposition, Rule, RuleEnsemble, Shortening, Test
from obliquerules.rules.path_table import pareto
from obliquerules.rules.redundancy import strictest
from obliquerules.rules.rounding.votes import in_whole_numbers
from obliquerules.rules.rule_parts import Summand, summand_values

# A column of missing values needs this many of them, and as many others.
FEWEST_ROWS = 5


@dataclass(frozen=True, eq=False)
class Indicators:
    """A task on numbers alone, and what each of its columns stands for.

    Attributes
    ----------
    task : Task
        The task as it was given.
    summands : tuple of int or Membership
        A column of numbers, or a condition that is 0 or 1.
    numbers : Task
        The task with these as columns; a missing number is the mean of its column.
    """

    task: Task
    summands: tuple[Summand, ...]
    numbers: Task

    @classmethod
    def of(cls, task: Task, *, dates: bool) -> Indicators:
        """Return columns for numbers, levels and missing values, and for dates if wanted."""
        X, weight = task.X, task.weight
        kinds = ("number", "flag", "date", "time", "duration") if dates else ("number", "flag")
        numbers = [j for j in range(X.n_columns) if X.column(j).levels is None and X.column(j).kind in kinds]
        levels = [one for sums in levels_of(X, weight) for one in sums.most_frequent()]
        missing, total = weight @ np.isnan(X.matrix), float(np.add.reduce(weight))
        lacking = [j for j in sorted(X.incomplete) if FEWEST_ROWS <= missing[j] <= total - FEWEST_ROWS]
        conditions = [*levels, *(Membership(j, (), missing=True) for j in lacking)]
        summands: tuple[Summand, ...] = (*numbers, *conditions)
        if not summands:
            raise ValueError("X has no column to learn from: no numbers, and no level with enough rows.")
        matrix = np.column_stack([summand_values(one, X) for one in summands])
        columns = [Column(X.column(j).name, kind="flag" if X.column(j).kind == "flag" else "number") for j in numbers]
        columns += [Column(one.describe(X.columns), kind="flag") for one in conditions]
        return cls(task, summands, replace(task, X=Block.of_matrix(filled_with_means(matrix, weight), columns)))

    def restored(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Return an ensemble on these columns as one on those of the task."""
        rules = [Rule(rule.weight, Conjunction(map(self._test, rule.condition))) for rule in ensemble]
        rules = [Rule(rule.weight, strictest(rule.condition) or rule.condition) for rule in rules]
        restored = RuleEnsemble(rules, ensemble.intercept, self.task.columns, ensemble.outputs)
        # Dates, among others, are whole numbers.
        return restored.with_propositions(Shortening(self.task.X).with_whole_threshold)

    def _test(self, test: Test) -> Test:
        if isinstance(test, Membership):
            raise TypeError("Columns of numbers have no levels.")
        summands = [self.summands[column] for column in test.columns if isinstance(column, int)]
        placed = Proposition(summands, test.weights, test.threshold)
        # The sums of rows with a missing number differ; the condition says of all of them what holds for most.
        lacking = placed.lacks(self.task.X) if self.task.X.incomplete else np.zeros(0, dtype=np.bool_)
        if lacking.any():
            weight = self.task.weight[lacking]
            placed = placed.with_missing(bool(2.0 * weight[test(self.numbers.X)[lacking]].sum() > weight.sum()))
        return in_whole_numbers(placed, self.task.X)


def grow_on_numbers(method: Method, task: Task, grow: Callable[[Task], Growth], *, dates: bool) -> Growth:
    """Let a method that knows numbers alone learn from levels, dates and missing values too."""
    if not task.X.incomplete and all(column.kind == "flag" for _, column in task.columns.special):
        return grow(task)
    task = task.merged()  # the order of rows, and how often equal ones are given, must not change means
    indicators = Indicators.of(task, dates=dates)
    growth = grow(indicators.numbers)
    path = [indicators.restored(ensemble) for ensemble in growth.path]
    if task.X.incomplete:
        for place, one in enumerate(path):
            start, fixed = one.weight_table, np.zeros(1 + len(one), dtype=np.bool_)
            weights = method.refitted(one, task.sample, task.loss, start, fixed, task.class_weights)
            path[place] = one.with_weight_table(weights)
    return replace(growth, path=front(path, task))


def training_risk(ensemble: RuleEnsemble, task: Task) -> float:
    """Return the mean loss on the training rows."""
    return task.loss.risk(task.sample.y, ensemble(task.sample.X), task.sample.weight)


def front(ensembles: Iterable[RuleEnsemble], task: Task) -> tuple[RuleEnsemble, ...]:
    """Return the Pareto front of ensembles by complexity and training risk."""
    risks = [(ensemble, training_risk(ensemble, task)) for ensemble in ensembles]
    return tuple(ensemble for ensemble, _ in pareto(risks, lambda pair: (pair[0].complexity, pair[1])))
