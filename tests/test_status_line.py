"""The status line and the stopwatch: what the line says, when, where nobody looks, and that nothing is left of it."""

import io
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

from obliquerules import DRNetClassifier, LLTBoostClassifier, LLTBoostClassifierCV, LTRNetClassifier
from obliquerules import status_line as module
from obliquerules.cli.console import warnings_as_notes
from obliquerules.learning.boosting import boosting
from obliquerules.parallel import CountedCalls
from obliquerules.status_line import Stopwatch, opened, rough, status_line

SMALL = {"max_rules": 3, "max_variables": 2, "random_state": 0}


class Clock:
    """A clock that is set by hand, or goes on by a step whenever it is read."""

    def __init__(self, step=0.0):
        self.now, self.step = 50.0, step

    def __call__(self):
        self.now += self.step
        return self.now


class Stream(io.StringIO):
    """What is written, with a screen that shows it."""

    def __init__(self, terminal=True):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    @property
    def lines(self):
        """What was drawn, one after the other."""
        return [one.rstrip() for one in self.getvalue().split("\r") if one.strip()]

    @property
    def screen(self):
        """What is on the line at the end."""
        line = ""
        for one in self.getvalue().split("\r"):
            line = one + line[len(one) :]
        return line.rstrip()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def terminal(monkeypatch):
    """Return the standard error of the status line alone: that of all is replaced by pytest when the test begins."""
    stream = Stream()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream, modules={}))
    return stream


@pytest.fixture
def slow(monkeypatch):
    """Let a tenth of a second pass whenever a fit looks at its clock."""
    clock = Clock(0.1)
    monkeypatch.setattr("obliquerules.estimators.fitting.Stopwatch", lambda: Stopwatch(clock))
    monkeypatch.setattr(Stopwatch.__init__, "__defaults__", (clock,))
    return clock


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(150, 3))
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


# The line


def test_it_says_what_is_done_how_much_and_how_long_the_rest_takes(terminal, clock):
    with opened("fit", clock) as line:
        clock.now += 13.0
        line.tell("improving 1/2", 0.62)
        assert terminal.screen == "fit: improving 1/2, 62 %, about 8 s left"
    assert terminal.getvalue().endswith("\r")


def test_it_is_erased(terminal, clock):
    with opened("fit", clock) as line:
        for share in (0.1, 0.9):
            clock.now += 10.0
            line.tell("growing", share)
        # The second is shorter.
        assert terminal.screen == "fit: growing, 90 %, about 2 s left"
    assert terminal.screen == ""
    line.tell("late", 1.0)
    assert terminal.screen == ""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_it_is_erased_if_work_fails(error, terminal, clock):
    def work():
        with opened("fit", clock) as line:
            clock.now += 3.0
            line.tell("growing", 0.5)
            raise error

    with pytest.raises(error):
        work()
    assert terminal.lines == ["fit: growing, 50 %, about 3 s left"]
    assert terminal.screen == ""
    assert status_line().stream is None


def test_the_first_two_seconds_are_silent(terminal, clock):
    with opened("fit", clock) as line:
        for _ in range(4):
            clock.now += 0.5
            line.tell("growing", 0.5)
        assert terminal.getvalue() == ""
        clock.now += 0.5
        line.tell("growing", 0.5)
    assert terminal.lines == ["fit: growing, 50 %, about 2 s left"]


def test_a_short_fit_writes_nothing(terminal, clock):
    with opened("fit", clock) as line:
        line.tell("growing", 0.5)
    assert terminal.getvalue() == ""


def test_it_changes_at_most_five_times_a_second(terminal, clock):
    with opened("fit", clock) as line:
        clock.now += 5.0
        for step in range(1000):
            clock.now += 0.001
            line.tell("growing", step / 1000)
    assert len(terminal.lines) == 5


def test_nothing_done_yet_has_no_time_left_and_the_end_is_not_there_before_it_is(terminal, clock):
    with opened("fit", clock) as line:
        for share in (0.0, 1.0):
            clock.now += 3.0
            line.tell("growing", share)
    assert terminal.lines == ["fit: growing, 0 %", "fit: growing, 99 %"]


def test_it_fits_a_narrow_terminal(terminal, clock, monkeypatch):
    monkeypatch.setattr(terminal, "fileno", lambda: 2)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((12, 24)))
    with opened("fit", clock) as line:
        clock.now += 3.0
        line.tell("growing", 0.5)
    assert terminal.lines == ["fit: growin"]
    assert terminal.screen == ""


