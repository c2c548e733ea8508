"""Gates are what the papers define: their values, their probabilities and their derivatives."""

import numpy as np
import pytest

from obliquerules.learning.nets.gates import (
    LEAST,
    MOST,
    NOISE_SCALE,
    TEMPERATURE,
    Gates,
    logistic_noise,
    open_probability,
    open_probability_slope,
    without_noise,
)

LOGITS = np.linspace(-4.0, 4.0, 41)
FLOAT64 = np.dtype(np.float64)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def test_a_gate_is_a_stretched_sigmoid_of_logit_and_noise_cut_off_at_zero_and_one():
    noise = np.random.default_rng(0).logistic(size=41)
    drawn = Gates((41,), FLOAT64).draw(LOGITS, noise * NOISE_SCALE)
    stretched = LEAST + (MOST - LEAST) * sigmoid((LOGITS + noise) / TEMPERATURE)
    np.testing.assert_allclose(drawn, np.clip(stretched, 0.0, 1.0), atol=1e-12)
    assert drawn.min() == 0.0
    assert drawn.max() == 1.0


def test_the_slope_of_a_gate_is_its_derivative():
    noise = np.random.default_rng(1).logistic(size=41) * NOISE_SCALE
    gates, step = Gates((41,), FLOAT64), 1e-6
    numeric = (gates.draw(LOGITS + step, noise).copy() - gates.draw(LOGITS - step, noise)) / (2.0 * step)
    gates.draw(LOGITS, noise)
    np.testing.assert_allclose(gates.slope(), numeric, atol=1e-8)
    assert (gates.slope() == 0.0).any()


def test_the_slope_of_the_probability_is_its_derivative():
    step = 1e-5
    numeric = (open_probability(LOGITS + step) - open_probability(LOGITS - step)) / (2.0 * step)
    np.testing.assert_allclose(open_probability_slope(LOGITS), numeric, atol=1e-9)


@pytest.mark.parametrize("logit", [-3.0, -1.0, 0.5])
def test_gates_are_open_as_often_as_their_probability_says(logit):
    noise = logistic_noise(np.random.default_rng(2), (100_000,))
    drawn = Gates((100_000,), np.dtype(np.float32)).draw(np.full(100_000, logit, dtype=np.float32), noise)
    assert (drawn > 0.0).mean() == pytest.approx(float(open_probability(np.array(logit))), abs=0.005)


def test_without_noise_a_gate_has_no_temperature():
    np.testing.assert_allclose(without_noise(LOGITS), np.clip(1.2 * sigmoid(LOGITS) - 0.1, 0.0, 1.0), atol=1e-12)
