"""The runner: nothing is lost, repeated or left unsaid, whenever it is stopped."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

from benchmarks.datasets import load_breast_cancer, load_diabetes, load_friedman
from benchmarks.paper.attempt import attempt
from benchmarks.paper.contenders import OURS, Contender, drnet, lltboost
from benchmarks.paper.ledger import open_ledger
from benchmarks.paper.progress import seconds_left
from benchmarks.paper.protocol import bootstrap_split
from benchmarks.paper.runner import run
from benchmarks.paper.trials import Outcome, Trial, plan
from obliquerules import LLTBoostRegressor

CLONE = Path(__file__).parents[2]

# Forks of one process that has loaded everything: each is killed at a random moment, and the last is left to end.
KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from obliquerules import LLTBoostRegressor
from benchmarks.paper.ledger import open_ledger
from benchmarks.paper.contenders import Contender
from benchmarks.paper.report import overview
from benchmarks.paper.measures import MEASURES
from benchmarks.paper.runner import run
from benchmarks.paper.trials import plan
from benchmarks.datasets import load_diabetes

def make(task, seed):
    return {f"{size} rules": LLTBoostRegressor(max_rules=size, effort=0, random_state=seed) for size in (1, 2)}

data, method, directory, chance = load_diabetes(), Contender("Tiny", "LLTB", make), Path(sys.argv[1]), random.Random(0)
trials = plan([data], [method], 12, 0)

def table(name):
    with open_ledger(directory / name) as ledger:
        outcomes = run(trials, [data], [method], done=ledger.outcomes, keep=ledger.add)
    (directory / f"{name}.md").write_text(overview(MEASURES[0], [method], outcomes).markdown())

def lines():
    return (directory / "killed").read_bytes().count(b"\\n") if (directory / "killed").exists() else 0

start = time.monotonic()
table("whole")
whole = time.monotonic() - start
for _ in range(10):
    # Killed at any moment after none, one or two more outcomes: a busy machine is given the time that it needs for them.
    wanted, running = lines() + chance.choice((0, 1, 2)), True
    child = os.fork()
    if child == 0:
        table("killed")
        os._exit(0)
    while running and lines() < wanted:
        running = os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.001)
    time.sleep(chance.uniform(0.0, whole / 24))
    if running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(lines())
table("killed")
"""


class Sleepless(BaseEstimator):
    """Works for ever, and catches what it can."""

    def fit(self, _X, _y):
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue


class Broken(BaseEstimator):
    def fit(self, _X, _y):
        raise ArithmeticError("no luck")


class Slow(BaseEstimator):
    """Ends, but late."""

    path_ = ()

    def fit(self, _X, _y):
        start = time.thread_time()
        while time.thread_time() - start < 0.05:
            sum(range(1000))


def method_of(kind):
    return Contender(kind.__name__, "LLTB", lambda _task, _seed: {"default": kind()})


def small():
    return Contender(
        "Small", "LLTB", lambda _task, seed: {"default": LLTBoostRegressor(max_rules=2, effort=0, random_state=seed)}
    )


def without_times(outcomes):
    return [dataclasses.replace(outcome, seconds=0.0) for outcome in outcomes]


def test_a_run_killed_ten_times_gives_the_table_of_an_undisturbed_one(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=CLONE)
    lines = [int(count) for count in done.stdout.split()]
    assert lines == sorted(lines)
    assert len(set(lines)) > 2  # some work was done between some of the kills
    assert (tmp_path / "killed.md").read_text() == (tmp_path / "whole.md").read_text()
    assert (tmp_path / "killed").read_bytes().count(b"\n") == 1 + 24


def test_what_two_processes_do_is_what_one_does():
    data, method = load_diabetes(), small()
    one, two = (run(plan([data], [method], 3, 0), [data], [method], jobs=jobs) for jobs in (1, 2))
    assert without_times(one) == without_times(two)


