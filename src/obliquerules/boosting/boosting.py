"""Boosting methods: the parameters they share, and the fit around the loop."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import Learner
from obliquerules.boosting.loop import boost
from obliquerules.boosting.problem import Problem
from obliquerules.boosting.record import Record
from obliquerules.boosting.selection import ObjectiveSelection, Selection, ValidationSelection
from obliquerules.class_order import grow_in_class_order
from obliquerules.method import Growth, Method, Task
from obliquerules.parameters import real, seed, verbosity, whole
from obliquerules.readable import exactness, readable_path
from obliquerules.rows.sample import Sample
from obliquerules.rules import RuleEnsemble, Shortening

Boosted = TypeVar("Boosted", bound="Boosting")


@dataclass(frozen=True)
class Pair(Generic[Boosted]):
    """A learner and a selection that go together, each created from the parameters of a method.

    Attributes
    ----------
    learner : callable
        Creates the learner from the method and the rows to learn from.
    selection : callable
        Creates the selection from the method.
    as_in_the_paper : bool
        Whether the selection is the paper's: it needs held-out rows, and conditions stay as they were learned.
    """

    learner: Callable[[Boosted, Sample], Learner]
    selection: Callable[[Boosted], Selection]
    as_in_the_paper: bool = False


@dataclass(frozen=True, kw_only=True)
class Boosting(Method):
    """Rules added one at a time, with all weights refitted after each.

    The parameters without a default here differ between subclasses, in meaning or in default.
    """

    many_classes: ClassVar[bool] = True
    class_offsets: ClassVar[bool] = True

    max_rules: int = whole(10, "Largest number of rules. One fit gives every smaller size too: see `path_` and `at`.")
    max_propositions: int = whole(5, "Largest number of conditions in a rule.")
    selection: str
    complexity_penalty: float = real(
        4.0,
        'For ``"information"``: the price of one unit of complexity (a rule, a threshold or a variable), in units of log(n) on '
        "the scale of -2 log likelihood. Larger means smaller models.",
    )
    validation_fraction: float = real(
        0.2,
        'For ``"validation"``: share of the rows that is held out while rules are grown; the weights are then fitted to all '
        "rows. Equal rows are held out together.",
        below=1.0,
    )
    validation_tolerance: float
    objective_tolerance: float
    ridge: float = real(
        4.0,
        "Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on exactly ``ridge`` rows, "
        "and on none where another rule fires, gets about half the weight that it would have without the penalty. Scaling by "
        "the curvature of the loss at the best constant makes this mean the same for every loss.",
    )
    exact: str = exactness('With ``selection="validation"``, as in the paper, always.')
    random_state: Any = seed('For ``"validation"``: draws the held-out rows.')
    verbose: int = verbosity("If not zero, report each rule on standard error.")

    @property
    @abstractmethod
    def pair(self) -> Pair[Any]:
        """The learner and the selection that the parameters name."""

    def problem(self, task: Task) -> Problem:
        """Return the problem to grow rules on."""
        sample, loss = task.sample, task.loss
        fraction = self.validation_fraction if self.pair.as_in_the_paper else 0.0
        # Always drawn, so that later draws do not depend on the selection.
        lot = int(check_random_state(self.random_state).randint(2**31 - 1))
        held_out = sample.hold_out(loss.strata(sample.y), fraction, lot)
        ridge = self.penalty(loss, sample.y, sample.weight)
        outputs = task.labels.names if task.labels is not None and loss.by_class else None
        # On the scale of the loss, which is half that of -2 log likelihood.
        price = 0.5 * self.pair.selection(self).complexity_price * math.log(float(np.add.reduce(sample.weight)))
        return Problem(
            sample.X,
            sample.y,
            sample.weight,
            loss,
            ridge,
            held_out,
            outputs=outputs,
            price=price,
            offset=sample.offset,
        )

    def grow(self, task: Task) -> Growth:
        """Grow ensembles of one rule, of two, and so on; the selection decides which of them make the path."""
        return grow_in_class_order(self, task, Boosting._grow)

    def _grow(self, task: Task) -> Growth:
        pair, record = self.pair, Record()
        learner, selection, shortening = pair.learner(self, task.sample), pair.selection(self), Shortening(task.sample.X)
        for stage in boost(self.problem(task), learner, selection, self.max_rules, record):
            if self.verbose:
                task.report(self._progress(shortening.ensemble(stage.ensemble)))
        path = [stage.ensemble for stage in selection.path(record)]
        ridge = self.penalty(task.loss, task.sample.y, task.sample.weight)
        exact = "rows" if pair.as_in_the_paper else self.exact
        return Growth(readable_path(path, task, ridge, exact), len(record.grown) - 1, notes=self.notes(record))

    def notes(self, record: Record) -> Mapping[str, Any]:  # noqa: ARG002  # for subclasses
        """Return further fitted attributes once the loop has ended; none by default."""
        return {}

    def _progress(self, ensemble: RuleEnsemble) -> str:
        newest = ensemble[-1].describe(ensemble.columns) if len(ensemble) else "the best constant"
        return f"rule {len(ensemble)}/{self.max_rules}, complexity {ensemble.complexity}: {newest}"


def by_objective(method: Boosting) -> Selection:
    """Return the selection by the objective alone."""
    return ObjectiveSelection(method.objective_tolerance)


def by_information(method: Boosting) -> Selection:
    """Return the selection by a criterion that charges for complexity."""
    return InformationSelection(method.complexity_penalty)


def by_validation(method: Boosting) -> Selection:
    """Return the paper's selection."""
    return ValidationSelection(method.validation_tolerance, method.objective_tolerance)
