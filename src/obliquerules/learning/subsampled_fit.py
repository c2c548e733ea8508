"""All rows: the weights of rules whose conditions were learned from some of many rows, fitted to all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix, Vector
from obliquerules.data.blocks import ON_ONE_PROCESSOR, RowBlock, RowBlocks, RowsInMemory
from obliquerules.data.subsample import subsample
from obliquerules.data.typical_ranges import TypicalRanges
from obliquerules.kernels.rule_weights import WeightFinder
from obliquerules.learning.method import Growth, Method, Task, factor_scales
from obliquerules.learning.refit import weights_of_patterns
from obliquerules.losses import Loss
from obliquerules.rules import Block, Conjunction, Factor, RuleEnsemble
from obliquerules.rules.ensemble import used_columns
from obliquerules.rules.numbers import rounded_to
from obliquerules.rules.path_table import pareto
from obliquerules.status_line import StatusLine, opened

# Larger ensembles are not fitted to a table of firing patterns: it has two to the power of the number of rules.
MOST_IN_TABLE = 12
MAX_STEPS, MAX_HALVINGS = 30, 30
# Newton's method ends when the next step would lower the objective by no more than this share of it.
TOLERANCE = 1e-13
# Sums over rows in another order change digits beyond these.
DIGITS = 9
# Smaller weights, in the unit of scores, may be rounding errors.
NEXT_TO_NOTHING = 1e-4
# Relative jitter of second derivatives.
JITTER = 1e-12


def grown(method: Method, task: Task) -> Growth:
    """Return what a method learns: from all rows or, if there are many, conditions from some rows and weights from all."""
    if method.search_rows is None or len(task.y) <= method.search_rows or not method.can_learn_from_some(task):
        return grown_from_all(method, task)
    frequency = task.weight if task.frequency is None else task.frequency
    unit = weight_unit(float(np.add.reduce(frequency)), int(np.count_nonzero(frequency)))
    rows = RowsInMemory(task.X, task.y, task.weight * unit, task.offset, frequency * unit, method.n_jobs)
    with ON_ONE_PROCESSOR:  # once for all that follows: to look for libraries takes longer than some passes
        return grown_on(rows, len(task.y), method, task)


def grown_from_all(method: Method, task: Task) -> Growth:
    """Return what a method learns from all rows."""
    task = replace(task, X=task.X.in_doubles())
    with _line_of(method, task):
        growth = method.grow(task)
    return replace(growth, ranges=task.sample.ranges(used_columns(growth.path)))


def weight_unit(total: float, counted: int) -> float:
    """Return by what weights are multiplied so that they count rows: smaller ones, such as shares, must be relative."""
    return max(1.0, rounded_to(counted / total, DIGITS))


def grown_on(rows: RowBlocks, n_rows: int, method: Method, about: Task) -> Growth:
    """Return conditions learned from some rows, with weights from all; from all rows if they are few enough.

    The task is about all rows, but it need not have them.
    """
    loss, most = about.loss, n_rows if method.search_rows is None else method.search_rows
    some, every = subsample(rows, loss.strata, 1 if about.labels is None else len(about.labels), most)
    task = replace(about, X=some.X, y=some.y, weight=some.weight, offset=some.offset, frequency=some.frequency, groups=None)
    if every:
        return grown_from_all(method, task)
    with _line_of(method, task) as line:
        growth = method.grow(task)
        if method.free_weights:
            line.begin("weights of all rows", 1.0, 1.0)
            ridges = growth.ridges or [None] * len(growth.path)
            penalties = [method.penalty(loss, some.y, some.weight, ridge) for ridge in ridges]
            growth = refitted(growth, some, rows, loss, penalties)
    used = used_columns(growth.path)
    ends = rows.fold(lambda part: TypicalRanges.of(part.X, part.weight, used))
    return replace(growth, ranges=ends.ranges(), from_some=True)


def _line_of(method: Method, task: Task) -> AbstractContextManager[StatusLine]:
    """Open the status line of a fit, unless it is verbose."""
    return opened(task.learner, task.stopwatch.clock, shown=not method.verbose)


def refitted(growth: Growth, some: RowBlock, rows: RowBlocks, loss: Loss, penalties: Sequence[Any]) -> Growth:
    """Return what was learned from some rows with weights that are fitted to all, and a path that is one on all of them."""
    fitted = fitted_path(growth.path, some, rows, loss, penalties)
    chosen = range(len(fitted))[growth.chosen]
    # The first member is the constant, the reference of all losses; the chosen one stays whatever it costs.
    kept = pareto(range(len(fitted)), lambda index: (fitted[index][0].complexity, rounded_to(fitted[index][1], DIGITS)))
    kept = sorted({*kept, 0, chosen})
    unit = math.sqrt(float(np.average(some.y**2, weights=some.weight))) if loss.link_name == "identity" else 1.0
    path = tuple(_rounded(fitted[index][0], unit) for index in kept)
    by_member = {name: getattr(growth, name) for name in ("ridges", "expected", "standard_errors")}
    found: dict[str, Any] = {name: tuple(values[index] for index in kept if values) for name, values in by_member.items()}
    results = {name: values[kept] for name, values in growth.notes.get("cv_results_", {}).items()}
    notes = {**growth.notes, **({"cv_results_": results} if results else {})}
    return replace(growth, path=path, chosen=kept.index(chosen), notes=notes, **found)


def _rounded(ensemble: RuleEnsemble, unit: float) -> RuleEnsemble:
    """Round weights, so that the order of summation does not count.

    Of many classes, the largest weight of a rule decides on the digits of all. A weight next to nothing, in the unit of scores,
    gets no further digits; that of a slope has another unit.
    """
    table = ensemble.weight_table
    largest = np.abs(table.reshape(len(table), -1)).max(axis=1)
    sloped = np.array([False, *(rule.factor is not None for rule in ensemble)])
    least = np.where(sloped, largest, np.maximum(largest, unit * NEXT_TO_NOTHING))
    decimals = [DIGITS - 1 - math.floor(math.log10(most)) if most > 0.0 else 0 for most in least.tolist()]
    # Adding zero makes a negative zero positive.
    rounded = [
        [round(one, places) + 0.0 for one in np.ravel(row).tolist()] for row, places in zip(table, decimals, strict=True)
    ]
    return ensemble.with_weight_table(np.reshape(rounded, table.shape))


def fitted_path(
    path: Sequence[RuleEnsemble], some: RowBlock, rows: RowBlocks, loss: Loss, penalties: Sequence[Any]
) -> list[tuple[RuleEnsemble, float]]:
    """Return ensembles with weights fitted to all rows, each with its loss, less that of scores of zero.

    Each has a penalty of its own. The standard deviations of factors, in which a ridge counts their weights, are those of
    ``some`` of the rows.
    """
    terms = Terms.of(path)
    in_table = [_has_table(ensemble) and rows.n_offsets == 0 for ensemble in path]
    penalised = list(zip(path, penalties, in_table, strict=True))
    tabled = [(ensemble, penalty) for ensemble, penalty, one in penalised if one]
    others = [(ensemble, penalty) for ensemble, penalty, one in penalised if not one]
    by_table = iter(_by_tables(tabled, terms, rows, loss) if tabled else ())
    scales = [factor_scales(one, some.X, some.weight) for one, _ in others]
    units = [np.ones(1 + len(one)) if scale is None else scale for (one, _), scale in zip(others, scales, strict=True)]
    by_newton = iter(_by_newton(others, terms, rows, loss, units) if others else ())
    return [next(by_table if one else by_newton) for one in in_table]


@dataclass(frozen=True, eq=False)
class Terms:
    """The different terms of the ensembles of a path: a condition, a factor, or both.

    Attributes
    ----------
    place : dict from (Conjunction, Factor or None) to int
        The column of each term.
    """

    place: dict[tuple[Conjunction, Factor | None], int]

    @classmethod
    def of(cls, path: Sequence[RuleEnsemble]) -> Terms:
        """Return the terms of ensembles."""
        found = dict.fromkeys((rule.condition, rule.factor) for ensemble in path for rule in ensemble)
        return cls({term: place for place, term in enumerate(found)})

    def columns(self, ensemble: RuleEnsemble) -> list[int]:
        """Return the column of each rule."""
        return [self.place[rule.condition, rule.factor] for rule in ensemble]

    def fires(self, X: Block, columns: Sequence[int]) -> dict[int, NDArray[np.bool_]]:
        """Return the rows on which the conditions of some terms hold."""
        wanted = set(columns)
        return {column: condition(X) for (condition, _), column in self.place.items() if column in wanted}

    def values(self, X: Block, columns: Sequence[int]) -> Matrix:
        """Return the values of all terms, of which only some columns are filled."""
        fires = self.fires(X, columns)
        values = np.empty((len(X), len(self.place)), order="F")
        for (_, factor), column in self.place.items():
            if column in fires:
                values[:, column] = fires[column] if factor is None else np.where(fires[column], factor(X), 0.0)
        return values


# ---- tables of firing patterns -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PatternSums:
    """For each ensemble, and each pattern in which its rules may fire, sums over rows: of weights and weighted targets.

    Attributes
    ----------
    sums : tuple of array of shape (2**n_rules, n_sums)
    """

    sums: tuple[Matrix, ...]

    def __add__(self, other: PatternSums) -> PatternSums:
        return PatternSums(tuple(one + two for one, two in zip(self.sums, other.sums, strict=True)))


def _has_table(ensemble: RuleEnsemble) -> bool:
    """Say whether the firing patterns of an ensemble make a table of a size that can be kept."""
    return len(ensemble) <= MOST_IN_TABLE and all(rule.factor is None for rule in ensemble)


def _by_tables(
    path: Sequence[tuple[RuleEnsemble, Any]], terms: Terms, rows: RowBlocks, loss: Loss
) -> list[tuple[RuleEnsemble, float]]:
    """Return ensembles with weights fitted to their firing patterns, which say all that rows say; see `Loss`."""
    columns = [terms.columns(ensemble) for ensemble, _ in path]
    used = sorted({column for own in columns for column in own})

    def sums(part: RowBlock) -> PatternSums:
        fires = terms.fires(part.X, used)
        return PatternSums(tuple(_pattern_sums([fires[column] for column in own], part, loss) for own in columns))

    tables = rows.fold(sums).sums
    return [_fitted_to_table(one, table, loss, penalty) for (one, penalty), table in zip(path, tables, strict=True)]


def _pattern_sums(fires: list[NDArray[np.bool_]], part: RowBlock, loss: Loss) -> Matrix:
    pattern = np.zeros(len(part.y), dtype=np.intp)
    for fired in fires:
        pattern = 2 * pattern + fired
    size = 1 << len(fires)
    if loss.by_class:
        cells = np.bincount(pattern * loss.n_classes + part.y.astype(np.intp), part.weight, size * loss.n_classes)
        return cells.astype(np.float64).reshape(size, loss.n_classes)
    targets = np.bincount(pattern, part.weight * part.y, size)
    return np.column_stack([np.bincount(pattern, part.weight, size), targets])


def _fitted_to_table(ensemble: RuleEnsemble, table: Matrix, loss: Loss, ridge: Any) -> tuple[RuleEnsemble, float]:
    met = np.flatnonzero((table.sum(axis=1) if loss.by_class else table[:, 0]) > 0.0)
    # The first rule is the highest binary digit of a pattern.
    digits = np.arange(len(ensemble) - 1, -1, -1)
    design = np.column_stack([np.ones(len(met)), (met[:, None] >> digits) & 1]).astype(np.float64)
    cells = table[met]
    weight = cells.sum(axis=1) if loss.by_class else cells[:, 0].copy()
    target = cells / weight[:, None] if loss.by_class else cells[:, 1] / weight
    weights = weights_of_patterns(design, np.arange(len(met)), target, weight, loss, ridge, ensemble.weight_table)
    if not loss.by_class:
        descent = Descent(list(range(len(ensemble))), np.append(0.0, np.full(len(ensemble), float(ridge))), weights, weights)
        descent.step(*descent.sums(design[:, 1:], target, weight, np.zeros(len(met)), loss))
        weights = descent.best
    score = np.einsum("ij,j...->i...", design, weights)
    return ensemble.with_weight_table(weights), _above_zero(loss, target, weight, score)


def _above_zero(loss: Loss, y: Vector, weight: Vector, score: Vector) -> float:
    """Return the loss of scores, less that of scores of zero: then the mean target of rows says all that their targets do."""
    return float(np.add.reduce(weight * (loss.value(y, score) - loss.value(y, np.zeros_like(score)))))


# ---- Newton's method -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NewtonSums:
    """Sums over rows for each of some ensembles: of losses above those of scores of zero, gradients and second derivatives."""

    value: Vector
    gradient: tuple[Vector, ...]
    hessian: tuple[Matrix, ...]

    def __add__(self, other: NewtonSums) -> NewtonSums:
        gradients, hessians = zip(self.gradient, other.gradient, strict=True), zip(self.hessian, other.hessian, strict=True)
        return NewtonSums(
            self.value + other.value,
            tuple(one + two for one, two in gradients),
            tuple(one + two for one, two in hessians),
        )


@dataclass(eq=False)
class Descent:
    """Newton's method on the weights of one ensemble, step by step: the sums over rows come from elsewhere.

    Attributes
    ----------
    columns : list of int
        The columns of the terms.
    penalty : array of shape (1 + n_rules,)
        The ridge of each weight.
    weights : array of shape (1 + n_rules,)
        The weights at which sums are wanted.
    best : array of shape (1 + n_rules,)
        The best weights so far, at which the loss, above that of scores of zero, is ``loss`` and the objective ``least``.
    """

    columns: list[int]
    penalty: Vector
    weights: Vector
    best: Vector
    loss: float = math.inf
    least: float = math.inf
    done: bool = False
    halvings: int = 0

    @property
    def table(self) -> Matrix:
        """The best weights, in the shape of `RuleEnsemble.weight_table`."""
        return self.best

    def sums(self, values: Matrix, y: Vector, row_weight: Vector, offset: Vector, loss: Loss) -> tuple[float, Vector, Matrix]:
        """Return value, gradient and second derivatives of the loss of a block."""
        lines = np.empty((1 + len(self.columns), len(values)))
        lines[0] = 1.0
        for place, column in enumerate(self.columns, start=1):
            lines[place] = values[:, column]
        return WeightFinder(lines, y, row_weight, offset, loss.family, 0.0, loss.power).sums(self.weights)

    def step(self, value: float, gradient: Vector, hessian: Matrix) -> None:
        """Take a step, given the sums at the present weights; a step that does not lower the objective is halved."""
        objective = value + 0.5 * float(self.penalty @ self.weights**2)
        if not objective < self.least:
            self.halvings += 1
            self.done = self.halvings > MAX_HALVINGS or bool((self.weights == self.best).all())
            self.weights = self.best + 0.5 * (self.weights - self.best)
            return
        self.best, self.loss, self.least, self.halvings = self.weights, value, objective, 0
        slope = gradient + self.penalty * self.weights
        curvature = hessian + np.diag(self.penalty)
        # Rules that fire on the same rows leave it singular without a ridge.
        curvature[np.diag_indices(len(curvature))] *= 1.0 + JITTER
        step = np.linalg.lstsq(curvature, -slope, rcond=None)[0]
        self.weights = self.best + step
        if -0.5 * float(slope @ step) <= TOLERANCE * max(abs(objective), 1.0):
            # The last step changes the objective by nothing that can be measured, but weights by half of their digits.
            self.best, self.done = self.weights, True


@dataclass(eq=False)
class ClassDescent(Descent):
    """Newton's method on the weights of many classes, those that are ``free``, line by line of the table of weights.

    Attributes
    ----------
    free : array of shape (1 + n_rules, n_classes)
    """

    free: NDArray[np.bool_] = field(kw_only=True)

    @property
    def table(self) -> Matrix:
        """The table of the best weights, in which constants add up to zero."""
        table = np.zeros(self.free.shape)
        table[self.free] = self.best
        table[0] -= table[0].mean()
        return table

    def sums(self, values: Matrix, y: Vector, row_weight: Vector, offset: Vector, loss: Loss) -> tuple[float, Vector, Matrix]:
        """Return value, gradient and second derivatives of the loss of a block."""
        table = np.zeros(self.free.shape)
        table[self.free] = self.weights
        design = np.column_stack([np.ones(len(values)), values[:, self.columns]])
        score = design @ table + offset.reshape(len(values), -1)
        column, output = np.nonzero(self.free)
        mean = loss.inverse_link(score)
        gradient = (design.T @ (row_weight[:, None] * (mean - loss.in_shares(y))))[self.free]
        spread = design[:, column] * mean[:, output]
        hessian = -(spread.T * row_weight) @ spread
        for k in range(self.free.shape[1]):
            own = np.flatnonzero(output == k)
            hessian[np.ix_(own, own)] += (spread[:, own].T * row_weight) @ design[:, column[own]]
        return float(np.add.reduce(row_weight * loss.value(y, score))), gradient, hessian


def _descent(terms: Terms, ensemble: RuleEnsemble, penalty: Any, scale: Vector) -> Descent:
    """Return Newton's method for an ensemble, whose penalty counts weights in units of a scale."""
    columns, start, size = terms.columns(ensemble), ensemble.weight_table, scale**2
    size[0] = 0.0
    if start.ndim == 1:
        return Descent(columns, penalty * size, start, start)
    free = (start != 0.0) | (start == 0.0).all(axis=1, keepdims=True)
    free[0] = True
    return ClassDescent(columns, np.multiply.outer(size, penalty)[free], start[free], start[free], free=free)


