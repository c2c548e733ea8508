"""RuleRegressor: an estimator for numbers, counts and amounts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from obliquerules.arrays import Vector
from obliquerules.data.reading import read_numbers
from obliquerules.estimators.fitting import Encoded, dask_predict
from obliquerules.estimators.rule_model import RuleModel
from obliquerules.losses import LOSSES, POSITIVE_ONLY, REGRESSION_LOSSES, Loss
from obliquerules.parameters import check_declared, option, real_between


@dataclass(frozen=True)
class RegressionTarget:
    """The parameters that concern a numeric target."""

    loss: str = option(
        "squared",
        REGRESSION_LOSSES,
        '``"squared"`` for a real target; with a log link ``"poisson"`` for counts and rates, ``"gamma"`` for positive amounts '
        'such as costs, ``"tweedie"`` for amounts of which many are zero, such as the claims of a year.',
    )
    tweedie_power: float = real_between(
        1.5,
        'For ``loss="tweedie"``: the power of the mean to which the variance is proportional, strictly between 1, as for '
        "counts, and 2, as for the gamma loss.",
        1.0,
        2.0,
    )

    def __post_init__(self) -> None:
        check_declared(self)


class RuleRegressor(RegressorMixin, RuleModel):  # type: ignore[misc]
    """An estimator for numbers, counts and amounts."""

    target_class = RegressionTarget
    loss: str
    tweedie_power: float

    def _loss(self) -> Loss:
        target = RegressionTarget(self.loss, self.tweedie_power)
        return LOSSES[target.loss].with_power(float(target.tweedie_power))

    def _without_effect(self) -> Collection[str]:
        return () if LOSSES[self.loss].takes_power else ("tweedie_power",)

    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> Encoded:
        target = read_numbers(y)
        complaint = loss.complaint(target[weight > 0.0])
        if complaint is not None:
            raise ValueError(f"y {complaint} (loss='{loss.name}').")
        return Encoded(target, loss)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = isinstance(self.loss, str) and self.loss in POSITIVE_ONLY
        return tags

    @dask_predict
    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Vector:
        """Return the predicted mean of each row.

        That is the score or, under a log link, its exponential. A model that was fitted with an exposure multiplies the
        prediction by the given one; without one, it is a rate. A model that was fitted with an offset needs that of each row.
        """
        rows = self._read(X).with_offset(exposure, offset)
        return rows.model.means(rows.scores, rows.given)

    def staged_predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Iterator[Vector]:
        """Yield the predictions by each member of `path_`."""
        return (self.model_.means(*scored) for scored in self._staged(X, exposure, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None) -> float:
        """Return the share of the variance of y that predictions explain, R squared."""
        from sklearn.metrics import r2_score  # here, because it loads much that a fit does not need

        return float(r2_score(y, self.predict(X, exposure=exposure, offset=offset), sample_weight=sample_weight))
