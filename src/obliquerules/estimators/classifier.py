"""RuleClassifier: an estimator for classes."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from obliquerules.estimators.rule_model import RuleModel, Vector
from obliquerules.losses import LOSSES, Loss
from obliquerules.parameters import check_declared, declared
from obliquerules.rules import Labels


def check_label(name: str, value: Any) -> None:
    """Raise unless the value can be the label of a class, or is None."""
    if not (value is None or isinstance(value, (str, numbers.Real, np.bool_))):
        raise ValueError(f"{name} must be the label of a class: text, a number or a boolean; got {value!r}.")


@dataclass(frozen=True)
class ClassTarget:
    """The parameters that concern a target of classes."""

    positive: Any = declared(
        None,
        "str, int, float, bool or None",
        "The class that scores are about, such as the event: a rule with a positive weight makes it more probable. None means "
        "the class that sorts last. With more than two classes each has a score of its own, and this must be None.",
        check_label,
    )

    def __post_init__(self) -> None:
        check_declared(self)


class RuleClassifier(ClassifierMixin, RuleModel):  # type: ignore[misc]
    """An estimator for classes: of two, the score is the log-odds of the positive one; of more, each has a score.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    """

    target_class = ClassTarget
    positive: Any

    def _loss(self) -> Loss:
        ClassTarget(self.positive)
        return LOSSES["logistic"]

    def _without_effect(self) -> Collection[str]:
        return ("positive",) if self.positive is None else ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.method_class.many_classes
        return tags

    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> tuple[Vector, Labels | None]:  # noqa: ARG002
        try:
            check_classification_targets(y)
            labels = Labels.of(y)
        except TypeError as error:  # labels that cannot be sorted
            raise ValueError("y holds labels of different types, such as text and numbers; all must be of one type.") from error
        if labels.many and not self.method_class.many_classes:
            kind = type_of_target(y, input_name="y")
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(labels) < 2:
            labels.check_both(np.zeros(1))
        labels = labels if self.positive is None else labels.about(self.positive)
        codes = labels.encode(y)
        labels.check_both(codes[weight > 0.0])
        return codes, labels

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        if self.model_.labels is None:
            raise AttributeError(f"The model of this {type(self).__name__} has no classes.")
        return np.sort(self.model_.labels.classes)

    @property
    def _many(self) -> bool:
        return self.model_.has_many_classes

    @property
    def _positive_last(self) -> bool:
        """Whether scores are about the second of `classes_`."""
        return self.model_.labels is None or self.model_.labels.ascending

    def decision_function(self, X: Any) -> Vector:
        """Return the log-odds of the second of `classes_` or, of more than two, the score of each, as scikit-learn asks.

        With another class as ``positive``, this is the score of each row, ``ensemble_(X)``, with the opposite sign.
        """
        return self._log_odds(self._scores(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each of `classes_`, shape (n_samples, n_classes)."""
        scores = self._scores(X)  # first, because it raises if the model is not fitted
        return self._shares(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        scores = self._scores(X)
        return self.model_.decisions(scores)

    def staged_decision_function(self, X: Any) -> Iterator[Vector]:
        """Yield the decision function by each member of `path_`, from the constant to the largest."""
        return map(self._log_odds, self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities by each member of `path_`."""
        return map(self._shares, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes predicted by each member of `path_`."""
        return (self.model_.decisions(score) for score in self._staged_scores(X))

    def _log_odds(self, score: Vector) -> Vector:
        return score if self._positive_last else -score

    def _shares(self, score: Vector) -> NDArray[np.float64]:
        shares = self.model_.probabilities(score)
        return shares if self._positive_last else shares[:, ::-1]
