"""Model: a fitted model as a value: the path of ensembles, the one that predicts, and what its scores mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.arrays import Vector
from obliquerules.losses import Loss
from obliquerules.parameters import AUTO
from obliquerules.rules.columns import Block, Columns, Range
from obliquerules.rules.edits import EditLog
from obliquerules.rules.ensemble import RuleEnsemble, renumbered
from obliquerules.rules.labels import Labels
from obliquerules.rules.numbers import readable
from obliquerules.rules.path_table import PathTable
from obliquerules.rules.text.formats import Wording, ensemble_html, ensemble_text
from obliquerules.rules.text.style import column_names

OFFSET_KINDS = ("exposure", "offset")
# For a model whose ensembles were changed after losses were estimated.
NO_LOSSES: dict[str, Any] = {"expected": (), "standard_errors": (), "selected": None, "separated": None}


@dataclass(frozen=True)
class Origin:
    """Where a model comes from: what its file says besides the model itself."""

    # The name of the class that learned it, its parameters as JSON values, sorted by name, and the number of steps of the fit.
    estimator: str
    parameters: tuple[tuple[str, Any], ...]
    n_iter: int
    # Whether the columns have names of their own, and whether these were given beside an array: arrays are then what is
    # expected in predictions, too.
    named: bool
    by_hand: bool = False


@dataclass(frozen=True)
class Offset:
    """What a prediction is given besides the inputs: a column, or one for each of many classes, in which no condition looks.

    An exposure, a positive number, multiplies the prediction, under a log link: scores are those of an exposure of 1. An offset
    is added to the score, after the constant and before the rules.
    """

    # "exposure" or "offset", and the name of its column; of an offset for many classes, one for each of them.
    kind: str
    names: tuple[str, ...]
    # The mean exposure in `fit`. A row of it counts as one row, so that the model does not depend on the unit of exposures.
    unit: float = 1.0


@dataclass(frozen=True)
class Model:
    """A fitted model: everything that predicts, and nothing that learns.

    Attributes
    ----------
    path : tuple of RuleEnsemble
        Ensembles of growing complexity, the first of them the constant.
    chosen : int
        The position of the one that predicts, unless it was edited.
    loss : Loss
        What a score means: its link, and the words for it.
    labels : Labels or None
        The classes of a classifier; None for a regressor.
    edits : EditLog or None
        What was done to the chosen ensemble by hand.
    origin : Origin or None
        What it was fitted with.
    ranges : tuple of Range
        The ranges in training of the columns that the path uses; empty if they are not known.
    offset : Offset or None
        What a prediction must be given besides the inputs; None if nothing. `ensemble` gives scores without it.
    class_weights : tuple of float or None
        By what the rows of each class were multiplied in `fit`: probabilities are of classes reweighted so. None if by nothing.
    ridges : tuple of float
        The ridge of the weights of each member of the path, in rows; empty if they are not known.
    expected : tuple of float
        The mean loss of each member of the path to expect on new rows; empty if they are not known.
    standard_errors : tuple of float
        The standard error of each of them; empty unless they are cross-validated.
    selected : int or None
        The position of the member that cross-validation chose; None without it.
    separated : int or None
        The least complexity at which a member tells the classes of all training rows; None if none does.
    """

    path: tuple[RuleEnsemble, ...]
    chosen: int
    loss: Loss
    labels: Labels | None = None
    edits: EditLog | None = None
    origin: Origin | None = None
    ranges: tuple[Range, ...] = ()
    offset: Offset | None = None
    class_weights: tuple[float, ...] | None = None
    ridges: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()
    standard_errors: tuple[float, ...] = ()
    selected: int | None = None
    separated: int | None = None

    @classmethod
    def of(cls, ensemble: RuleEnsemble, loss: Loss, labels: Labels | None = None) -> Model:
        """Return the model whose path is this ensemble alone."""
        return cls((ensemble,), 0, loss, labels)

    @property
    def ensemble(self) -> RuleEnsemble:
        """The ensemble that predicts: the chosen one, or what an edit has made of it."""
        return self.path[self.chosen] if self.edits is None else self.edits.ensemble

    @property
    def ensembles(self) -> tuple[RuleEnsemble, ...]:
        """The path, followed by the edited ensemble if there is one."""
        return self.path if self.edits is None else (*self.path, self.edits.ensemble)

    @property
    def present(self) -> int:
        """The position in `ensembles` of the one that predicts."""
        return self.chosen if self.edits is None else len(self.path)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns: x0, x1, ... where the data had none."""
        return self.columns.names

    @property
    def columns(self) -> Columns:
        """The columns: numbers called x0, x1, ... where nothing is known of them."""
        if self.path[0].columns is not None:
            return self.path[0].columns
        last = max((column for ensemble in self.ensembles for column in ensemble.used_columns), default=-1)
        return Columns.of(column_names(range(1 + last), None))

    @property
    def expected_names(self) -> tuple[str, ...] | None:
        """The names that inputs must have; None if the columns had none in `fit`, so that only their number counts."""
        return None if self.origin is not None and not self.origin.named else self.columns.names

    @property
    def named_by_hand(self) -> bool:
        """Whether the names were given beside an array, so that inputs without names are as good as inputs with them."""
        return self.origin is not None and self.origin.by_hand

    # ---- other models of the same fit ----

    def path_table(self) -> PathTable:
        """Return the sizes of the path with their expected losses."""
        return PathTable.of(
            self.path,
            self.loss,
            self.chosen,
            ridges=self.ridges,
            expected=self.expected,
            standard_errors=self.standard_errors,
            separated=self.separated,
            selected=self.selected,
            edited=None if self.edits is None else self.ensemble.complexity,
        )

    @property
    def verdict(self) -> str:
        """What to expect of the ensemble that predicts, on one line; empty if it is not known."""
        return self.path_table().verdict

    def at(self, complexity: int | str) -> Model:
        """Return the model at the largest size on the path with at most the given complexity, without edits.

        ``"auto"`` is the size that the expected losses take: see `PathTable`.
        """
        if isinstance(complexity, str):
            if complexity != AUTO:
                raise ValueError(f"complexity must be a whole number or {AUTO!r}; got {complexity!r}.")
            if (auto := self.path_table().auto) is None:
                raise ValueError(
                    "complexity='auto' needs the expected loss of each size, which this model does not have. Give a number, or "
                    "fit LLTBoost or TGB with selection='information', or one of their classes with cross-validation."
                )
            return replace(self, chosen=auto, edits=None)
        sizes = [ensemble.complexity for ensemble in self.path]
        within = [index for index, size in enumerate(sizes) if size <= complexity]
        if not within:
            raise ValueError(f"complexity must be at least {min(sizes)}, the smallest on the path; got {complexity!r}.")
        # The last of several with the same complexity is the one with the most rules.
        return replace(self, chosen=max(within, key=lambda index: (sizes[index], index)), edits=None)

    def edited(self, log: EditLog) -> Model:
        """Return the model that predicts with the ensemble at the end of a log of edits."""
        return replace(self, edits=log)

    def with_shares(self, shares: Sequence[float] | None = None) -> Model:
        """Return the model for rows among which classes have other shares; only constants change.

        Without shares, they are those that classes had in `fit` before they were reweighted.
        """
        if self.labels is None or self.edits is not None:
            raise ValueError("Only a classifier has shares of classes, and only one that was not edited can be given others.")
        weights = self.class_weights or (1.0,) * len(self.labels)
        if shares is None:
            change = -np.log(weights)
        else:
            change = np.log(shares) - np.log(self.probabilities(self.path[0].weight_table[:1])[0])
        added = change - change.mean() if self.labels.many else change[1] - change[0]
        path = tuple(member.with_rules(member.rules, np.add(member.intercept, added)) for member in self.path)
        return replace(self, path=path, class_weights=None, **NO_LOSSES)

    def alone(self) -> Model:
        """Return the model whose path is the ensemble that predicts, alone."""
        # Without the constant, there is nothing to compare its expected loss with.
        return replace(self, path=(self.ensemble,), chosen=0, edits=None, ridges=self.ridges[self.chosen :][:1], **NO_LOSSES)

    def renumbered(self, place: Mapping[int, int], columns: Columns) -> Model:
        """Return the model on other columns, among which those that its path uses have new places; edits are not kept."""
        path = tuple(renumbered(ensemble, place, columns) for ensemble in self.path)
        ranges = tuple(replace(one, column=place[one.column]) for one in self.ranges if one.column in place)
        return replace(self, path=path, edits=None, ranges=ranges)

    # ---- predictions ----

    def scores(self, X: ArrayLike | Block, given: Vector | None = None) -> Vector:
        """Return the score of each row, at the given offset if the model has one."""
        return self.ensemble(X, given if self.offset is not None and self.offset.kind == "offset" else None)

    @property
    def has_many_classes(self) -> bool:
        """Whether there are more than two classes, so that each of them has a score."""
        return self.labels is not None and self.labels.many

    def means(self, score: Vector, given: Vector | None = None) -> Vector:
        """Return the inverse link of scores: expected values, or probabilities of the positive class or of each of many.

        Expected values are multiplied by the given exposure if the model has one.
        """
        mean = self.loss.inverse_link(score)
        return mean if given is None or self.offset is None or self.offset.kind != "exposure" else given * mean

    def probabilities(self, score: Vector) -> NDArray[np.float64]:
        """Return the probability of each class, of two the positive one last, shape (n_samples, n_classes)."""
        means = self.means(score)
        return means if means.ndim == 2 else np.column_stack([1.0 - means, means])

    def codes(self, score: Vector) -> NDArray[np.intp]:
        """Return the number of the most probable class for each score; of equally probable ones, the first."""
        return np.argmax(score, axis=-1) if self.has_many_classes else (score > 0.0).astype(np.intp)

    def decisions(self, score: Vector, given: Vector | None = None) -> NDArray[Any]:
        """Return what is predicted for each score: the most probable class, or the expected value."""
        return self.means(score, given) if self.labels is None else self.labels.decode(self.codes(score))

    def predict(self, X: ArrayLike | Block, given: Vector | None = None) -> NDArray[Any]:
        """Return the prediction for each row, at the given exposure or offset if the model has one."""
        return self.decisions(self.scores(X, given), given)

    # ---- words ----

    @property
    def wording(self) -> Wording:
        """What the score is called."""
        if self.labels is None:
            return Wording(self.loss.score_name, self.loss.factor_name)
        if self.labels.many:
            return Wording(classes=tuple(self.labels.word(code) for code in range(len(self.labels))))
        return Wording(str(self.loss.score_name).format(label=self.labels.word()), self.loss.factor_name, plural=True)

    @property
    def mean_name(self) -> str:
        """The name of what `means` returns."""
        if self.has_many_classes:
            return self.loss.mean_name.format(label="each class")
        return self.loss.mean_name if self.labels is None else self.loss.mean_name.format(label=self.labels.word())

    @property
    def target_name(self) -> str:
        """The name of a mean of targets, with two classes as the numbers 0 and 1."""
        if self.has_many_classes:
            return "share of each class"
        return "mean of y" if self.labels is None else f"share of {self.labels.word()}"

    def headline(self, score: float | Vector, given: float | Vector | None = None) -> str:
        """Return the prediction for a score, or the scores of many classes, in words, at the given exposure if there is one."""
        if self.has_many_classes:
            scores = np.asarray(score, dtype=np.float64)
            shares, (first, second) = self.means(scores), self.leading(scores)
            likely, next_likely = f"probability {100 * shares[first]:.1f} %", f"{100 * shares[second]:.1f} %"
            return f"Predicted: {self.class_word(first)} ({likely}; next is {self.class_word(second)}, {next_likely})"
        mean = float(self.means(np.array([score]), None if given is None else np.array([given]))[0])
        if self.labels is None:
            return f"Predicted: {readable(mean)}"
        label = self.labels.word(int(score > 0.0))
        return f"Predicted: {label} (probability of {self.labels.word()}: {100 * mean:.1f} %)"

    def leading(self, scores: Vector) -> tuple[int, int]:
        """Return the most probable of many classes and the runner-up, given their scores; of equal ones, the first."""
        first, second = np.argsort(-scores, kind="stable")[:2].tolist()
        return first, second

    def class_word(self, code: int) -> str:
        """Return what a class is called in a sentence."""
        return "" if self.labels is None else self.labels.word(code)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return ensemble_html(self.ensemble, self.wording)

    def to_text(self, kind: str = "plain", *, exact: bool = False) -> str:
        """Return the ensemble that predicts as text, with sentences that say what the score means."""
        text = ensemble_text(self.ensemble, kind, exact=exact, wording=self.wording)
        return f"{text}\n{self.remark}" if kind == "sentences" and self.remark else text

    @property
    def remark(self) -> str:
        """What must be known to read a prediction rightly, in sentences; empty if there is nothing."""
        said, given = [], "" if self.offset is None else ", ".join(f"'{name}'" for name in self.offset.names)
        if self.class_weights is not None:
            times = ", ".join(f"{self.class_word(code)} times {readable(w, 3)}" for code, w in enumerate(self.class_weights))
            said.append(f"Probabilities are of reweighted classes: {times}.")
        if self.offset is not None and self.offset.kind == "exposure":
            said.append(f"Scores are those of an exposure of 1; predictions are multiplied by the exposure, {given}.")
        elif self.offset is not None:
            said.append(f"A given offset, {given}, is added to the score.")
        return " ".join(said)
