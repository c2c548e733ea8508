"""A proposition means x.w >= t to the last bit, is a value, and prints as documented."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Proposition

from .strategies import N_COLUMNS, any_finite, few, holds, matrices, propositions

STEEP = Proposition([1, 0], [1.0, -2.0], 0.5)


@given(propositions(any_finite), matrices(any_finite))
def test_meaning_is_the_sum_from_left_to_right_compared_with_the_threshold(proposition, X):
    assert proposition(X).tolist() == [holds(proposition, row) for row in X.tolist()]


@given(propositions(), matrices())
def test_meaning_is_exact_where_sums_hit_the_threshold(proposition, X):
    on_the_edge = float(proposition.project(X)[0])
    for threshold in (on_the_edge, np.nextafter(on_the_edge, np.inf), np.nextafter(on_the_edge, -np.inf)):
        moved = Proposition(proposition.columns, proposition.weights, threshold)
        assert moved(X).tolist() == [holds(moved, row) for row in X.tolist()]
        assert moved(X)[0] == (threshold <= on_the_edge)


def test_products_are_added_in_the_order_of_the_columns():
    X = np.array([[1e16, 1.0, -1e16]])
    assert Proposition([0, 1, 2], [1.0, 1.0, 1.0], 0.5)(X).tolist() == [False]
    assert Proposition([0, 2, 1], [1.0, 1.0, 1.0], 0.5)(X).tolist() == [True]


@pytest.mark.parametrize("threshold", [-1e308, 0.0, 1e308])
def test_rows_with_a_missing_value_in_a_used_column_do_not_meet_it(threshold):
    X = np.array([[np.nan, 1.0, 1.0], [1.0, np.nan, 1.0]])
    assert not Proposition([0, 1], [1.0, -1.0], threshold)(X).any()
    assert not Proposition([0, 1], [-1.0, 1.0], threshold)(X).any()


def test_missing_values_in_other_columns_do_not_matter():
    assert Proposition([0], [1.0], 0.0)([[1.0, np.nan]]).tolist() == [True]


def test_infinite_inputs_are_compared_without_a_warning():
    X = np.array([[np.inf, 0.0], [-np.inf, 0.0], [np.inf, np.inf], [1e308, 1e308]])
    assert Proposition([0, 1], [10.0, -10.0], 0.0)(X).tolist() == [True, False, False, False]


@few
@given(propositions(any_finite))
def test_fields_are_plain_tuples_and_cannot_be_set(proposition):
    assert (type(proposition.columns), type(proposition.weights), type(proposition.threshold)) == (tuple, tuple, float)
    assert {type(column) for column in proposition.columns} == {int}
    for name in ("columns", "weights", "threshold"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(proposition, name, getattr(proposition, name))
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(proposition, name)


def test_changing_the_list_it_was_made_from_does_not_change_it():
    columns, weights = [0, 1], np.array([1.0, 2.0])
    proposition = Proposition(columns, weights, np.float64(3))
    columns[0], weights[0] = 5, 7.0
    assert proposition == Proposition([0, 1], [1.0, 2.0], 3.0)


@few
@given(propositions(any_finite), propositions(any_finite))
def test_equality_and_hash_follow_the_fields(one, other):
    again = Proposition(list(one.columns), np.array(one.weights), one.threshold)
    assert again == one
    assert hash(again) == hash(one)
    fields = (one.columns, one.weights, one.threshold) == (other.columns, other.weights, other.threshold)
    assert (one == other) == fields


def test_propositions_that_differ_in_one_field_differ():
    different = {STEEP, Proposition([0, 1], [1.0, -2.0], 0.5), Proposition([1, 0], [1.0, 2.0], 0.5)}
    assert len({*different, Proposition([1, 0], [1.0, -2.0], 0.25), Proposition([1, 0], [1.0, -2.0], 0.5)}) == 4


@few
@given(propositions(any_finite))
def test_pickle_and_copy_give_an_equal_value(proposition):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(proposition, protocol)) == proposition
    assert copy.deepcopy(proposition) == proposition


@few
@given(propositions())
def test_complexity_is_one_and_one_for_each_weight(proposition):
    assert proposition.complexity == 1 + len(proposition.columns)


@pytest.mark.parametrize(
    ("columns", "weights", "threshold", "text"),
    [
        ([0], [1.0], 20.0, "age >= 20"),
        ([0], [-1.0], -20.0, "age <= 20"),
        ([0], [-2.0], 5.0, "age <= -2.5"),
        ([0], [4.0], 0.0, "age >= 0"),
        ([0], [-4.0], 0.0, "age <= 0"),
        ([1, 0], [1.0, -2.0], 0.0, "weight - 2 age >= 0"),
        ([0, 1], [-1.0, 1.0], -0.3, "age - weight <= 0.3"),
        ([0, 1], [-0.5, 1.5], 1e12, "0.5 age - 1.5 weight <= -1e+12"),
        ([0, 2], [1.0, -1.0], 0.12345, 'age - "pre- op - x" >= 0.12345'),
        ([2, 0], [1.0, -1.0], 0.12345, '"pre- op - x" - age >= 0.12345'),
        ([2, 0], [-3.0, 1.0], 0.12345, '3 "pre- op - x" - age <= -0.12345'),
        ([0], [1e-300], 1e300, "1e-300 age >= 1e+300"),
    ],
)
def test_printing(columns, weights, threshold, text):
    assert Proposition(columns, weights, threshold).describe(["age", "weight", "pre- op - x"]) == text


def test_columns_without_names_are_called_x_and_their_number():
    assert str(STEEP) == "x1 - 2 x0 >= 0.5"
    assert str(Proposition([7], [-1.0], 3.0)) == "x7 <= -3"


X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 5.0]])
COLUMNS = {"a": X[:, 0], "b": X[:, 1]}


@pytest.mark.parametrize(
    "inputs",
    [
        X,
        X.tolist(),
        X.astype(np.float32),
        X.astype(int),
        np.asfortranarray(X),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype(int),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
    ],
    ids=["numpy", "list", "float32", "int", "fortran", "pandas", "pandas-int", "polars", "pyarrow"],
)
def test_arrays_and_data_frames_give_the_same_answer(inputs):
    answer = STEEP(inputs)
    assert answer.dtype == np.bool_
    assert answer.tolist() == [True, False, True]


def test_missing_values_of_data_frames_do_not_meet_a_condition():
    column = [1.0, None]
    for frame in (pd.DataFrame({"a": column}), pl.DataFrame({"a": column}), pa.table({"a": column})):
        assert Proposition([0], [1.0], -1e300)(frame).tolist() == [True, False]


@pytest.mark.parametrize("shape", [(), (2,), (1, 2, 2)])
def test_inputs_without_rows_and_columns_are_refused(shape):
    with pytest.raises(ValueError, match=r"X must have rows and columns; got shape"):
        STEEP(np.zeros(shape))


def test_too_few_columns_are_refused():
    with pytest.raises(ValueError, match="X has 1 columns; this model needs at least 2"):
        STEEP(np.zeros((4, 1)))


def test_text_is_refused():
    with pytest.raises(ValueError, match="X must hold numbers only"):
        STEEP([["a", "b"]])


@few
@given(propositions(), st.integers(0, 3))
def test_an_input_without_rows_has_an_answer_without_rows(proposition, more_columns):
    assert proposition(np.empty((0, N_COLUMNS + more_columns))).shape == (0,)


@pytest.mark.parametrize(
    ("columns", "weights", "threshold", "complaint"),
    [
        ([], [], 0.0, "got 0 columns and 0 weights"),
        ([0, 1], [1.0], 0.0, "got 2 columns and 1 weights"),
        ([0, 0], [1.0, 1.0], 0.0, r"different and not negative; got \[0, 0\]"),
        ([-1], [1.0], 0.0, r"different and not negative; got \[-1\]"),
        ([0], [0.0], 0.0, "weights of a proposition must be finite and not zero"),
        ([0], [np.nan], 0.0, "weights of a proposition must be finite and not zero"),
        ([0], [np.inf], 0.0, "weights of a proposition must be finite and not zero"),
        ([0], [1.0], np.nan, "threshold of a proposition must be finite"),
        ([0], [1.0], -np.inf, "threshold of a proposition must be finite"),
    ],
)
def test_impossible_propositions_are_refused(columns, weights, threshold, complaint):
    with pytest.raises(ValueError, match=complaint):
        Proposition(columns, weights, threshold)


def test_columns_must_be_whole_numbers():
    with pytest.raises(TypeError):
        Proposition([0.5], [1.0], 0.0)
