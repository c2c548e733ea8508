"""Method: a way to learn rules, with its parameters; every estimator has one, which does all the learning."""

from __future__ import annotations

import dataclasses
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.data.sample import Sample, hash_rows
from obliquerules.learning.refit import factor_scales, fitted_weights
from obliquerules.losses import Loss
from obliquerules.parameters import check_declared, jobs, real, seed, verbosity, whole_or_none
from obliquerules.rules import Block, Columns, Labels, RuleEnsemble
from obliquerules.rules.columns import Range
from obliquerules.status_line import Stopwatch

# What the rows of each class are multiplied by.
ClassWeights = tuple[float, ...] | None

# More rows make the search longer in proportion, and risks at equal complexity lower by a per cent or less on average.
SEARCH_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class GivenRows:
    """All rows as given, those of weight zero included: splitters and given splits number these.

    Attributes
    ----------
    place : array of shape (n_given,)
        The place of each row among those of the task, -1 for rows of weight zero.
    y : array of shape (n_given,)
    groups : array of shape (n_given,) or None
    """

    place: Positions
    y: NDArray[Any]
    groups: Positions | None

    @classmethod
    def of(cls, y: Any, weight: Vector, groups: Positions | None) -> GivenRows | None:
        """Return the given rows, None if none has weight zero."""
        counted = weight > 0.0
        if counted.all():
            return None
        return cls(np.where(counted, np.cumsum(counted) - 1, -1), np.asarray(y).ravel(), groups)


@dataclass(frozen=True, eq=False)
class Task:
    """What a method learns from.

    Attributes
    ----------
    X : Block
    y, weight : array of shape (n_samples,)
        Targets, as the numbers that the loss takes, and row weights.
    loss : Loss
    labels : Labels or None
        The classes that the targets 0 and 1 stand for, if they are classes.
    learner : str
        The name with which reports of progress begin.
    offset : array of shape (n_samples,) or (n_samples, n_classes), or None
        What is added to the scores of each row.
    groups : array of shape (n_samples,) or None
        The number of the group of each row; rows of a group are left out, held out and dealt into folds together.
    frequency : array of shape (n_samples,) or None
        How many observations each row stands for; None for the weights.
    stopwatch : Stopwatch
        Started when the fit began.
    given : GivenRows or None
        All rows that were given; None if none of them has weight zero.
    class_weights : tuple of float or None
        By what the weights of the rows of each class were multiplied.
    """

    X: Block
    y: Vector
    weight: Vector
    loss: Loss
    labels: Labels | None = None
    learner: str = "fit"
    offset: Matrix | None = None
    groups: Positions | None = None
    frequency: Vector | None = None
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    given: GivenRows | None = None
    class_weights: ClassWeights = None

    @property
    def columns(self) -> Columns:
        """The columns of X."""
        return Columns.of(self.X.names) if self.X.columns is None else self.X.columns

    @cached_property
    def sample(self) -> Sample:
        """The distinct rows."""
        return Sample.of(self.X, self.y, self.weight, self.offset, frequency=self.frequency, groups=self.groups)

    def merged(self) -> Task:
        """Return the task with equal rows merged, without groups."""
        sample = self.sample
        return dataclasses.replace(
            self,
            X=sample.X,
            y=sample.y,
            weight=sample.weight,
            offset=sample.offset,
            groups=None,
            frequency=sample.frequency,
            given=None,
        )

    def scores(self, ensemble: RuleEnsemble) -> Vector:
        """Return the scores of an ensemble, with the offset if there is one."""
        return ensemble(self.X, self.offset)

    def on(self, rows: NDArray[Any], share: Vector | float = 1.0) -> Task:
        """Return the task of a new fit to some rows with a share of their weights."""
        return dataclasses.replace(
            self,
            X=self.X.rows(rows),
            y=self.y[rows],
            weight=self.weight[rows] * share,
            offset=None if self.offset is None else self.offset[rows],
            groups=None if self.groups is None else self.groups[rows],
            frequency=None if self.frequency is None else self.frequency[rows] * share,
            stopwatch=self.stopwatch.restarted(),
            given=None,
        )

    def report(self, progress: str) -> None:
        """Report progress on standard error."""
        sys.stderr.write(f"[{self.learner}] {progress}\n")


