"""Progress: each rule and a few lines for an improvement, with the share done and the time that the rest takes at this pace."""

import numpy as np
import pytest

from obliquerules.learning.boosting.loop import Progress
from obliquerules.rules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.status_line import StatusLine, Stopwatch

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


def progress_of(clock, *, effort=2, max_rules=4, verbose=1):
    X = np.arange(6.0)[:, None]
    task = task_of("numbers", X, X[:, 0], learner="fit", stopwatch=Stopwatch(clock))
    return Progress(task, max_rules, effort, verbose)


def test_a_rule_has_its_share_and_the_time_for_the_others(clock, capsys):
    progress = progress_of(clock)
    for n_rules in range(5):
        progress.report_rule(RuleEnsemble(RULES[:n_rules], 0.1))
        clock.now += 29.9
    assert capsys.readouterr().err.splitlines() == [
        "[fit] rule 0/4, complexity 0: the best constant",
        "[fit] rule 1/4 (25 %, 90 s or more left), complexity 3: +0.5 if x0 >= 1",
        "[fit] rule 2/4 (50 %, 60 s or more left), complexity 6: +0.5 if x0 >= 2",
        "[fit] rule 3/4 (75 %, 30 s or more left), complexity 9: +0.5 if x0 >= 3",
        "[fit] rule 4/4 (100 %), complexity 12: +0.5 if x0 >= 4",
    ]


def test_an_improvement_is_reported_a_few_times_with_a_time_of_its_own(clock, capsys):
    clock.now += 1000.0
    progress = progress_of(clock)
    for done in range(1, 41):
        clock.now += 0.1
        progress.report_improvement(1, done, 40)
    assert capsys.readouterr().err.splitlines() == [
        "[fit] improvement 1/2: 20 %, about 3 s left",
        "[fit] improvement 1/2: 40 %, about 2 s left",
        "[fit] improvement 1/2: 60 %, about 2 s left",
        "[fit] improvement 1/2: 80 %",
        "[fit] improvement 1/2: 100 %",
    ]


@pytest.mark.parametrize("effort", [0, 1, 4])
def test_the_status_line_is_told_the_share_of_the_whole_fit(effort, clock, monkeypatch):
    told = []
    monkeypatch.setattr(StatusLine, "tell", lambda _, doing, share: told.append((doing, share)))
    progress = progress_of(clock, effort=effort, max_rules=3, verbose=0)
    for n_rules in range(4):
        progress.report_rule(RuleEnsemble(RULES[:n_rules], 0.1))
    for number in range(1, effort + 1):
        for done in range(1, 6):
            progress.report_improvement(number, done, 5)
    progress.report_rest()
    texts, shares = zip(*told, strict=True)
    assert texts[:2] == ("0/3 rules", "1/3 rules")
    assert texts[4:-1] == tuple(f"improving {1 + step // 5}/{effort}" for step in range(5 * effort))
    np.testing.assert_allclose(shares, sorted(shares), rtol=1e-12)
    assert shares[0] == 0.0
    # What is left is shortening, which takes about as long as the growth.
    assert 1.0 - shares[-1] == pytest.approx(shares[3])
