"""DRNet: a method that learns a set of rules for one class with decision rules networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from obliquerules.counted import Counted
from obliquerules.data.sample import Sample
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.learning.nets.adam import Floats
from obliquerules.learning.nets.boxes import Binarisation, Boxes, Levels, binarise, levels_of, shortest
from obliquerules.learning.nets.decision_network import Examples, RulesCallback, Schedule, Signs, train_networks
from obliquerules.learning.nets.indicators import grow_on_numbers
from obliquerules.learning.refit import or_weights
from obliquerules.learning.shorten import without_idle_parts
from obliquerules.losses import Loss
from obliquerules.parameters import (
    check_penalties,
    declared,
    falling_penalties,
    flag,
    jobs,
    real,
    seed,
    verbosity,
    whole,
)
from obliquerules.rules import Conjunction, Rule, RuleEnsemble
from obliquerules.rules.path_table import pareto

AUTO = "auto"


def _any_label(name: str, value: Any) -> None:
    """Accept any label: which there are is known only once there is a task, and `DRNet.check_task` looks there."""


@dataclass(frozen=True, kw_only=True)
class DRNet(Method):
    """Networks whose first layer is made of conjunctions and whose second layer is their OR, read off as sets of rules."""

    free_weights: ClassVar[bool] = False

    max_rules: int = whole(10, "Number of rules that a network starts with.")
    n_thresholds: int = whole(9, "Most thresholds on a column. They lie at quantiles, with 9 of them at the deciles.")
    max_penalty: float = real(10.0, "The largest penalty lambda_1 on the expected number of rules and conditions.")
    min_penalty: float = real(1e-4, "The smallest penalty lambda_1. Zero ends the sequence with an unpenalised network.")
    n_penalties: int = whole(
        6,
        "Number of penalties, on a geometric grid from the largest to the smallest; if it is 1, only the largest is tried. A "
        "network is trained for each, and `path_` has the best of them.",
    )
    or_penalty: float = real(1e-5, "The penalty lambda_2, which is in force while the OR layer is trained.")
    describe: Any = declared(
        AUTO,
        '"auto" or label',
        "The class that the rules are for. An OR is not symmetric: rules for one class may be fewer and better than rules for "
        'the other. ``"auto"`` learns both, and keeps the class whose best rule set has the lower Bayesian information '
        "criterion, which charges for complexity.",
        _any_label,
    )
    max_iter: int = whole(
        10_000, "Number of training steps, each on all rows. Fewer give worse rules: conditions are given up late."
    )
    phase_length: int = whole(1000, "Number of steps after which the other layer has its turn.")
    step_size: float = real(1e-2, "Step size of Adam.")
    early_stopping: bool = flag(True, "Stop before `max_iter` if two turns of both layers have left all rules as they were.")
    ridge: float = real(
        4.0, "Penalty on squared rule weights, not on the constant, measured in rows: see `LLTBoostClassifier`."
    )
    n_jobs: int | None = jobs(
        "How many batches of six networks (of one class each) are trained at a time, as joblib understands it. The result does "
        "not depend on it."
    )
    random_state: int | np.random.RandomState | None = seed(
        "Draws where the networks start and the noise of their gates. On another processor, or with another BLAS, the same "
        "seed may give another model."
    )
    verbose: int = verbosity(
        "If not zero, report the loss and the complexity of each network on standard error as training goes on. Class 0 and 1 "
        "are then the first and the second of `classes_`."
    )

    def check(self) -> None:
        """Raise if the smallest penalty is above the largest."""
        check_penalties(self.max_penalty, self.min_penalty, self.n_penalties)

    def check_task(self, task: Task) -> None:
        """Raise unless the task has classes, and the one to be described among them."""
        self._described(task)

    def _described(self, task: Task) -> list[int]:
        """Return the classes that rules are to be learned for: 0, 1 or both."""
        if task.labels is None:
            raise ValueError("DRNet learns classes; the targets of this task are numbers.")
        if isinstance(self.describe, str) and self.describe == AUTO:
            return [0, 1]
        labels = list(task.labels.values)
        if self.describe not in labels:
            raise ValueError(f"describe must be 'auto' or one of the labels {labels}; got {self.describe!r}.")
        return [labels.index(self.describe)]

    def grow(self, task: Task) -> Growth:
        """Learn a rule set for each class and penalty, and keep those that are worth their complexity."""
        growth = grow_on_numbers(self, task, self._grow_on_numbers, dates=True)
        return replace(growth, path=tuple(worth_their_complexity(without_idle_parts(growth.path, task), task)))

    def _grow_on_numbers(self, task: Task) -> Growth:
        learned = list(self._learned(task))
        described = _better_described(learned, task)
        ensembles = [ensemble for rule_set, ensemble in learned if rule_set.described == described]
        path = worth_their_complexity([_constant(task), *ensembles], task)
        return Growth(tuple(path), n_iter=max((rule_set.n_steps for rule_set, _ in learned), default=0))

    def _learned(self, task: Task) -> Iterator[tuple[RuleSet, RuleEnsemble]]:
        """Yield every rule set that was learned, together with its ensemble."""
        sample = task.sample
        binarisation = binarise(sample.X.matrix, sample.weight, self.n_thresholds)
        if len(binarisation) == 0:  # all columns are constant
            return
        levels = levels_of(sample.X.matrix, binarisation)
        for rule_set in self._rule_sets(task, binarisation):
            boxes = rule_set.boxes(binarisation, levels)
            conditions = tuple(boxes.conjunctions(binarisation))
            yield rule_set, self._weighted(conditions, boxes.fires(levels), task, rule_set.described)

    def _rule_sets(self, task: Task, binarisation: Binarisation) -> list[RuleSet]:
        """Train the networks."""
        sample = task.sample
        return learn_rule_sets(
            binarisation(sample.X.matrix),
            sample.y,
            sample.weight,
            self._described(task),
            falling_penalties(self.max_penalty, self.min_penalty, self.n_penalties)[::-1],
            self._schedule(),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            report=task.report if self.verbose else None,
        )

    def _schedule(self) -> Schedule:
        return Schedule(
            self.max_rules, self.or_penalty, self.max_iter, self.phase_length, self.step_size, bool(self.early_stopping)
        )

    def _weighted(
        self, conditions: Sequence[Conjunction], fires: NDArray[np.bool_], task: Task, described: int
    ) -> RuleEnsemble:
        """Return the rules with weights; the best constant if they do not tell rows apart."""
        if not _tells_apart(fires):
            return _constant(task)
        constant, *weights = self._or_weights(fires, task.sample, task.loss, described).tolist()
        rules = [Rule(weight, condition) for weight, condition in zip(weights, conditions, strict=True)]
        return RuleEnsemble(rules, constant, task.columns)

    def _or_weights(self, fires: NDArray[np.bool_], sample: Sample, loss: Loss, described: int) -> NDArray[np.float64]:
        """Return the constant and the weights under which a row is of the described class if and only if a rule fires."""
        target = (sample.y == described).astype(np.float64)
        weights = or_weights(fires, target, sample.weight, self.penalty(loss, sample.y, sample.weight))
        return weights if described else -weights

    def refitted(
        self,
        ensemble: RuleEnsemble,
        sample: Sample,
        loss: Loss,
        start: NDArray[np.float64],
        fixed: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return the weights of an OR, as in `grow`, if all rules are for one class and none is fixed; else those of a sum."""
        fires, signs = ensemble.fires(sample.X), set(np.sign(start[1:]).tolist()) - {0.0}
        is_sum = fixed.any() or len(signs) != 1 or any(rule.factor is not None for rule in ensemble)
        if is_sum or not _tells_apart(fires):
            return super().refitted(ensemble, sample, loss, start, fixed)
        return self._or_weights(fires, sample, loss, int(signs == {1.0}))


