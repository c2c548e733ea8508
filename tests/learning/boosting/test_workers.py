"""Workers: results in the order of their items, by any number of threads, in work inside work, and where something fails."""

import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.learning.boosting import workers
from obliquerules.learning.boosting.workers import ALONE, Workers, workers_for

N_ROWS = 300


@pytest.fixture(params=[1, 2, 3])
def some(request, monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    with workers_for(N_ROWS, request.param) as found:
        yield found


def test_results_are_in_the_order_of_their_items(some):
    def slow_if_early(item):
        time.sleep(0.002 * (5 - item))
        return item**2

    assert some.each(slow_if_early, range(5)) == [0, 1, 4, 9, 16]
    assert some.each(slow_if_early, []) == []


def test_work_may_consist_of_further_work(some):
    def row(i):
        return some.each(lambda j: some.each(lambda k: (i, j, k), range(3)), range(3))

    assert some.each(row, range(6)) == [[[(i, j, k) for k in range(3)] for j in range(3)] for i in range(6)]


def test_all_threads_work_at_the_same_time(monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    together = threading.Barrier(3)
    with workers_for(N_ROWS, 3) as found:
        # No item is done before three threads have one.
        assert sorted(found.each(lambda _: together.wait(timeout=60.0), range(3))) == [0, 1, 2]


def test_what_work_raises_comes_to_who_asked(some):
    def fails_at_three(item):
        if item == 3:
            raise LookupError("three")
        return item

    with pytest.raises(LookupError, match="three"):
        some.each(fails_at_three, range(8))
    assert some.each(str, range(3)) == ["0", "1", "2"]


def test_work_beside_other_work(some):
    def further():
        return some.each(lambda item: item + 1, range(4)), threading.get_ident()

    aside, (results, thread) = some.both(lambda: some.each(str, range(3)), further)
    assert (aside, results) == (["0", "1", "2"], [1, 2, 3, 4])
    assert thread == threading.get_ident()


def test_work_aside_that_no_thread_was_free_for_is_done_nevertheless(monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    with workers_for(N_ROWS, 2) as found:
        busy, over = threading.Event(), threading.Event()
        helper = found.pool.submit(lambda: (busy.set(), over.wait(60.0)))
        busy.wait(60.0)
        assert found.both(threading.get_ident, lambda: "done") == (threading.get_ident(), "done")
        over.set()
        helper.result()


@pytest.mark.parametrize("failing", [0, 1])
def test_what_either_of_two_pieces_raises_comes_to_who_asked(some, failing):
    def fails():
        raise LookupError("here")

    pieces = [lambda: time.sleep(0.001), lambda: None]
    pieces[failing] = fails
    with pytest.raises(LookupError, match="here"):
        some.both(*pieces)
    assert some.both(lambda: 1, lambda: 2) == (1, 2)


def test_nothing_new_is_begun_once_the_thread_that_asks_is_interrupted(monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    asking, done = threading.get_ident(), []

    def interrupted(item):
        if threading.get_ident() == asking:
            raise KeyboardInterrupt
        time.sleep(0.01)
        done.append(item)

    with workers_for(N_ROWS, 2) as found, pytest.raises(KeyboardInterrupt):
        found.each(interrupted, range(1000))
    assert len(done) < 1000


def test_settings_for_floating_point_errors_are_those_of_who_asks(some):
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert some.each(lambda one: float(np.float64(1.0) / np.float64(one)), [0.0] * 6) == [np.inf] * 6


def test_few_rows_have_no_threads():
    with workers_for(workers.FEWEST_ROWS - 1, 2) as found:
        assert found is ALONE
    with workers_for(workers.FEWEST_ROWS, 2) as found:
        assert found.n_helpers == 1


@pytest.mark.parametrize("n_helpers", [0, 1, 2, 6])
@pytest.mark.parametrize("n", [0, 1, 5, 20])
def test_shares_are_all_things_once(n, n_helpers):
    shares = Workers(None, n_helpers).shares(n)
    assert len(shares) == n_helpers + 1
    assert [thing for share in shares for thing in range(n)[share]] == list(range(n))


def mixed(n=N_ROWS):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.exponential(size=n).round(2),
            "c": rng.normal(50.0, 10.0, size=n).round(),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        }
    )
    score = X.a + 0.05 * X.c + 1.5 * (X.a - X.b > 0.0) * (X.town == "Bonn")
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    return X, np.asarray(score - 2.5 + rng.normal(scale=0.5, size=n))


CASES = {
    "slopes": (LLTBoostRegressor(max_rules=4), lambda score: score),
    "rules": (LLTBoostClassifier(max_rules=3, effort=1, linear_terms=False), lambda score: score > 0.0),
    "classes": (LLTBoostClassifier(max_rules=3), lambda score: np.digitize(score, [-0.5, 0.7])),
    "validation": (LLTBoostClassifier(max_rules=3, selection="validation", random_state=0), lambda score: score > 0.0),
    "tgb": (TGBRegressor(max_rules=4), lambda score: score),
    "tgb-information": (TGBClassifier(max_rules=3, selection="information"), lambda score: score > 0.0),
    "tgb-exact": (TGBRegressor(max_rules=2, max_propositions=2, search="exact"), lambda score: score),
}


@pytest.mark.parametrize("name", CASES)
def test_models_of_any_number_of_threads_are_the_same_file(name, tmp_path, monkeypatch):
    estimator, target = CASES[name]
    X, score = mixed()

    def saved(n_jobs):
        estimator.set_params(n_jobs=n_jobs).fit(X, target(score)).save(tmp_path / "model.json")
        return (tmp_path / "model.json").read_bytes()

    alone = saved(2)  # so few rows have no threads
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    assert [saved(n_jobs) == alone for n_jobs in (1, 2, 3)] == [True] * 3


def test_threads_of_a_fit_end_with_it(monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ROWS", 0)
    before, most = threading.active_count(), []
    each = Workers.each

    def watched(self, work, items):
        found = each(self, work, items)
        most.append(threading.active_count())
        return found

    monkeypatch.setattr(Workers, "each", watched)
    LLTBoostRegressor(max_rules=2, effort=0, n_jobs=3).fit(*mixed())
    assert max(most) > before
    assert threading.active_count() <= before
