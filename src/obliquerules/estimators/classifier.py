"""RuleClassifier: an estimator for classes."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from obliquerules.arrays import Vector
from obliquerules.data.sample import sums
from obliquerules.data.training_columns import LARGEST_VALUE
from obliquerules.estimators.fitting import Encoded, dask_predict
from obliquerules.estimators.rule_model import RuleModel
from obliquerules.losses import LOSSES, Loss, class_loss
from obliquerules.parameters import check_declared, declared
from obliquerules.rules import Labels


def check_label(name: str, value: Any) -> None:
    """Raise unless the value is a label of a class or None."""
    if not (value is None or isinstance(value, (str, numbers.Real, np.bool_))):
        raise ValueError(f"{name} must be the label of a class: text, a number or a boolean; got {value!r}.")


def check_class_weight(name: str, value: Any) -> None:
    """Raise unless the value is "balanced", a dict of weights or None."""
    if isinstance(value, Mapping):
        for label, weight in value.items():
            if not isinstance(weight, numbers.Real) or isinstance(weight, bool) or not 0.0 < float(weight) < LARGEST_VALUE:
                raise ValueError(f"{name} must give each class a positive number; class {label!r} has {weight!r}.")
    elif value is not None and not (isinstance(value, str) and value == "balanced"):
        raise ValueError(f"{name} must be a dict of label and number, 'balanced' or None; got {value!r}.")


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
    class_weight: Any = declared(
        None,
        'dict, "balanced" or None',
        'By what the rows of each class are multiplied: a dict of label and number, ``"balanced"`` for classes of equal '
        "weight, None for nothing. Probabilities are then those of reweighted classes; `with_class_shares` returns the model "
        "for classes as they were.",
        check_class_weight,
    )

    def __post_init__(self) -> None:
        check_declared(self)


class RuleClassifier(ClassifierMixin, RuleModel):  # type: ignore[misc]
    """An estimator for two or more classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the rows that have weight, sorted.
    """

    target_class = ClassTarget
    positive: Any
    class_weight: Any

    def _loss(self) -> Loss:
        ClassTarget(self.positive, self.class_weight)
        return LOSSES["logistic"]

    def _class_weights(self, codes: Vector, labels: Labels, weight: Vector) -> tuple[float, ...] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            total = sums(codes.astype(np.intp), weight, len(labels))
            return tuple((total.sum() / (len(labels) * total)).tolist())
        unknown = [label for label in self.class_weight if label not in labels.values]
        if unknown:
            raise ValueError(f"class_weight has the class {unknown[0]!r}, which y does not have: {list(labels.values)}.")
        return tuple(float(self.class_weight.get(label, 1.0)) for label in labels.values)

    def _without_effect(self) -> Collection[str]:
        return {name for name in ("positive", "class_weight") if getattr(self, name) is None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.method_class.many_classes
        return tags

    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> Encoded:  # noqa: ARG002
        try:
            check_classification_targets(y)
            labels = Labels.of(y)
        except TypeError as error:  # labels that cannot be sorted
            raise ValueError("y holds labels of different types, such as text and numbers; all must be of one type.") from error
        if labels.many and not self.method_class.many_classes:
            kind = type_of_target(y, input_name="y")
            raise ValueError(
                # The beginning is what scikit-learn's checks look for.
                f"Only binary classification is supported. The type of the target is {kind}. y has {len(labels)} classes; "
                f"{type(self).__name__} learns two. LLTBoostClassifier, TGBClassifier and LTRNetClassifier learn more."
            )
        if len(labels) < 2:
            labels.check_both(np.zeros(1))
        labels = labels if self.positive is None else labels.about(self.positive)
        codes = labels.encode(y)
        labels.check_both(codes[weight > 0.0])
        return Encoded(codes, class_loss(len(labels)), labels, self._class_weights(codes, labels, weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        if self.model_.labels is None:
            raise AttributeError(f"The model of this {type(self).__name__} has no classes.")
        return np.sort(self.model_.labels.classes)

    def with_class_shares(self, shares: Mapping[Any, float] | None = None) -> Self:
        """Return the model for other shares of the classes.

        Without ``shares``, they are those of the classes before ``class_weight`` multiplied them: probabilities are then those
        of rows such as the training rows. The constants are moved by the logarithms of the ratios, which is exact for a model
        that has learned the odds of reweighted classes without error.

        Parameters
        ----------
        shares : dict of label and number, optional
            The share of each class, such as its prevalence elsewhere. They are made to add up to one.
        """
        check_is_fitted(self)
        if shares is None:
            return self._with(self.model_.with_shares())
        if set(shares) != set(self.classes_.tolist()) or not all(0.0 < share < LARGEST_VALUE for share in shares.values()):
            raise ValueError(
                f"shares must give each of the classes {self.classes_.tolist()} a positive number; got {shares!r}."
            )
        labels = () if self.model_.labels is None else self.model_.labels.values
        total = sum(shares.values())
        return self._with(self.model_.with_shares([shares[label] / total for label in labels]))

    @dask_predict
    def decision_function(self, X: Any, *, offset: Any = None) -> Vector:
        """Return the log-odds of the last class, or one score per class.

        Of two classes, it is about the second of `classes_`, as scikit-learn asks. With the first as ``positive``, this is the
        score of each row with the opposite sign, while ``offset`` here and in `fit` is about the positive class: an offset for
        another fit is `score_samples`.
        """
        return self._log_odds(self._read(X).with_offset(offset=offset).scores)

    @dask_predict
    def predict_proba(self, X: Any, *, offset: Any = None) -> NDArray[np.float64]:
        """Return the probability of each of `classes_`, shape (n_samples, n_classes)."""
        return self._shares(self._read(X).with_offset(offset=offset).scores)

    @dask_predict
    def predict(self, X: Any, *, offset: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row, at its offset if the model was fitted with one."""
        rows = self._read(X).with_offset(offset=offset)
        return rows.model.decisions(rows.scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """Return the share of rows whose class is predicted."""
        from sklearn.metrics import accuracy_score  # here, because it loads much that a fit does not need

        return float(accuracy_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    def staged_decision_function(self, X: Any, *, offset: Any = None) -> Iterator[Vector]:
        """Yield the decision function by each member of `path_`."""
        return (self._log_odds(score) for score, _ in self._staged(X, offset=offset))

    def staged_predict_proba(self, X: Any, *, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities by each member of `path_`."""
        return (self._shares(score) for score, _ in self._staged(X, offset=offset))

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[NDArray[Any]]:
        """Yield the classes predicted by each member of `path_`."""
        return (self.model_.decisions(score) for score, _ in self._staged(X, offset=offset))

    def _log_odds(self, score: Vector) -> Vector:
        """Return scores about the last class."""
        labels = self.model_.labels
        return score if labels is None or labels.ascending else -score

    def _shares(self, score: Vector) -> NDArray[np.float64]:
        """Return probabilities in the order of the classes."""
        shares, labels = self.model_.probabilities(score), self.model_.labels
        return shares if labels is None or labels.ascending else shares[:, ::-1]
