"""LTRNet: a method that learns rules with oblique conditions by gradient descent on all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
from joblib import delayed
from sklearn.utils import check_random_state

from obliquerules.data.blocks import ON_ONE_PROCESSOR
from obliquerules.learning.method import Growth, Method, Task, grow_in_class_order
from obliquerules.learning.nets.adam import EarlyStopping, Floats, NetworkParameters
from obliquerules.learning.nets.extraction import (
    NEGLIGIBLE_SHARES,
    Draft,
    HardNetwork,
    TrainingRows,
    as_trained,
    drafts_of,
    frontier,
    one_of_each_size,
    without_rules,
)
from obliquerules.learning.nets.indicators import grow_on_numbers
from obliquerules.learning.nets.soft_rules import PLAIN, SHARPNESS, Architecture, Penalties, ScoreUnits, SoftRules, descend
from obliquerules.learning.shorten import exactness, readable_path, shortened_path
from obliquerules.parallel import CountedCalls
from obliquerules.parameters import check_penalties, falling_penalties, jobs, option, real, seed, verbosity, whole

DISCRETIZATIONS = ("refit", "paper")
# The share of the time that training takes, roughly; shorter conditions take the rest.
TRAINING = 0.5


@dataclass(frozen=True, kw_only=True)
class LTRNet(Method):
    """Networks of soft rules, trained at each of a falling sequence of L1 penalties, made hard and read off as rules."""

    many_classes: ClassVar[bool] = True

    max_rules: int = whole(10, "Rules in the network; the penalty leaves fewer.")
    max_propositions: int = whole(5, "Conditions in a rule of the network.")
    max_penalty: float = real(0.08, "The largest L1 penalty, on the mean loss of a target in standard units.")
    min_penalty: float = real(
        0.001,
        "The smallest L1 penalty, in the units of `max_penalty`. Zero ends the sequence with an unpenalised network.",
    )
    n_penalties: int = whole(
        8, "Number of penalties, on a geometric grid from the largest to the smallest; if it is 1, only the largest is tried."
    )
    w_penalty: float = real(0.01, "The W-shaped penalty, which drives each condition fully into its rule or out of it.")
    steepness: float = real(2.0, "Steepness of the sigmoid of a rule, alpha in the paper, which gives no value.")
    n_restarts: int = whole(6, "Random starts for each penalty.")
    max_iter: int = whole(250, "Largest number of steps of gradient descent.")
    tol: float = real(
        1e-4,
        "Training at a penalty ends early once no start has lowered its loss by this share in `n_iter_no_change` steps.",
    )
    n_iter_no_change: int = whole(50, "Number of steps without such progress after which training at a penalty ends early.")
    discretization: str = option(
        "refit",
        DISCRETIZATIONS,
        'How the network is made hard. ``"paper"``: within a condition, weights below a tenth of the largest become zero; the '
        "rules keep the weights of the soft network, and the start with the lowest penalised loss stands for its penalty, "
        "each of which has a place on the path. Conditions are plain sigmoids in training then, not sharper ones. "
        '``"refit"``: weights below a tenth, a quarter and a half of the largest become zero in turn; conditions and rules '
        "that change nothing on the training rows are dropped, rule weights are fitted anew, and the models of all starts "
        "compete for the path.",
    )
    ridge: float = real(
        12.0,
        'For ``"refit"``: penalty on squared rule weights, not on the constant, measured in rows as in `LLTBoostClassifier`.',
    )
    exact: str = exactness('With ``discretization="paper"``, no row changes side and nothing goes.')
    random_state: int | np.random.RandomState | None = seed(
        "Draws the starts. On another processor, or with another BLAS, the same seed may give another model."
    )
    n_jobs: int | None = jobs(
        "How many penalties are worked on at a time, as joblib understands it. The model does not depend on it."
    )
    verbose: int = verbosity("If not zero, report loss and complexity on standard error.")

    def check(self) -> None:
        """Raise if the smallest penalty is above the largest."""
        check_penalties(self.max_penalty, self.min_penalty, self.n_penalties)

    def grow(self, task: Task) -> Growth:
        """Train networks at each penalty, and read the path off all of them; dates and durations are left out."""
        return grow_in_class_order(task, self._grow)

    def _grow(self, task: Task) -> Growth:
        growth = grow_on_numbers(self, task, self._grow_on_numbers, dates=False)
        if self.as_in_the_paper:
            return replace(growth, path=shortened_path(growth.path, task))
        penalty = self.penalty(task.loss, task.sample.y, task.sample.weight, task.class_weights)
        return replace(growth, path=readable_path([(one, penalty) for one in growth.path], task, self.exact)[0])

    def _grow_on_numbers(self, task: Task) -> Growth:
        sample, loss = task.sample, task.loss
        ridge = self.penalty(loss, sample.y, sample.weight, task.class_weights)
        outputs = None if task.labels is None else task.labels.outputs
        rows = TrainingRows(sample.X.matrix, sample.y, sample.weight, loss, ridge, outputs)
        start, report = int(check_random_state(self.random_state).randint(2**31 - 1)), task.report if self.verbose else None
        parallel = CountedCalls(self.n_jobs, "penalties", self.n_penalties, (0.0, 1.0 if self.as_in_the_paper else TRAINING))
        trained: list[tuple[list[Draft], int]] = parallel(
            delayed(self._drafts)(rows, self.units(task), penalty, np.random.default_rng([start, index]), report)
            for index, penalty in enumerate(self.penalties())
        )
        drafts = [without_rules(rows), *(draft for drafts, _ in trained for draft in drafts)]
        path = one_of_each_size(drafts) if self.as_in_the_paper else frontier(drafts)
        ensembles = tuple(draft.ensemble(rows, task.columns) for draft in path)
        return Growth(ensembles, n_iter=max(n_steps for _, n_steps in trained))

    @property
    def as_in_the_paper(self) -> bool:
        """Whether networks are trained and made hard as in the paper."""
        return self.discretization == "paper"

    def units(self, task: Task) -> ScoreUnits:
        """Return the units of the network.

        The paper standardises numbers, and leaves the scores of classes as they are.
        """
        shape = task.loss.output_shape
        if self.as_in_the_paper and task.labels:
            return ScoreUnits(np.zeros(shape), np.ones(shape), 1.0)
        return ScoreUnits.of(task.sample.y, task.sample.weight, task.loss)

    def penalties(self) -> list[float]:
        """Return the L1 penalties, from the largest to the smallest."""
        return falling_penalties(self.max_penalty, self.min_penalty, self.n_penalties)

    def _drafts(
        self,
        rows: TrainingRows,
        units: ScoreUnits,
        penalty: float,
        random: np.random.Generator,
        report: Callable[[str], None] | None,
    ) -> tuple[list[Draft], int]:
        """Train one batch of networks; return the drafts that are read off it and the number of steps."""
        tell = report or (lambda _: None)

        def report_step(n_steps: int, losses: Floats, parameters: NetworkParameters) -> None:
            best = int(np.argmin(losses))
            complexity = HardNetwork.of(parameters, best).complexity
            progress = f"penalty {penalty:.3g}, step {n_steps}/{self.max_iter}"
            tell(f"{progress}: loss {losses[best]:.4g}, complexity {complexity}")

        objective = self.objective(rows, units, penalty)
        stopping = EarlyStopping(self.n_iter_no_change, self.tol)
        callback = report_step if report else None
        parameters, n_steps = descend(objective, random, self.max_iter, stopping=stopping, report=callback)
        with ON_ONE_PROCESSOR:
            if self.as_in_the_paper:
                best = int(np.argmin(objective(parameters)[0]))
                return [as_trained(HardNetwork.of(parameters, best), rows, units)], n_steps
            made_hard = product(range(self.n_restarts), NEGLIGIBLE_SHARES)
            networks = (HardNetwork.of(parameters, index, share) for index, share in made_hard)
            return frontier(draft for network in networks for draft in drafts_of(network, rows)), n_steps

    def objective(self, rows: TrainingRows, units: ScoreUnits, penalty: float) -> SoftRules:
        """Return what a batch of networks minimises."""
        sizes = (self.n_restarts, self.max_rules, self.max_propositions)
        sharpness = PLAIN if self.as_in_the_paper else SHARPNESS
        architecture = Architecture(*sizes, self.steepness, rows.loss.output_shape, sharpness)
        inputs = (rows.standardised if self.as_in_the_paper else rows.inputs).astype(np.float32)
        penalties = Penalties(penalty, self.w_penalty)
        return SoftRules(inputs, rows.y, rows.weight, rows.loss, units, architecture, penalties)
