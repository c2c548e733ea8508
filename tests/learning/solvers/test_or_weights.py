"""Weights of an OR: the score is positive just where a rule fires, and its size is the log-odds where the bounds let it be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.solvers.or_weights import MARGIN, or_weights


def problem(seed, n_rules):
    random = np.random.default_rng(seed)
    return (
        random.random((60, n_rules)) < 0.3,
        (random.random(60) < 0.5).astype(np.float64),
        random.integers(1, 4, 60).astype(float),
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.0, 1e-3, 1.0, 100.0]))
def test_the_score_is_positive_if_and_only_if_a_rule_fires_on_any_row(seed, n_rules, ridge):
    constant, *weights = or_weights(*problem(seed, n_rules), ridge)
    anything = np.random.default_rng(seed).random((200, n_rules)) < 0.5
    score = np.full(200, constant)
    for weight, fires in zip(weights, anything.T, strict=True):
        score += np.where(fires, weight, 0.0)
    np.testing.assert_array_equal(score > 0.0, anything.any(axis=1))
    assert (np.abs(score) > 0.9 * MARGIN).all()


def test_without_overlap_the_scores_are_the_log_odds_of_each_region():
    fires = np.repeat(np.array([[0, 0], [1, 0], [0, 1]], dtype=np.bool_), 100, axis=0)
    y = np.concatenate([np.arange(100) < positive for positive in (20, 70, 90)]).astype(np.float64)
    constant, first, second = or_weights(fires, y, np.ones(300), 0.0)
    np.testing.assert_allclose(
        [constant, constant + first, constant + second], np.log([0.2 / 0.8, 0.7 / 0.3, 0.9 / 0.1]), atol=1e-5
    )


def test_a_region_with_the_wrong_majority_has_even_odds():
    fires = np.repeat(np.array([[False], [True]]), 100, axis=0)
    y = np.concatenate([np.arange(100) < positive for positive in (10, 30)]).astype(np.float64)
    constant, weight = or_weights(fires, y, np.ones(200), 0.0)
    assert constant + weight == pytest.approx(MARGIN, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_no_weights_within_the_bounds_have_a_lower_objective(seed):
    fires, y, weight = problem(seed, 3)

    def objective(constant, rules):
        score = constant + fires @ rules
        return weight @ (np.logaddexp(0.0, score) - y * score) + 0.5 * 2.0 * rules @ rules

    constant, *rules = or_weights(fires, y, weight, 2.0)
    least = objective(constant, np.array(rules))
    random = np.random.default_rng(seed)
    for size in (1e-3, 1e-1, 1.0):
        free = np.array([-constant, *(np.array(rules) + constant)]) + size * random.normal(size=4)
        free = np.maximum(free, MARGIN)
        assert objective(-free[0], free[0] + free[1:]) >= least - 1e-6


def test_rows_that_rules_tell_apart_without_a_mistake_have_finite_weights():
    fires = np.arange(20)[:, np.newaxis] < 10
    assert np.isfinite(or_weights(fires, fires[:, 0].astype(np.float64), np.ones(20), 0.0)).all()