def test_parts_count_within_the_whole_and_do_not_lead_back(terminal, clock):
    with opened("fit", clock) as line:
        clock.now += 3.0
        for part in (0, 1):
            line.begin(f"{part}/2 folds", part / 2, (part + 1) / 2)
            for share in (0.5, 0.0):
                clock.now += 1.0
                status_line().tell("growing", share)
    assert [one.partition(", about")[0] for one in terminal.lines] == [
        "fit: 0/2 folds, 0 %",
        "fit: 0/2 folds, 25 %",
        "fit: 0/2 folds, 25 %",
        "fit: 1/2 folds, 75 %",
        "fit: 1/2 folds, 75 %",
    ]


def test_the_last_steps_are_counted_from_where_it_was(terminal, clock):
    with opened("fit", clock) as line:
        line.tell("growing", 0.6)
        counted = line.counter("rounding", 2)
        for result in ("a", "b"):
            clock.now += 3.0
            assert counted(result) == result
    assert terminal.lines == ["fit: rounding, 80 %", "fit: rounding, 99 %"]


def test_work_inside_of_work_has_no_line_of_its_own(terminal, clock):
    with opened("outer", clock) as line, opened("inner", clock) as inner:
        assert inner is line
        clock.now += 3.0
        inner.tell("growing", 0.5)
    assert terminal.lines == ["outer: growing, 50 %, about 3 s left"]


# Where nobody looks


@pytest.mark.parametrize("stream", [None, Stream(terminal=False), object()])
def test_there_is_none_elsewhere(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)

    def clock():
        raise AssertionError("Nobody looks, so the time does not matter.")

    with opened("fit", clock) as line:
        line.tell("growing", 0.5)
    assert line.stream is None


def test_there_is_none_on_a_closed_stream(terminal, clock):
    terminal.isatty = io.StringIO.isatty.__get__(terminal)
    terminal.close()
    with opened("fit", clock) as line:
        assert line.stream is None


def test_a_stream_that_fails_is_left_alone(terminal, clock):
    with opened("fit", clock) as line:
        terminal.close()
        for _ in range(2):
            clock.now += 3.0
            line.tell("growing", 0.5)
        assert line.stream is None


def test_there_is_none_if_it_is_not_to_be_shown_nor_inside(terminal, clock):
    with opened("outer", clock, shown=False), opened("fit", clock) as line:
        clock.now += 3.0
        line.tell("growing", 0.5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("quiet", [False, True])
def test_a_quiet_command_has_none(quiet, terminal):
    with warnings_as_notes(quiet=quiet), opened("fit") as line:
        assert (line.stream is None) == quiet


def test_threads_and_processes_that_help_have_none(terminal, monkeypatch):
    def stream():
        with opened("fit") as line:
            return line.stream

    assert stream() is terminal
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(stream).result() is None
    monkeypatch.setattr("multiprocessing.parent_process", lambda: threading.current_thread())
    assert stream() is None


def test_a_forked_process_does_not_draw(terminal, clock, monkeypatch):
    with opened("fit", clock) as line:
        clock.now += 3.0
        monkeypatch.setattr(os, "getpid", lambda: line.process + 1)
        line.tell("growing", 0.5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("ipython", "seen"),
    [
        (SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object())), True),
        (SimpleNamespace(get_ipython=lambda: SimpleNamespace()), False),
        (SimpleNamespace(get_ipython=lambda: None), False),
        (SimpleNamespace(), False),
    ],
)
def test_a_notebook_is_looked_at(ipython, seen, clock, monkeypatch):
    stream = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with opened("fit", clock) as line:
        clock.now += 3.0
        line.tell("growing", 0.5)
        assert stream.screen == ("fit: growing, 50 %, about 3 s left" if seen else "")
    assert stream.screen == ""


# Counted calls


def test_parallel_calls_are_counted(terminal, clock):
    def call(number):
        clock.now += 3.0
        return number

    with opened("fit", clock):
        assert CountedCalls(1, "calls", 2, (0.0, 0.5))(joblib.delayed(call)(number) for number in range(2)) == [0, 1]
    assert terminal.lines == ["fit: 1/2 calls, 25 %, about 9 s left", "fit: 2/2 calls, 50 %, about 6 s left"]


