"""Progress: each rule and a few lines for an improvement, with the share done and the time that the rest takes at this pace."""

import numpy as np
import pytest

from obliquerules.boosting.progress import Progress, rough
from obliquerules.rules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.stopwatch import Stopwatch

from .tasks import task_of

RULES = [Rule(0.5, Conjunction([Proposition([0], [1.0], at)])) for at in (1.0, 2.0, 3.0, 4.0)]


class Clock:
    """A clock that is set by hand."""

    now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def progress(clock):
    X = np.arange(6.0)[:, None]
    return Progress.of(task_of("numbers", X, X[:, 0], learner="fit", stopwatch=Stopwatch(clock)))


def test_a_rule_has_its_share_and_the_time_for_the_others(progress, clock, capsys):
    for n_rules in range(5):
        progress.report_rule(RuleEnsemble(RULES[:n_rules], 0.1), 4)
        clock.now += 29.9
    assert capsys.readouterr().err.splitlines() == [
        "[fit] rule 0/4, complexity 0: the best constant",
        "[fit] rule 1/4 (25 %, 90 s or more left), complexity 3: +0.5 if x0 >= 1",
        "[fit] rule 2/4 (50 %, 60 s or more left), complexity 6: +0.5 if x0 >= 2",
        "[fit] rule 3/4 (75 %, 30 s or more left), complexity 9: +0.5 if x0 >= 3",
        "[fit] rule 4/4 (100 %), complexity 12: +0.5 if x0 >= 4",
    ]


def test_an_improvement_is_reported_a_few_times_with_a_time_of_its_own(progress, clock, capsys):
    clock.now += 1000.0
    progress = progress.restarted()
    for done in range(1, 41):
        clock.now += 0.1
        progress.report_improvement("1/2", done, 40)
    assert capsys.readouterr().err.splitlines() == [
        "[fit] improvement 1/2: 20 %, about 3 s left",
        "[fit] improvement 1/2: 40 %, about 2 s left",
        "[fit] improvement 1/2: 60 %, about 2 s left",
        "[fit] improvement 1/2: 80 %",
        "[fit] improvement 1/2: 100 %",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89.0, "89 s"), (91.0, "2 min"), (5399.0, "90 min"), (7300.0, "2 h")]
)
def test_a_time_is_given_in_one_unit(seconds, text):
    assert rough(seconds) == text