def _by_newton(
    path: Sequence[tuple[RuleEnsemble, Any]], terms: Terms, rows: RowBlocks, loss: Loss, scales: Sequence[Vector]
) -> list[tuple[RuleEnsemble, float]]:
    """Return ensembles with weights fitted to rows, all of them by the same passes over the rows."""
    descents = [_descent(terms, one, penalty, scale) for (one, penalty), scale in zip(path, scales, strict=True)]
    for _ in range(MAX_STEPS):
        going = [descent for descent in descents if not descent.done]
        if not going:
            break
        found = rows.fold(partial(_newton_sums, descents=going, terms=terms, loss=loss))
        for descent, *sums in zip(going, found.value, found.gradient, found.hessian, strict=True):
            descent.step(*sums)
    return [(one.with_weight_table(descent.table), descent.loss) for (one, _), descent in zip(path, descents, strict=True)]


def _newton_sums(part: RowBlock, descents: Sequence[Descent], terms: Terms, loss: Loss) -> NewtonSums:
    values = terms.values(part.X, sorted({column for descent in descents for column in descent.columns}))
    offset = np.zeros(len(part.y)) if part.offset is None else part.offset
    # In a partition of a table, a column may lie between others.
    y, weight, offset = (np.ascontiguousarray(one, dtype=np.float64) for one in (part.y, part.weight, offset))
    sums = [descent.sums(values, y, weight, offset, loss) for descent in descents]
    value, gradient, hessian = zip(*sums, strict=True)
    nothing = np.zeros((len(part.y), loss.n_classes) if loss.by_class else len(part.y))
    at_zero = float(np.add.reduce(part.weight * loss.value(part.y, nothing)))
    return NewtonSums(np.array(value) - at_zero, gradient, hessian)