def test_every_cut_of_the_ledger_loses_no_more_than_the_line_that_is_cut(tmp_path):
    path, outcomes = (
        tmp_path / "ledger",
        [Outcome(Trial("D", "ü", "s", seed), (3,), {"risk": (0.1,)}, 1.0) for seed in range(3)],
    )
    with open_ledger(path) as ledger:
        for outcome in outcomes:
            ledger.add(outcome)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with open_ledger(path) as ledger:
            complete = max(whole[:length].count(b"\n") - 1, 0)
            assert list(ledger.outcomes.values()) == outcomes[:complete]
            for outcome in outcomes[complete:]:
                ledger.add(outcome)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"my notes\n", b"my notes", b"my\nnotes", b"\n", b"\xff", b'{"format"}', b"{}\n{"])
def test_a_ledger_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must start with"), open_ledger(path):
        pass
    assert path.read_bytes() == content


LINE = Outcome(Trial("D", "m", "s", 3), (3, 5), {"risk": (0.1, 1 / 3)}, 0.25).line()


@pytest.mark.parametrize(
    "line",
    [
        *("", "{}", "[]", "7", "{", '{"dataset":"D"}', "[" * 100_000, LINE.replace("0.25", "1" * 5000), "my notes"),
        *(
            LINE.replace(f'"{name}":', f'"{name}":{value},"_":')
            for name in ("dataset", "seed", "complexities", "losses", "seconds", "failure")
            for value in ("[]", "1.5")
        ),
        *(LINE.replace('"D"', value) for value in ("1", "[]", "{}", "null", "true")),
        *(LINE.replace('"seed":3', f'"seed":{value}') for value in ("[]", '"3"', "3.0", "true", "-1", "null")),
        *(LINE.replace("[3,5]", value) for value in ("7", "[3]", "[3,[]]", '"35"', "[3,0.5]", "{}", "null", "[true,5]")),
        *(
            LINE.replace("[0.1,", value)
            for value in ("[null,", "[NaN,", "[1e999,", '["a",', "[[],", "[0.1,0.2,", "[" + "9" * 400 + ",")
        ),
        *(LINE.replace('{"risk":', '{"rusk":'), LINE.replace('{"risk":[0.1,0.3333333333333333]}', "[]")),
        *(LINE.replace("0.25", value) for value in ("null", '"1"', "[]", "-Infinity", "true")),
        *(LINE.replace("null", value) for value in ("1", "[]", "false")),
    ],
)
@pytest.mark.parametrize("end", ["\n", f"\n{LINE[:20]}"])
def test_a_line_that_is_no_outcome_is_named_and_nothing_is_cut(tmp_path, line, end):
    assert line != LINE
    path = tmp_path / "ledger"
    with open_ledger(path):
        pass
    path.write_text(f"{path.read_text()}{LINE}\n{line}{end}", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"Line 3 of .* is not an outcome"), open_ledger(path):
        pass
    assert path.read_bytes() == before


