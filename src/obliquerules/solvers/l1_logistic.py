"""Sparse logistic regression: for every number of non-zeros, the L1 solution with the least shrinkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.kernels.l1_path import PathFollower

Ending = Literal["complete", "floor", "no signal", "one-sided", "stalled"]

# A centred column smaller than this, relative to its raw size, is rounding error around a constant.
CONSTANT_COLUMN = 1e-13
ROWS_PER_STRIP = 8192


@dataclass(frozen=True, eq=False)
class L1Level:
    """The L1 solution with the least shrinkage among those with one given number of non-zeros.

    Attributes
    ----------
    weights : array of shape (n_features,)
    intercept : float
        Not penalised.
    alpha : float
        The penalty (lambda in the paper) at which this is the solution.
    at_floor : bool
        True if the path ended at its smallest alpha before another variable entered, so that a smaller alpha with the same
        number of non-zeros may exist (with separable classes the weights then grow without bound).
    """

    weights: NDArray[np.float64]
    intercept: float
    alpha: float
    at_floor: bool = False


@dataclass(frozen=True, eq=False)
class L1Path:
    """The levels of an L1 path, one for each number of non-zeros that occurs on it.

    Attributes
    ----------
    levels : tuple of L1Level or None
        ``levels[s - 1]`` has exactly s non-zeros; None where two variables enter at once and no such solution exists.
    alpha_max : float
        The smallest alpha at which all weights are zero.
    ending : str
        Why the path ended: ``"complete"`` (one more variable than asked for would enter), ``"floor"`` (alpha reached
        ``min_alpha_ratio * alpha_max``), ``"no signal"`` (no column is related to the labels), ``"one-sided"`` (all rows that
        have weight carry one label), ``"stalled"`` (the numbers are too extreme to go on; the levels found so far are exact).
    """

    levels: tuple[L1Level | None, ...]
    alpha_max: float
    ending: Ending

    def at_support(self, size: int) -> L1Level | None:
        """Return the level with exactly ``size`` non-zeros, or None if there is none."""
        if size < 1:
            raise ValueError(f"size must be at least 1; got {size}.")
        return self.levels[size - 1] if size <= len(self.levels) else None


def l1_logistic_path(
    X: ArrayLike,
    z: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_support: int = 5,
    min_alpha_ratio: float = 1e-3,
) -> L1Path:
    """Solve weighted L1 logistic regression for every number of non-zeros s = 1, ..., ``max_support``.

    The problem is::

        min over w, b of  sum_i c_i log(1 + exp(-z_i (x_i . w + b))) + alpha ||w||_1

    with the intercept b free of the penalty. For each s the solution is the one at the smallest alpha with exactly s
    non-zeros: the point at which variable s + 1 enters. The solver goes from one such event to the next (about four passes
    over the data each) instead of searching for alpha. It ends when variable ``max_support + 1`` enters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Used as given: standardise it first if the penalty should treat all columns alike.
    z : array of shape (n_samples,)
        Labels: booleans, 0 and 1, or -1 and +1.
    sample_weight : array of shape (n_samples,), optional
        Weights c >= 0; a row of weight zero counts as absent.
    max_support : int, default=5
        Largest number of non-zeros wanted.
    min_alpha_ratio : float, default=1e-3
        The path ends at this fraction of ``alpha_max``, which keeps separable problems finite.

    Returns
    -------
    L1Path

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> path = l1_logistic_path(X, X[:, 0] + 0.5 * X[:, 2] > 0.1, max_support=2)
    >>> np.flatnonzero(path.at_support(2).weights).tolist()
    [0, 2]
    """
    X, labels, weight = _checked(X, z, sample_weight)
    if not isinstance(max_support, (int, np.integer)) or max_support < 1:
        raise ValueError(f"max_support must be a whole number of at least 1; got {max_support!r}.")
    if not 0.0 < min_alpha_ratio < 1.0:
        raise ValueError(f"min_alpha_ratio must lie between 0 and 1; got {min_alpha_ratio!r}.")
    present = weight > 0.0
    if not present.all():
        X, labels, weight = X[present], labels[present], weight[present]
    return follow_path(X, labels, weight, int(max_support), float(min_alpha_ratio))


def follow_path(
    X: NDArray[np.float64],
    labels: NDArray[np.float64],
    weight: NDArray[np.float64],
    max_support: int,
    min_alpha_ratio: float,
) -> L1Path:
    """Solve the problem of `l1_logistic_path` for arrays known to be sound: labels 0.0 or 1.0, weights above zero."""
    if X.shape[1] == 0:
        return L1Path((), 0.0, "no signal")
    max_support = min(max_support, X.shape[1])
    # The largest weight is made 1 so that the tolerances inside mean the same whatever unit the weights come in.
    unit = float(weight.max(initial=0.0))
    weight = weight / unit if unit > 0.0 else weight
    # einsum, not @: BLAS would wake threads for a sum over rows, and add in an order that depends on their number.
    if not (np.einsum("i,i->", weight, labels) > 0.0 and np.einsum("i,i->", weight, 1.0 - labels) > 0.0):
        return L1Path((), 0.0, "one-sided")
    # The intercept absorbs any shift of a column: centred columns keep the Gram matrix well conditioned.
    mean = np.einsum("i,ij->j", weight, X) / weight.sum()
    centred = _centred(X, mean)
    _silence_constants(centred, X)
    follower = PathFollower(centred, labels, weight, max_support, min_alpha_ratio)
    ending = follower.run()
    levels = tuple(
        None if level is None else L1Level(level[0], float(level[1] - mean @ level[0]), level[2] * unit, level[3])
        for level in follower.levels()
    )
    return L1Path(levels, follower.largest_alpha * unit, ending)


def _centred(X: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X - mean with contiguous columns, in strips that fit the cache: rows may be what is contiguous in X."""
    centred = np.empty(X.shape, order="F")
    for start in range(0, len(X), ROWS_PER_STRIP):
        strip = slice(start, start + ROWS_PER_STRIP)
        np.subtract(X[strip], mean, out=centred[strip])
    return centred


def _silence_constants(centred: NDArray[np.float64], X: NDArray[np.float64]) -> None:
    spread = np.maximum(centred.max(axis=0), -centred.min(axis=0))
    size = np.maximum(np.abs(X[0]), spread)
    centred[:, spread <= CONSTANT_COLUMN * size] = 0.0


def _checked(
    X: ArrayLike, z: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    matrix = _numbers("X", X)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"X must be a matrix with at least one row and one column; got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        column = int(np.flatnonzero(~np.isfinite(matrix).all(axis=0))[0])
        raise ValueError(f"X has a missing or infinite value in column {column}.")
    labels = np.asarray(z)
    if labels.shape != (len(matrix),):
        raise ValueError(f"z must have one label for each of the {len(matrix)} rows of X; got shape {labels.shape}.")
    if labels.dtype != bool and not (np.isin(labels, (-1, 1)).all() or np.isin(labels, (0, 1)).all()):
        raise ValueError("z must hold booleans, 0 and 1, or -1 and +1.")
    weight = np.ones(len(matrix)) if sample_weight is None else _numbers("sample_weight", sample_weight)
    if weight.shape != labels.shape:
        raise ValueError(f"sample_weight must have one entry for each of the {len(matrix)} rows; got shape {weight.shape}.")
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return matrix, (labels > 0).astype(np.float64), weight


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}") from error
