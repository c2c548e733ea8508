"""Raw frames with text, categories, booleans, dates and missing values: what the estimators learn, and what changes nothing."""

import functools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    LTRNetRegressor,
    Membership,
    RuleEnsemble,
    TGBClassifier,
    TGBRegressor,
    load_model,
)
from obliquerules.rules import Column

QUICK_NET = {"max_rules": 3, "n_penalties": 2, "n_restarts": 2, "max_iter": 100, "random_state": 0}
QUICK_DRNET = {
    "n_penalties": 2,
    "min_penalty": 1e-3,
    "max_penalty": 0.1,
    "max_iter": 300,
    "phase_length": 100,
    "step_size": 0.1,
}
REGRESSORS = [
    LLTBoostRegressor(max_rules=4),
    LLTBoostRegressor(max_rules=4, selection="validation", random_state=0),
    TGBRegressor(max_rules=4),
    TGBRegressor(max_rules=4, selection="information"),
    TGBRegressor(max_rules=3, max_propositions=2, search="exact"),
    LTRNetRegressor(**QUICK_NET),
]
slow = settings(max_examples=6, deadline=None)


def frame(seed=0, n=300):
    """Return a frame of every kind of column, and a target to which each of them matters."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(50.0, 15.0, n).round(),
            "colour": rng.choice(["red", "green", "blue", "teal"], n),
            "smoker": rng.random(n) < 0.3,
            "bmi": rng.normal(25.0, 4.0, n).round(1),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "drug": rng.integers(0, 2, n),
        }
    )
    y = 2.0 * X["colour"].isin(["red", "blue"]) + 0.05 * X["age"] + 1.5 * X["smoker"] - (X["admitted"] >= "2021-06-01")
    X.loc[rng.random(n) < 0.2, "bmi"] = np.nan
    X.loc[rng.random(n) < 0.1, "colour"] = None
    y += 1.5 * X["bmi"].isna() + (X["grade"] == "high") + X["drug"] + rng.normal(0.0, 0.3, n)
    return X, y.to_numpy()


@functools.cache
def learned():
    """Return a model of the frame; nobody changes it."""
    return LLTBoostRegressor(max_rules=4).fit(*frame())


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: type(one).__name__)
def test_every_estimator_learns_from_a_raw_frame(estimator, tmp_path):
    X, y = frame()
    model = estimator.fit(X, y)
    assert model.score(X, y) > 0.25
    assert RuleEnsemble.parse(model.to_text(exact=True), model.ensemble_.columns) == model.ensemble_
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(X).tolist() == model.predict(X).tolist()


def test_classifiers_learn_from_a_raw_frame():
    X, y = frame()
    for estimator in (LLTBoostClassifier(max_rules=4), TGBClassifier(), DRNetClassifier(**QUICK_DRNET)):
        assert estimator.fit(X, y > np.median(y)).score(X, y > np.median(y)) > 0.6


def test_what_is_learned_speaks_of_levels_dates_and_missing_values():
    X, y = frame(n=800)
    spoken = ("missing", "smoker", "grade", "admitted >= 2021-0", "drug")
    model = LLTBoostRegressor(max_rules=12).fit(X, y)
    for part in ("colour", *spoken):
        assert part in model.to_text()
    assert any("colour in {" in ensemble.to_text() for ensemble in model.path_)
    rules = LLTBoostRegressor(max_rules=12, linear_terms=False).fit(X, y).to_text()
    for part in ("colour in {", *spoken):
        assert part in rules


def test_the_chosen_size_is_found_on_a_raw_frame():
    X, y = frame()
    model = LLTBoostRegressorCV(max_rules=4, effort=0, cv=3).fit(X, y)
    assert model.score(X, y) > 0.5


def as_polars(X):
    return pl.from_pandas(X.astype({"grade": object})).with_columns(pl.col("grade").cast(pl.Enum(["low", "mid", "high"])))


@pytest.mark.parametrize("convert", [as_polars, lambda X: pa.Table.from_pandas(X.astype({"grade": object}))])
def test_every_kind_of_frame_gives_the_same_model(convert):
    X, y = frame()
    X["grade"] = pd.Categorical(X["grade"], ordered=False)
    expected = LLTBoostRegressor(max_rules=4).fit(X, y)
    model = LLTBoostRegressor(max_rules=4).fit(convert(X), y)
    assert model.ensemble_ == expected.ensemble_
    assert model.predict(convert(X)).tolist() == expected.predict(X).tolist()


def test_the_order_of_an_enum_counts_on_request():
    X, y = frame()
    assert LLTBoostRegressor(max_rules=4).fit(as_polars(X), y, ordered=["grade"]).ensemble_ == learned().ensemble_


# ---- laws


@slow
@given(st.integers(0, 5), st.permutations(["red", "green", "blue", "teal"]))
def test_the_order_and_the_names_of_levels_and_unused_levels_change_no_prediction(seed, order):
    X, y = frame(seed, n=120)
    # Names decide between equally frequent levels only.
    X["colour"] = np.random.default_rng(seed).permutation(np.repeat(["red", "green", "blue", "teal"], [48, 36, 24, 12]))
    expected = LLTBoostRegressor(max_rules=2).fit(X, y).predict(X)
    permuted = X.assign(colour=pd.Categorical(X["colour"], [*order, "never", "ever"]))
    assert LLTBoostRegressor(max_rules=2).fit(permuted, y).predict(permuted).tolist() == expected.tolist()
    renamed = X.assign(colour=X["colour"].map(dict(zip(order, "wxyz", strict=True))))
    assert LLTBoostRegressor(max_rules=2).fit(renamed, y).predict(renamed).tolist() == expected.tolist()


@slow
@given(st.integers(0, 50), st.sampled_from([LLTBoostRegressor, TGBRegressor]))
def test_two_levels_are_a_column_of_0_and_1(seed, estimator):
    rng = np.random.default_rng(seed)
    numbers = pd.DataFrame({"a": rng.normal(size=120), "b": rng.integers(0, 2, 120), "c": rng.normal(size=120)})
    y = numbers["a"] + 2.0 * numbers["b"] * (numbers["c"] > 0.0) + rng.normal(0.0, 0.2, 120)
    levels = numbers.assign(b=np.where(numbers["b"] == 1, "yes", "no"))
    expected = estimator(max_rules=3).fit(numbers, y)
    model = estimator(max_rules=3).fit(levels, y)
    if estimator is LLTBoostRegressor:
        # Which of a rule and its complement is refined depends on which level the column of 0 and 1 stands for.
        assert model.score(levels, y) == pytest.approx(expected.score(numbers, y), abs=0.1)
    else:
        np.testing.assert_allclose(model.predict(levels), expected.predict(numbers), rtol=1e-9)
        assert model.ensemble_.complexity == expected.ensemble_.complexity


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_missing_values_are_the_same_however_they_are_written(nothing):
    X, y = frame()
    expected = learned()
    written = X.astype({"bmi": object, "colour": object})
    written.loc[X["bmi"].isna(), "bmi"] = nothing
    written.loc[X["colour"].isna(), "colour"] = nothing
    assert LLTBoostRegressor(max_rules=4).fit(written, y).ensemble_ == expected.ensemble_
    assert expected.predict(written).tolist() == expected.predict(X).tolist()


def test_rows_in_another_order_give_the_same_model():
    X, y = frame()
    order = np.random.default_rng(1).permutation(len(y))
    assert LLTBoostRegressor(max_rules=4).fit(X.iloc[order], y[order]).predict(X).tolist() == learned().predict(X).tolist()


# ---- what is new in predict


def test_a_level_never_seen_is_in_no_list():
    X, y = frame()
    model = TGBRegressor(max_rules=4).fit(X, y)
    listing = [test for rule in model.ensemble_ for test in rule.condition if isinstance(test, Membership) and test.levels]
    assert any(test.column == X.columns.get_loc("colour") for test in listing)
    with pytest.warns(UserWarning, match=r"not seen in fit occur in 'colour' \(300 rows\)"):
        new = model._read(X.assign(colour="mauve")).X
    for test in listing:
        if test.column == X.columns.get_loc("colour"):
            assert (test(new) == test.negated).all()
    rule = RuleEnsemble.parse("+1 if colour = red\n+2 if colour != red", [Column("colour", ("red", "blue"))])
    assert rule([["mauve"], [None]]).tolist() == [2.0, 0.0]


def test_values_missing_in_a_column_that_was_complete_are_warned_of_and_meet_no_condition():
    X, y = frame()
    model = TGBRegressor(max_rules=4).fit(X[["age", "smoker"]], y)
    new = X[["age", "smoker"]].assign(age=np.nan)
    with pytest.warns(UserWarning, match="Values are missing in 'age', which had none in fit") as caught:
        score = model.predict(new)
    assert len(caught) == 1
    assert len(set(score)) <= 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[["age", "smoker"]])


def test_an_identifier_is_named_and_not_learned_from():
    X, y = frame()
    X["patient"] = [f"p{row}" for row in range(len(y))]
    with pytest.warns(UserWarning, match="Nothing is learned from 'patient'"):
        model = LLTBoostRegressor(max_rules=3).fit(X, y)
    assert "patient" not in model.to_text()
    assert model.predict(X.assign(patient="somebody")).tolist() == model.predict(X).tolist()


def test_many_levels_do_not_fill_a_rule():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": rng.choice([f"c{i}" for i in range(1000)], 3000), "age": rng.normal(size=3000)})
    y = X["age"] + rng.normal(size=3000)
    model = LLTBoostRegressor(max_rules=6, linear_terms=False).fit(X, y)
    listed = [len(test.levels) for rule in model.ensemble_ for test in rule.condition if isinstance(test, Membership)]
    assert sum(listed) <= 10
