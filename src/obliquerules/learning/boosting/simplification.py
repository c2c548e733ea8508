"""Simplification: smaller ensembles by leaving out a rule, a condition or a variable of a larger one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from obliquerules.learning.boosting.problem import Candidate, Stage
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.rules import Conjunction, Proposition, Test

# The complexities of ensembles that are simplified, the largest first.
SIZES = range(18, 2, -1)
# Of each size, the best is refined in at most this many steps, if it is within 1.2x of the best known loss.
STEPS = 4
WITHIN = 1.2


def simplify(complexity: int, record: Record, refiner: Refiner) -> None:
    """Simplify the ensemble of the Pareto front with this complexity, and record what is nearly as good as what is there."""
    stage = next((one for one in record.front if one.complexity == complexity), None)
    if stage is None or not record.is_new("simplified", stage) or record.is_out_of_time():
        return
    best: dict[int, Stage] = {}
    for smaller in sorted(simplified(stage, refiner), key=attrgetter("judged_loss")):
        best.setdefault(smaller.complexity, smaller)
    within = [one for size, one in best.items() if one.judged_loss <= _limit(size, record)]
    refined = stage.problem.workers.each(partial(refiner.refined, n_steps=STEPS), within)
    for one in (*within, *refined):
        if one is not None:
            record.note_fitted(one)


def _limit(size: int, record: Record) -> float:
    """Return the largest loss at which an ensemble of some size is refined."""
    return WITHIN * min(one.judged_loss for one in record.front if one.complexity <= size)


def simplified(stage: Stage, refiner: Refiner) -> list[Stage]:
    """Return the ensembles with one rule, one condition, or one variable of a condition less, with refitted weights."""
    ways: list[Callable[[], Stage | None]] = []
    for index, condition in enumerate(stage.conditions):
        if len(stage.conditions) > 1:
            ways.append(partial(stage.without, index))
        ways += [partial(_with_shorter, stage, index, shorter) for shorter in shorter_conditions(condition, refiner)]
    found = stage.problem.workers.each(_judged, ways)
    return [one for one in found if one is not None]


def _judged(way: Callable[[], Stage | None]) -> Stage | None:
    smaller = way()
    return None if smaller is None else smaller.judged()


def _with_shorter(stage: Stage, index: int, shorter: Conjunction) -> Stage | None:
    """Return the ensemble with a shorter condition for one of its rules; None if it would hold on all rows or on none."""
    covers = shorter(stage.problem.X)
    return stage.with_term(index, Candidate(shorter, covers, 0.0)) if covers.any() and not covers.all() else None


def shorter_conditions(condition: Conjunction, refiner: Refiner) -> Iterator[Conjunction]:
    """Yield a conjunction without one of its conditions, and with one variable less in one of them."""
    tests = list(condition)
    for index, test in enumerate(tests):
        before, after = tests[:index], tests[index + 1 :]
        if len(tests) > 1:
            yield Conjunction([*before, *after])
        narrower = without_weakest(test, refiner)
        if narrower is not None:
            yield Conjunction([*before, narrower, *after])


def without_weakest(test: Test, refiner: Refiner) -> Test | None:
    """Return a condition without the variable of least influence, which holds on as many rows; None if there is only one."""
    if not isinstance(test, Proposition) or len(test.columns) == 1 or not refiner.conditions.is_movable(test):
        return None
    influence = [
        abs(weight) * refiner.conditions.term(term).scale for weight, term in zip(test.weights, test.columns, strict=True)
    ]
    kept = [index for index in range(len(influence)) if index != int(np.argmin(influence))]
    weights = [test.weights[index] / abs(test.weights[kept[0]]) for index in kept]
    shorter = Proposition([test.columns[index] for index in kept], weights, 0.0, test.missing)
    threshold = _threshold_above_which(shorter.project(refiner.problem.X), test.project(refiner.problem.X) >= test.threshold)
    placed = None if threshold is None else refiner.placed(shorter.with_numbers(shorter.weights, threshold))
    return None if placed is None else placed[0]


def _threshold_above_which(values: NDArray[np.float64], holds: NDArray[np.bool_]) -> float | None:
    """Return the threshold that as many values reach as there are rows on which a condition holds."""
    ordered, wanted = np.sort(values[~np.isnan(values)]), int(np.count_nonzero(holds))
    return float(ordered[len(ordered) - wanted]) if 0 < wanted < len(ordered) else None
