"""No group of rows is small, nor what is left when groups are subtracted from all rows; sizes are spread along the path."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.report.groups import (
    MOST_GROUPS,
    chunks,
    conditions_of,
    grouped_rows,
    spread_sizes,
    without_small_groups,
)


def ensemble(*thresholds):
    return RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], threshold)])) for threshold in thresholds])


def counts(labels):
    return np.unique(labels, return_counts=True)[1]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 9))
def test_groups_and_the_rest_have_enough_rows(numbers, least):
    labels = np.unique(numbers, return_inverse=True)[1]
    kept = without_small_groups(labels, least)
    groups = kept[kept >= 0]
    assert (kept == -1).sum() == 0 or (kept == -1).sum() >= min(least, len(numbers))
    assert set(groups) == set(range(len(set(groups))))
    assert len(groups) == 0 or counts(groups).min() >= least
    for group in set(groups):
        assert len(set(labels[kept == group])) == 1  # groups are never merged with each other


def test_with_one_row_to_a_group_all_rows_are_in_groups():
    assert (without_small_groups(np.arange(7), 1) == np.arange(7)).all()


def test_the_smallest_group_joins_a_rest_that_is_too_small():
    labels = np.repeat([0, 1, 2], [6, 5, 1])
    assert without_small_groups(labels, 5).tolist() == [0] * 6 + [-1] * 6


def test_there_are_never_too_many_groups():
    labels = np.repeat(np.arange(MOST_GROUPS + 50), np.r_[np.full(100, 3), np.full(MOST_GROUPS - 50, 2)])
    kept = without_small_groups(labels, 1)
    assert kept.max() + 1 == 100  # those of two rows cannot all stay, and none of them is better than another


def test_sizes_are_spread_and_the_present_one_is_among_them():
    path = [ensemble(*range(n)) for n in range(30)]
    sizes = spread_sizes(path, 17, 5)
    assert len(sizes) == 5
    assert {0, 17, 29} <= set(sizes)
    assert sizes == sorted(sizes)
    assert spread_sizes(path, 3, 1) == [3]
    assert spread_sizes(path, 3, 99) == list(range(30))


def test_an_edited_ensemble_stands_where_its_complexity_says():
    path = [ensemble(), ensemble(1), ensemble(1, 2, 3), ensemble(1, 2)]  # the last one is the edited one
    assert spread_sizes(path, 3, 4) == [0, 1, 3, 2]


def test_sizes_share_one_table():
    X = np.repeat(np.arange(20.0), 10)[:, None]
    path = [ensemble(), ensemble(10.0), ensemble(9.5), ensemble(5.0)]
    grouping = grouped_rows(path, [0, 1, 2, 3], 1, X, 10)
    assert grouping.exact_sizes == [0, 1, 2, 3]
    for condition in conditions_of(path):
        holds = condition(X)
        for group in range(grouping.n_patterns):
            assert len(set(holds[grouping.labels == group])) == 1


def test_a_size_whose_groups_would_be_too_small_is_no_exact_size():
    X = np.arange(40.0)[:, None]
    path = [ensemble(), ensemble(20.0), ensemble(*range(1, 40))]
    grouping = grouped_rows(path, [0, 1, 2], 1, X, 5)
    assert grouping.exact_sizes == [0, 1]
    assert counts(grouping.labels).tolist() == [20, 20]
    grouping = grouped_rows(path, [0, 1, 2], 2, X, 5)  # not even if it is the present one, whose score splits the groups
    assert grouping.exact_sizes == [0, 1]
    assert counts(grouping.labels).tolist() == [5] * 8
    assert grouping.n_patterns == 8


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 3), st.integers(0, 99))
def test_no_group_is_small(more_rows, least, present, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(least - 1 + more_rows, 1)).round(1)
    path = [ensemble(), ensemble(0.2), ensemble(-0.3, 0.4), ensemble(*np.linspace(-1.0, 1.0, 9))]
    grouping = grouped_rows(path, [0, 1, 2, 3], present, X, least)
    sizes = counts(grouping.labels)
    assert set(grouping.labels) == set(range(len(sizes)))
    assert sizes.min() >= least
    assert grouping.n_patterns <= len(sizes)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 9))
def test_chunks_have_enough_rows_of_like_scores(scores, least):
    score = np.array(scores, dtype=float)
    chunk = chunks(score, least, least)
    assert counts(chunk).min() >= min(least, len(scores))
    assert (np.diff(chunk[np.argsort(score, kind="stable")]) >= 0).all()
    for value in set(scores):
        assert len(set(chunk[score == value])) == 1
