"""Order and weights of rows: the file of a model is the same for any order, and a row of weight 2 is the row twice."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import KFold, PredefinedSplit

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, LLTBoostRegressorCV, TGBClassifier, TGBRegressor

from .row_orders import LEARNERS, Rows, case, saved


def orders(n, seed, count):
    """Return random permutations."""
    rng = np.random.default_rng([seed, 1])
    return [rng.permutation(n) for _ in range(count)]


def check(seed, folder, n_orders):
    """Raise unless orders of rows, and weights in the place of repeated rows, give the same file."""
    estimator, rows, weight = case(seed)
    expected = saved(estimator, rows, folder)
    for order in orders(len(rows.y), seed, n_orders):
        assert saved(estimator, rows.at(order), folder) == expected
    repeated = np.repeat(np.arange(len(rows.y)), weight)
    expected = saved(estimator, rows.at(repeated), folder)
    for order in orders(len(rows.y), seed, n_orders):
        assert saved(estimator, rows.weighted(weight).at(order), folder) == expected


@pytest.mark.parametrize("seed", range(len(LEARNERS)))
def test_neither_order_nor_repetition_of_rows_changes_a_file(seed, tmp_path):
    check(seed, tmp_path, n_orders=1)


@pytest.mark.orders
@pytest.mark.parametrize("seed", range(300))
def test_neither_order_nor_repetition_of_rows_changes_any_file(seed, tmp_path):
    check(seed, tmp_path, n_orders=5)


def test_equally_frequent_levels_are_in_the_order_of_their_names():
    rng = np.random.default_rng(26)
    X = pd.DataFrame(
        {"town": np.repeat(["Ulm", "Bonn", "Kiel", "Jena", "Trier", "Gera"], 15), "z": rng.normal(size=90).round(1)}
    )
    y = (rng.normal(size=90) + X.town.isin(["Ulm", "Gera"]) + X.z).round(1).to_numpy()
    models = [TGBRegressor(max_rules=4).fit(X.iloc[order], y[order]) for order in orders(90, 0, 6)]
    assert {model.ensemble_.columns[0].levels for model in models} == {("Bonn", "Gera", "Jena", "Kiel", "Trier", "Ulm")}
    assert all(model.path_ == models[0].path_ for model in models)


# ---- weights where columns are judged


def with_absent_rows(rows, absent):
    """Return rows followed by others, and weights that are zero for these."""
    X = pd.concat([rows.X, pd.DataFrame(absent)], ignore_index=True)
    n = len(X) - len(rows.y)
    return Rows(X, np.append(rows.y, np.resize(rows.y, n)), {"sample_weight": np.repeat([1.0, 0.0], [len(rows.y), n])})


def patients():
    """Return forty rows of text, flags, dates and numbers that are never missing."""
    rng = np.random.default_rng(0)
    ward, dose = np.resize(["east", "west", "north"], 40), rng.integers(0, 2, 40)
    since = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.arange(40), unit="D")
    X = pd.DataFrame({"ward": ward.astype(object), "dose": dose, "since": since, "bmi": rng.normal(25.0, 4.0, 40).round(1)})
    return Rows(X, (2.0 * (ward == "east") + dose + 0.1 * X["bmi"]).to_numpy(), {})


ABSENT = [
    {"ward": ["secret"] * 3},
    {"ward": [None], "dose": [7]},
    {"since": [pd.Timestamp("2030-01-01 12:34:56")], "bmi": [np.nan]},
    {"ward": [12], "bmi": [np.inf]},
    {"bmi": [1e300]},
]


@pytest.mark.parametrize("absent", ABSENT, ids=str)
@pytest.mark.parametrize(
    "estimator", [LLTBoostRegressor(max_rules=3), TGBRegressor(max_rules=3)], ids=lambda one: type(one).__name__
)
def test_a_row_of_weight_zero_leaves_no_trace(estimator, absent, tmp_path):
    rows = patients()
    typical = rows.X.iloc[:1].to_dict("list")
    filled = {name: absent.get(name, values * len(next(iter(absent.values())))) for name, values in typical.items()}
    assert saved(estimator, with_absent_rows(rows, filled), tmp_path) == saved(estimator, rows, tmp_path)


TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "objects": lambda columns: np.array(list(columns.values()), dtype=object).T,
    "rows": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_of_weight_zero_leave_no_trace_in_any_kind_of_table(kind, tmp_path):
    rows = patients()
    columns = {"ward": [*rows.X["ward"], "secret"], "bmi": [*rows.X["bmi"].astype(str), "1e9"]}
    known = {name: values[:-1] for name, values in columns.items()}
    weight = np.repeat([2.0, 0.0], [40, 1])
    one = Rows(TABLES[kind](columns), np.append(rows.y, 1e6), {"sample_weight": weight})
    two = Rows(TABLES[kind](known), rows.y, {"sample_weight": weight[:-1]})
    assert saved(TGBRegressor(max_rules=2), one, tmp_path) == saved(TGBRegressor(max_rules=2), two, tmp_path)


@pytest.mark.parametrize("of", [np.asarray, csr_array], ids=["array", "sparse"])
def test_numbers_that_cannot_be_learned_from_may_have_weight_zero(of, tmp_path):
    X = np.random.default_rng(0).integers(0, 4, (60, 3)).astype(float)
    y = X[:, 0] + (X[:, 1] > 1.0)
    bad = np.vstack([X, [np.inf, 1e300, np.nan]])
    one = Rows(of(bad), np.append(y, 0.0), {"sample_weight": np.repeat([1.0, 0.0], [60, 1])})
    assert saved(TGBRegressor(max_rules=2), one, tmp_path) == saved(TGBRegressor(max_rules=2), Rows(of(X), y, {}), tmp_path)


def test_text_is_like_an_identifier_by_weight(tmp_path):
    # Forty towns once each, and one four times.
    town = [*(f"town {number:02}" for number in range(40)), *["Ulm"] * 4]
    y = np.array([0.0] * 40 + [3.0, 3.2, 2.9, 3.1]) + np.linspace(0.0, 0.1, 44)
    rows = Rows(pd.DataFrame({"town": town}), y, {})
    twice = saved(TGBRegressor(max_rules=1), rows.at(np.repeat(np.arange(44), 2)), tmp_path)
    assert saved(TGBRegressor(max_rules=1), rows.weighted(np.full(44, 2.0)), tmp_path) == twice
    assert b"Ulm" in twice


@pytest.mark.parametrize("weight", [np.full(60, 1.0 / 60.0), np.full(60, 1e-6)], ids=["shares", "tiny"])
def test_weights_that_are_shares_do_not_make_text_an_identifier(weight):
    rows = patients().at(np.arange(60) % 40)
    model = TGBRegressor(max_rules=2).fit(rows.X, rows.y, sample_weight=weight)
    assert model.ensemble_.columns[0].levels == ("east", "west", "north")


def test_a_class_without_weight_is_no_class():
    rows = patients()
    y = np.where(rows.y > np.median(rows.y), "high", "low").astype(object)
    weight = np.ones(40)
    y[:3], weight[:3] = "secret", 0.0
    for estimator in (LLTBoostClassifier(max_rules=2), TGBClassifier(max_rules=2, class_weight="balanced")):
        model = estimator.fit(rows.X, y, sample_weight=weight)
        assert model.classes_.tolist() == ["high", "low"]
        assert np.isfinite(model.predict_proba(rows.X)).all()


def test_a_target_that_is_missing_where_the_weight_is_zero_is_none(tmp_path):
    rows = patients()
    y = np.append(rows.y[:-1], np.nan)
    known = saved(TGBRegressor(max_rules=2), rows.at(np.arange(39)), tmp_path)
    weighted = Rows(rows.X, y, {"sample_weight": np.isfinite(y).astype(float)})
    assert saved(TGBRegressor(max_rules=2), weighted, tmp_path) == known


def test_an_exposure_that_is_not_valid_where_the_weight_is_zero_is_none(tmp_path):
    rows = patients()
    rows = Rows(rows.X, rows.y.round(), {"exposure": np.arange(1.0, 41.0)})
    some = rows.at(np.arange(38))
    rows.besides["exposure"][38:] = [0.0, np.nan]
    model = TGBRegressor(loss="poisson", max_rules=2)
    assert saved(model, rows.weighted(np.repeat([1.0, 0.0], [38, 2])), tmp_path) == saved(model, some, tmp_path)
    with pytest.raises(ValueError, match="exposure must be positive; row 38 is not"):
        saved(model, rows.weighted(np.repeat([1.0, 0.0, 1.0, 0.0], [37, 1, 1, 1])), tmp_path)


@pytest.mark.parametrize("how", ["pairs", "splitter"])
def test_splits_count_rows_of_weight_zero(how):
    rows = patients()
    splits = list(KFold(4, shuffle=True, random_state=0).split(rows.X))
    expected = LLTBoostRegressorCV(max_rules=2, cv=splits).fit(rows.X, rows.y)
    # Each row is preceded by one without weight.
    both = rows.at(np.repeat(np.arange(40), 2))
    later = [tuple(np.append(2 * part, 2 * part + 1) for part in split) for split in splits]
    fold = np.empty(80, dtype=int)
    for number, (_, test) in enumerate(later):
        fold[test] = number
    cv = later if how == "pairs" else PredefinedSplit(fold)
    model = LLTBoostRegressorCV(max_rules=2, cv=cv).fit(both.X, both.y, sample_weight=np.tile([0.0, 1.0], 40))
    assert model.path_ == expected.path_
    assert model.cv_results_["mean_test_risk"].tolist() == expected.cv_results_["mean_test_risk"].tolist()


# ---- factors of weights: classes, exposures, offsets


def factored(kind, with_groups, seed):
    """Return an estimator whose weights have factors, rows that are there up to three times, and their numbers."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 6, 70), "c": rng.choice(["u", "v", "w"], 70), "z": rng.normal(size=70).round(1)})
    score = X["z"].to_numpy() + (X["c"] == "u")
    besides = {"groups": rng.integers(0, 9, 70)} if with_groups else {}
    if kind == "classes":
        y, model = np.where(score > 0.7, "yes", "no"), TGBClassifier(max_rules=2, effort=0, class_weight="balanced")
    else:
        y, model = rng.poisson(np.exp(0.4 * score)).astype(float), TGBRegressor(max_rules=2, effort=0, loss="poisson")
        besides |= {kind: rng.uniform(0.1, 0.9, 70).round(2)}
    return model, Rows(X, y, besides), rng.integers(1, 4, 70)


