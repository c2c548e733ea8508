"""Refit: the corrective step, the best weights of all terms of an ensemble at once, over firing patterns or blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Vector
from obliquerules.data.blocks import RowBlock, RowBlocks
from obliquerules.data.sample import Sample
from obliquerules.kernels.class_weights import ClassWeightFinder
from obliquerules.kernels.rule_weights import WeightFinder, loss_of_each, weighted_products
from obliquerules.learning.firing_patterns import FiringPatterns, Patterns
from obliquerules.losses import LOSSES, NO_FORMULA, Loss
from obliquerules.rules import Block, RuleEnsemble, Term

# The share of the objective that a further step would win at the end.
EXACT = 1e-13
# The same where weights are fitted to judge an ensemble: the loss is then exact to six digits or more.
JUDGED = 1e-7
# Relative jitter that makes a Hessian invertible whatever the rules are; a rule with a smaller share of its own is redundant.
TINY = 1e-9
# Relative jitter of second derivatives in Newton's method.
JITTER = 1e-12
MAX_STEPS, MAX_STEPS_OVER_ROWS, MAX_HALVINGS = 500, 30, 30
# Larger ensembles are not fitted to a table of firing patterns: it has two to the power of the number of rules.
MOST_IN_TABLE = 12
# How far the score of an OR stays from zero, so that it keeps its sign when it is added up from printed weights.
MARGIN = 0.01


# The start may be so far away that scores overflow.
@np.errstate(over="ignore", invalid="ignore")
def refit(
    patterns: Patterns,
    y: Vector,
    row_weight: Vector,
    loss: Loss,
    ridge: Any,
    start: Matrix,
    *,
    free: Mask | None = None,
    scale: Vector | None = None,
    lower: Matrix | None = None,
    upper: Matrix | None = None,
    tolerance: float = EXACT,
) -> Matrix:
    """Return the best weights of all terms at once, the first being the constant.

    They minimise sum_i c_i loss(y_i, o_i + (design b)_i) + ridge/2 sum_{j>0} b_j^2.

    Rows with the same pattern have the same score, so they are one row with their mean target and summed weight: see `Loss`
    for why this is exact. With many classes, weights have a column for each class, the ridge is one for each, and constants
    add up to zero.

    Without bounds, the compiled Newton's method halves each step until it lowers the objective. Where scores are saturated at
    the start, damped steps from the best constant replace it, so that the minimum does not depend on the start. Without a
    ridge the minimum may lie at infinity, as on separable rows; a ridge of 1e-16 of the weight of all rows then holds weights
    beyond 100. Bounds, and losses without a compiled formula, take Newton's method with an active set.

    Parameters
    ----------
    patterns : FiringPatterns or RowPatterns
    y : array of shape (n_rows,) or, as shares of classes, (n_rows, n_classes)
    row_weight : array of shape (n_rows,)
    loss : Loss
    ridge : float or array of shape (n_classes,)
    start : array of shape (1 + n_terms,) or (1 + n_terms, n_classes)
    free : array of shape (1 + n_terms,) or that of start, optional
        The weights to fit. The others keep their start to the last bit, and are left out of the ridge. By default, all; of many
        classes, those for which the start of a term is not zero, unless it is zero for all.
    scale : array of shape (1 + n_terms,), optional
        The unit of each column: the ridge counts weights times this, so that the unit of a slope does not matter.
    lower, upper : array of the shape of start, optional
        Bounds on the weights; those of the constant do not count.
    tolerance : float
        With many classes, the share of the objective that a further step would win at the end.
    """
    fitted = free_weights(start, free)
    lines, weight, target, offset = patterns.lines, patterns.sums(row_weight), loss.in_shares(y), patterns.offset
    total = patterns.sums((row_weight * target.T).T)
    met = weight > 0.0
    if not met.all():
        lines, total, weight, offset = lines[:, met], total[met], weight[met], None if offset is None else offset[met]
    target = (total.T / weight).T
    units = np.ones(start.shape) if scale is None else np.broadcast_to(scale, start.T.shape).T
    lines, scaled = lines if scale is None else lines / scale[:, None], start * units
    given = np.zeros(target.shape) if offset is None else offset
    if not fitted.all():
        given = given + np.einsum("ji,j...->i...", lines, np.where(fitted, 0.0, scaled))
    problem = _Problem(lines, target, weight, given, loss, ridge, fitted)
    if lower is None and upper is None:
        found = problem.minimum(scaled[fitted], tolerance)
    else:
        lowest, highest = (-np.inf if lower is None else lower) * units, (np.inf if upper is None else upper) * units
        found = problem.bounded_minimum(scaled[fitted], lowest[fitted], highest[fitted])
    weights = np.array(start, dtype=np.float64)
    weights[fitted] = found / units[fitted]
    return weights


def free_weights(start: Matrix, free: Mask | None = None) -> Mask:
    """Return which weights are fitted, in the shape of the start; see `refit`."""
    fitted = np.ones(start.shape, dtype=np.bool_)
    if start.ndim > 1:
        fitted[1:] = (start[1:] != 0.0) | (start[1:] == 0.0).all(axis=1, keepdims=True)
    if free is not None:
        fitted = free.copy() if free.ndim == start.ndim else fitted & free[:, None]
    if not fitted[0].all():
        raise ValueError("The first column is the constant, which is never fixed.")
    return fitted


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows with mean targets, and the weights to fit to them.

    ``lines`` has a line for each term, ``free`` the shape of the table of weights.
    """

    lines: Matrix
    target: Matrix
    weight: Vector
    offset: Matrix
    loss: Loss
    ridge: Any
    free: Mask

    def minimum(self, start: Vector, tolerance: float) -> Vector:
        """Return the best weights without bounds."""
        if not self.loss.by_class:
            lines = self.lines if self.free.all() else self.lines[self.free]
            finder = weight_finder(lines, self.target, self.weight, self.offset, self.loss, float(self.ridge))
            found: Vector = finder.run(_array(start))[0]
            return found
        column, output = map(np.ascontiguousarray, np.nonzero(self.free))
        rows = (_array(self.lines.T), _array(self.target), _array(self.weight), _array(self.offset))
        return ClassWeightFinder(*rows, column, output, _array(self.ridge)[output]).run(_array(start), tolerance)[0]

    def bounded_minimum(self, start: Vector, lower: Vector, upper: Vector) -> Vector:
        """Return the best weights within bounds; the constant is unbounded."""
        is_constant = np.nonzero(self.free)[0] == 0
        best, ridge = self.loss.best_constant(self.target, self.weight), self.ridge
        constant, penalty = (np.broadcast_to(one, self.free.shape)[self.free] for one in (best, ridge))
        starts = start, np.where(is_constant, constant, 0.0)
        ends = np.where(is_constant, -np.inf, lower), np.where(is_constant, np.inf, upper)
        return minimised(self.sums, starts, np.diag(np.where(is_constant, 0.0, penalty)), *ends)

    def sums(self, weights: Vector) -> Sums:
        """Return the loss at some weights, its gradient and its second derivatives."""
        return loss_sums(self.lines, self.free, weights, self.target, self.weight, self.offset, self.loss)


