"""Of many classes the file has the counts of each in groups of enough rows, and what is given is counted with its rows."""

import functools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from obliquerules import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.losses import MultinomialLoss
from obliquerules.report.groups import chunks
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head
from obliquerules.report.payload import payload as payload_of
from obliquerules.rules.model import Offset

from .counting import holding
from .reading import payload, says

SPECIES = np.array(["setosa", "versicolor", "virginica"])


@functools.cache
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return (
        LLTBoostClassifier(max_rules=6, complexity_penalty=0.5, linear_terms=False, random_state=0).fit(X, SPECIES[y]),
        X,
        SPECIES[y],
    )


def written(model, place, *data, **options):
    """Write a report and return its data."""
    model.report(place / "model.html", *data, **options)
    return payload(place / "model.html")


@pytest.mark.parametrize("least", [1, 5, 12])
def test_groups_have_enough_rows_and_the_counts_of_each_class(least, tmp_path):
    model, X, y = iris()
    groups = written(model, tmp_path, X, y, min_count=least)["figures"]["groups"]
    assert min(groups["rows"]) >= least
    targets = np.array(groups["target"])
    assert targets.shape == (len(groups["rows"]), 3)
    assert targets.sum(axis=1).tolist() == groups["rows"] == groups["weight"]
    assert targets.sum(axis=0).tolist() == [(y == name).sum() for name in SPECIES]


def test_counts_of_classes_are_those_of_the_rows_for_which_conditions_hold(tmp_path):
    model, X, y = iris()
    figures = written(model, tmp_path, X, y, min_count=5)["figures"]
    conditions = list(dict.fromkeys(rule.condition for ensemble in model.path_ for rule in ensemble))
    bits = np.column_stack([conditions[index](X.to_numpy()) for index in figures["conditions"]])
    for holds, counts in zip(holding(figures), figures["groups"]["target"], strict=False):
        here = (bits == [condition in holds for condition in figures["conditions"]]).all(axis=1)
        assert counts == [(y[here] == name).sum() for name in SPECIES]


@pytest.mark.parametrize("least", [1, 5])
def test_a_row_of_weight_two_counts_twice_for_its_class(least, tmp_path):
    model, X, y = iris()
    weight = np.where(y == "setosa", 2.0, 1.0)
    groups = written(model, tmp_path, X, y, sample_weight=weight, min_count=least)["figures"]["groups"]
    assert np.sum(groups["target"], axis=0).tolist() == [100.0, 50.0, 50.0]
    assert sum(groups["rows"]) == 150


def test_mean_predictions_and_measures_are_those_of_all_rows(tmp_path):
    model, X, y = iris()
    report = written(model, tmp_path, X, y)
    figures, loss = report["figures"], MultinomialLoss(3)
    n_patterns, weight = len(figures["groups"]["patterns"]), np.array(figures["groups"]["weight"])
    for size, exact, predicted in zip(report["sizes"], figures["exact"], figures["predicted"], strict=True):
        shares = loss.inverse_link(model.path_[size](X.to_numpy()))
        errors = (SPECIES[shares.argmax(axis=1)] != y).mean()
        assert says(figures["measures"][size], [log_loss(y, shares, labels=SPECIES), errors])
        assert len(predicted) == len(weight) - (n_patterns if exact else 0)
        if not exact:
            assert says(np.average(predicted, axis=0, weights=weight), shares.mean(axis=0))


def test_words_and_weights_of_each_class(tmp_path):
    model, X, y = iris()
    report = written(model, tmp_path, X, y)
    assert json.loads(report["file"])["version"] == 1
    assert report["words"]["names"] == SPECIES.tolist()
    assert report["words"]["labels"] == [f"'{name}'" for name in SPECIES]
    assert report["about"] == []
    assert report["title"] == "Most probable class, by rules"
    intercept, weights, _ = report["ensembles"][-1]
    assert intercept == list(model.path_[-1].intercept)
    assert weights == [list(rule.weight) for rule in model.path_[-1]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=80), st.integers(1, 9), st.integers(0, 9))
