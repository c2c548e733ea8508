"""A block gives the same rows and the same matrix, whether it was made of one matrix or of columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Block, Column, Proposition

from .strategies import N_COLUMNS, few, matrices, propositions

NAMES = ["a", "b", "c"]


def of_columns(X):
    """Return a block that has columns and no matrix yet."""
    return Block(tuple(map(Column, NAMES)), tuple(column.copy() for column in X.T))


@st.composite
def parts(draw):
    """Draw a matrix, and some of its rows as a slice, a mask or positions."""
    X = draw(matrices())
    row = st.integers(0, len(X) - 1)
    mask = st.lists(st.booleans(), min_size=len(X), max_size=len(X)).map(lambda kept: np.array(kept, dtype=np.bool_))
    positions = st.lists(row).map(lambda rows: np.array(rows, dtype=np.intp))
    return X, draw(st.one_of(mask, positions, st.builds(slice, row, row)))


@few
@given(parts(), st.sampled_from([of_columns, lambda X: Block.of_matrix(X, NAMES)]))
def test_rows_of_a_block_are_rows_of_its_matrix(part, make):
    X, which = part
    block = make(X)
    assert (len(block), block.names) == (len(X), tuple(NAMES))
    assert np.array_equal(block.matrix, X)
    for some in (block.rows(which), make(X).rows(which)):
        assert (len(some), tuple(some.columns)) == (len(X[which]), tuple(block.columns))
        assert np.array_equal(some.matrix, X[which])
        assert all(np.array_equal(values, X[which][:, column]) for column, values in enumerate(some.values))


@few
@given(matrices(), propositions())
def test_a_condition_says_the_same_of_a_block_and_of_its_matrix(X, proposition):
    assert proposition(of_columns(X)).tolist() == proposition(Block.of_matrix(X, NAMES)).tolist() == proposition(X).tolist()


def test_the_matrix_of_a_block_is_not_copied():
    X = np.zeros((2, N_COLUMNS))
    assert Block.of_matrix(X, NAMES).matrix is X


def test_rows_of_levels_keep_their_codes():
    colour = Column("colour", ("blue", "red"))
    block = Block((colour, Column("age")), (np.array([0, -1, 1], dtype=np.int32), np.array([1.0, 2.0, np.nan])))
    some = block.rows([2, 1])
    assert tuple(some.columns) == tuple(block.columns)
    assert some.values[0].tolist() == [1, -1]
    assert some.values[0].dtype == np.int32
    with pytest.raises(ValueError, match="Column 'colour' holds levels, not numbers"):
        some.matrix  # noqa: B018
    with pytest.raises(ValueError, match="Column 'colour' holds levels"):
        Proposition([1], [1.0], 0.0)(block)


def test_a_block_without_columns_has_no_rows():
    assert len(Block((), ())) == 0
    assert Block((), ()).matrix.shape == (0, 0)
