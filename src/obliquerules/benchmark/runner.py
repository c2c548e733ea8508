"""The runner: every task that is not done yet, in parallel, each outcome kept as soon as it is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from joblib import Parallel, delayed

from obliquerules.benchmark.attempt import attempt
from obliquerules.benchmark.methods import Method
from obliquerules.benchmark.progress import Progress
from obliquerules.benchmark.tasks import Outcome, Task
from obliquerules.datasets import BUNDLED, DATASETS, ChangedError


def run(
    tasks: Sequence[Task],
    datasets: Iterable[Any],
    methods: Iterable[Method],
    *,
    done: Mapping[Task, Outcome] | None = None,
    keep: Callable[[Outcome], None] | None = None,
    limit: float = math.inf,
    jobs: int | None = 1,
) -> tuple[Outcome, ...]:
    """Carry out tasks and return their outcomes in the order of the tasks.

    Parameters
    ----------
    tasks : sequence of Task
    datasets, methods : iterables
        Those that the tasks name.
    done : mapping from Task to Outcome, optional
        What is known from earlier; these tasks are not done again, unless they were stopped at a lower limit.
    keep : callable, optional
        Called with each new outcome, in this process and in the order in which they come.
    limit : float
        Processor seconds for one fit; see `attempt`.
    jobs : int or None
        Processes; -1 for one on each processor. None leaves it to ``joblib.parallel_config``, as other backends of joblib
        (Dask, Ray) need it.

    Returns
    -------
    tuple of Outcome
        Apart from the times it depends on the tasks only, not on the number of jobs nor on what was done earlier.
    """
    known = {task: done[task] for task in tasks if done and task in done and done[task].final(limit)}
    waiting = dict.fromkeys(task for task in tasks if task not in known)
    data, method = {one.name: one for one in datasets}, {one.name: one for one in methods}
    calls = [delayed(attempt)(data[task.dataset], method[task.method], task, limit) for task in waiting]
    progress = Progress(len(tasks), known.values())
    for outcome in Parallel(jobs, return_as="generator_unordered")(calls):
        if keep is not None:
            keep(outcome)
        known[outcome.task] = outcome
        del waiting[outcome.task]
        progress.tell(outcome, waiting)
    return tuple(known[task] for task in tasks)


def load(names: Sequence[str], *, download_if_missing: bool = False) -> tuple[list[Any], dict[str, str]]:
    """Return the data sets that are there, or can be fetched if that is wanted, and the reason for each other one."""
    present, left_out = [], {}
    for name in names:
        options = {} if name in BUNDLED else {"download_if_missing": download_if_missing}
        try:
            present.append(DATASETS[name](**options))
        except (FileNotFoundError, ChangedError) as error:
            left_out[name] = str(error)
    return present, left_out
