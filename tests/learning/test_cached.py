"""Kept values: computed once, forgotten when told to, and computed again when asked for."""

import pickle
import threading
from dataclasses import dataclass

import numpy as np

from obliquerules.learning.cached import cached, clear_cache


@dataclass(frozen=True, eq=False)
class Counted:
    """An object that knows how often it has computed something."""

    computed: list

    @cached
    def total(self) -> float:
        """The sum."""
        self.computed.append("total")
        return 3.0

    @cached
    def values(self) -> np.ndarray:
        """The values."""
        self.computed.append("values")
        return np.ones(3)


def test_values_are_computed_once():
    one = Counted([])
    assert one.values is one.values
    assert (one.total, one.total, one.computed) == (3.0, 3.0, ["values", "total"])


def test_numbers_stay_and_arrays_go():
    one = Counted(["given"])
    first = one.values, one.total
    clear_cache(one)
    assert one.total == first[1]
    assert one.values is not first[0]
    assert one.computed == ["given", "values", "total", "values"]


def test_the_class_says_what_is_kept():
    assert (Counted.total.__doc__, Counted.total.name) == ("The sum.", "total")
    assert pickle.loads(pickle.dumps(Counted([]))).computed == []


def test_threads_compute_the_values_of_two_objects_side_by_side():
    together = threading.Barrier(2)

    class Slow:
        @cached
        def value(self) -> int:
            return together.wait(timeout=60.0)

    objects, found = (Slow(), Slow()), []
    threads = [threading.Thread(target=lambda one=one: found.append(one.value)) for one in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1]