@dataclass(frozen=True, eq=False)
class Growth:
    """What was learned.

    Attributes
    ----------
    path : tuple of RuleEnsemble
        Ensembles of growing complexity, the first of them the constant.
    n_iter : int
        The number of steps that learning took.
    chosen : int
        The position of the ensemble that predicts; -1 for the last.
    notes : dict
        Further fitted attributes of the estimator, by name.
    parameters : dict
        The values of parameters for which learning has found one, by name.
    ranges : tuple of Range
        The ranges of the columns that the path uses, on all rows.
    from_some : bool
        Whether the conditions were learned from some of the rows.
    ridges : tuple of float
        The ridge of each member of the path, in rows; empty if it is that of the method.
    expected : tuple of float
        The mean loss of each member to expect on new rows; empty if it is not known.
    standard_errors : tuple of float
        The standard error of each of them; empty unless they are cross-validated.
    separated : int or None
        The least complexity at which a member tells the classes of all training rows; None if none does.
    """

    path: tuple[RuleEnsemble, ...]
    n_iter: int
    chosen: int = -1
    notes: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    from_some: bool = False
    ridges: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()
    standard_errors: tuple[float, ...] = ()
    separated: int | None = None


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to learn rules.

    A subclass is a frozen dataclass whose fields are its parameters, each declared with a function of
    `obliquerules.parameters`. Estimators take signature and documentation from there; creating a method checks its values.
    """

    # Whether it learns more than two classes.
    many_classes: ClassVar[bool] = False
    # Whether it learns classes with an offset; numbers with an offset are other numbers without.
    class_offsets: ClassVar[bool] = False
    # Whether it leaves rows out, so that it matters which of them belong together.
    takes_groups: ClassVar[bool] = False
    # Whether the weights of rules are those of the least loss, and may be fitted to other rows.
    free_weights: ClassVar[bool] = True
    # The parameters that files leave out where they are None, so that releases that do not know them read these.
    left_out_if_none: ClassVar[frozenset[str]] = frozenset()

    ridge: float = real(0.0, "Penalty on squared rule weights, not on the constant, measured in rows.")
    search_rows: int | None = whole_or_none(
        SEARCH_ROWS,
        "Conditions are learned from at most this many different rows, chosen by their content, equally many of each class "
        "if there are; the weights of all rules are then fitted to all rows. None, or with ``groups`` in `fit`: conditions are "
        "learned from all rows, too.",
    )
    n_jobs: int | None = jobs(
        "The number of threads that look at blocks of rows, as joblib understands it. The model does not depend on it."
    )
    random_state: Any = seed("Seeds everything that is random.")
    verbose: int = verbosity("If not zero, report progress on standard error.")

    def __post_init__(self) -> None:
        check_declared(self)
        self.check()

    def check(self) -> None:  # noqa: B027  # optional
        """Raise if valid parameters do not fit together; for subclasses to override."""

    def check_task(self, task: Task) -> None:  # noqa: B027  # optional
        """Raise if the parameters do not fit the task; for subclasses to override."""

    def can_learn_from_some(self, task: Task) -> bool:
        """Say whether conditions may be learned from some of the rows; groups must stay complete."""
        return task.groups is None and (task.offset is None or task.offset.ndim == 1)

    @abstractmethod
    def grow(self, task: Task) -> Growth:
        """Learn a path of ensembles."""

    @property
    def plain(self) -> Method:
        """The method that only grows a path, for example without cross-validation: by default, this one."""
        return self

    def reseeded(self, seed: int) -> Self:
        """Return the same method, silent and with another seed, for fits inside a fit."""
        return dataclasses.replace(self, random_state=seed, verbose=0)

    def penalty(self, loss: Loss, y: Vector, weight: Vector, class_weights: ClassWeights, ridge: float | None = None) -> Any:
        """Return a ridge in units of the loss, for each class if there are many; by default, that of growth.

        Class weights do not lower it: where they leave hardly anything of a class, its curvature vanishes.
        """
        curvature = loss.curvature(y, weight)
        if class_weights is not None:
            before = weight / np.asarray(class_weights)[y.astype(np.intp)]
            curvature = np.maximum(curvature, loss.curvature(y, before))
        return (self.growth_ridge if ridge is None else ridge) * curvature

    @property
    def growth_ridge(self) -> float:
        """The ridge with which rules are learned, in rows."""
        return float(self.ridge)

    def refitted(
        self,
        ensemble: RuleEnsemble,
        sample: Sample,
        loss: Loss,
        start: Vector,
        fixed: Mask,
        class_weights: ClassWeights = None,
    ) -> Vector:
        """Return weights fitted as in `grow`; fixed ones keep their start."""
        ridge = self.penalty(loss, sample.y, sample.weight, class_weights)
        return fitted_weights(ensemble, sample, loss, ridge, start, free=~fixed)

    def penalised_loss(self, ensemble: RuleEnsemble, sample: Sample, loss: Loss, class_weights: ClassWeights) -> float:
        """Return what `refitted` minimises, as a mean over rows."""
        scale = factor_scales(ensemble, sample.X, sample.weight)
        ridge = self.penalty(loss, sample.y, sample.weight, class_weights)
        table = ensemble.weight_table
        weights = table if scale is None else table * scale.reshape(-1, *[1] * (table.ndim - 1))
        with np.errstate(over="ignore", invalid="ignore"):  # weights typed by hand may be of any size
            penalty = 0.5 * float(np.sum(ridge * np.sum(weights[1:] ** 2, axis=0))) / float(np.add.reduce(sample.weight))
            return loss.risk(sample.y, sample.scores(ensemble), sample.weight) + penalty


def grow_in_class_order(task: Task, grow: Callable[[Task], Growth]) -> Growth:
    """Grow with many classes ordered by a hash of their rows, so that new labels give the same rules."""
    if not task.loss.output_shape:
        return grow(task)
    place = places_of_classes(task)
    growth = grow(in_order(task, place))
    restored = []
    for ensemble in growth.path:
        rules = [dataclasses.replace(rule, weight=tuple(rule.weights[one] for one in place)) for rule in ensemble]
        outputs = None if ensemble.outputs is None else [ensemble.outputs[one] for one in place]
        restored.append(RuleEnsemble(rules, [ensemble.intercepts[one] for one in place], ensemble.columns, outputs))
    return dataclasses.replace(growth, path=tuple(restored))


def places_of_classes(task: Task) -> Positions:
    """Return the place of each class, by its rows and not by its label."""
    counted = task.weight > 0.0
    codes = task.y[counted].astype(np.intp)
    key = hash_rows(task.X.matrix[counted], np.zeros(len(codes)))
    sums = []
    for output in range(task.loss.n_classes):
        mine = codes == output
        # Unsigned sums that overflow begin again at zero, so that no order counts; equal rows are one.
        sums.append((int(np.unique(key[mine]).sum(dtype=np.uint64)), float(np.sort(task.weight[counted][mine]).sum())))
    place = np.empty(len(sums), dtype=np.intp)
    place[sorted(range(len(sums)), key=lambda output: sums[output])] = np.arange(len(sums))
    return place


def in_order(task: Task, place: Positions) -> Task:
    """Return a task with its classes at these places."""
    labels, order = task.labels, np.argsort(place)
    if labels is not None:
        labels = Labels(tuple(labels.values[output] for output in order), labels.dtype)
    offset = None if task.offset is None else task.offset[:, order]
    weights = None if task.class_weights is None else tuple(task.class_weights[output] for output in order)
    y = place[task.y.astype(np.intp)].astype(np.float64)
    return dataclasses.replace(task, y=y, labels=labels, offset=offset, class_weights=weights)
