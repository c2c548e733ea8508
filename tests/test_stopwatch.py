"""The stopwatch: seconds since its start, by any clock."""

import pickle

from obliquerules.stopwatch import Stopwatch


def test_it_has_the_seconds_since_its_start():
    times = iter([100.0, 103.0, 107.5])
    watch = Stopwatch(lambda: next(times))
    assert [watch.seconds, watch.seconds] == [3.0, 7.5]


def test_restarted_it_begins_anew_by_the_same_clock():
    times = iter([100.0, 103.0, 107.5, 109.0])
    watch = Stopwatch(lambda: next(times))
    again = watch.restarted()
    assert [again.seconds, watch.seconds] == [4.5, 9.0]


def test_by_the_clock_of_the_machine_it_never_goes_back_and_goes_with_its_task_to_other_processes():
    watch = pickle.loads(pickle.dumps(Stopwatch()))
    assert 0.0 <= watch.seconds <= watch.seconds
