"""Columns say what they hold; a block has one matrix of numbers and codes, whatever it was made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Block, Column, Columns, Membership, RuleEnsemble
from obliquerules.rules.columns import as_block, code_of, is_nothing

from .strategies import N_COLUMNS, few, matrices, propositions

NAMES = ["a", "b", "c"]
COLOUR = Column("colour", ("blue", "red"))


@st.composite
def parts(draw):
    """Draw a matrix, and some of its rows as a slice, a mask or positions."""
    X = draw(matrices())
    row = st.integers(0, len(X) - 1)
    mask = st.lists(st.booleans(), min_size=len(X), max_size=len(X)).map(lambda kept: np.array(kept, dtype=np.bool_))
    positions = st.lists(row).map(lambda rows: np.array(rows, dtype=np.intp))
    return X, draw(st.one_of(mask, positions, st.builds(slice, row, row)))


@few
@given(parts())
def test_rows_of_a_block_are_rows_of_its_matrix(part):
    X, which = part
    block = Block.of_matrix(X, NAMES)
    assert (len(block), block.names) == (len(X), tuple(NAMES))
    some = block.rows(which)
    assert (len(some), some.columns) == (len(X[which]), block.columns)
    assert np.array_equal(some.matrix, X[which], equal_nan=True)


@few
@given(matrices(), propositions())
def test_a_condition_says_the_same_of_a_block_and_of_its_matrix(X, proposition):
    assert proposition(Block.of_matrix(X, NAMES)).tolist() == proposition(X).tolist()


def test_the_matrix_of_a_block_is_not_copied():
    X = np.zeros((2, N_COLUMNS))
    assert Block.of_matrix(X, NAMES).matrix is X


def test_columns_of_names_are_columns_of_numbers():
    columns = Columns.of(["a", COLOUR, "c"])
    assert (len(columns), columns.names, columns.with_levels) == (3, ("a", "colour", "c"), (1,))
    assert [columns[0], columns[1], columns[-2], columns[2]] == [Column("a"), COLOUR, COLOUR, Column("c")]
    assert list(columns) == [Column("a"), COLOUR, Column("c")]
    assert columns[1:] == Columns.of([COLOUR, "c"])
    assert Columns.of(map(Column, NAMES)) == Columns.of(NAMES)


@pytest.mark.parametrize("levels", [("a", "a"), ("a", 1), (True, 1)])
def test_levels_are_different_and_of_one_type(levels):
    with pytest.raises(ValueError, match="levels of column 'x' must be different"):
        Column("x", levels)


def test_only_levels_can_be_ordered_and_only_known_kinds_exist():
    with pytest.raises(ValueError, match="no levels that could be ordered"):
        Column("x", ordered=True)
    with pytest.raises(ValueError, match="kind of a column must be one of"):
        Column("x", kind="colour")


@pytest.mark.parametrize(
    ("value", "code"), [("red", 1.0), ("green", -1.0), (None, np.nan), (np.nan, np.nan), (np.str_("blue"), 0.0), (1, -1.0)]
)
def test_a_level_is_looked_up(value, code):
    assert np.array_equal(code_of(COLOUR, value), code, equal_nan=True)


def test_levels_that_are_numbers_are_found_whatever_number_they_are():
    grade = Column("grade", (1, 2))
    assert [code_of(grade, value) for value in (1, 2.0, np.int8(2), "2", True)] == [0.0, 1.0, 1.0, -1.0, -1.0]


def test_what_pandas_has_for_missing_values_is_missing():
    pd = pytest.importorskip("pandas")
    assert all(map(is_nothing, [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]))
    assert not any(map(is_nothing, ["", 0, False, "nan", 0.0]))


def test_an_array_of_objects_is_read_in_the_levels_of_an_ensemble():
    ensemble = RuleEnsemble.parse("+1 if colour = red\n+2 if age >= 5 or missing", [COLOUR, "age"])
    assert ensemble([["red", 1], ["blue", None], [None, 7.0], ["green", 2]]).tolist() == [1.0, 2.0, 2.0, 0.0]
    with pytest.raises(ValueError, match="Column 'age' of X must hold numbers only"):
        ensemble([["red", "old"]])


def test_the_number_of_columns_is_checked():
    with pytest.raises(ValueError, match="X has 1 columns; this model needs at least 2"):
        as_block([[1.0]], 2)
    with pytest.raises(ValueError, match="rows and columns"):
        as_block([1.0], 1)


def test_a_condition_on_levels_needs_a_column_with_levels():
    with pytest.raises(ValueError, match="Column 'x0' holds numbers, so that a condition on levels says nothing"):
        Membership(0, ["red"])([[1.0]])
    with pytest.raises(ValueError, match="Column 'age' holds numbers, and has no levels"):
        RuleEnsemble.parse("+1 if age in {old}", [Column("age")])
    with pytest.raises(ValueError, match="Column 'colour' has levels, and no numbers"):
        RuleEnsemble.parse("+1 if colour >= 2", [COLOUR])