def _array(values: Any) -> Matrix:
    return np.ascontiguousarray(values, dtype=np.float64)


# ---- Newton's method ---------------------------------------------------------------------------------------------------------

# A loss, its gradient and its Hessian in the free weights.
Sums = tuple[float, Vector, Matrix]


def loss_sums(lines: Matrix, free: Mask, weights: Vector, y: Vector, row_weight: Vector, offset: Matrix, loss: Loss) -> Sums:
    """Return the loss of rows at some weights, its gradient and its Hessian.

    The weights are those that are ``free`` in the table of all, line by line; what the others add is part of the offset.
    """
    if not loss.by_class:
        lines = lines if free.all() else lines[free]
        found: Sums = weight_finder(lines, y, row_weight, offset, loss, 0.0).sums(_array(weights))
        return found
    table = np.zeros(free.shape)
    table[free] = weights
    design = lines.T
    score = design @ table + offset
    column, output = np.nonzero(free)
    mean = loss.inverse_link(score)
    gradient = (lines @ (row_weight[:, None] * (mean - loss.in_shares(y))))[free]
    spread = design[:, column] * mean[:, output]
    hessian = -(spread.T * row_weight) @ spread
    for k in range(free.shape[1]):
        own = np.flatnonzero(output == k)
        hessian[np.ix_(own, own)] += (spread[:, own].T * row_weight) @ design[:, column[own]]
    return float(np.add.reduce(row_weight * loss.value(y, score))), gradient, hessian


