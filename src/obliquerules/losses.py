"""Losses: what a score costs against a target, with derivatives, link and best constant; nothing else branches on the task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.kernels import losses as formulas

# The family of a loss without a compiled formula.
NO_FORMULA = -1
# Scores beyond it predict no more, or no less: exp of this is a finite double, with room for sums, as in kernels/losses.h.
LARGEST_EXPONENT = 600.0
# Log-odds or log-rate of a constant model whose best constant is infinite: a mean this close to its bound is as good as there.
SMALLEST_MEAN = 1e-12
# The smallest target of a loss with nothing to hold the score of smaller ones: its logarithm is above -LARGEST_EXPONENT.
SMALLEST_POSITIVE = 1e-250
DOUBLE = np.dtype(np.float64)


class Loss(ABC):
    """A loss that is convex in the score and linear in the target.

    With score f and target y, the loss is a(f) + y b(f) + B(y). Rows with the same score may therefore be replaced by one row
    with their mean target and summed weight: gradients, minimisers and firing patterns stay exact. The best score of rows is
    the one whose prediction mu(f) is their mean target. (Absolute errors and quantiles are not linear in y.)

    The squared, logistic, multinomial and Poisson losses have canonical links: b(f) = -f, the gradient in f is mu(f) - y, and
    the hessian is mu'(f), whatever the target. The gamma and Tweedie losses have a log link, under which the hessian depends on
    the target, too; `hessian` then gives the expected one, that of a target at its prediction, unless it is told the target.

    All methods work element by element and return finite numbers for any finite score. A compiled formula is optional: it has
    the number ``family`` in ``kernels/losses.h``; a loss without one overrides the four methods from `value` to `hessian`.

    Attributes
    ----------
    score_name : str or None
        What a rule adds its weight to, in words, of the class ``{label}`` if there are classes; None if a factor says it all.
    factor_name : str or None
        What a rule multiplies by the exponential of its weight; None if there is no such thing.
    mean_name : str
        What a prediction mu(f) is called, of the class ``{label}`` if there are classes.
    risk_name : str
        The name of the risk as users know it, `shown_risk`.
    link_name : str
        What leads from a score to a prediction: ``"identity"``, ``"logistic"`` or ``"exponential"``.
    positive_only : bool
        Whether targets must not be negative.
    power : float
        The variance of a target is proportional to this power of its mean: 1 for counts, 2 for the gamma loss; 0 otherwise.
    takes_power : bool
        Whether that power is a parameter; see `with_power`.
    output_shape : tuple of int
        The shape of the scores of a row: empty, or the number of classes if each has a score.
    by_class : bool
        Whether each of many classes has a score. Scores, predictions, gradients and hessians then have shape (n, n_classes);
        targets are the numbers of classes or, in the same shape, the share of each class.
    """

    name: ClassVar[str]
    family: ClassVar[int] = NO_FORMULA
    power: float = 0.0
    link_name: ClassVar[str]
    positive_only: ClassVar[bool] = False
    takes_power: ClassVar[bool] = False
    by_class: ClassVar[bool] = False
    n_classes: int
    output_shape: tuple[int, ...] = ()
    score_name: ClassVar[str | None] = "score"
    factor_name: ClassVar[str | None] = None
    mean_name: ClassVar[str] = "prediction"
    risk_name: ClassVar[str] = "mean loss"

    def value(self, y: Vector, score: Vector) -> Vector:
        """Return the loss of each score."""
        return self._by_row(formulas.value, y, score)

    def inverse_link(self, score: Vector) -> Vector:
        """Return the prediction mu(f); beyond `LARGEST_EXPONENT`, scores do not change it, so that no rate is 0."""
        bounded = score if self.link_name == "identity" else np.clip(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        return self._by_row(formulas.inverse_link, bounded)

    def gradient(self, y: Vector, score: Vector) -> Vector:
        """Return the derivative of the loss in the score."""
        return self._by_row(formulas.gradient, y, score)

    def hessian(self, score: Vector, y: Vector | None = None) -> Vector:
        """Return the second derivative in the score, of a target or the expected one.

        The expected one is never less than zero, and does not jump from row to row: it is what rules are grown by.
        """
        if y is None:
            return self._by_row(formulas.expected_hessian, score)
        return self._by_row(formulas.hessian, y, score)

    def _by_row(self, formula: Callable[..., Vector], *arrays: Vector) -> Vector:
        """Apply a formula to numbers of any shape, broadcast against each other."""
        lines = [one for one in arrays if isinstance(one, np.ndarray) and one.ndim == 1 and one.flags.c_contiguous]
        # Kernels take lines of doubles of one length as they are.
        if len(lines) == len(arrays) and {(one.dtype, len(one)) for one in lines} == {(DOUBLE, len(lines[0]))}:
            return formula(self.family, *arrays, power=self.power)
        broadcast = np.broadcast_arrays(*arrays)
        flat = (np.ascontiguousarray(array, dtype=np.float64).ravel() for array in broadcast)
        return formula(self.family, *flat, power=self.power).reshape(broadcast[0].shape)

    @abstractmethod
    def link(self, mean: float) -> float:
        """Return the score whose prediction is ``mean``, moved to the nearest finite one where there is none."""

    def centred(self, constants: Any) -> Any:
        """Return constants as they are or, with many classes, such that they add up to zero."""
        return constants - constants.mean() if self.by_class else constants

    def with_power(self, power: float) -> Loss:  # noqa: ARG002  # most losses have none
        """Return the loss with another power, if that is its parameter."""
        return self

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def profile_deviance(self, total: float, n: float) -> float:  # noqa: ARG002  # one signature for all losses
        """Return -2 log likelihood, but for a constant, of n rows whose losses add up to ``total``.

        If the distribution has a dispersion, such as the variance of a normal one, it is the most likely one.
        """
        return 2.0 * total

    def best_constant(self, y: Vector, weight: Vector) -> Any:
        """Return the single score with the least weighted loss or, with many classes, one for each."""
        return self.link(float(np.average(y, weights=weight)))

    def curvature(self, y: Vector, weight: Vector) -> Any:
        """Return the hessian of one row at the best constant, for each class if there are many: the unit of a ridge."""
        return float(self.hessian(np.array([self.best_constant(y, weight)]))[0])

    def strata(self, y: Vector) -> Positions:
        """Return the stratum of each row for folds and bootstrap samples: its class, if any."""
        return np.zeros(len(y), dtype=np.intp)

    def in_shares(self, y: Vector) -> Vector:
        """Return targets as they are or, of many classes, as the share of each."""
        return y

    def outputs(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names of the scores, given those of the classes; None for a single score."""
        return names if self.by_class else None

    def spread(self, y: Vector, mean: Vector) -> Vector | None:  # noqa: ARG002
        """Return what each row costs more than the mean target of its group; None for labels."""
        return None

    def shown_risk(self, risk: Vector) -> Vector:
        """Return mean losses as the measure that users know."""
        return 2.0 * risk

    def shown_error(self, risk: Vector, error: Vector) -> Vector:  # noqa: ARG002  # it matters where the measure is no multiple
        """Return standard errors of mean losses as those of `shown_risk`."""
        return self.shown_risk(error)

    def separates(self, y: Vector, score: Vector) -> bool:  # noqa: ARG002
        """Say whether scores tell the classes of all rows; numbers have none."""
        return False

    def measures(self, y: Vector, score: Vector, weight: Vector) -> list[float | None]:
        """Return the risk as users know it, and the share that rules take away, where defined."""
        risk, constant = self.risk(y, score, weight), np.full(len(y), self.best_constant(y, weight))
        least = self.risk(y, constant, weight)
        return [float(self.shown_risk(np.array(risk))), None if least <= 0.0 else 1.0 - risk / least]

    def risk(self, y: Vector, score: Vector, weight: Vector) -> float:
        """Return the mean loss of weighted rows; infinite beyond the largest double."""
        with np.errstate(over="ignore"):
            return float(np.average(self.value(y, score), weights=weight))

    def exposed(self, y: Vector, weight: Vector, exposure: Vector) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return the targets and weights of rows of exposure 1 that lose what the given rows do, but for a constant.

        The prediction of a row of exposure e is e exp(f).
        """
        raise ValueError("exposure needs a log link: loss='poisson', 'gamma' or 'tweedie'.")

    def shifted(self, y: Vector, weight: Vector, offset: Vector) -> tuple[Vector, Vector] | None:  # noqa: ARG002
        """Return the targets and weights of rows without an offset that lose what the given rows do, but for a constant.

        The offset is added to the score of a row. None if there are no such rows: classes need the offset itself.
        """
        return None

    def complaint(self, y: Vector) -> str | None:
        """Say what makes ``y`` an impossible target for this loss; None if nothing does."""
        return None if np.isfinite(y).all() else "has missing or infinite values"


class SquaredLoss(Loss):
    """(y - f)^2 / 2, for a real target."""

    name = "squared"
    family = formulas.FAMILIES["squared"]
    link_name = "identity"
    score_name = "prediction"
    risk_name = "root mean squared error"

    def profile_deviance(self, total: float, n: float) -> float:
        # Of a normal distribution whose variance is fitted too.
        return _with_free_dispersion(total, n)

    def link(self, mean: float) -> float:
        return mean

    def shifted(self, y: Vector, weight: Vector, offset: Vector) -> tuple[Vector, Vector] | None:
        return y - offset, weight

    def spread(self, y: Vector, mean: Vector) -> Vector | None:
        return (y - mean) ** 2

    def shown_risk(self, risk: Vector) -> Vector:
        return np.sqrt(2.0 * risk)

    def shown_error(self, risk: Vector, error: Vector) -> Vector:
        # To first order.
        shown = self.shown_risk(risk)
        return np.divide(error, shown, out=np.zeros_like(shown), where=shown > 0.0)


class ClassLoss(Loss):
    """A loss of classes, whose targets are their numbers."""

    risk_name = "log loss"

    def strata(self, y: Vector) -> Positions:
        return y.astype(np.intp)

    def shown_risk(self, risk: Vector) -> Vector:
        return risk

    @abstractmethod
    def wrong(self, y: Vector, score: Vector) -> Mask:
        """Say for each row whether another class is predicted."""

    def separates(self, y: Vector, score: Vector) -> bool:
        return not self.wrong(y, score).any()

    def measures(self, y: Vector, score: Vector, weight: Vector) -> list[float | None]:
        """Return the log loss and the share of errors."""
        return [self.risk(y, score, weight), float(np.average(self.wrong(y, score), weights=weight))]


class LogisticLoss(ClassLoss):
    """log(1 + exp(f)) - y f, for a target of 0 or 1 (or a share between them)."""

    name = "logistic"
    family = formulas.FAMILIES["logistic"]
    link_name = "logistic"
    score_name = "log-odds of {label}"
    factor_name = "odds"
    mean_name = "probability of {label}"

    def link(self, mean: float) -> float:
        mean = _inside(mean)
        return float(np.log(mean) - np.log1p(-mean))

    def curvature(self, y: Vector, weight: Vector) -> float:
        # At the best constant the prediction is the mean itself: no need to go to its score and back.
        mean = _inside(float(np.average(y, weights=weight)))
        return mean * (1.0 - mean)

    def measures(self, y: Vector, score: Vector, weight: Vector) -> list[float | None]:
        """Return the log loss, the share of errors, and the area under the ROC curve."""
        return [*super().measures(y, score, weight), area_under_curve(y, score, weight)]

    def wrong(self, y: Vector, score: Vector) -> Mask:
        return np.asarray((score > 0.0) != (y > 0.5))

    def complaint(self, y: Vector) -> str | None:
        return super().complaint(y) or (None if ((y >= 0.0) & (y <= 1.0)).all() else "has values outside 0 and 1")


class MultinomialLoss(ClassLoss):
    """log(sum_k exp(f_k)) - f_y, for a target of many classes."""

    name = "multinomial"
    link_name = "softmax"
    by_class = True
    score_name = "score of {label}"
    factor_name = "odds"
    mean_name = "probability of {label}"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.output_shape = (n_classes,)

    def in_shares(self, y: Vector) -> Vector:
        """Return the numbers of classes as the share of each class, 0 or 1; shares stay as they are."""
        return y if y.ndim == 2 else (y[:, None] == np.arange(self.n_classes)).astype(np.float64)

    def class_shares(self, y: Vector, weight: Vector) -> list[float]:
        """Return the share of each class, by weight; no share is quite zero or one."""
        total = weight @ y if y.ndim == 2 else np.bincount(y.astype(np.intp), weight, self.n_classes)
        return [_inside(share) for share in (total / np.add.reduce(weight)).tolist()]

    def value(self, y: Vector, score: Vector) -> Vector:
        shares = self.in_shares(y)
        shares = shares if shares.shape == score.shape else np.broadcast_to(shares, score.shape)
        flat = (np.ascontiguousarray(array, dtype=np.float64).reshape(-1, self.n_classes) for array in (shares, score))
        return formulas.class_value(*flat).reshape(score.shape[:-1])

    def inverse_link(self, score: Vector) -> Vector:
        """Return the probability of each class."""
        odds = np.exp(score - score.max(axis=-1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=-1, keepdims=True))

    def gradient(self, y: Vector, score: Vector) -> Vector:
        return self.inverse_link(score) - self.in_shares(y)

    def hessian(self, score: Vector, y: Vector | None = None) -> Vector:  # noqa: ARG002  # the same for every target
        """Return the second derivative of the loss in the score of each class alone."""
        mean = self.inverse_link(score)
        return mean * (1.0 - mean)

    def link(self, mean: float) -> float:
        """Return the score of a class with this probability, but for a constant that all classes share."""
        return float(np.log(_inside(mean)))

    def best_constant(self, y: Vector, weight: Vector) -> Any:
        """Return the score of each class, which add up to zero."""
        return self.centred(np.array([self.link(mean) for mean in self.class_shares(y, weight)]))

    def curvature(self, y: Vector, weight: Vector) -> Any:
        """Return the hessian of one row for each class."""
        mean = np.array(self.class_shares(y, weight))
        return mean * (1.0 - mean)

    def wrong(self, y: Vector, score: Vector) -> Mask:
        return np.asarray(np.argmax(score, axis=-1) != y)

    def complaint(self, y: Vector) -> str | None:
        return super().complaint(y) or (None if ((y >= 0.0) & (y == np.floor(y))).all() else "has values that are no classes")


class LogLinkLoss(Loss):
    """Half the deviance of targets whose variance is proportional to a power p of their mean, which is exp(f).

    The gradient is (mu - y) mu^(1-p), so a row of exposure e and weight w loses what a row of target y / e and weight
    w e^(2-p) does without an exposure.
    """

    link_name = "exponential"
    positive_only = True
    score_name = None

    def link(self, mean: float) -> float:
        return float(np.log(max(mean, np.finfo(np.float64).tiny)))

    def profile_deviance(self, total: float, n: float) -> float:
        # Extended quasi-likelihood, which is exact but for a constant if the dispersion is small.
        return _with_free_dispersion(total, n)

    def spread(self, y: Vector, mean: Vector) -> Vector | None:
        # At the score of the mean target, the mean itself costs nothing. If it is zero, so are the targets.
        positive = mean > 0.0
        return np.where(positive, self.value(y, np.log(np.where(positive, mean, 1.0))), 0.0)

    def exposed(self, y: Vector, weight: Vector, exposure: Vector) -> tuple[Vector, Vector]:
        return y / exposure, weight * exposure ** (2.0 - self.power)

    def shifted(self, y: Vector, weight: Vector, offset: Vector) -> tuple[Vector, Vector] | None:
        return self.exposed(y, weight, np.exp(offset))


class PoissonLoss(LogLinkLoss):
    """exp(f) - y f + (y log y - y), for counts and rates: half the Poisson deviance, with a log link."""

    name = "poisson"
    family = formulas.FAMILIES["poisson"]
    power = 1.0
    factor_name = "expected count"
    mean_name = "expected count"
    risk_name = "mean Poisson deviance"

    def profile_deviance(self, total: float, n: float) -> float:
        # Extended quasi-likelihood: counts vary more than a Poisson distribution says, hardly ever less.
        dispersion = max(1.0, 2.0 * total / n)
        return 2.0 * total / dispersion + n * float(np.log(dispersion))

    def spread(self, y: Vector, mean: Vector) -> Vector | None:
        return np.asarray(xlogy(y, y) - xlogy(y, mean), dtype=np.float64)

    def complaint(self, y: Vector) -> str | None:
        complaint = super().complaint(y)
        if complaint is None and (y < 0.0).any():
            return "has negative values, which are no counts"
        if complaint is None and not (y > 0.0).any():
            return "has nothing but zeros, so there is no rate to learn"
        return complaint


class GammaLoss(LogLinkLoss):
    """f + y exp(-f) - (log y + 1), for costs and other positive amounts: half the gamma deviance, with a log link."""

    name = "gamma"
    family = formulas.FAMILIES["tweedie"]
    power = 2.0
    factor_name = "expected value"
    mean_name = "expected value"
    risk_name = "mean gamma deviance"

    def complaint(self, y: Vector) -> str | None:
        complaint = super().complaint(y)
        if complaint is None and (y <= 0.0).any():
            return "has values that are not positive"
        if complaint is None and (y < SMALLEST_POSITIVE).any():
            return f"has positive values below {SMALLEST_POSITIVE:g}"
        return complaint


class TweedieLoss(LogLinkLoss):
    """exp((2-p) f) / (2-p) + y exp((1-p) f) / (p-1) - y^(2-p) / ((2-p) (p-1)), for amounts of which many are zero.

    Half the Tweedie deviance, with a log link. Between the powers 1 and 2, targets are sums of a random number of random
    amounts, such as the claims of a year: zero where there is none.

    Parameters
    ----------
    power : float
        p, strictly between 1 and 2.
    """

    name = "tweedie"
    family = formulas.FAMILIES["tweedie"]
    takes_power = True
    factor_name = "expected value"
    mean_name = "expected value"
    risk_name = "mean Tweedie deviance"

    def __init__(self, power: float = 1.5) -> None:
        self.power = power

    def with_power(self, power: float) -> Loss:
        return TweedieLoss(power)

    def complaint(self, y: Vector) -> str | None:
        complaint = super().complaint(y)
        if complaint is None and (y < 0.0).any():
            return "has negative values"
        if complaint is None and not (y > 0.0).any():
            return "has nothing but zeros, so there is no expected value to learn"
        return complaint


def _inside(mean: float) -> float:
    """Return a mean between 0 and 1 that has finite log-odds."""
    return min(max(mean, SMALLEST_MEAN), 1.0 - SMALLEST_MEAN)


def _with_free_dispersion(total: float, n: float) -> float:
    """Return -2 log likelihood at the most likely dispersion; no fit is perfect."""
    return n * float(np.log(max(2.0 * total / n, np.finfo(np.float64).tiny)))


def area_under_curve(y: Vector, score: Vector, weight: Vector) -> float | None:
    """Return the area under the ROC curve; equal scores count half."""
    position = np.unique(score, return_inverse=True)[1].ravel()
    positive, negative = np.bincount(position, weight * y), np.bincount(position, weight * (1.0 - y))
    pairs = float(positive.sum() * negative.sum())
    below = np.cumsum(negative) - negative
    return None if pairs == 0.0 else float((positive * (below + 0.5 * negative)).sum() / pairs)


# The losses of one score, by name; the Tweedie loss with its default power.
LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (SquaredLoss(), LogisticLoss(), PoissonLoss(), GammaLoss(), TweedieLoss())
}


def class_loss(n_classes: int) -> Loss:
    """Return the loss of a classifier."""
    return LOSSES["logistic"] if n_classes <= 2 else MultinomialLoss(n_classes)


# What a regressor offers as its ``loss``: all but the one of classifiers.
REGRESSION_LOSSES = tuple(name for name in LOSSES if name != "logistic")
# A loss of each link, by which predictions follow from scores.
LOSS_OF_LINK: dict[str, Loss] = {loss.link_name: loss for loss in LOSSES.values()}
# Losses of targets that must not be negative.
POSITIVE_ONLY = tuple(name for name, loss in LOSSES.items() if loss.positive_only)
