"""The choice of a size: the smallest whose risk is within the tolerance, from a table of held-out losses."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import sem

from obliquerules.learning.boosting.cv.held_out import FoldLosses, HeldOut, check_tolerance, choose
from obliquerules.learning.method import Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

losses = arrays(np.float64, (4, 12), elements=st.floats(0.0, 10.0, width=32))
tolerances = st.sampled_from(["1se", "paired", 0.0, 0.02, 0.5])


def fold(rows, loss):
    """Return the losses of some rows, all of the same weight."""
    loss = np.asarray(loss)
    return FoldLosses(np.asarray(rows), np.ones(len(rows)), loss, loss.mean(axis=1))


def rows_of(weight, frequency=None, groups=None):
    """Return rows of which nothing but weights and groups matters."""
    n = len(weight)
    return Task(Block.of_matrix(np.zeros((n, 1))), np.zeros(n), weight, LOSSES["squared"], frequency=frequency, groups=groups)


def held_out(loss, weight=None, groups=None):
    """Return held-out losses of shape (n_members, n_rows), of one fold of all rows."""
    n_rows = np.shape(loss)[1]
    weight = np.ones(n_rows) if weight is None else weight
    return HeldOut.of([fold(np.arange(n_rows), loss)], rows_of(weight, groups=groups))


def with_excess(excess, spread, n_rows=100):
    """Return losses of two members whose risks differ by the excess, with a paired standard error of ``spread``."""
    common = np.linspace(10.0, 50.0, n_rows)  # so different between rows that only pairs tell the sizes apart
    difference = excess + spread * np.sqrt(n_rows - 1) * np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return np.array([common + difference, common])


def test_paired_is_one_standard_error_of_the_difference():
    assert choose(held_out(with_excess(0.9, 1.0)), "paired").chosen == 0
    assert choose(held_out(with_excess(1.1, 1.0)), "paired").chosen == 1


def test_one_standard_error_is_that_of_the_best_risk():
    error = sem(with_excess(0.0, 0.1)[1])
    assert choose(held_out(with_excess(0.9 * error, 0.1)), "1se").chosen == 0
    assert choose(held_out(with_excess(1.1 * error, 0.1)), "1se").chosen == 1


def test_noise_gets_the_constant():
    noise = with_excess(0.9, 1.0)
    assert [choose(held_out(noise), tolerance).chosen for tolerance in (0.0, 0.001, 0.02)] == [1, 0, 0]


def test_a_number_is_a_share_of_the_gain_over_the_constant():
    middle, best = with_excess(0.1, 0.01)
    loss = held_out(np.array([best + 10.0, middle, best]))
    assert [choose(loss, tolerance).chosen for tolerance in (0.0, 0.009, 0.011, 1.0)] == [2, 2, 1, 1]
    assert choose(held_out(np.zeros((2, 9))), 0.0).chosen == 0


@given(losses, tolerances)
def test_chosen_is_the_smallest_within_the_tolerance(loss, tolerance):
    table = held_out(loss)
    risk, best = loss.mean(axis=1), int(table.risk.argmin())
    excess = risk - risk[best]
    limit = {"1se": sem(loss[best]), "paired": sem(loss - loss[best], axis=1)}.get(tolerance)
    above = excess - (min(tolerance * excess[0], sem(loss[best])) if limit is None else limit)
    told_apart = excess[0] - sem(loss[0] - loss[best])
    assume(best == 0 or abs(told_apart) > 1e-9)  # not a matter of rounding
    choice = choose(table, tolerance)
    if tolerance != 0.0 and told_apart < 0.0:
        assert choice.chosen == 0
        return
    assert (choice.best, choice.chosen <= best) == (best, True)
    # But for rounding errors.
    assert above[choice.chosen] <= 1e-9
    assert (above[: choice.chosen] >= -1e-9).all()


@given(losses, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_larger_tolerance_never_gives_a_larger_size(loss, one, other):
    table = held_out(loss)
    small, large = sorted([one, other])
    assert choose(table, large).chosen <= choose(table, small).chosen
    for word in ("1se", "paired"):
        assert choose(table, word).chosen <= choose(table, 0.0).chosen == table.risk.argmin()


def test_the_path_ends_too_early_only_if_the_last_size_is_clearly_better():
    assert choose(held_out(with_excess(1.1, 1.0)), 0.0).still_falls
    assert not choose(held_out(with_excess(0.9, 1.0)), 0.0).still_falls
    assert not choose(held_out(with_excess(-0.5, 0.1)), "1se").still_falls


@given(losses, st.integers(1, 5), st.randoms())
def test_rows_in_another_order_and_scaled_weights_choose_alike(loss, scale, random):
    order, weight = random.sample(range(12), 12), np.linspace(1.0, 2.0, 12)
    one = HeldOut.of([fold(np.arange(12), loss)], rows_of(weight, weight))
    two = HeldOut.of([fold(np.arange(12), loss[:, order])], rows_of(scale * weight[order], weight[order]))
    np.testing.assert_allclose(one.risk, two.risk, atol=1e-9)
    np.testing.assert_allclose(one.standard_error(0), two.standard_error(0), atol=1e-7)


@given(losses, arrays(np.int64, 12, elements=st.integers(1, 4)))
def test_a_row_of_weight_two_is_two_rows(loss, times):
    one, two = held_out(loss, weight=times * 1.0), held_out(loss.repeat(times, axis=1))
    np.testing.assert_allclose(one.risk, two.risk, atol=1e-9)
    np.testing.assert_allclose(one.standard_error(), sem(loss.repeat(times, axis=1), axis=1), atol=1e-7)
    np.testing.assert_allclose(one.standard_error(1), two.standard_error(1), atol=1e-7)


def test_a_group_is_one_observation():
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(2, 30))
    means = held_out(effects)
    copied = held_out(effects.repeat(5, axis=1), groups=np.arange(30).repeat(5))
    np.testing.assert_allclose(copied.standard_error(), means.standard_error())
    apart = held_out(effects, groups=rng.permutation(30))
    np.testing.assert_allclose(apart.standard_error(), means.standard_error())


def test_a_row_counts_with_its_mean_over_the_times_it_was_tested_and_only_then():
    folds = [fold([0, 1], [[2.0, 4.0]]), fold([1, 2], [[8.0, 1.0]])]
    found = HeldOut.of(folds, rows_of(np.array([1.0, 1.0, 2.0, 5.0])))
    assert found.risk[0] == pytest.approx((2.0 + 6.0 + 2.0 * 1.0) / 4.0)


@pytest.mark.parametrize("value", ["2se", None, True, -0.1, np.nan, np.inf, [0.1]])
def test_a_tolerance_that_is_none_is_refused(value):
    with pytest.raises(ValueError, match=r"^tolerance must be '1se', 'paired' or a finite number of at least 0; got "):
        check_tolerance("tolerance", value)
