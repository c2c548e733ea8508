"""The runner: every method on every split of every data set, in parallel."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from obliquerules.benchmark.methods import Method
from obliquerules.benchmark.protocol import Repetition, repeat
from obliquerules.datasets import DATASETS

# Splits of different seeds never meet, as long as nobody asks for more repetitions than this.
SEEDS_APART = 1000


@dataclass(frozen=True)
class Results:
    """All repetitions, and for each data set that was left out the reason."""

    repetitions: tuple[Repetition, ...]
    left_out: Mapping[str, str]

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, in the order in which they ran."""
        return tuple(dict.fromkeys(repetition.method for repetition in self.repetitions))


def run(
    methods: Sequence[Method], names: Sequence[str] = tuple(DATASETS), repetitions: int = 10, seed: int = 0, jobs: int = 1
) -> Results:
    """Repeat the protocol; the result depends on the arguments only, not on the number of jobs."""
    present, left_out = load(names)
    seeds = [SEEDS_APART * seed + repetition for repetition in range(repetitions)]
    done = Parallel(jobs)(delayed(repeat)(data, method, seed) for data in present for method in methods for seed in seeds)
    return Results(tuple(itertools.chain.from_iterable(done)), left_out)


def load(names: Sequence[str]) -> tuple[list[Any], dict[str, str]]:
    """Return the data sets that are there, and the reason for each that is not."""
    present, left_out = [], {}
    for name in names:
        try:
            present.append(DATASETS[name]())
        except FileNotFoundError as error:
            left_out[name] = str(error)
    return present, left_out
