"""Rule sets: rules for one class, learned by a network for each class and penalty; the networks are trained in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from obliquerules.counted import Counted
from obliquerules.learning.nets.binarisation import Binarisation
from obliquerules.learning.nets.boxes import Boxes, Levels, shortest
from obliquerules.learning.nets.decision_network import Examples, RulesCallback, Schedule, Signs, train_networks
from obliquerules.learning.nets.training import Floats

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