@dataclass(eq=False)
class Newton:
    """Newton's method with an active set for bounds, given sums over rows.

    Attributes
    ----------
    weights : array of shape (n_weights,)
        The weights at which sums are wanted.
    penalty : array of shape (n_weights, n_weights)
        The penalty of weights b is b.penalty.b / 2.
    lower, upper : array of shape (n_weights,) or float
    best : array of shape (n_weights,)
        The best weights so far, at which the loss is ``loss`` and the objective ``least``.
    """

    weights: Vector
    penalty: Matrix
    lower: Any = -math.inf
    upper: Any = math.inf
    loss: float = math.inf
    least: float = math.inf
    done: bool = False
    halvings: int = 0

    def __post_init__(self) -> None:
        self.best = self.weights = np.clip(self.weights, self.lower, self.upper)

    def step(self, value: float, gradient: Vector, hessian: Matrix) -> None:
        """Take a step, halved if the last one did not lower the objective."""
        objective = value + 0.5 * float(self.weights @ self.penalty @ self.weights)
        if not objective < self.least:
            self.halvings += 1
            self.done = self.halvings > MAX_HALVINGS or bool((self.weights == self.best).all())
            self.weights = self.best + 0.5 * (self.weights - self.best)
            return
        self.best, self.loss, self.least, self.halvings = self.weights, value, objective, 0
        slope = gradient + self.penalty @ self.weights
        curvature = hessian + self.penalty
        # Rules that fire on the same rows leave it singular without a ridge.
        curvature[np.diag_indices(len(curvature))] *= 1.0 + JITTER
        step = step_within(curvature, slope, self.lower - self.best, self.upper - self.best)
        self.weights = np.clip(self.best + step, self.lower, self.upper)
        if -0.5 * float(slope @ step) <= EXACT * max(abs(objective), 1.0):
            # The last step changes the objective by nothing that can be measured, but weights by half of their digits.
            self.best, self.done = self.weights, True


def step_within(curvature: Matrix, slope: Vector, lowest: Vector, highest: Vector) -> Vector:
    """Return the minimum of a quadratic model within bounds, by an active set."""
    step, n_weights = np.zeros(len(slope)), len(slope)
    held = ((lowest >= 0.0) & (slope > 0.0)) | ((highest <= 0.0) & (slope < 0.0))
    for _ in range(20 * n_weights):
        aim, own = step.copy(), ~held
        aim[own] = np.linalg.lstsq(curvature[np.ix_(own, own)], -(slope + curvature[:, held] @ step[held])[own], rcond=None)[0]
        beyond = own & ((aim < lowest) | (aim > highest))
        if beyond.any():
            # As far as the first bound on the way, at which that weight is held from now on.
            bound = np.where(aim < lowest, lowest, highest)[beyond]
            shares = np.divide(bound - step[beyond], aim[beyond] - step[beyond])
            first = np.flatnonzero(beyond)[int(shares.argmin())]
            step = np.where(own, step + shares.min() * (aim - step), step)
            step[first], held[first] = bound[int(shares.argmin())], True
            continue
        step = aim
        pull = slope + curvature @ step
        inward = np.where(held, np.where(step <= lowest, -pull, pull), 0.0)
        if not inward.max(initial=0.0) > JITTER * np.abs(slope).max():
            break
        held[int(inward.argmax())] = False
    return step


def minimised(
    sums: Callable[[Vector], Sums], starts: Sequence[Vector], penalty: Matrix, lower: Any = -math.inf, upper: Any = math.inf
) -> Vector:
    """Return the best weights within bounds, from the better start."""
    newtons = [Newton(start, penalty, lower, upper) for start in starts]
    for newton in newtons:
        newton.step(*sums(newton.weights))
    newton = min(newtons, key=lambda one: one.least)
    for _ in range(MAX_STEPS):
        if newton.done:
            break
        newton.step(*sums(newton.weights))
    return newton.best


# ---- one score: the compiled method, and its place for losses without a compiled formula -----------------------------------