def test_calls_in_other_threads_are_counted_too(terminal, clock):
    with opened("fit", clock), joblib.parallel_config("threading"):
        clock.now += 3.0
        assert CountedCalls(2, "calls", 2, parts=True)(joblib.delayed(abs)(number) for number in (-1, 2)) == [1, 2]
    assert terminal.lines == ["fit: 0/2 calls, 0 %"]
    assert terminal.screen == ""


# Fits


def drawn_by(fit, terminal):
    """Return what a fit draws, without shares and times; nothing may be left of it."""
    fit()
    assert terminal.screen == ""
    assert "\n" not in terminal.getvalue()
    return list(dict.fromkeys(one.partition(",")[0] for one in terminal.lines))


def test_a_long_fit_draws_its_steps_and_finds_the_same(rows, terminal, slow):
    slow.step = 0.25  # more than a pause: the line changes each time
    model = LLTBoostClassifier(**SMALL, effort=2)
    drawn = drawn_by(lambda: model.fit(*rows), terminal)
    steps = ("improving 1/2", "improving 2/2", "weights", "shorter conditions")
    assert drawn[-4:] == [f"LLTBoostClassifier: {one}" for one in steps]
    shares = [int(one.split(", ")[1].removesuffix(" %")) for one in terminal.lines]
    assert shares == sorted(shares)
    before, terminal.terminal = terminal.getvalue(), False
    assert LLTBoostClassifier(**SMALL, effort=2).fit(*rows).path_ == model.path_
    assert terminal.getvalue() == before


def test_a_fit_that_reports_has_no_line(rows, terminal, slow, capsys):
    LLTBoostClassifier(**SMALL, verbose=1).fit(*rows)
    assert terminal.getvalue() == ""
    reported = capsys.readouterr().err
    assert "\r" not in reported
    assert reported.startswith("[LLTBoostClassifier] rule 0/3, complexity 0: the best constant\n")


def test_folds_draw_on_the_line_of_the_cross_validation(rows, terminal, slow):
    drawn = drawn_by(lambda: LLTBoostClassifierCV(**SMALL, cv=2, effort=1).fit(*rows), terminal)
    assert [one.removeprefix("LLTBoostClassifierCV: ") for one in drawn] == ["all rows", "0/2 folds", "1/2 folds"]


def test_a_cross_validation_that_reports_has_no_line_for_its_folds(rows, terminal, slow):
    LLTBoostClassifierCV(**SMALL, cv=2, effort=1, verbose=1).fit(*rows)
    assert terminal.getvalue() == ""


def test_refits_draw_on_the_line_of_the_stability(rows, terminal, slow):
    model = LLTBoostClassifier(**SMALL, effort=0, verbose=1).fit(*rows)
    drawn = drawn_by(lambda: model.stability(*rows, n_bootstraps=4, random_state=0), terminal)
    assert drawn[-2:] == ["stability: 3/4 refits", "stability: weights"]


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (LTRNetClassifier(max_iter=5, n_penalties=30, n_restarts=1, random_state=0), "penalties"),
        (DRNetClassifier(max_iter=5, n_penalties=130, random_state=0), "batches"),
    ],
)
def test_networks_draw_too(model, what, rows, terminal, slow):
    assert any(one.endswith(what) for one in drawn_by(lambda: model.fit(*rows), terminal))


def test_an_interrupt_leaves_nothing(rows, terminal, slow, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(boosting, "readable_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LLTBoostClassifier(**SMALL).fit(*rows)
    assert terminal.lines
    assert terminal.screen == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89.0, "89 s"), (91.0, "2 min"), (5399.0, "90 min"), (7300.0, "2 h")]
)
def test_a_time_is_given_in_one_unit(seconds, text):
    assert rough(seconds) == text


def test_a_stopwatch_has_the_seconds_since_its_start():
    times = iter([100.0, 103.0, 107.5])
    watch = Stopwatch(lambda: next(times))
    assert [watch.seconds, watch.seconds] == [3.0, 7.5]


def test_a_stopwatch_restarted_begins_anew_by_the_same_clock():
    times = iter([100.0, 103.0, 107.5, 109.0])
    watch = Stopwatch(lambda: next(times))
    again = watch.restarted()
    assert [again.seconds, watch.seconds] == [4.5, 9.0]


def test_a_stopwatch_never_goes_back_and_can_be_pickled():
    watch = pickle.loads(pickle.dumps(Stopwatch()))
    assert 0.0 <= watch.seconds <= watch.seconds
