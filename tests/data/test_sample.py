"""A sample depends on its rows and their weights, not on their order or on how often they are written down."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obliquerules.data.sample import MOST_UNITS, Sample
from obliquerules.rules import Block

# Few values, so that rows repeat; the weights are such that the order of their sum shows in the last bit.
rows = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300]),
        st.sampled_from([0.0, 3.0]),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1e16]),
    ),
    min_size=1,
    max_size=12,
)


def _columns(rows):
    table = np.array(rows, dtype=float).reshape(-1, 4)
    return Block.of_matrix(table[:, :2]), table[:, 2], table[:, 3]


def sample_of(rows):
    return Sample.of(*_columns(rows))


def assert_same(one, other):
    assert np.array_equal(one.X.matrix, other.X.matrix)
    for name in ("y", "weight", "key"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@given(rows, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert_same(sample_of(rows), sample_of(shuffled))


@given(rows)
def test_a_row_twice_is_a_row_of_weight_two(rows):
    first, *rest = rows
    double = (*first[:3], 2.0 * first[3])
    others = [row for row in rest if row[:3] != first[:3]]
    assert_same(sample_of([first, first, *others]), sample_of([double, *others]))


@given(rows)
def test_rows_of_weight_zero_are_left_out(rows):
    assert_same(sample_of(rows), sample_of([row for row in rows if row[3] > 0.0]))


@given(rows)
def test_every_row_stands_once_with_the_weight_of_its_copies(rows):
    sample = sample_of(rows)
    expected = {}
    for *row, weight in rows:
        if weight > 0.0:
            expected[tuple(row)] = expected.get(tuple(row), 0.0) + weight
    found = {(*x, y): weight for x, y, weight in zip(sample.X.matrix.tolist(), sample.y.tolist(), sample.weight, strict=True)}
    assert len(found) == len(sample.y)
    scale = max(1.0, len(expected) / max(sum(expected.values()), 1e-300))
    assert found == pytest.approx({row: scale * weight for row, weight in expected.items()})


def test_rows_that_differ_in_the_last_bit_or_in_the_target_stay_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)], [1.0]])
    assert len(Sample.of(Block.of_matrix(X), np.array([0.0, 0.0, 1.0]), np.ones(3)).y) == 3


def large_sample(n=1000):
    rng = np.random.default_rng(0)
    return Sample.of(Block.of_matrix(rng.normal(size=(n, 2))), (rng.random(n) < 0.3).astype(float), np.ones(n))


def held(sample, fraction, seed, strata=None):
    """Return which rows are held out of a sample whose rows are not divided."""
    divided, held_out = sample.hold_out(np.zeros(len(sample.y), dtype=np.intp) if strata is None else strata, fraction, seed)
    assert divided is sample
    return held_out


@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.5, 0.99])
def test_each_group_gives_its_share(fraction):
    sample = large_sample()
    groups = sample.y.astype(np.intp)
    held_out = held(sample, fraction, 1, groups)
    for group in (0, 1):
        members = groups == group
        assert held_out[members].sum() == int(fraction * members.sum())


def test_what_is_held_out_depends_on_the_seed_and_on_nothing_else():
    sample = large_sample()
    assert np.array_equal(held(sample, 0.2, 7), held(sample, 0.2, 7))
    assert not np.array_equal(held(sample, 0.2, 7), held(sample, 0.2, 8))


def test_different_seeds_hold_out_unrelated_rows():
    sample = large_sample()
    drawn = np.array([held(sample, 0.2, seed) for seed in range(200)])
    # Each row is drawn about 40 times out of 200, with a standard deviation below 6.
    assert drawn.sum(axis=0).min() > 10
    assert drawn.sum(axis=0).max() < 75


def test_what_is_held_out_is_spread_evenly_over_the_inputs():
    sample = large_sample()
    held_out = held(sample, 0.5, 3)
    assert abs(sample.X.matrix[held_out].mean(axis=0) - sample.X.matrix[~held_out].mean(axis=0)).max() < 0.25


def coarse_sample(groups=None):
    """Return 600 rows of four kinds; one of them has half a row more."""
    X, y = np.repeat([0.0, 1.0, 0.0, 1.0], [250, 50, 100, 200])[:, None], np.repeat([0.0, 0.0, 1.0, 1.0], [250, 50, 100, 200])
    return Sample.of(Block.of_matrix(X), y, np.append(1.5, np.ones(599)), groups=groups)


def test_observations_are_held_out_one_by_one_though_they_are_equal():
    sample = coarse_sample()
    divided, held_out = sample.hold_out(sample.y.astype(np.intp), 0.2, 5)
    assert len(sample.y) == 4
    assert divided.weight.sum() == pytest.approx(600.5)
    assert divided.weight[held_out].sum() == pytest.approx(120.0, abs=0.51)
    shares = [divided.weight[held_out & (divided.key == key)].sum() / sample.weight[sample.key == key] for key in sample.key]
    assert 0.1 < np.min(shares) < np.max(shares) < 0.3
    assert np.ptp(shares) > 0.005  # by chance, not as many of each kind


def test_groups_are_held_out_as_a_whole():
    # Each group has rows of one kind and a weight of its own, by which it is known.
    groups = np.repeat(np.arange(12), 50)
    X, y = (np.arange(600) // 200.0)[:, None], np.zeros(600)
    sample = Sample.of(Block.of_matrix(X), y, 2.0**groups, groups=groups)
    divided, held_out = sample.hold_out(np.zeros(3, dtype=np.intp), 0.25, 5)
    drawn = round(divided.weight[held_out].sum() / 50.0)
    assert drawn.bit_count() == 3


def test_observations_are_dealt_evenly_and_the_shares_of_a_row_add_up():
    sample = coarse_sample()
    units = sample.units
    fold = units.folds(units.strata(sample.y.astype(np.intp)), 5, 3)
    shares = np.array([units.shares(fold == k, 4) for k in range(5)])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    np.testing.assert_allclose(shares @ sample.weight, 120.0, atol=1.0)
    assert len(units.row) == 601


def test_a_row_of_great_weight_is_dealt_in_few_parts():
    sample = Sample.of(Block.of_matrix(np.array([[0.0], [1.0]])), np.zeros(2), np.array([3e15, 1.5]))
    units = sample.units
    assert len(units.row) <= MOST_UNITS + 2
    np.testing.assert_allclose(np.bincount(units.row, units.share), 1.0)


@given(rows, st.randoms(), st.permutations(range(4)))
def test_neither_the_order_of_rows_nor_the_labels_of_groups_matter(rows, random, labels):
    assume(any(row[3] > 0.0 for row in rows))
    grouped = [(row, random.randrange(4)) for row in rows]
    shuffled = grouped.copy()
    random.shuffle(shuffled)
    one, other = (
        Sample.of(*_columns([row for row, _ in some]), groups=np.array(groups))
        for some, groups in ((grouped, [group for _, group in grouped]), (shuffled, [labels[group] for _, group in shuffled]))
    )
    for name in ("row", "group", "weight", "key"):
        assert np.array_equal(getattr(one.groups, name), getattr(other.groups, name)), name
    folds = [sample.groups.folds(2, 7)[sample.groups.label] for sample in (one, other)]
    assert np.array_equal(*folds)


def test_equal_rows_of_different_groups_are_one_row_with_a_share_in_each():
    sample = coarse_sample(np.arange(600) % 3)
    assert len(sample.y) == 4
    assert len(sample.groups.row) == 12
    np.testing.assert_allclose(np.bincount(sample.groups.row, sample.groups.weight), sample.weight)


def test_weights_that_add_up_to_less_than_the_rows_are_relative():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 2)), rng.normal(size=30), rng.uniform(1.0, 3.0, size=30)
    assert Sample.of(Block.of_matrix(X), y, weight).weight.sum() == pytest.approx(weight.sum())
    shares = Sample.of(Block.of_matrix(X), y, weight / weight.sum())
    assert shares.weight.sum() == pytest.approx(30.0)
    np.testing.assert_allclose(shares.weight / shares.weight.sum(), np.sort(weight)[_ranks(shares, X, weight)] / weight.sum())


def _ranks(sample, X, weight):
    """Return for each row of the sample the rank of its weight among the weights given."""
    position = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in sample.X.matrix]
    return np.argsort(np.argsort(weight))[position]


@given(rows)
def test_ranges_do_not_depend_on_how_rows_are_written_down(rows):
    twice = [(a, b, y, 1.0) for a, b, y, _ in rows for _ in range(4)] * 5
    merged = [(a, b, y, 20.0) for a, b, y, _ in rows]
    assert sample_of(twice).ranges([0, 1]) == sample_of(merged).ranges([0, 1])


def test_a_range_leaves_out_four_rows_at_either_end():
    X = np.arange(100.0)[:, None] + 0.123456
    (found,) = Sample.of(Block.of_matrix(X), np.zeros(100), np.ones(100)).ranges([0])
    assert X[3, 0] <= found.low <= X[4, 0]
    assert X[95, 0] <= found.high <= X[96, 0]
    assert found.low == 4.0  # short, and no value of a row
    assert not Sample.of(Block.of_matrix(X[:19]), np.zeros(19), np.ones(19)).ranges([0])