def _tells_apart(fires: NDArray[np.bool_]) -> bool:
    """Say whether some rule fires for some rows, and none does for others."""
    return bool(fires.any() and not fires.any(axis=1).all())


def _constant(task: Task) -> RuleEnsemble:
    """Return the best constant."""
    return RuleEnsemble((), task.loss.best_constant(task.sample.y, task.sample.weight), task.columns)


def _risk(ensemble: RuleEnsemble, task: Task) -> float:
    """Return the mean loss on the training rows."""
    return float(np.average(task.loss.value(task.sample.y, ensemble(task.sample.X)), weights=task.sample.weight))


def _better_described(learned: Sequence[tuple[RuleSet, RuleEnsemble]], task: Task) -> int | None:
    """Return the class of the rule set with the lowest Bayesian information criterion, or None if no rule was learned.

    The criterion charges for complexity: by the loss alone, the class that takes more rules to describe would win.
    """
    n = float(np.add.reduce(task.sample.weight))

    def criterion(one: tuple[RuleSet, RuleEnsemble]) -> float:
        return task.loss.profile_deviance(n * _risk(one[1], task), n) + math.log(n) * one[1].complexity

    with_rules = [one for one in learned if len(one[1])]
    return min(with_rules, key=criterion)[0].described if with_rules else None


