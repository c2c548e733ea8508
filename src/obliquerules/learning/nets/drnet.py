"""DRNet: a method that learns a set of rules for one class with decision rules networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from sklearn.utils import check_random_state

from obliquerules.arrays import Mask, Vector
from obliquerules.data.sample import Sample
from obliquerules.learning.method import ClassWeights, Growth, Method, Task
from obliquerules.learning.nets.adam import Floats
from obliquerules.learning.nets.boxes import Boxes, binarise, levels_of, shortest
from obliquerules.learning.nets.decision_network import Examples, Schedule, Signs, train_networks
from obliquerules.learning.nets.indicators import front, grow_on_numbers, training_risk
from obliquerules.learning.refit import or_weights
from obliquerules.learning.shorten import without_idle_parts
from obliquerules.losses import Loss
from obliquerules.parallel import CountedCalls
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
from obliquerules.rules import Rule, RuleEnsemble

AUTO = "auto"
# Six networks of the usual size share the overhead of a NumPy call; larger batches are no faster, and leave less to run in
# parallel.
NETWORKS_AT_ONCE = 6


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
        lambda *_: None,  # `check_task` knows the labels
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
        return replace(growth, path=front(without_idle_parts(growth.path, task), task))

    def _grow_on_numbers(self, task: Task) -> Growth:
        learned = list(self._learned(task))
        # By the loss alone, the class that takes more rules to describe would win.
        n = float(np.add.reduce(task.sample.weight))
        with_rules = [
            (task.loss.profile_deviance(n * training_risk(one, task), n) + math.log(n) * one.complexity, rule_set.described)
            for rule_set, one in learned
            if len(one)
        ]
        described = min(with_rules, key=lambda pair: pair[0])[1] if with_rules else None
        path = front([_constant(task), *(one for rule_set, one in learned if rule_set.described == described)], task)
        return Growth(path, n_iter=max((rule_set.n_steps for rule_set, _ in learned), default=0))

    def _learned(self, task: Task) -> Iterator[tuple[RuleSet, RuleEnsemble]]:
        """Yield every rule set that was learned, together with its ensemble."""
        sample = task.sample
        binarisation = binarise(sample.X.matrix, sample.weight, self.n_thresholds)
        if not binarisation:  # all columns are constant
            return
        levels = levels_of(sample.X.matrix, binarisation)
        rule_sets = learn_rule_sets(
            binarisation(sample.X.matrix),
            sample.y,
            sample.weight,
            self._described(task),
            falling_penalties(self.max_penalty, self.min_penalty, self.n_penalties)[::-1],
            Schedule(
                self.max_rules, self.or_penalty, self.max_iter, self.phase_length, self.step_size, bool(self.early_stopping)
            ),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            report=task.report if self.verbose else None,
        )
        for rule_set in rule_sets:
            boxes = shortest(Boxes.of(rule_set.signs, binarisation, levels.shape[1]), levels)
            fires, ensemble = boxes.fires(levels), _constant(task)
            if _tells_apart(fires):
                constant, *weights = self._or_weights(fires, sample, task.loss, rule_set.described, task.class_weights).tolist()
                rules = map(Rule, weights, boxes.conjunctions(binarisation))
                ensemble = RuleEnsemble(rules, constant, task.columns)
            yield rule_set, ensemble

    def _or_weights(self, fires: Mask, sample: Sample, loss: Loss, described: int, class_weights: ClassWeights) -> Vector:
        """Return the weights of an OR for the described class."""
        target = (sample.y == described).astype(np.float64)
        weights = or_weights(fires, target, sample.weight, self.penalty(loss, sample.y, sample.weight, class_weights))
        return weights if described else -weights

    def refitted(
        self,
        ensemble: RuleEnsemble,
        sample: Sample,
        loss: Loss,
        start: Vector,
        fixed: Mask,
        class_weights: ClassWeights = None,
    ) -> Vector:
        """Return the weights of an OR if all rules are free and for one class, else those of a sum."""
        fires, signs = ensemble.fires(sample.X), set(np.sign(start[1:]).tolist()) - {0.0}
        is_sum = fixed.any() or len(signs) != 1 or any(rule.factor is not None for rule in ensemble)
        if is_sum or not _tells_apart(fires):
            return super().refitted(ensemble, sample, loss, start, fixed, class_weights)
        return self._or_weights(fires, sample, loss, int(signs == {1.0}), class_weights)


def _tells_apart(fires: Mask) -> bool:
    """Say whether some rule fires for some rows, and none does for others."""
    return bool(fires.any() and not fires.any(axis=1).all())


def _constant(task: Task) -> RuleEnsemble:
    """Return the best constant."""
    return RuleEnsemble((), task.loss.best_constant(task.sample.y, task.sample.weight), task.columns)


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules on binary inputs whose OR is the described class, 0 or 1, and the penalty lambda_1 and steps that they took."""

    described: int
    penalty: float
    signs: Signs
    n_steps: int


def complexity_of(signs: Signs) -> int:
    """Return the number of rules, thresholds and variables, before conditions on the same column are merged."""
    return len(signs) + 2 * int(np.count_nonzero(signs))


def learn_rule_sets(
    inputs: Mask,
    y: Vector,
    weight: Vector,
    described: Sequence[int],
    penalties: Sequence[float],
    schedule: Schedule,
    *,
    seed: int,
    n_jobs: int | None = None,
    report: Callable[[str], None] | None = None,
) -> list[RuleSet]:
    """Learn a rule set for each class and penalty, by networks in batches.

    The rules for a class do not depend on whether the other is described too, and nothing depends on ``n_jobs``: the batches
    are the same, and each has its own source of randomness. Progress goes to ``report``, which must pickle.
    """
    batches = [(label, first) for label in described for first in range(0, len(penalties), NETWORKS_AT_ONCE)]
    work = (
        delayed(_learn_batch)(
            Examples.of(inputs, y == label, weight),
            label,
            penalties[first : first + NETWORKS_AT_ONCE],
            schedule,
            np.random.default_rng((seed, label, first)),
            report,
        )
        for label, first in batches
    )
    return [rule_set for learned in CountedCalls(n_jobs, "batches", len(batches))(work) for rule_set in learned]


def _learn_batch(
    examples: Examples,
    described: int,
    penalties: Sequence[float],
    schedule: Schedule,
    random: np.random.Generator,
    report: Callable[[str], None] | None,
) -> list[RuleSet]:
    tell = report or (lambda _: None)

    def progress(done: int, losses: Floats, rules: Sequence[Signs]) -> None:
        for penalty, loss, signs in zip(penalties, losses, rules, strict=True):
            network = f"class {described}, penalty {penalty:g}, step {done}/{schedule.n_steps}"
            tell(f"{network}: loss {loss:.4f}, complexity {complexity_of(signs)}")

    learned, n_steps = train_networks(examples, np.array(penalties), schedule, random, progress if report else None)
    return [RuleSet(described, penalty, signs, n_steps) for penalty, signs in zip(penalties, learned, strict=True)]
