"""Sparse tables: as blocks they are what their dense equivalents are, and the caller's matrix is left alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from obliquerules.data import sparse as room
from obliquerules.data.blocks import RowBlock, RowsInMemory
from obliquerules.data.reading import read_table
from obliquerules.data.sparse import SparseBlock, gains, screened
from obliquerules.data.training_columns import training_columns
from obliquerules.losses import LOSSES, MultinomialLoss
from obliquerules.rules import Block, Column, Columns

from .reading import read_in

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
        read_in(Columns.of(["sex", "age"]), X)


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
    block = read_in(flags, X)
    assert isinstance(block, SparseBlock)
    assert block.columns == flags
    with pytest.raises(ValueError, match="'a' of X holds numbers, but held text in fit"):
        read_in(Columns.of([Column("a", ("no", "yes")), "b"]), X)
    whole = read_in(Columns.of(["a", Column("b", (0, 2))]), X)
    assert type(whole) is Block
    assert whole.matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def block_of(X):
    return read_table(sparse.csr_array(X))


def gains_of(rows, loss):
    return gains(rows.X.values, rows, loss)


def words(n=400, p=40, seed=0, density=0.2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)).round(2) * (rng.random((n, p)) < density), rng


def newton_gain(terms, away, rows, loss):
    """The larger gain of a slope and of a step, row by row from the definition."""
    found = []
    for term in terms:
        known = ~np.isnan(term)
        mean = np.average(term[known], weights=rows.weight[known])
        centred = np.where(known, term - mean, 0.0)
        score = np.tile(loss.best_constant(rows.y, rows.weight), (len(term), 1)).squeeze()
        slope = rows.weight * centred @ loss.gradient(rows.y, score)
        ridge = np.average(centred[away] ** 2, weights=rows.weight[away])
        if np.ptp(term[known]) == 0.0:
            continue
        found.append((slope**2 / (loss.curvature(rows.y, rows.weight) * (rows.weight @ centred**2) + ridge)).sum())
    return max(found)


@pytest.mark.parametrize("loss", [*LOSSES.values(), MultinomialLoss(3)], ids=lambda loss: loss.name)
def test_gains_are_those_of_their_definition(loss):
    X, rng = words(p=8)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] += 1000.0
    y = rng.integers(3, size=len(X)) + (loss.name == "gamma") if loss.name != "logistic" else rng.integers(2, size=len(X))
    rows = RowBlock(block_of(X), y.astype(float), rng.uniform(1.0, 2.0, len(X)))
    found = gains_of(rows, loss)
    expected = [newton_gain((x, (x != 0.0).astype(float)), x != 0.0, rows, loss) for x in X.T]
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-12)


def test_gains_do_not_depend_on_the_unit_of_a_column_nor_on_small_weights():
    X, _ = words()
    rows = RowBlock(block_of(X), (X[:, 3] > 0.2).astype(float), np.ones(len(X)))
    found = gains_of(rows, LOSSES["logistic"])
    assert np.allclose(gains_of(replace(rows, X=block_of(X * 1e6)), LOSSES["logistic"]), found)
    shares = replace(rows, weight=rows.weight / len(X))
    assert np.allclose(gains_of(shares, LOSSES["logistic"]) * len(X), found)


def test_an_offset_that_says_what_a_column_says_takes_its_gain_away():
    X, _ = words()
    y, weight = (X[:, 3] > 0.2).astype(float), np.ones(len(X))
    without = gains_of(RowBlock(block_of(X), y, weight), LOSSES["logistic"])
    offset = np.where(y > 0.0, 4.0, -4.0) - LOSSES["logistic"].best_constant(y, weight)
    given = gains_of(RowBlock(block_of(X), y, weight, offset), LOSSES["logistic"])
    assert without.argmax() == 3
    assert given[3] < 0.01 * without[3]


def test_the_columns_that_decide_are_kept_in_their_order(monkeypatch):
    monkeypatch.setattr(room, "MOST_COLUMNS", 5)
    X, rng = words(n=2000, p=500)
    X[rng.random(len(X)) < 0.3, 77] = np.nan
    y = 2.0 * X[:, 411] - X[:, 20] + 1.5 * (X[:, 300] != 0.0) + np.isnan(X[:, 77])
    found = screened(RowBlock(block_of(X), y, np.ones(len(y))), LOSSES["squared"])
    assert {20, 77, 300, 411} <= set(found.kept)
    assert list(found.kept) == sorted(found.kept)
    assert found.X.names == tuple(f"x{place}" for place in found.kept)
    assert np.array_equal(found.X.matrix, X[:, found.kept], equal_nan=True)
    assert [found.X.column(place).missing for place in range(5)] == [place == 77 for place in found.kept]


def test_columns_of_a_few_rows_of_a_rare_class_do_not_push_out_one_that_matters(monkeypatch):
    monkeypatch.setattr(room, "MOST_COLUMNS", 10)
    n, rng = 20_000, np.random.default_rng(0)
    common = (rng.random(n) < 0.1).astype(float)
    y = (rng.random(n) < np.where(common > 0.0, 0.02, 0.002)).astype(float)
    # A word that is in a single row, for each of the rows.
    X = sparse.hstack([sparse.identity(n), sparse.csr_array(common[:, None])], format="csr")
    assert y.sum() > 50
    assert n in screened(RowBlock(read_table(X), y, np.ones(n)), LOSSES["logistic"]).kept


def test_the_order_of_rows_does_not_decide_between_columns_that_are_equally_good():
    rng = np.random.default_rng(0)
    X, y = sparse.csr_array(rng.random((300, 2000)) < 0.02), (rng.random(300) < 0.3).astype(float)
    weight = np.full(300, 0.1)
    loss, kept = LOSSES["logistic"], []
    for order in [np.arange(300), *(rng.permutation(300) for _ in range(5))]:
        kept.append(screened(RowBlock(read_table(X[order]), y[order], weight), loss).kept)
    assert all(one == kept[0] for one in kept)


def test_few_columns_and_dense_tables_are_learned_from_as_they_are():
    X, _ = words()
    dense = RowBlock(Block.of_matrix(X), X[:, 0], np.ones(len(X)))
    assert screened(dense, LOSSES["squared"]).X is dense.X
    few = screened(replace(dense, X=block_of(X)), LOSSES["squared"])
    assert few.kept is None
    assert np.array_equal(few.X.matrix, X)