def worth_their_complexity(ensembles: Sequence[RuleEnsemble], task: Task) -> Iterator[RuleEnsemble]:
    """Yield the Pareto front of ensembles by complexity and training risk."""
    risks = [(ensemble, _risk(ensemble, task)) for ensemble in ensembles]
    for ensemble, _ in pareto(risks, lambda pair: (pair[0].complexity, pair[1])):
        yield ensemble


# Six networks of the usual size share the overhead of a NumPy call; larger batches are no faster, and leave less to run in
# parallel.
NETWORKS_AT_ONCE = 6


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules for one class, learned with one penalty: a row belongs to the class if and only if some rule fires.

    Attributes
    ----------
    described : int
        The class: 0 or 1.
    penalty : float
        lambda_1.
    signs : array of shape (n_rules, n_inputs)
        The rules of the hard network on binary inputs.
    n_steps : int
        The number of training steps.
    """

    described: int
    penalty: float
    signs: Signs
    n_steps: int

    @property
    def raw_complexity(self) -> int:
        """The complexity of the rules as the network has them, before conditions on the same column are merged."""
        return complexity_of(self.signs)

    def boxes(self, binarisation: Binarisation, levels: Levels) -> Boxes:
        """Return the rules without what is redundant: every row keeps its class."""
        return shortest(Boxes.of(self.signs, binarisation, levels.shape[1]), levels)


@dataclass(frozen=True)
class Batch:
    """Networks that are trained together: for one class, with several penalties."""

    described: int
    penalties: tuple[float, ...]
    seed: tuple[int, ...]


def complexity_of(signs: Signs) -> int:
    """Return the number of rules, thresholds and variables."""
    return len(signs) + 2 * int(np.count_nonzero(signs))


def learn_rule_sets(
    inputs: NDArray[np.bool_],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    described: Sequence[int],
    penalties: Sequence[float],
    schedule: Schedule,
    *,
    seed: int,
    n_jobs: int | None = None,
    report: Callable[[str], None] | None = None,
) -> list[RuleSet]:
    """Learn a rule set for each class to be described and each penalty.

    The rules for a class do not depend on whether the other is described too, and nothing depends on ``n_jobs``: the batches
    are the same, and each has its own source of randomness. Progress goes to ``report``, which must pickle.
    """
    batches = list(_batches(described, penalties, seed))
    work = (delayed(_learn)(Examples.of(inputs, y == batch.described, weight), batch, schedule, report) for batch in batches)
    return [rule_set for learned in Counted(n_jobs, "batches", len(batches))(work) for rule_set in learned]


def _batches(described: Sequence[int], penalties: Sequence[float], seed: int) -> Iterator[Batch]:
    for label in described:
        for first in range(0, len(penalties), NETWORKS_AT_ONCE):
            yield Batch(label, tuple(penalties[first : first + NETWORKS_AT_ONCE]), (seed, label, first))


def _learn(examples: Examples, batch: Batch, schedule: Schedule, report: Callable[[str], None] | None) -> list[RuleSet]:
    progress: RulesCallback | None = None if report is None else partial(_report_batch, report, batch, schedule.n_steps)
    random = np.random.default_rng(batch.seed)
    learned, n_steps = train_networks(examples, np.array(batch.penalties), schedule, random, progress)
    return [RuleSet(batch.described, penalty, signs, n_steps) for penalty, signs in zip(batch.penalties, learned, strict=True)]


def _report_batch(
    report: Callable[[str], None], batch: Batch, n_steps: int, done: int, losses: Floats, rules: Sequence[Signs]
) -> None:
    """Report how far the training of each network of a batch has come."""
    for penalty, loss, signs in zip(batch.penalties, losses, rules, strict=True):
        network = f"class {batch.described}, penalty {penalty:g}, step {done}/{n_steps}"
        report(f"{network}: loss {loss:.4f}, complexity {complexity_of(signs)}")