def weight_finder(lines: Matrix, y: Vector, row_weight: Vector, offset: Vector, loss: Loss, ridge: float) -> Any:
    """Return Newton's method for one score, compiled if the loss is."""
    arrays = _array(lines), _array(y), _array(row_weight), _array(offset)
    if loss.family == NO_FORMULA:
        return PlainFinder(*arrays, loss, ridge)
    return WeightFinder(*arrays, loss.family, ridge, loss.power)


@dataclass(frozen=True, eq=False)
class PlainFinder:
    """What `WeightFinder` is to compiled losses, for any loss of one score."""

    lines: Matrix
    y: Vector
    row_weight: Vector
    offset: Vector
    loss: Loss
    ridge: float

    def sums(self, weights: Vector) -> Sums:
        """Return the loss at some weights, without the ridge, its gradient and its second derivatives."""
        score = self.offset + weights @ self.lines
        gradient = self.lines @ (self.row_weight * self.loss.gradient(self.y, score))
        hessian = (self.lines * (self.row_weight * self.loss.hessian(score, self.y))) @ self.lines.T
        return float(np.add.reduce(self.row_weight * self.loss.value(self.y, score))), gradient, hessian

    def run(self, start: Vector) -> tuple[Vector]:
        """Return the minimising weights."""
        penalty = self.ridge * np.eye(len(start))
        penalty[0, 0] = 0.0
        constant = np.zeros(len(start))
        constant[0] = self.loss.best_constant(self.y, self.row_weight)
        return (minimised(self.sums, (start, constant), penalty),)

    def run_each(self, last: Matrix, start: Vector) -> tuple[Matrix, Vector]:
        """Return the best weights and their loss with each of some last lines."""
        found, losses = np.empty((len(last), len(start))), np.empty(len(last))
        for place, line in enumerate(last):
            lines = np.vstack([self.lines[:-1], line])
            finder = PlainFinder(lines, self.y, self.row_weight, self.offset, self.loss, self.ridge)
            found[place] = finder.run(start)[0]
            losses[place] = finder.sums(found[place])[0]
        return found, losses


def losses_of_each(
    lines: Matrix, last: Matrix, weights: Matrix, y: Vector, row_weight: Vector, offset: Vector, loss: Loss
) -> Vector:
    """Return the losses of ensembles that differ in their last line."""
    if loss.family != NO_FORMULA:
        return loss_of_each(lines, last, weights, y, row_weight, offset, loss.family, loss.power)
    scores = offset + weights[:, :1] + weights[:, 1:-1] @ lines + weights[:, -1:] * last
    return np.asarray(loss.value(y, scores) @ row_weight)


# ---- ensembles -----------------------------------------------------------------------------------------------------------


def fitted_weights(
    ensemble: RuleEnsemble, sample: Sample, loss: Loss, ridge: Any, start: Matrix, *, free: Mask | None = None
) -> Matrix:
    """Return the best constant and rule weights for the conditions and factors of an ensemble."""
    patterns = FiringPatterns.of_ensemble(ensemble, sample.X).with_offset(sample.offset)
    scale = factor_scales(ensemble, sample.X, sample.weight)
    return refit(patterns, sample.y, sample.weight, loss, ridge, start, scale=scale, free=free)


def factor_scales(ensemble: RuleEnsemble, X: Block, weight: Vector) -> Vector | None:
    """Return the standard deviation of each factor where it applies, 1 for rules; None without factors."""
    if all(rule.factor is None for rule in ensemble):
        return None
    return np.array([1.0, *(rule.scale(X, weight) for rule in ensemble)])


def or_weights(fires: Mask, y: Vector, row_weight: Vector, ridge: float) -> Vector:
    """Return the constant and rule weights of an OR: positive scores where some rule fires.

    They minimise the logistic loss plus ridge/2 sum_j b_j^2 over the constant -a and the weights b_j = a + c_j, a, c_j > 0.

    Where no rule fires the score is then -a, and where some do it is at least the least of their c_j: the sign of the score is
    the OR of the rules on any row, and its size is the log-odds of the rows for which the same rules fire, as far as a sum can
    say it. A region with the wrong majority gets even odds.
    """
    patterns = FiringPatterns.of(fires.T, len(y))
    weight = patterns.sums(row_weight)
    target = patterns.sums(row_weight * y) / weight
    # The score in terms of (a, c): a rule that fires adds a + c_j to -a.
    lines = np.vstack([patterns.lines[1:].sum(axis=0) - 1.0, patterns.lines[1:]])
    weights_of = np.column_stack([np.ones(fires.shape[1]), np.eye(fires.shape[1])])
    finder = weight_finder(lines, target, weight, np.zeros(len(weight)), LOSSES["logistic"], 0.0)
    found = minimised(finder.sums, (np.ones(len(lines)),), ridge * weights_of.T @ weights_of, MARGIN)
    return np.concatenate([[-found[0]], weights_of @ found])


