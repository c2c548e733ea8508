"""Rows of a fitted model: one reading gives inputs, offsets, unseen levels, scores and outcomes."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, TGBRegressor
from obliquerules.data.model_rows import read_rows


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"colour": rng.choice(["red", "blue"], 60), "size": rng.normal(size=60)})


@pytest.fixture(scope="module")
def model(frame):
    y = 3.0 * (frame["colour"] == "red") + frame["size"]
    return TGBRegressor(max_rules=3).fit(frame, y, offset=np.linspace(0.0, 1.0, 60)).model_


def test_levels_never_seen_keep_their_names(model):
    with pytest.warns(UserWarning, match="not seen in fit"):
        rows = read_rows(model, pd.DataFrame({"colour": ["red", "green"], "size": [0.0, 1.0]}))
    assert rows.unseen_levels == {(1, 0): "green"}
    assert rows.rows([1]).unseen_levels == {(0, 0): "green"}
    assert read_rows(model, rows) is rows
    assert read_rows(model, rows.X, warned=False).unseen_levels == {}


def test_an_offset_is_read_with_the_rows_and_part_of_their_scores(model, frame):
    offset = np.arange(60.0)
    rows = read_rows(model, frame).with_offset(offset=offset)
    np.testing.assert_array_equal(rows.scores, model.ensemble(rows.X, offset))
    np.testing.assert_array_equal(rows.rows(slice(9, 12)).scores, rows.scores[9:12])
    np.testing.assert_array_equal(read_rows(model, frame).with_given(offset).given, offset)
    with pytest.raises(ValueError, match="fitted with an offset and needs it here, too"):
        read_rows(model, frame).with_offset()


def test_outcomes_take_the_offset_into_account(model, frame):
    target = frame["size"].to_numpy()
    outcomes = read_rows(model, frame).with_offset(offset=np.ones(60)).outcomes(target, np.full(60, 2.0))
    np.testing.assert_array_equal(outcomes.y, target - 1.0)
    np.testing.assert_array_equal(outcomes.weight, np.full(60, 2.0))
    with pytest.raises(ValueError, match="y must have one entry for each of the 60 rows"):
        read_rows(model, frame).target(target[:7])


def test_a_sparse_table_is_scored_in_used_columns():
    from scipy.sparse import random_array

    X = random_array((40, 300), density=0.3, random_state=np.random.default_rng(1))
    y = X.toarray()[:, 7] > 0.0
    model = LLTBoostClassifier(max_rules=2).fit(X, y).model_
    np.testing.assert_array_equal(read_rows(model, X).scores, model.ensemble(X.toarray()))
