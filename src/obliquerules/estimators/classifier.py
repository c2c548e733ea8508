"""RuleClassifier: an estimator for two classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from obliquerules.estimators.rule_model import RuleModel, Vector, all_or_nothing
from obliquerules.losses import LOSSES, Loss
from obliquerules.rules import Labels


class RuleClassifier(ClassifierMixin, RuleModel):  # type: ignore[misc]
    """An estimator for two classes: the score is the log-odds of the second one.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, sorted; a positive weight raises the probability of the second.
    """

    def _loss(self) -> Loss:
        return LOSSES["logistic"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> tuple[Vector, Labels | None]:  # noqa: ARG002
        try:
            check_classification_targets(y)
            labels = Labels.of(y)
        except TypeError as error:  # labels that cannot be sorted
            raise ValueError("y holds labels of different types, such as text and numbers; all must be of one type.") from error
        if len(labels) > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        codes = np.asarray(y == labels.classes[-1], dtype=np.float64)
        labels.check_both(codes[weight > 0.0] if len(labels) == 2 else np.zeros(1))
        return codes, labels

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        if self.model_.labels is None:
            raise AttributeError(f"The model of this {type(self).__name__} has no classes.")
        return self.model_.labels.classes

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, feature_names: Sequence[str] | None = None) -> Self:
        """Learn rules from a data frame or array and labels of two classes; ``feature_names`` names the columns of an array."""
        return self._learn(X, y, sample_weight, feature_names)

    def decision_function(self, X: Any) -> Vector:
        """Return the score of each row: the log-odds of the second class."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n_samples, 2)."""
        scores = self._scores(X)  # first, because it raises if the model is not fitted
        return self.model_.probabilities(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of each row."""
        scores = self._scores(X)
        return self.model_.decisions(scores)

    def staged_decision_function(self, X: Any) -> Iterator[Vector]:
        """Yield the scores by each member of `path_`, from the constant to the largest."""
        return self._staged_scores(X)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities by each member of `path_`."""
        return (self.model_.probabilities(score) for score in self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes predicted by each member of `path_`."""
        return (self.model_.decisions(score) for score in self._staged_scores(X))
