"""Sparse logistic regression: for every number of non-zeros, the L1 solution with the least shrinkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from obliquerules.arrays import Matrix, Positions, Vector
from obliquerules.kernels.l1_path import PathFollower
from obliquerules.learning.refit import weight_finder
from obliquerules.losses import LOSSES

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

    weights: Vector
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
    return CentredProblem.of(X, labels, weight).path(int(max_support), float(min_alpha_ratio))


@dataclass(frozen=True, eq=False)
class CentredProblem:
    """A problem of `l1_logistic_path` whose columns are centred once for many paths.

    Attributes
    ----------
    centred : array of shape (n_samples, n_features)
        Each column contiguous. The intercept absorbs any shift of a column, and the Gram matrix is well conditioned.
    mean : array of shape (n_features,)
    labels, weight : array of shape (n_samples,)
        The largest weight is 1, so that tolerances mean the same whatever unit weights come in.
    unit : float
        What weights were divided by.
    """

    centred: Matrix
    mean: Vector
    labels: Vector
    weight: Vector
    unit: float

    @classmethod
    def of(cls, X: Matrix, labels: Vector, weight: Vector) -> CentredProblem:
        """Return the problem of arrays known to be sound: labels 0.0 or 1.0, weights above zero."""
        unit = float(weight.max(initial=0.0))
        weight = weight / unit if unit > 0.0 else weight
        total = float(np.add.reduce(weight))
        # einsum, not @: BLAS would wake threads for a sum over rows, and add in an order that depends on their number.
        mean = np.einsum("i,ij->j", weight, X) / total if total > 0.0 else np.zeros(X.shape[1])
        centred = np.empty(X.shape, order="F")
        # In strips that fit the cache: rows may be what is contiguous in X.
        for start in range(0, len(X), ROWS_PER_STRIP):
            strip = slice(start, start + ROWS_PER_STRIP)
            np.subtract(X[strip], mean, out=centred[strip])
        if X.size:
            spread = np.maximum(centred.max(axis=0), -centred.min(axis=0))
            centred[:, spread <= CONSTANT_COLUMN * np.maximum(np.abs(X[0]), spread)] = 0.0
        return cls(centred, mean, labels, weight, unit)

    def unpenalised(self, columns: Positions, ridge: float) -> tuple[float, Vector]:
        """Return intercept and weights of some columns without the L1 penalty.

        A ridge, relative to the weight of all rows, keeps them finite where labels are separable.
        """
        lines = np.empty((1 + len(columns), len(self.labels)))
        lines[0], lines[1:] = 1.0, self.centred.T[columns]
        size = ridge * float(np.add.reduce(self.weight))
        finder = weight_finder(lines, self.labels, self.weight, np.zeros(len(self.labels)), LOSSES["logistic"], size)
        found: Vector = finder.run(np.zeros(len(lines)))[0]
        return float(found[0] - self.mean[columns] @ found[1:]), found[1:]

    def path(self, max_support: int, min_alpha_ratio: float, columns: Positions | None = None) -> L1Path:
        """Return the path in some columns, or in all."""
        centred, mean = self.centred, self.mean
        if columns is not None:
            centred, mean = centred.T[columns].T, mean[columns]
        if centred.shape[1] == 0:
            return L1Path((), 0.0, "no signal")
        if not (np.add.reduce(self.weight * self.labels) > 0.0 and np.add.reduce(self.weight * (1.0 - self.labels)) > 0.0):
            return L1Path((), 0.0, "one-sided")
        follower = PathFollower(centred, self.labels, self.weight, min(max_support, centred.shape[1]), min_alpha_ratio)
        ending = follower.run()
        levels = tuple(
            None if level is None else L1Level(level[0], float(level[1] - mean @ level[0]), level[2] * self.unit, level[3])
            for level in follower.levels()
        )
        return L1Path(levels, follower.largest_alpha * self.unit, ending)


def _checked(X: ArrayLike, z: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Vector, Vector, Vector]:
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


def _numbers(name: str, values: ArrayLike) -> Matrix:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}") from error
