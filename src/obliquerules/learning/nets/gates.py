"""Gates: hard concrete variables, exactly 0 or 1 with positive probability, and differentiable in between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.learning.nets.training import Floats

# beta in the papers: the smaller, the more often a gate is near 0 or 1.
TEMPERATURE = 2.0 / 3.0
# A sigmoid is stretched to [-0.1, 1.1], gamma and zeta in the papers, and cut off at 0 and 1.
LEAST, MOST = -0.1, 1.1
# sigmoid(x) = (1 + tanh(x / 2)) / 2, and tanh neither overflows nor needs a division.
MIDDLE, HALF_WIDTH = 0.5 * (MOST + LEAST), 0.5 * (MOST - LEAST)
NOISE_SCALE = 0.5 / TEMPERATURE
# The log-odds that a gate is not zero are its logit plus this.
SHIFT = -TEMPERATURE * math.log(-LEAST / MOST)


class Gates:
    """Gates min(1, max(0, stretched sigmoid of (logit + noise) / temperature)).

    The arrays that `draw` and `slope` return are overwritten by the next call.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.value = np.empty(shape, dtype)
        self._tanh = np.empty(shape, dtype)
        self._square = np.empty(shape, dtype)
        self._between = np.empty(shape, np.bool_)

    def draw(self, logits: Floats, noise: Floats) -> Floats:
        """Return a draw of the gates, given logistic noise times `NOISE_SCALE`."""
        np.multiply(logits, NOISE_SCALE, out=self._tanh)
        self._tanh += noise
        np.tanh(self._tanh, out=self._tanh)
        np.multiply(self._tanh, HALF_WIDTH, out=self.value)
        self.value += MIDDLE
        np.clip(self.value, 0.0, 1.0, out=self.value)
        return self.value

    def slope(self) -> Floats:
        """Return the derivative of each gate drawn last in its logit: zero where the gate is cut off."""
        np.multiply(self._tanh, self._tanh, out=self._square)
        # By symmetry, a gate is cut off at 0 or 1 where the absolute tanh exceeds (1 - MIDDLE) / HALF_WIDTH.
        np.less(self._square, ((1.0 - MIDDLE) / HALF_WIDTH) ** 2, out=self._between)
        np.subtract(1.0, self._square, out=self._square)
        self._square *= HALF_WIDTH * NOISE_SCALE
        self._square *= self._between
        return self._square


def logistic_noise(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return logistic noise, scaled as `Gates.draw` takes it."""
    uniform = random.random(shape, dtype=np.float32)
    np.clip(uniform, 2.0**-24, 1.0 - 2.0**-24, out=uniform)
    noise = 1.0 - uniform
    np.divide(uniform, noise, out=noise)
    np.log(noise, out=noise)
    noise *= NOISE_SCALE
    return noise


def open_probability(logits: Floats) -> Floats:
    """Return the probability that a gate is not zero, whose sum is the expected number of open gates."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * (logits + SHIFT)))


def open_probability_slope(logits: Floats) -> Floats:
    """Return the derivative of `open_probability`."""
    slope: Floats = np.tanh(0.5 * (logits + SHIFT))
    slope *= slope
    np.subtract(1.0, slope, out=slope)
    slope *= 0.25
    return slope


def without_noise(logits: Floats) -> Floats:
    """Return the gates as they are after training: without noise and without temperature."""
    return np.asarray(np.clip(MIDDLE + HALF_WIDTH * np.tanh(0.5 * logits), 0.0, 1.0))
