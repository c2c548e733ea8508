"""What all rule models share once they are fitted: the path, predictions along it, and saving."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from obliquerules.boosting.sample import Sample
from obliquerules.encoding import (
    NamedMatrix,
    check_columns,
    check_finite,
    check_not_tiny,
    check_size,
    checked_weights,
    misplaced_column,
)
from obliquerules.estimators.editing import Editing, EditLog
from obliquerules.estimators.parameters import check_option, check_text, check_whole
from obliquerules.estimators.readable_model import ReadableModel
from obliquerules.inspection.change_search import Wish
from obliquerules.inspection.report.subject import Rows
from obliquerules.losses import LOSSES, REGRESSION_LOSSES, Loss
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.stored_path import default_names, largest_within
from obliquerules.rules.text import Wording
from obliquerules.solvers.rule_weights import weights_of_patterns

Vector = NDArray[np.float64]
Arguments = ParamSpec("Arguments")
Model = TypeVar("Model", bound="RuleModel")


def all_or_nothing(fit: Callable[Concatenate[Model, Arguments], Model]) -> Callable[Concatenate[Model, Arguments], Model]:
    """Make a fit that fails, or is interrupted, leave the model as it was before."""

    @functools.wraps(fit)
    def fit_or_restore(self: Model, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Model:
        before = self.__dict__.copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return fit_or_restore


class RuleModel(ReadableModel):
    """A fitted sequence of rule ensembles of growing complexity, one of which predicts.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, the first of them the constant; all come from one fit, in original units.
    ensemble_ : RuleEnsemble
        The member of the path that predicts, or what an edit has made of it; the last one after `fit`.
    edits_ : EditLog or None
        What was done to the member of the path by `edit`; None if nothing was.
    """

    path_: tuple[RuleEnsemble, ...]
    n_iter_: int
    n_features_in_: int
    edits_: EditLog | None = None
    ridge: float = 0.0  # for a subclass that has no such parameter
    _parameters_of_fit: dict[str, Any] | None = None

    def _keep_parameters(self) -> None:
        """Make the present parameters those of the fit: what they are set to later is for the next one."""
        self._parameters_of_fit = self.get_params(deep=False)

    def _parameter(self, name: str) -> Any:
        """Return a parameter as it was in the fit or, if there was none, as it is."""
        return (self._parameters_of_fit or {}).get(name, getattr(self, name))

    def _as_fitted(self) -> Self:
        """Return this model with all parameters as they were in the fit."""
        model = copy.copy(self)
        model.__dict__.update(self._parameters_of_fit or {})
        return model

    def _check_parameters(self) -> None:
        """Raise if a parameter is not what it may be."""

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # for subclasses
        """Return the targets as the numbers that the loss takes; raise if the rows that have weight cannot be learned from."""
        raise AttributeError(f"{type(self).__name__} does not say what its targets are.")

    def _checked(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs, targets and weights, ready to be learned from."""
        X, y = self._training_data(X, y)
        weight = checked_weights(sample_weight, len(y))
        return X, self._target(y, weight), weight

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check everything, and learn the path."""
        self._check_parameters()
        self._keep_parameters()
        self._forget_edits()
        return self._grow(*self._checked(X, y, sample_weight))

    def _grow(self, X: NDArray[np.float64], y: Vector, weight: Vector) -> Self:  # noqa: ARG002  # for subclasses
        """Learn the path from checked data; set ``path_``, ``ensemble_`` and ``n_iter_``."""
        raise AttributeError(f"{type(self).__name__} does not say how it learns its rules.")

    def _data_like_those_of_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs, targets and weights that are of the kind this model was fitted to."""
        self._matrix(X)
        scratch = self._as_fitted()  # a copy, because reading data as for a fit sets attributes
        data = scratch._checked(X, y, sample_weight)
        if not np.array_equal(getattr(scratch, "classes_", ()), getattr(self, "classes_", ())):
            raise ValueError(f"y must hold the labels that the model was fitted to, {self.classes_.tolist()}.")
        return data

    def _strata(self, target: Vector) -> NDArray[np.intp]:
        """Return the group of each row from which a like share is held out: one group, unless there are classes."""
        return np.zeros(len(target), dtype=np.intp)

    def _feature_names(self) -> tuple[str, ...]:
        """Return the names given to fit, or x0, x1, ... where there were none."""
        given = getattr(self, "feature_names_in_", None)
        return default_names(self.n_features_in_) if given is None else tuple(str(name) for name in given)

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        if isinstance(X, NamedMatrix):
            check_finite(X.matching(self._feature_names()), X.names)
            return X.values
        check_columns(X)
        try:
            matrix = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        except ValueError as error:
            # scikit-learn names columns that are missing or new, but not those that have changed places.
            if "same order" in str(error):
                raise ValueError(f"{error}{misplaced_column(X, self._feature_names())}") from error
            raise
        check_finite(matrix, self._feature_names())
        return np.asarray(matrix, dtype=np.float64)

    def _training_data(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        check_columns(X)
        values = X.values if isinstance(X, NamedMatrix) else X
        matrix, target = validate_data(self, values, y, dtype=np.float64, ensure_all_finite=False)
        if isinstance(X, NamedMatrix):
            self.feature_names_in_ = np.array(X.names, dtype=object)
        check_finite(matrix, self._feature_names())
        check_size(matrix, "X")
        check_not_tiny(matrix, self._feature_names())
        return matrix, target

    def _scores(self, X: Any) -> Vector:
        matrix = self._matrix(X)  # first, because it says so if the model is not fitted
        return self.ensemble_(matrix)

    def _staged_scores(self, X: Any) -> Iterator[Vector]:
        matrix = self._matrix(X)
        return (ensemble(matrix) for ensemble in self.path_)

    def at(self, complexity: int) -> Self:
        """Return this model at a smaller size: its largest path member with at most the given complexity.

        The returned model keeps the whole path, so that another size can be chosen from it. Edits are left behind.
        """
        check_is_fitted(self)
        check_whole("complexity", complexity, 0)
        model = copy.copy(self)
        model._forget_edits()
        model.ensemble_ = largest_within(self.path_, complexity)
        return model

    def _forget_edits(self) -> None:
        self.__dict__.pop("edits_", None)

    def edit(self, X: Any, y: Any, sample_weight: Any = None) -> Editing:
        """Start to edit the rules: drop, add, replace or lock some, and fit the weights anew.

        This model stays as it is. Every step is logged with what it costs, and the log is saved with the edited model.

        Parameters
        ----------
        X, y, sample_weight
            The data on which losses are measured and weights are fitted, best those of `fit`.

        Returns
        -------
        Editing
            Its methods `drop`, `add`, `replace`, `lock`, `unlock` and `refit` return what to go on from, its `model` is the
            edited model.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(random_state=0).fit(X, y).at(14)
        >>> edited = model.edit(X, y).drop(0).refit().model
        >>> len(model.ensemble_), len(edited.ensemble_)
        (4, 3)
        """
        return Editing(self, Sample.of(*self._data_like_those_of_fit(X, y, sample_weight)))

    def _penalty(self, target: Vector, weight: Vector) -> float:
        """Return the ridge under which weights of rules are fitted to these targets, in units of the loss."""
        return float(self._parameter("ridge")) * self._loss().curvature(target, weight)

    def _fitted_weights(self, sample: Sample, start: NDArray[np.float64], fixed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the constant and the weights of the rules, fitted as in `fit`; the fixed ones as they are at the start."""
        ridge = self._penalty(sample.y, sample.weight)
        return weights_of_patterns(*self._patterns(sample.X), sample.y, sample.weight, self._loss(), ridge, start, fixed=fixed)

    def _patterns(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return which rules fire together, with a column of ones before them, and which of these patterns each row has."""
        fires, pattern = np.unique(self.ensemble_.fires(X), axis=0, return_inverse=True)
        return np.column_stack([np.ones(len(fires)), fires]), pattern.ravel()

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        title: str | None = None,
        data_name: str = "rows",
        min_count: int = 5,
        max_sizes: int = 12,
    ) -> None:
        """Write the workbench of this model: one HTML file to read it, score cases, and try what happens without a rule.

        The file works in any browser, with nothing else: no network, no other file. It has a slider along the path, the rules
        at each size, calibration, and a form that explains the prediction for a case. Rules can be switched off, with figures
        that follow, and the edited model can be downloaded as a file that `load_model` reads.

        No row is in the file. Figures come from one table that counts rows by the conditions that hold, in groups of at least
        ``min_count`` rows. Rows with rare combinations of conditions are merged with others of like predictions: with all
        rules on they count, with rules switched off figures are exact on the other rows, and the page says on how many.

        Parameters
        ----------
        path : str or path
            The file to write; it is replaced in one step.
        X, y : data frame or array of shape (n_samples, n_features), and targets, optional
            Rows to measure the model on, best those that it was not fitted to. Without them there are no figures.
        sample_weight : array of shape (n_samples,), optional
        title : str, optional
            The heading of the page.
        data_name : str, default="rows"
            What the rows are called on the page, such as ``"test rows"``.
        min_count : int, default=5
            The least number of rows in a group. With 1, all figures are exact on all rows, and a group may be a single row:
            which conditions hold for it, and its target.
        max_sizes : int, default=12
            The largest number of sizes that the slider offers. At a size whose conditions would leave too few rows in groups
            of ``min_count``, there are no figures with rules switched off, and the page says so.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     model.report(Path(directory) / "model.html", X, y, title="Diabetes after one year")
        ...     Path(directory, "model.html").read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from obliquerules.estimators.reporting import write_report

        check_is_fitted(self)
        check_whole("min_count", min_count, 1)
        check_whole("max_sizes", max_sizes, 1)
        rows = self._report_rows(X, y, sample_weight, data_name, int(min_count))
        write_report(self._as_fitted(), path, rows, title, int(max_sizes))

    def _report_rows(self, X: Any, y: Any, sample_weight: Any, name: str, least: int) -> Rows | None:
        """Return the rows that a report speaks of; those without weight count for nothing."""
        check_text("data_name", name)
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together.")
        if X is None:
            return None
        matrix = self._matrix(X)
        target, weight = self._coded_rows(y, len(matrix)), checked_weights(sample_weight, len(matrix))
        counted = weight > 0.0
        if np.count_nonzero(counted) < least:
            raise ValueError(f"X must have at least min_count={least} rows with weight; got {np.count_nonzero(counted)}.")
        complaint = self._loss().complaint(target[counted])
        if complaint is not None:
            raise ValueError(f"y {complaint}.")
        return Rows(matrix[counted], target[counted], weight[counted], name, least)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON with exact numbers; `load_model` reads it back. The file is replaced in one step."""
        from obliquerules.estimators.persistence import save_estimator

        check_is_fitted(self)
        save_estimator(self._as_fitted(), path)


class RuleClassifier(ClassifierMixin, RuleModel):  # type: ignore[misc]
    """A rule model for two classes: the score is the log-odds of the second one.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, sorted; rules with a positive weight speak for the second.
    """

    classes_: NDArray[Any]

    def _loss(self) -> Loss:
        return LOSSES["logistic"]

    def _strata(self, target: Vector) -> NDArray[np.intp]:
        return target.astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encode_labels(self, y: NDArray[Any], weight: Vector) -> Vector:
        """Set ``classes_`` and return 1.0 for rows of the second class."""
        try:
            check_classification_targets(y)
            self.classes_, encoded = np.unique(y, return_inverse=True)
        except TypeError as error:  # they cannot be put in order
            raise ValueError("y holds labels of different types, such as text and numbers; all must be of one type.") from error
        if len(self.classes_) > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(np.unique(encoded[weight > 0.0])) < 2:
            only = y[weight > 0.0].tolist()[0]
            raise ValueError(
                f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes."
            )
        return encoded.astype(np.float64)

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a data frame or array and two kinds of labels."""
        return self._learn(X, y, sample_weight)

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._encode_labels(y, weight)

    def _label(self, index: int = 1) -> str:
        """Return a class as text has it: in quotes, or with the word class before a number."""
        label = self.classes_.tolist()[index]
        return repr(label) if isinstance(label, str) else f"class {label!r}"

    def _wording(self) -> Wording:
        wording = super()._wording()
        return Wording(str(wording.score).format(label=self._label()), wording.factor, plural=True)

    def _mean_words(self) -> str:
        return super()._mean_words().format(label=self._label())

    def _coded(self, y: Any) -> Vector:
        labels = np.asarray(y)
        if not np.isin(labels, self.classes_).all():
            raise ValueError(f"y must hold the labels that the model was fitted to, {self.classes_.tolist()}.")
        return np.asarray(labels == self.classes_[1], dtype=np.float64)

    def _target_words(self) -> str:
        return f"share of {self._label()}"

    def _predictions(self, score: Vector) -> NDArray[Any]:
        return self._more_probable(score)

    def _headline(self, score: float) -> str:
        probability = float(self._loss().inverse_link(np.array([score]))[0])
        predicted = self._label(int(score > 0.0))
        return f"Predicted: {predicted} (probability of {self._label()}: {100 * probability:.1f} %)"

    def _wish(self, row: NDArray[np.float64], above: float | None, below: float | None) -> Wish:
        if above is not None or below is not None:
            wish = super()._wish(row, above, below)
            return Wish(wish.met, wish.direction, f"one with a probability of {self._label()} {wish.words}")
        if self.ensemble_(row)[0] > 0.0:
            return Wish(lambda score: score <= 0.0, -1.0, self._label(0))
        return Wish(lambda score: score > 0.0, 1.0, self._label(1))

    def decision_function(self, X: Any) -> Vector:
        """Return the score of each row: the log-odds of the second class."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n_samples, 2)."""
        return self._probabilities(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of each row."""
        return self._more_probable(self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Vector]:
        """Yield the scores of each member of `path_`, from the constant to the largest."""
        return self._staged_scores(X)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of each member of `path_`."""
        return (self._probabilities(score) for score in self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes of each member of `path_`."""
        return (self._more_probable(score) for score in self._staged_scores(X))

    def _more_probable(self, score: Vector) -> NDArray[Any]:
        return self.classes_[(score > 0.0).astype(np.intp)]

    def _probabilities(self, score: Vector) -> NDArray[np.float64]:
        positive = self._loss().inverse_link(score)
        return np.column_stack([1.0 - positive, positive])


class RuleRegressor(RegressorMixin, RuleModel):  # type: ignore[misc]
    """A rule model for numbers: a mean under the squared loss, an expected count under the Poisson loss."""

    loss: str

    def _loss(self) -> Loss:
        return LOSSES[self._parameter("loss")]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("loss", self.loss, REGRESSION_LOSSES)

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a data frame or array and numeric targets."""
        return self._learn(X, y, sample_weight)

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        target = self._numbers(y)
        complaint = self._loss().complaint(target[weight > 0.0])
        if complaint is not None:
            raise ValueError(f"y {complaint} (loss='{self._loss().name}').")
        return target

    def _coded(self, y: Any) -> Vector:
        return self._numbers(y)

    def _numbers(self, y: Any) -> Vector:
        """Return the targets as doubles."""
        try:
            target = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers only: {error}") from error
        check_size(target, "y")
        return target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def predict(self, X: Any) -> Vector:
        """Return the predicted mean of each row: the score itself, or its exponential for counts."""
        score = self._scores(X)  # first, because it says so if the model is not fitted
        return self._loss().inverse_link(score)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the predictions of each member of `path_`, from the constant to the largest."""
        return (self._loss().inverse_link(score) for score in self._staged_scores(X))
