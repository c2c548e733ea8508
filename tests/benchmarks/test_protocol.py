"""The protocol: splits, losses along a path, and what is read off at a target."""

from math import inf

import numpy as np
import pytest

from benchmarks.datasets import load_breast_cancer, load_diabetes, load_friedman
from benchmarks.paper.contenders import OURS
from benchmarks.paper.interval import Interval, order_interval
from benchmarks.paper.protocol import bootstrap_split, loss_within, mean_losses, smallest_complexity


def test_order_statistics_of_ten_are_the_papers():
    values = [3, 1, 10, 7, 5, 9, 2, 8, 6, 4]
    assert order_interval(values, 4) == Interval(4.0, 5.5, 7.0)
    assert order_interval(values, 3) == Interval(3.0, 5.5, 8.0)


def test_order_statistics_of_few_values_are_their_extremes():
    assert order_interval([2.0], 4) == Interval(2.0, 2.0, 2.0)
    assert order_interval([5.0, 2.0], 3) == Interval(2.0, 3.5, 5.0)


def test_a_median_is_infinite_when_half_of_the_repetitions_fail():
    assert order_interval([1, 2, 3, 4, inf, inf, inf, inf, inf, inf], 4) == Interval(4.0, inf, inf)
    assert order_interval([1, 2, 3, 4, 5, 6, inf, inf, inf, inf], 4) == Interval(4.0, 5.5, inf)


def test_the_smallest_complexity_is_the_first_to_meet_the_target():
    assert smallest_complexity([3, 6, 9, 12], [0.6, 0.5, 0.7, 0.4], 0.5) == 6
    assert smallest_complexity([3, 6], [0.6, 0.5], 0.49) == inf


def test_the_loss_is_that_of_the_greatest_complexity_within_the_target():
    assert loss_within([3, 6, 9], [0.6, 0.5, 0.7], 9) == 0.7
    assert loss_within([3, 6, 9], [0.6, 0.5, 0.7], 8) == 0.5
    assert loss_within([3, 6, 6], [0.6, 0.5, 0.4], 8) == 0.4
    assert loss_within([3, 6], [0.6, 0.5], 2) == inf


@pytest.mark.parametrize("data", [load_diabetes(), load_friedman(), load_breast_cancer()], ids=lambda data: data.name)
def test_a_split_is_a_standardised_bootstrap_sample_and_the_rows_not_drawn(data):
    split = bootstrap_split(data, 3)
    n = len(data.target)
    assert len(split.y_train) == min(n, 500)
    distinct = len(np.unique(split.X_train, axis=0))
    assert distinct + len(split.y_test) == n
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.X_train.std(axis=0), 1.0)
    if data.task == "regression":
        np.testing.assert_allclose([split.y_train.mean(), split.y_train.std()], [0.0, 1.0], atol=1e-12)
    else:
        assert set(split.y_train) == {0.0, 1.0}


def test_losses_are_the_mean_squared_error_the_log_loss_in_nats_and_the_share_of_errors():
    assert mean_losses("regression", np.array([0.0, 2.0]), np.array([1.0, 0.0])) == {"risk": 2.5}
    losses = mean_losses("classification", np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1000.0, 1000.0]))
    assert losses["risk"] == pytest.approx((2 * np.log(2) + 1000.0) / 4)
    assert losses["0/1 loss"] == 0.5


def test_tgb_has_the_papers_seven_strengths_in_rows():
    for task, rows in (("regression", 1.0), ("classification", 4.0)):
        settings = OURS["TGB (paper)"].make(task, 0)
        assert list(settings) == ["ridge 0.0001", "ridge 0.001", "ridge 0.01", "ridge 0.1", "ridge 1", "ridge 10", "ridge 100"]
        assert settings["ridge 10"].ridge == 10.0 * rows
        assert {model.selection for model in settings.values()} == {"objective"}