def test_notes_after_the_last_line_are_left_alone(tmp_path):
    path = tmp_path / "ledger"
    with open_ledger(path) as ledger:
        ledger.add(Outcome.of_line(LINE))
    path.write_text(f"{path.read_text()}my notes", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Line 3 of .* neither an outcome nor"), open_ledger(path):
        pass
    assert path.read_text(encoding="utf-8").endswith("my notes")


def test_two_runs_do_not_write_to_one_ledger(tmp_path):
    with open_ledger(tmp_path / "ledger"), pytest.raises(ValueError, match="Another run"), open_ledger(tmp_path / "ledger"):
        pass


def test_what_is_done_is_not_done_again():
    data, method = load_diabetes(), small()
    trials = plan([data], [method], 2, 0)
    known = Outcome(trials[0], (3,), {"risk": (0.5,)}, 1.0)
    kept = []
    outcomes = run(trials, [data], [method], done={trials[0]: known}, keep=kept.append)
    assert outcomes == (known, *kept)
    assert [outcome.trial for outcome in kept] == [trials[1]]


def test_what_was_stopped_is_done_again_with_more_time_only():
    data, method = load_diabetes(), small()
    (trial,) = plan([data], [method], 1, 0)
    stopped = Outcome(trial, (), {}, 0.52, "stopped after 0.5 s of processor time")
    assert run([trial], [data], [method], done={trial: stopped}, limit=0.5) == (stopped,)
    (again,) = run([trial], [data], [method], done={trial: stopped}, limit=60.0)
    assert again.failure is None
    broken = Outcome(trial, (), {}, 0.1, "ArithmeticError: no luck")
    assert run([trial], [data], [method], done={trial: broken}) == (broken,)


def test_failures_are_outcomes():
    data = load_diabetes()
    methods = [method_of(Broken), method_of(Sleepless)]
    broken, sleepless = run(plan([data], methods, 1, 0), [data], methods, limit=0.05)
    assert broken.failure == "ArithmeticError: no luck"
    assert sleepless.failure == "stopped after 0.05 s of processor time"
    assert sleepless.seconds >= 0.05
    assert broken.complexities == sleepless.complexities == ()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_in_another_thread_a_late_fit_ends_and_fails_all_the_same():
    data, done = load_diabetes(), []
    trial = Trial(data.name, "Slow", "default", 0)
    thread = threading.Thread(target=lambda: done.append(attempt(data, method_of(Slow), trial, 0.01)))
    thread.start()
    thread.join()
    assert done[0].failure == "stopped after 0.01 s of processor time"
    assert attempt(data, method_of(Slow), trial, 60.0).failure is None


def test_a_run_depends_on_its_seed_only():
    data, method = load_diabetes(), small()
    once, again = (run(plan([data], [method], 2, 0), [data], [method]) for _ in range(2))
    assert without_times(once) == without_times(again)
    assert {trial.seed for trial in plan([data], [method], 2, 0)}.isdisjoint(
        trial.seed for trial in plan([data], [method], 2, 1)
    )


def test_an_attempt_follows_the_path_from_one_rule_upwards():
    data, method = load_breast_cancer(), lltboost("validation")
    outcome = attempt(data, method, Trial(data.name, method.name, "default", 0))
    split = bootstrap_split(data, 0)
    model = method.make("classification", 0)["default"].fit(split.X_train, split.y_train, groups=split.copies_of)
    assert outcome.complexities == tuple(ensemble.complexity for ensemble in model.path_[1:])
    assert outcome.complexities[0] >= 3
    assert outcome.losses["0/1 loss"][-1] == pytest.approx(1.0 - model.score(split.X_test, split.y_test))
    assert outcome.seconds > 0.0


def test_rules_explain_more_than_the_mean_does():
    data, method = load_diabetes(), lltboost("validation")
    for outcome in run(plan([data], [method], 2, 0), [data], [method]):
        assert outcome.losses["risk"][0] < 0.85
        assert len(outcome.complexities) == 10


def test_a_plan_leaves_out_what_a_method_is_not_made_for_and_has_something_of_everything_first():
    assert plan([load_friedman()], [drnet()], 3, 0) == ()
    trials = plan([load_friedman(), load_breast_cancer()], [OURS["TGB (paper)"], drnet()], 2, 1)
    assert [trial.seed for trial in trials] == 15 * [1000] + 15 * [1001]
    assert len(set(trials)) == 30


def test_time_left_goes_by_method():
    known = [Outcome(Trial("D", method, "s", 0), (), {}, seconds) for method, seconds in (("quick", 1.0), ("slow", 9.0))]
    waiting = [Trial("D", "slow", "s", 1), Trial("D", "quick", "s", 1), Trial("D", "new", "s", 1)]
    assert seconds_left(known, waiting, elapsed=5.0, busy=10.0) == pytest.approx((9.0 + 1.0 + 5.0) / 2)
    assert seconds_left(known, [], elapsed=5.0, busy=10.0) == 0.0
    assert math.isfinite(seconds_left(known, waiting, elapsed=5.0, busy=0.0))


def test_lines_are_json_with_exact_numbers():
    outcome = Outcome(Trial("D", "m", "s", 3), (3, 5), {"risk": (0.1, 1 / 3)}, 0.25)
    assert json.loads(outcome.line())["losses"] == {"risk": [0.1, 1 / 3]}
    assert "\n" not in outcome.line()
    with pytest.raises(ValueError, match="JSON compliant"):
        Outcome(Trial("D", "m", "s", 3), (3,), {"risk": (math.nan,)}, 0.0).line()
