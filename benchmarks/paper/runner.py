"""The runner: carries out the trials that are not done yet, in parallel, and keeps each outcome at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from joblib import Parallel, delayed

from benchmarks.datasets import BUNDLED, DATASETS, ChangedError
from benchmarks.paper.attempt import attempt
from benchmarks.paper.contenders import Contender
from benchmarks.paper.progress import Progress
from benchmarks.paper.trials import Outcome, Trial


def run(
    trials: Sequence[Trial],
    datasets: Iterable[Any],
    contenders: Iterable[Contender],
    *,
    done: Mapping[Trial, Outcome] | None = None,
    keep: Callable[[Outcome], None] | None = None,
    limit: float = math.inf,
    jobs: int | None = 1,
) -> tuple[Outcome, ...]:
    """Carry out trials and return their outcomes in their order.

    Parameters
    ----------
    trials : sequence of Trial
    datasets, contenders : iterables
        Those that the trials name.
    done : mapping from Trial to Outcome, optional
        Earlier outcomes; these trials are not repeated, unless they were stopped at a lower limit.
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
        Apart from the times it depends on the trials only, not on the number of jobs nor on what was done earlier.
    """
    known = {trial: done[trial] for trial in trials if done and trial in done and done[trial].final(limit)}
    waiting = dict.fromkeys(trial for trial in trials if trial not in known)
    data, contender = {one.name: one for one in datasets}, {one.name: one for one in contenders}
    calls = [delayed(attempt)(data[trial.dataset], contender[trial.method], trial, limit) for trial in waiting]
    progress = Progress(len(trials), known.values())
    for outcome in Parallel(jobs, return_as="generator_unordered")(calls):
        if keep is not None:
            keep(outcome)
        known[outcome.trial] = outcome
        del waiting[outcome.trial]
        progress.tell(outcome, waiting)
    return tuple(known[trial] for trial in trials)


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
