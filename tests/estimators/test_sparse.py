"""Sparse input: the model and its predictions are those of the dense equivalent, and nothing wide is made dense."""

import numpy as np
import pytest
from scipy import sparse

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LTRNetRegressor,
    TGBClassifier,
    TGBRegressor,
    load_model,
)
from obliquerules.data import sparse as room

SMALL_NET = {"max_rules": 4, "max_propositions": 2, "n_penalties": 2, "n_restarts": 2, "max_iter": 50, "random_state": 0}


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    """As many columns as `data` has are learned from, of however many."""
    monkeypatch.setattr(room, "MOST_COLUMNS", 12)
    monkeypatch.setattr(room, "MOST_COLUMNS", 12)


def data(n=400, p=12, seed=0, density=0.3):
    """Columns of numbers and of zeros and ones, and labels that two of each decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(2) * (rng.random((n, p)) < density)
    X[:, ::3] = X[:, ::3] != 0.0
    score = 2.0 * (X[:, 1] > 0.4) + 1.5 * X[:, 3] - X[:, 4] - 0.5
    return X, (score + rng.logistic(scale=0.3, size=n) > 0.0).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [
        LLTBoostClassifier(max_rules=3, random_state=0),
        LLTBoostClassifier(max_rules=3, effort=0, search_rows=150, random_state=0),
        LLTBoostRegressor(max_rules=3, effort=0, random_state=0),
        LLTBoostClassifierCV(max_rules=2, effort=0, cv=2, random_state=0),
        TGBClassifier(max_rules=3),
        TGBRegressor(max_rules=3, search_rows=150),
        LTRNetRegressor(**SMALL_NET),
        DRNetClassifier(n_penalties=2, max_iter=60, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_model_is_that_of_the_dense_table(estimator):
    X, y = data()
    dense = estimator.fit(X, y).model_
    assert len(dense.ensemble) > 0
    assert estimator.fit(sparse.csr_array(X), y).model_ == dense


def test_missing_values_weights_and_names_are_those_of_the_dense_table():
    X, y = data()
    rng = np.random.default_rng(1)
    X[(rng.random(len(X)) < 0.2) & (y == 1), 5] = np.nan
    names, weight = [f"word {index}" for index in range(X.shape[1])], rng.integers(0, 3, len(y))
    model = TGBClassifier(max_rules=4).fit(X, y, weight, feature_names=names)
    same = TGBClassifier(max_rules=4).fit(sparse.csc_matrix(X), y, weight, feature_names=names)
    assert same.model_ == model.model_
    assert "missing" in model.to_text()
    assert same.predict_proba(sparse.csr_array(X)).tolist() == model.predict_proba(X).tolist()


def test_zeros_in_the_matrix_change_nothing():
    X, y = data()
    full = sparse.csr_array((X.ravel(), np.tile(np.arange(12), len(X)), np.arange(0, X.size + 1, 12)), shape=X.shape)
    assert full.nnz == X.size
    assert TGBClassifier().fit(full, y).model_ == TGBClassifier().fit(X, y).model_


def wide(n=1500, p=3000):
    rng = np.random.default_rng(0)
    X = sparse.lil_array(sparse.random(n, p, density=0.01, random_state=0, data_rvs=rng.standard_normal))
    for column in (100, 2000, 2999):
        X[:, [column]] = rng.normal(size=(n, 1)).round(2) * (rng.random((n, 1)) < 0.4)
    X = X.tocsr()
    first, second, third = X[:, [100, 2000, 2999]].toarray().T
    score = 2.0 * (first > 0.3) - 2.0 * second + third - 0.5
    return X, (score + rng.logistic(scale=0.2, size=n) > 0.0).astype(int)


@pytest.mark.parametrize("search_rows", [None, 500])
def test_rules_find_their_columns_among_thousands(monkeypatch, search_rows):
    monkeypatch.setattr(room, "MOST_VALUES", 0)  # nothing wide may be made dense
    X, y = wide()
    model = LLTBoostClassifier(max_rules=4, effort=0, random_state=0, search_rows=search_rows).fit(X, y)
    assert {100, 2000, 2999} <= set(model.ensemble_.used_columns)
    assert model.n_features_in_ == 3000
    assert len(model.model_.columns) == 3000
    assert {one.column for one in model.model_.ranges} <= set(range(3000))
    assert model.score(X, y) > 0.85


def test_predictions_are_those_of_dense_rows_to_the_last_bit(monkeypatch):
    X, y = wide()
    dense = X.toarray()
    model = LLTBoostClassifier(max_rules=4, effort=0, random_state=0).fit(X, y)
    regressor = TGBRegressor(max_rules=4).fit(X, y)
    edited = model.edit(dense, y).drop(0).model
    expected = [*model.staged_decision_function(dense)]
    monkeypatch.setattr(room, "MOST_VALUES", 0)
    for one in (X, X.tocsc(), X.tocoo(), sparse.csr_matrix(X)):
        assert model.predict(one).tolist() == model.predict(dense).tolist()
        assert model.predict_proba(one).tolist() == model.predict_proba(dense).tolist()
        assert regressor.predict(one).tolist() == regressor.predict(dense).tolist()
    assert model.decision_function(X).tolist() == model.decision_function(dense).tolist()
    assert edited.decision_function(X).tolist() == edited.decision_function(dense).tolist()
    for found, wanted in zip(model.staged_decision_function(X), expected, strict=True):
        assert found.tolist() == wanted.tolist()


def test_a_constant_model_predicts():
    X = sparse.random(30, 5, density=0.5, random_state=0)
    model = TGBRegressor().fit(X, np.ones(30))
    assert model.predict(X).tolist() == [1.0] * 30


def test_a_model_of_a_hundred_thousand_columns_is_saved_in_a_small_file(tmp_path):
    rng = np.random.default_rng(0)
    places = rng.integers(0, [[2000], [10**5]], (2, 20_000))
    places[1, :1000] = rng.choice([70_000, 80_000], 1000)
    X = sparse.csr_matrix((np.ones(20_000), tuple(places)), shape=(2000, 10**5))
    X.data[:] = 1.0  # places that were drawn twice
    y = X[:, [70_000, 80_000]].toarray() @ [3.0, -2.0] + np.random.default_rng(0).normal(scale=0.1, size=2000)
    model = TGBRegressor(max_rules=2).fit(X, y)
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 10**5
    loaded = load_model(tmp_path / "model.json")
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.to_text() == model.to_text()


def test_questions_about_a_few_rows_are_answered_and_about_many_refused(monkeypatch):
    X, y = wide()
    model = LLTBoostClassifier(max_rules=3, effort=0, random_state=0).fit(X, y)
    assert str(model.explain(X[:2])) == str(model.explain(X[:2].toarray()))
    assert str(model.rule_table(X, y)) == str(model.rule_table(X.toarray(), y))
    change = model.closest_change(X[[3]], X, tolerance=0.05)
    assert str(change) == str(model.closest_change(X[[3]].toarray(), X.toarray(), tolerance=0.05))
    monkeypatch.setattr(room, "MOST_VALUES", 10 * X.shape[1])
    with pytest.raises(ValueError, match=r"1500 rows of all its 3000 columns .* at most 10 rows at a time"):
        model.explain(X)
    assert len(str(model.explain(X[:10]))) > 0


def test_bad_input_is_named():
    X, y = data()
    with_infinity = sparse.csr_array(X)
    with_infinity.data[0] = np.inf
    with pytest.raises(ValueError, match=r"infinite value .* in column 'x"):
        TGBClassifier().fit(with_infinity, y)
    with pytest.raises(ValueError, match="Column 'x1' of X has values beyond"):
        TGBClassifier().fit(sparse.csr_array([[0.0, 1e80], [1.0, 0.0]]), [0, 1])
    with pytest.raises(ValueError, match="Column 'x0' of X has no value beyond 1e-250"):
        TGBClassifier().fit(sparse.csr_array([[0.0, 1.0], [1e-250, 0.0]]), [0, 1])
    model = TGBClassifier(max_rules=2).fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="X has 11 features, but TGBClassifier is expecting 12 features"):
        model.predict(sparse.csr_array(X[:, :11]))
    with pytest.raises(ValueError, match="y has 399 entries, but X has 400 rows"):
        model.fit(sparse.csr_array(X), y[:-1])
    used = model.ensemble_.used_columns[0]
    X[0, used] = np.nan
    with pytest.warns(UserWarning, match=f"Values are missing in 'x{used}'"):
        model.predict(sparse.csr_array(X))
