"""A cluster of Dask: two worker processes give the model of one and of rows in memory, also if one of them is killed."""

import os
import signal
import threading
import time

import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer

from obliquerules import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.data import blocks

from .little import saved
from .patients import INPUTS, assert_same_model, patients

pytestmark = pytest.mark.cluster
QUICK = {"max_rules": 3, "effort": 0}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 100)


def cluster(n_workers):
    return LocalCluster(n_workers=n_workers, threads_per_worker=2, processes=True, dashboard_address=":0")


@pytest.fixture(scope="module")
def two():
    with cluster(2) as both, Client(both) as client:
        yield client


@pytest.mark.parametrize(("estimator", "target"), [(LLTBoostRegressor(**QUICK), "cost"), (LLTBoostClassifier(**QUICK), "died")])
def test_two_processes_give_the_model_of_rows_in_memory(two, estimator, target):
    frame = patients()
    estimator.set_params(search_rows=300)
    other = type(estimator)(**estimator.get_params()).fit(frame[INPUTS], frame[target])
    lazy = dd.from_pandas(frame[[*INPUTS, target]], npartitions=5)
    assert_same_model(estimator.fit(lazy, target), other, frame)
    assert np.array_equal(np.asarray(estimator.predict(lazy[INPUTS]).compute()), estimator.predict(frame[INPUTS]))


def test_bundled_data(two):
    frame = load_breast_cancer(as_frame=True).frame
    model = LLTBoostClassifier(search_rows=200, **QUICK)
    lazy = model.fit(dd.from_pandas(frame, npartitions=4), "target").ensemble_
    memory = model.fit(frame.drop(columns="target"), frame.target).ensemble_
    assert [(rule.condition, rule.factor) for rule in lazy] == [(rule.condition, rule.factor) for rule in memory]
    assert np.allclose(lazy.weight_table, memory.weight_table, rtol=1e-9, atol=1e-11)


def test_the_number_of_workers_changes_no_byte(two, tmp_path):
    frame = patients()[[*INPUTS, "cost"]]
    lazy = dd.from_pandas(frame, npartitions=6)
    model = LLTBoostRegressor(search_rows=300, **QUICK)
    by_two = saved(model.fit(lazy, "cost"), tmp_path)
    with cluster(1) as one, Client(one, set_as_default=False) as client, client.as_current():
        by_one = saved(model.fit(lazy, "cost"), tmp_path)
        assert one.scheduler.transition_log  # it has worked
    assert by_two == by_one


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    frame = patients()[[*INPUTS, "cost"]]
    reads = tmp_path / "reads"

    def slowly(part):
        with reads.open("a") as file:
            file.write(".")
        time.sleep(0.2)
        return part

    def n_reads():
        return reads.stat().st_size if reads.exists() else 0

    with cluster(2) as both, Client(both) as client:
        lazy = dd.from_pandas(frame, npartitions=8).map_partitions(slowly, meta=frame.iloc[:0])
        expected = saved(LLTBoostRegressor(search_rows=300, **QUICK).fit(lazy, "cost"), tmp_path)
        undisturbed, before = n_reads(), client.run(os.getpid)
        model = LLTBoostRegressor(search_rows=300, **QUICK)
        fit = threading.Thread(target=model.fit, args=(lazy, "cost"))
        fit.start()
        while n_reads() < undisturbed + 10:  # the second pass has begun
            time.sleep(0.01)
        os.kill(next(iter(before.values())), signal.SIGKILL)
        assert fit.is_alive()
        fit.join()
        client.wait_for_workers(2)
        after = client.run(os.getpid)
    assert set(before.values()) != set(after.values())
    assert n_reads() > 2 * undisturbed  # what the worker had read was read again
    assert saved(model, tmp_path) == expected