# ---- blocks of rows, wherever they are -------------------------------------------------------------------------------------


def refit_path(
    path: Sequence[RuleEnsemble], some: RowBlock, rows: RowBlocks, loss: Loss, penalties: Sequence[Any]
) -> list[tuple[RuleEnsemble, float]]:
    """Return ensembles fitted to all rows, each with its loss above that of zero scores.

    Each has a penalty of its own. The standard deviations of factors, in which a ridge counts their weights, are those of
    ``some`` of the rows. Small ensembles of rules alone are fitted to a table of firing patterns, others by passes over rows.
    """
    place = {term: at for at, term in enumerate(dict.fromkeys(rule.term for ensemble in path for rule in ensemble))}
    fits: list[_TableFit | _NewtonFit] = []
    for ensemble, penalty in zip(path, penalties, strict=True):
        columns, size = [place[rule.term] for rule in ensemble], np.ones(1 + len(ensemble))
        if len(ensemble) <= MOST_IN_TABLE and all(rule.factor is None for rule in ensemble) and rows.n_offsets == 0:
            fits.append(_TableFit(ensemble, columns, loss, penalty))
            continue
        scale, start = factor_scales(ensemble, some.X, some.weight), ensemble.weight_table
        size = size if scale is None else scale**2
        size[0], free = 0.0, free_weights(start)
        newton = Newton(start[free], np.diag(np.multiply.outer(size, penalty)[free]))
        fits.append(_NewtonFit(ensemble, columns, loss, free, newton))
    for _ in range(MAX_STEPS_OVER_ROWS):
        going = [fit for fit in fits if not fit.done]
        if not going:
            break
        found = rows.fold(partial(_block_sums, going=going, terms=tuple(place), loss=loss)).of_fits
        for fit, sums in zip(going, found, strict=True):
            fit.step(*sums)
    return [fit.fitted for fit in fits]


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Arrays of sums over rows for each of several fits; those of several blocks are added."""

    of_fits: tuple[tuple[Any, ...], ...]

    def __add__(self, other: BlockSums) -> BlockSums:
        pairs = zip(self.of_fits, other.of_fits, strict=True)
        return BlockSums(tuple(tuple(one + two for one, two in zip(*pair, strict=True)) for pair in pairs))


def _block_sums(block: RowBlock, going: Sequence[_TableFit | _NewtonFit], terms: Sequence[Term], loss: Loss) -> BlockSums:
    used = {column for fit in going for column in fit.columns}
    values: dict[int, Any] = {column: term(block.X) for column, term in enumerate(terms) if column in used}
    nothing = np.zeros(loss.in_shares(block.y).shape)
    # In a partition of a table, a column may lie between others.
    y, weight, offset = _array(block.y), _array(block.weight), _array(nothing if block.offset is None else block.offset)
    at_zero = float(np.add.reduce(weight * loss.value(y, nothing)))
    found = (fit.sums([values[column] for column in fit.columns], y, weight, offset, at_zero) for fit in going)
    return BlockSums(tuple(found))


@dataclass(eq=False)
class _TableFit:
    """An ensemble fitted to a table of firing patterns, in one pass."""

    ensemble: RuleEnsemble
    columns: list[int]
    loss: Loss
    ridge: Any
    fitted: tuple[RuleEnsemble, float] = field(init=False)
    done: bool = False

    def sums(self, fires: list[Mask], y: Vector, weight: Vector, _: Matrix, __: float) -> tuple[Matrix]:
        """Return for each pattern the sums of weights and of weighted targets."""
        pattern = np.zeros(len(y), dtype=np.intp)
        for fired in fires:
            pattern = 2 * pattern + fired
        every, target = FiringPatterns(np.empty((1 << len(fires), 0)), pattern), self.loss.in_shares(y)
        return (np.column_stack([every.sums(weight), every.sums((weight * target.T).T)]),)

    def step(self, table: Matrix) -> None:
        """Fit the weights."""
        met, loss, start = np.flatnonzero(table[:, 0] > 0.0), self.loss, self.ensemble.weight_table
        # The first rule is the highest binary digit of a pattern.
        digits = np.arange(len(start) - 2, -1, -1)
        design = np.column_stack([np.ones(len(met)), (met[:, None] >> digits) & 1]).astype(np.float64)
        weight = table[met, 0].copy()
        target = (table[met, 1:] / weight[:, None]).reshape(len(met), *loss.output_shape)
        weights = refit(FiringPatterns(design, np.arange(len(met))), target, weight, loss, self.ridge, start)
        if not loss.by_class:
            newton = Newton(weights, np.diag(np.append(0.0, np.full(len(start) - 1, float(self.ridge)))))
            newton.step(*weight_finder(design.T, target, weight, np.zeros(len(met)), loss, 0.0).sums(weights))
            weights = newton.best
        score = np.einsum("ij,j...->i...", design, weights)
        # Less that of scores of zero: then the mean target of rows says all that their targets do.
        above_zero = weight * (loss.value(target, score) - loss.value(target, np.zeros_like(score)))
        self.fitted, self.done = (self.ensemble.with_weight_table(weights), float(np.add.reduce(above_zero))), True


@dataclass(frozen=True, eq=False)
class _NewtonFit:
    """An ensemble whose weights are fitted by passes over rows."""

    ensemble: RuleEnsemble
    columns: list[int]
    loss: Loss
    free: Mask
    newton: Newton

    @property
    def done(self) -> bool:
        """Whether no further pass is needed."""
        return self.newton.done

    def sums(self, values: list[Any], y: Vector, weight: Vector, offset: Matrix, at_zero: float) -> Sums:
        """Return the loss above that of scores of zero, its gradient and its second derivatives."""
        lines = np.empty((1 + len(values), len(y)))
        lines[0] = 1.0
        for place, one in enumerate(values, start=1):
            lines[place] = one
        value, gradient, hessian = loss_sums(lines, self.free, self.newton.weights, y, weight, offset, self.loss)
        return value - at_zero, gradient, hessian

    def step(self, value: float, gradient: Vector, hessian: Matrix) -> None:
        """Take a step of Newton's method."""
        self.newton.step(value, gradient, hessian)

    @property
    def fitted(self) -> tuple[RuleEnsemble, float]:
        """The ensemble with its best weights, and its loss."""
        table = np.zeros(self.free.shape)
        table[self.free] = self.newton.best
        table[0] = self.loss.centred(table[0])
        return self.ensemble.with_weight_table(table), self.newton.loss