def test_chunks_of_classes_have_enough_rows(rows, least, more):
    score = np.array([[(code == leader) * (1 + lead) for code in range(4)] for leader, lead in rows], dtype=float)
    chunk = chunks(score, least + more, least)
    sizes = np.unique(chunk, return_counts=True)[1]
    assert sorted(set(chunk)) == list(range(len(sizes)))
    assert sizes.min() >= min(least, len(rows))


@given(st.lists(st.integers(9, 30), min_size=3, max_size=4), st.integers(1, 9), st.integers(0, 99))
def test_classes_with_enough_rows_share_no_chunk(counts, least, seed):
    leader = np.repeat(np.arange(len(counts)), counts)
    score = np.eye(len(counts))[leader] * np.random.default_rng(seed).integers(1, 9, len(leader))[:, None]
    chunk = chunks(score, 2 * least, least)
    for number in set(chunk):
        assert len(set(leader[chunk == number])) == 1


def counts():
    """Return a model of counts with an exposure, inputs, counts and exposures."""
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(200, 2)), rng.uniform(0.1, 4.0, 200)
    y = rng.poisson(exposure * np.exp(X[:, 0] > 0.0)).astype(float)
    model = LLTBoostRegressor(loss="poisson", max_rules=3, random_state=0).fit(X, y).model_
    return replace(model, offset=Offset("exposure", ("years",))), X, y, exposure


def rows_of(model, X, y, least, given=None):
    return MeasuredRows.counted(model.ensemble.block(X), y, np.ones(len(y)), "rows", least, given)


def data_of(model, rows):
    return payload_of(model, Head(), rows, 12, None)


def test_an_exposure_counts_as_that_many_rows_of_exposure_one():
    model, X, y, exposure = counts()
    figures = data_of(model, rows_of(model, X, y, 5, exposure))["figures"]
    assert sum(figures["groups"]["weight"]) == pytest.approx(exposure.sum(), rel=1e-12)
    assert sum(figures["groups"]["target"]) == pytest.approx(y.sum(), rel=1e-12)
    assert min(figures["groups"]["rows"]) >= 5
    whole = np.full(len(y), 2.0)
    doubled = data_of(model, rows_of(model, X, 2.0 * y, 5, whole))["figures"]
    plain = replace(model, offset=None)
    weighted = MeasuredRows.counted(plain.ensemble.block(X), y, whole, "rows", 5)
    assert doubled["groups"] == data_of(plain, weighted)["figures"]["groups"]
    assert doubled["measures"] == data_of(plain, weighted)["figures"]["measures"]


def test_rows_come_with_what_the_model_must_be_given():
    model, X, y, exposure = counts()
    with pytest.raises(ValueError, match="come with the exposure"):
        data_of(model, rows_of(model, X, y, 5))
    with pytest.raises(ValueError, match="takes no exposure and no offset"):
        data_of(replace(model, offset=None), rows_of(model, X, y, 5, exposure))


@pytest.mark.parametrize("least", [2, 5, 30])
def test_with_an_offset_groups_are_made_by_prediction(least):
    estimator, X, y = iris()
    model = replace(estimator.model_, offset=Offset("offset", ("a", "b", "c")))
    offset = np.random.default_rng(0).normal(size=(150, 3))
    figures = data_of(model, rows_of(model, X.to_numpy(), model.labels.encode(y), least, offset))["figures"]
    assert figures["groups"]["patterns"] == []
    assert not any(figures["exact"])
    assert min(figures["groups"]["rows"]) >= least
    assert np.sum(figures["groups"]["target"], axis=0).tolist() == [50.0, 50.0, 50.0]
    shares = model.means(model.scores(X.to_numpy(), offset))
    assert says(figures["measures"][model.present][0], log_loss(y, shares, labels=SPECIES))
    assert says(np.average(figures["predicted"][-1], axis=0, weights=figures["groups"]["weight"]), shares.mean(axis=0))
