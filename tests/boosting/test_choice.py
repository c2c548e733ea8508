"""The choice of a size: by paired differences, among corners of the path that differ enough."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import sem, t

from obliquerules.boosting.choice import NEAR, STEP, choose, contenders, lower_hull, sizes_to_compare
from obliquerules.boosting.held_out import FoldLosses, HeldOut

losses = st.floats(0.0, 10.0, width=32)


def held_out(*repetitions, weight=None):
    """Return held-out losses of shape (n_variants, n_sizes, n_rows), each repetition with one fold of all rows."""
    n_rows = repetitions[0][0].shape[-1]
    weight = np.ones(n_rows) if weight is None else weight
    first, *others = (HeldOut.of([FoldLosses(np.arange(n_rows), loss)], weight) for loss in repetitions)
    for other in others:
        first += other
    return first


def chosen(found, tolerance):
    """Return the choice where sizes are the same in each variant."""
    return choose(found, [np.arange(len(risk)) for risk in found.risk], tolerance)


def with_excess(excess, spread, n_rows=100):
    """Return losses of two sizes whose risks differ by the excess, with a paired standard error of ``spread``."""
    common = np.linspace(0.0, 50.0, n_rows)  # so different between rows that only pairs tell the sizes apart
    difference = excess + spread * np.sqrt(n_rows) * np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return np.array([[common + difference, common]])


def test_a_smaller_size_is_taken_if_it_is_within_one_paired_standard_error():
    assert chosen(held_out(with_excess(0.9, 1.0)), 1.0).chosen == 0
    assert chosen(held_out(with_excess(1.1, 1.0)), 1.0).chosen == 1
    assert chosen(held_out(with_excess(0.9, 1.0)), 0.0).chosen == 1


def test_the_path_ends_too_early_only_if_the_last_size_is_clearly_better():
    assert chosen(held_out(with_excess(1.1, 1.0)), 1.0).still_falls
    assert chosen(held_out(with_excess(1.1, 1.0)), 0.0).still_falls
    assert not chosen(held_out(with_excess(0.9, 1.0)), 0.0).still_falls
    assert not chosen(held_out(with_excess(-0.5, 0.1)), 1.0).still_falls


def test_a_choice_is_settled_if_it_does_not_hang_on_the_partition():
    clear, close = with_excess(5.0, 1.0), with_excess(1.1, 1.0)
    assert not chosen(held_out(clear), 1.0).settled
    assert chosen(held_out(clear, with_excess(5.5, 1.0)), 1.0).settled
    assert not chosen(held_out(close, with_excess(1.9, 1.0), with_excess(0.5, 1.0)), 1.0).settled


def test_the_same_spread_settles_a_choice_only_after_enough_repetitions():
    pair = [with_excess(3.0, 1.0), with_excess(4.0, 1.0)]
    assert not chosen(held_out(*pair), 1.0).settled
    assert chosen(held_out(*pair, *pair), 1.0).settled


def test_doubt_is_the_half_width_of_a_confidence_interval():
    excess = np.array([1.0, 2.0, 4.0, 3.0])
    found = held_out(*(with_excess(value, 1.0) for value in excess)).doubt(0, less=(0, 1))
    low, high = t.interval(0.95, len(excess) - 1, loc=excess.mean(), scale=sem(excess))
    np.testing.assert_allclose(found, [(high - low) / 2.0, 0.0], atol=1e-9)
    assert np.isinf(held_out(with_excess(1.0, 1.0)).doubt(0, less=(0, 1))).all()


def test_the_variant_of_the_least_risk_is_chosen_and_the_first_of_equal_ones():
    worse, better = with_excess(0.1, 1.0)[0]
    assert chosen(held_out(np.array([[worse], [better]])), 1.0).variant == 1
    assert chosen(held_out(np.array([[better], [worse]])), 1.0).variant == 0
    assert chosen(held_out(np.array([[better], [better]])), 1.0).variant == 0


def test_a_variant_contends_until_repetitions_show_that_it_is_worse():
    worse, better = with_excess(5.0, 1.0)[0]
    two = np.array([[worse], [better]])
    assert contenders(held_out(np.array([[worse]])), 0) == []
    assert contenders(held_out(two), 1) == [0]
    assert contenders(held_out(two, two), 1) == []
    assert contenders(held_out(two, two[::-1]), 1) == [0]


def test_a_choice_is_not_settled_while_another_variant_that_may_be_better_leads_to_another_size():
    small, large = with_excess(5.0, 0.1)[0], with_excess(0.0, 0.1)[0] + [[0.0], [1.0]]  # the second and the first size are best
    tied = [np.array([small, large + step]) for step in (-0.5, 0.5, -0.4, 0.6)]
    apart = [np.array([small, large + 9.0 + step]) for step in (-0.5, 0.5, -0.4, 0.6)]
    assert {chosen(held_out(np.array([losses])), 1.0).chosen for losses in (small, large)} == {0, 1}
    assert not chosen(held_out(*tied), 1.0).settled
    assert chosen(held_out(*apart), 1.0).settled


def test_variants_with_other_sizes_agree_if_they_lead_to_the_same_complexity():
    small = with_excess(5.0, 0.1)[0]  # the second size is best
    longer = np.vstack([small[:1], small])  # here, the third
    found = held_out(*([small, longer + step] for step in (-0.5, 0.5, -0.4, 0.6)))
    assert choose(found, [np.array([0, 3]), np.array([0, 1, 3])], 1.0).settled
    assert not choose(found, [np.array([0, 3]), np.array([0, 1, 4])], 1.0).settled


@given(arrays(np.float64, (1, 3, 12), elements=losses), st.integers(1, 5), st.randoms())
def test_rows_in_another_order_and_scaled_weights_choose_alike(loss, scale, random):
    order = random.sample(range(12), 12)
    weight = np.linspace(1.0, 2.0, 12)
    one, two = held_out(loss, weight=weight), held_out(loss[..., order], weight=scale * weight[order])
    np.testing.assert_allclose(one.risk, two.risk, atol=1e-9)
    np.testing.assert_allclose(one.standard_error(0, (0, 1)), two.standard_error(0, (0, 1)), atol=1e-7)


def test_a_row_counts_with_its_mean_over_the_times_it_was_tested_and_only_then():
    weight = np.array([1.0, 1.0, 2.0, 5.0])
    first = FoldLosses(np.array([0, 1]), np.array([[[2.0, 4.0]]]))
    second = FoldLosses(np.array([1, 2]), np.array([[[8.0, 1.0]]]))
    found = HeldOut.of([first, second], weight)
    assert found.risk[0][0] == pytest.approx((2.0 + 6.0 + 2.0 * 1.0) / 4.0)
    assert [fold[0][0] for fold in found.folds] == pytest.approx([3.0, 10.0 / 3.0])


paths = st.lists(st.tuples(st.integers(1, 9), losses), min_size=0, max_size=30)


@given(paths)
def test_sizes_to_compare_are_apart_and_reach_from_the_constant_nearly_to_the_end(steps):
    complexity = np.cumsum([0, *(step for step, _ in steps)])
    loss = np.array([10.0, *(value for _, value in steps)])
    sizes = sizes_to_compare(complexity, loss)
    assert sizes[0] == 0
    assert NEAR * complexity[sizes[-1]] >= complexity[-1]
    assert all(complexity[a] * STEP <= complexity[b] for a, b in itertools.pairwise(sizes))
    assert set(sizes) <= set(lower_hull(complexity, loss))


@given(paths)
def test_no_point_is_below_the_lower_hull(steps):
    x = np.cumsum([0, *(step for step, _ in steps)])
    y = np.array([10.0, *(value for _, value in steps)])
    hull = lower_hull(x, y)
    assert (np.interp(x, x[hull], y[hull]) <= y + 1e-9).all()