@pytest.mark.parametrize(
    ("kind", "with_groups", "search_rows", "seed"),
    [
        ("classes", False, 70, 0),
        ("classes", False, 30, 1),
        ("classes", True, 30, 22),
        ("offset", True, 30, 4),
        ("offset", False, 30, 5),
        ("offset", False, 70, 6),
        ("exposure", True, 30, 0),
        ("exposure", False, 20_000, 0),
    ],
)
def test_factors_of_weights_keep_a_row_of_weight_3_the_row_three_times(kind, with_groups, search_rows, seed, tmp_path):
    model, rows, weight = factored(kind, with_groups, seed)
    model.set_params(search_rows=search_rows)
    repeated = np.random.default_rng(0).permutation(np.repeat(np.arange(70), weight))
    assert saved(model, rows.weighted(weight), tmp_path) == saved(model, rows.at(repeated), tmp_path)


def test_each_row_in_a_group_of_its_own_is_as_without_groups(tmp_path):
    model, rows, _ = factored("exposure", False, 0)
    alone = Rows(rows.X, rows.y, rows.besides | {"groups": np.arange(70)})
    apart, together = (json.loads(saved(model, one, tmp_path)) for one in (alone, rows))
    # Sums of what is left out, row by row or group by group.
    assert apart.pop("expected") == pytest.approx(together.pop("expected"), rel=1e-12)
    assert apart == together
