"""A conjunction holds where all its propositions hold, and is a value."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from obliquerules import Conjunction, Proposition

from .strategies import any_finite, conjunctions, few, holds, matrices, propositions

OLD, HEAVY = Proposition([0], [1.0], 20.0), Proposition([1, 0], [1.0, -2.0], 0.0)
X = np.array([[10.0, 50.0], [30.0, 70.0], [40.0, 70.0]])


@given(conjunctions(any_finite), matrices(any_finite))
def test_it_holds_where_all_propositions_hold(condition, X):
    assert condition(X).tolist() == [all(holds(proposition, row) for proposition in condition) for row in X.tolist()]


def test_the_empty_conjunction_holds_everywhere_even_where_values_are_missing():
    assert Conjunction()(np.array([[np.nan], [1.0]])).tolist() == [True, True]
    assert Conjunction()(np.empty((2, 0))).tolist() == [True, True]


def test_a_missing_value_fails_the_condition():
    assert Conjunction([OLD, HEAVY])([[30.0, np.nan], [np.nan, 70.0], [30.0, 70.0]]).tolist() == [False, False, True]


@few
@given(conjunctions(), propositions())
def test_and_appends_a_proposition(condition, proposition):
    longer = condition & proposition
    assert tuple(longer) == (*condition, proposition)
    assert len(longer) == len(condition) + 1


@few
@given(conjunctions())
def test_complexity_is_the_sum_over_the_propositions(condition):
    assert condition.complexity == sum(proposition.complexity for proposition in condition.propositions)


@few
@given(conjunctions(any_finite))
def test_it_is_a_value(condition):
    again = Conjunction(iter(condition.propositions))
    assert again == condition
    assert hash(again) == hash(condition)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(condition, protocol)) == condition
    with pytest.raises(dataclasses.FrozenInstanceError):
        condition.propositions = ()


def test_the_order_of_the_propositions_is_part_of_the_value():
    assert Conjunction([OLD, HEAVY]) != Conjunction([HEAVY, OLD])
    assert Conjunction([OLD]) != Conjunction()


def test_printing():
    condition = Conjunction([OLD, HEAVY, Proposition([1], [-1.0], -90.0)])
    assert str(condition) == "x0 >= 20 & x1 - 2 x0 >= 0 & x1 <= 90"
    assert condition.describe(["age", "weight"]) == "age >= 20 & weight - 2 age >= 0 & weight <= 90"
    assert str(Conjunction()) == "True"


@pytest.mark.parametrize(
    "inputs",
    [X, X.tolist(), pd.DataFrame(X), pl.DataFrame(X), pa.table({"a": X[:, 0], "b": X[:, 1]})],
    ids=["numpy", "list", "pandas", "polars", "pyarrow"],
)
def test_arrays_and_data_frames_give_the_same_answer(inputs):
    assert Conjunction([OLD, HEAVY])(inputs).tolist() == [False, True, False]


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="X has 1 columns; this model needs at least 2"):
        Conjunction([OLD, HEAVY])(X[:, :1])
    with pytest.raises(ValueError, match=r"got shape \(2,\). Reshape a single row"):
        Conjunction([OLD, HEAVY])(X[0])
    with pytest.raises(ValueError, match="rows and columns"):
        Conjunction()(X[0])


@pytest.mark.parametrize("wrong", [1.0, "x0 >= 20", Conjunction([OLD])])
def test_only_propositions_may_be_joined(wrong):
    with pytest.raises(TypeError, match=f"made of propositions and memberships; got {type(wrong).__name__}"):
        Conjunction([OLD, wrong])
    with pytest.raises(TypeError, match="made of propositions"):
        Conjunction([OLD]) & wrong
