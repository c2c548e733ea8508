"""Seeded random problems of many kinds for the L1 path."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    c: np.ndarray


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def whole_numbers(rng, n, d):
    return rng.integers(0, 4, size=(n, d)).astype(float)


def binary(rng, n, d):
    return (rng.random((n, d)) < 0.3).astype(float)


def badly_scaled(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, size=d)


def duplicates(rng, n, d):
    return rng.normal(size=(n, d))[:, rng.integers(0, max(1, d // 2), size=d)] * rng.choice([1, -1], size=d)


def constants(rng, n, d):
    return np.where(rng.random(d) < 0.5, 3.7, rng.normal(size=(n, d)))


def correlated(rng, n, d):
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 10.0 * rng.normal(size=(n, 1))


def shifted(rng, n, d):
    return rng.normal(size=(n, d)) + 1e5 * rng.normal(size=d)


def heavy_tails(rng, n, d):
    return rng.standard_cauchy(size=(n, d))


def mirrored(rng, n, d):
    half = rng.normal(size=(n, d))
    return np.vstack([half, half[:, ::-1]])  # column j and column d - 1 - j always tie


KINDS = {
    "normal": normal,
    "whole numbers": whole_numbers,
    "binary": binary,
    "badly scaled": badly_scaled,
    "duplicates": duplicates,
    "constants": constants,
    "correlated": correlated,
    "separable": normal,
    "shifted": shifted,
    "mirrored": mirrored,
    "heavy tails": heavy_tails,
    "wide": normal,
    "zero weights": normal,
    "uneven weights": normal,
}


def draw(kind, seed):
    """Return one problem; the kinds differ in their columns, labels, weights or shape."""
    rng = np.random.default_rng([seed, *kind.encode()])
    n, d = int(rng.choice([6, 10, 20, 50, 200])), int(rng.choice([1, 2, 3, 5, 10, 30]))
    if kind == "wide":
        n, d = d, n
    X = KINDS[kind](rng, n, d)
    n = len(X)
    spread = X.std(axis=0)
    beta = rng.normal(size=d) * (rng.random(d) < 0.5)
    signal = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0) @ beta
    y = signal > 0.0 if kind == "separable" else rng.random(n) < expit(signal)
    c = np.ones(n) if rng.random() < 0.5 else rng.random(n) * 10.0 ** rng.integers(-8, 9)
    if kind == "zero weights":
        c *= rng.random(n) < 0.7
    if kind == "uneven weights":
        c = 10.0 ** rng.uniform(-8, 2, size=n)
    if kind == "mirrored":
        y[n // 2 :], c[n // 2 :] = y[: n // 2], c[: n // 2]
    return Problem(X, y, c)