# ---- coordinates in which the Hessian of the weights is the identity --------------------------------------------------------


def whitened(design: Matrix, by_pattern: Vector, ridge: float) -> Matrix:
    """Return the design in coordinates that make its Hessian, with the ridge, the identity.

    The second derivative of the loss in the score is given for each pattern, as a sum over its rows. If there is none, there
    are no such coordinates, and zeros are returned.
    """
    return np.ascontiguousarray(whitened_lines(np.ascontiguousarray(design.T), by_pattern, ridge).T)


def whitened_lines(columns: Matrix, by_pattern: Vector, ridge: float) -> Matrix:
    """Return what `whitened` does, with a line for each column of the design, as ``columns`` has."""
    if not by_pattern.sum() * TINY > np.finfo(np.float64).tiny:
        return np.zeros_like(columns)
    present = weighted_products(columns, by_pattern)
    # Of its own size, too: where one row has nearly all weight, the values of a slope are large.
    added = np.maximum(max(ridge, TINY * by_pattern.sum()), TINY * np.diag(present))
    added[0] = TINY * by_pattern.sum()
    present[np.diag_indices(len(present))] += added
    # Inverting the small factor is cheaper than solving for every pattern.
    return np.linalg.solve(np.linalg.cholesky(present), np.eye(len(present))) @ columns
