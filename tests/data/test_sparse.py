"""Sparse tables: as blocks they are what their dense equivalents are, and the caller's matrix is left alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from obliquerules.data import sparse as room
from obliquerules.data.blocks import RowsInMemory
from obliquerules.data.reading import read, read_table
from obliquerules.data.sparse import SparseBlock
from obliquerules.data.training_columns import training_columns
from obliquerules.rules import Block, Column, Columns

TABLES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.sampled_from([0.0, 1.0, -2.5, np.nan]))


def same(one, two):
    return np.array_equal(one, two, equal_nan=True)


@settings(max_examples=60)
@given(TABLES)
def test_a_sparse_block_is_its_dense_equivalent(X):
    block, dense = read_table(sparse.csr_array(X)), read_table(X)
    assert isinstance(block, SparseBlock)
    assert (len(block), block.n_columns, block.names) == (len(dense), dense.n_columns, dense.names)
    assert same(block.matrix, X)
    assert block.incomplete == dense.incomplete
    assert same(block.rows(slice(1, 3)).matrix, X[1:3])
    largest = np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
    assert same(block.extremes, largest[None])


@settings(max_examples=60)
@given(TABLES)
def test_columns_are_described_as_those_of_a_dense_table(X):
    assert read_table(sparse.csr_array(X)).described().columns == training_columns(read_table(X)).columns


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_every_format_and_type_is_read(form, kind):
    X = np.array([[0, 1, 0], [1, 0, 0]], dtype=kind)
    block = read_table(sparse.csr_matrix(X).asformat(form))
    assert block.values.dtype == np.float64
    assert same(block.matrix, X.astype(np.float64))


def test_zeros_in_the_matrix_duplicates_and_disorder_change_nothing():
    messy = sparse.csr_array((np.array([1.0, 0.0, 2.0, 3.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    block = read_table(messy)
    assert same(block.matrix, np.array([[0.0, 0.0, 1.0], [0.0, 5.0, 0.0]]))
    assert (block.values.nnz, block.incomplete, block.extremes.tolist()) == (2, frozenset(), [[0.0, 5.0, 1.0]])
    assert messy.data.tolist() == [1.0, 0.0, 2.0, 3.0]


def test_an_infinite_value_is_refused_by_column_and_row():
    X = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [np.nan, -np.inf]]))
    with pytest.raises(ValueError, match=r"infinite value .* in column 'x1', first in row 2"):
        read_table(X)
    with pytest.raises(ValueError, match="in column 'age'"):
        read(X, Columns.of(["sex", "age"]), 2)


def test_a_wide_table_is_made_dense_only_if_it_is_small(monkeypatch):
    block = read_table(sparse.csr_array((4, 300)))
    assert block.matrix.shape == (4, 300)
    monkeypatch.setattr(room, "MOST_VALUES", 900)
    with pytest.raises(ValueError, match=r"4 rows of all its 300 columns are too many .* at most 3 rows at a time"):
        _ = read_table(sparse.csr_array((4, 300))).matrix
    assert block.only(range(256)).matrix.shape == (4, 256)


def test_blocks_of_rows_are_those_of_the_dense_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.3)

    class Seen:
        def __init__(self, part):
            self.matrices = [part.X.matrix]

        def __add__(self, other):
            self.matrices += other.matrices
            return self

    found = RowsInMemory(read_table(sparse.csr_array(X)), np.zeros(50), np.ones(50)).fold(Seen)
    assert same(np.concatenate(found.matrices), X)
    assert all(matrix.flags.f_contiguous for matrix in found.matrices)


def test_numbers_are_read_as_flags_but_not_as_text():
    X = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    flags = Columns.of([Column("a", kind="flag"), Column("b", missing=True)])
    block = read(X, flags, 2)
    assert isinstance(block, SparseBlock)
    assert block.columns == flags
    with pytest.raises(ValueError, match="'a' of X holds numbers, but held text in fit"):
        read(X, Columns.of([Column("a", ("no", "yes")), "b"]), 2)
    whole = read(X, Columns.of(["a", Column("b", (0, 2))]), 2)
    assert type(whole) is Block
    assert whole.matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]
