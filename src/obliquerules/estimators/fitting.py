"""Fitting: data are read once, and a method learns a model."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import numbers
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, assert_all_finite, check_is_fitted, validate_data

from obliquerules.arrays import Vector
from obliquerules.data.blocks import RowBlock, StoredTable
from obliquerules.data.dask_tables import by_partition, dask_kind
from obliquerules.data.frames import misplaced_column, own_names
from obliquerules.data.model_rows import ModelRows, read_rows
from obliquerules.data.offsets import Outcomes, read_groups, read_offset, warn_of_other_class
from obliquerules.data.reading import check_weights, read_training, read_weights
from obliquerules.data.sparse import Screened, screened
from obliquerules.data.stored_tables import ColumnRoles, StoredRows, TableReader, TableSummary, stored_table
from obliquerules.data.training_columns import check_sizes, described
from obliquerules.learning.method import GivenRows, Growth, Method, Task
from obliquerules.learning.subsampled_fit import grown, weight_unit
from obliquerules.losses import Loss
from obliquerules.parameters import Parameter, declarations, documentation
from obliquerules.rules import Block, Labels, Model
from obliquerules.rules.model import Offset, Origin
from obliquerules.status_line import Stopwatch

Arguments = ParamSpec("Arguments")
Estimator = TypeVar("Estimator", bound="Fitting")
Fit: TypeAlias = Callable[Concatenate[Estimator, Arguments], Estimator]
Predict = TypeVar("Predict", bound=Callable[..., NDArray[Any]])
Declarations = Mapping[str, tuple[Any, Parameter]]


class Encoded(NamedTuple):
    """Targets as the numbers that a loss takes, with what they stand for."""

    y: Vector
    loss: Loss
    labels: Labels | None = None
    class_weights: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False)
class Training:
    """What a method learns from.

    Attributes
    ----------
    task : Task
        Without rows if they are in a stored table.
    offset : Offset or None
        What the exposure or offset of the rows is called, and its unit.
    screened : Screened or None
        The columns to learn from; None if they are all, as of any table that is not sparse.
    rows : StoredRows or None
        The rows of a stored table.
    n_rows : int
        How many they are.
    """

    task: Task
    offset: Offset | None
    screened: Screened | None = None
    rows: StoredRows | None = None
    n_rows: int = 0


def all_or_nothing(fit: Fit[Estimator, Arguments]) -> Fit[Estimator, Arguments]:
    """Make a failed fit leave the estimator as it was."""

    @functools.wraps(fit)
    def fit_or_restore(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        before = self.__dict__.copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return fit_or_restore


def dask_predict(predict: Predict) -> Predict:
    """Make a method return a lazy prediction for Dask tables."""

    @functools.wraps(predict)
    def predict_any(self: Any, X: Any, **given: Any) -> Any:
        kind = dask_kind(X) if "dask" in sys.modules else None
        if kind is None:
            return predict(self, X, **given)
        check_is_fitted(self)
        present = {name: values for name, values in given.items() if values is not None}
        for name, values in present.items():
            if dask_kind(values) is None or (dask_kind(values) == "Array") != (kind == "Array"):
                wanted = "a Dask array" if kind == "Array" else "a Dask Series with the partitions of X"
                raise ValueError(f"{name} must be {wanted}, as X is one of Dask; got {type(values).__name__}.")
        # Before anything is computed: one row complains of what is given, and shows what a prediction is.
        row = Block(self.model_.columns, np.zeros((1, len(self.model_.columns))))
        like = predict(self, row, **{name: np.ones((1, *values.shape[1:])) for name, values in present.items()})
        if not self.model_.named_by_hand:
            self._check_names(X if kind == "Array" else X._meta)
        return by_partition(getattr(self, predict.__name__), X, present, like)

    return cast(Predict, predict_any)


class Fitting(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """An estimator with parameters, `fit`, and the model that was fitted.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    """

    method_class: ClassVar[type[Method]]
    # Declares the parameters that concern the target and not the method.
    target_class: ClassVar[type | None] = None
    # The default and the declaration of each parameter.
    parameters: ClassVar[Declarations]
    model_: Model
    n_features_in_: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "method_class" in cls.__dict__:
            about_target = {} if cls.target_class is None else declarations(cls.target_class)
            found, shared = declarations(cls.method_class), declarations(Method)
            own = {name: one for name, one in found.items() if name not in shared}
            cls.parameters = about_target | own | {name: found[name] for name in shared}
            cls.__init__ = make_init(cls.parameters)  # type: ignore[method-assign]
            cls.__doc__ = documented(cls, cls.parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.sparse = True
        return tags

    def _method(self) -> Method:
        """Return the method; raise if a parameter is not valid."""
        return self.method_class(**{name: getattr(self, name) for name in declarations(self.method_class)})

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss; raise if its parameter is not valid."""

    def _without_effect(self) -> Collection[str]:
        """Return the parameters without effect, which files leave out."""
        return ()

    @abstractmethod
    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> Encoded:
        """Return targets as numbers for the loss; raise if they cannot be learned."""

    # ---- fit ----

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        exposure: Any = None,
        offset: Any = None,
        feature_names: Sequence[str] | None = None,
        ordered: Sequence[str] = (),
    ) -> Self:
        """Learn rules from a table and its targets.

        A sparse matrix or array of SciPy is never made dense: of more than 256 columns, those are learned from that say most
        about the target by themselves. What it does not hold is zero; a missing value is NaN.

        Text, categories, booleans, dates and missing values need no preparation. ``feature_names`` names the columns of an
        array, and ``ordered`` names columns of categories whose order counts, if their type does not say so.

        ``sample_weight`` says how many observations each row stands for: a row of weight 2 is that row given twice.
        Observations are independent, equal ones included. ``groups`` says which are not: it names the group of each row, such
        as a patient, or the row of which it is a copy. Whole groups are then left out, held out or dealt into folds, not single
        observations. Weights that do not count observations, such as those of a survey, should add up to the number of rows,
        and ``groups=range(len(X))`` says that each row is one observation whatever its weight.

        ``exposure`` says for how long, or in how many units, the count or cost of each row arose: rules then speak of the rate,
        as if each row were its rate and had its exposure, relative to the mean, as a weight. It needs a log link. ``offset`` is
        a given score of each row, to which rules are added: they say what another model misses. It has the unit of
        `score_samples`: with two classes the log-odds of the positive one, so that `decision_function` of a model with
        ``positive`` may have the wrong sign; with many classes, a column for each; under a log link, a logarithm.

        X may be a Dask DataFrame; y and all that is given for rows, which cannot have groups, are then names of its columns.
        The current client, as in ``with Client(...)``, computes it in some ten passes: use ``X.persist()`` first if its
        partitions are slow to compute.
        """
        stopwatch, method, loss = Stopwatch(), self._method(), self._loss()
        if groups is not None and not method.takes_groups:
            raise ValueError(
                f"{type(self).__name__} takes no groups, because it leaves no rows out; the classes of LLTBoost and TGB do."
            )
        table = stored_table(X, method.n_jobs)
        if table is None:
            block, target, weight = self._read_training(X, y, sample_weight, feature_names, ordered)
            training = self._training_in_memory(block, target, y, weight, groups, exposure, offset, loss)
        elif groups is not None or feature_names is not None or ordered:
            raise ValueError("groups, feature_names and ordered are for tables in memory; X is not.")
        else:
            training = self._training_of_table(table, ColumnRoles.of(table, y, sample_weight, exposure, offset), loss)
        task, rows = replace(training.task, stopwatch=stopwatch), training.rows
        if (task.offset is not None or (rows is not None and rows.n_offsets)) and not method.class_offsets:
            raise ValueError(f"{type(self).__name__} takes no offset; LLTBoostClassifier and TGBClassifier do.")
        method.check_task(task)
        growth = grown(method, task, rows, training.n_rows)
        self.model_ = self._model_of(growth, training, by_hand=feature_names is not None)
        for name, value in growth.notes.items():
            setattr(self, name, value)
        return self

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, names: Sequence[str] | None, ordered: Sequence[str]
    ) -> tuple[Block, NDArray[Any], Vector]:
        """Return inputs and targets of rows with weight, and all weights."""
        weight = None if sample_weight is None else read_weights(sample_weight, _num_samples(X))
        block = read_training(X, names, type(self).__name__, tuple(ordered), weight)
        weight = np.ones(len(block)) if weight is None else weight
        validate_data(self, block.matrix if isinstance(X, Block) else X, y, skip_check_array=True)
        if isinstance(X, Block):
            self.feature_names_in_ = np.array(X.names, dtype=object)
        check_sizes(block.extremes, block.names)
        target = column_or_1d(y, warn=True)
        if len(target) != len(weight):
            raise ValueError(f"y has {len(target)} entries, but X has {len(weight)} rows: inconsistent numbers of samples.")
        target = target if weight.all() else target[weight > 0.0]
        with np.errstate(invalid="ignore"):  # the sum of inf and -inf
            assert_all_finite(target, input_name="y")
        return block, target, weight

    def _training_in_memory(
        self,
        block: Block,
        target: NDArray[Any],
        y: Any,
        every: Vector,
        groups: Any,
        exposure: Any,
        offset: Any,
        loss: Loss,
    ) -> Training:
        """Return the training rows of a table in memory."""
        counted = None if len(target) == len(every) else np.flatnonzero(every)
        weight = every if counted is None else every[counted]
        encoded, loss, labels, class_weights = self._encoded(target, weight, loss)
        given = read_offset(exposure, offset, len(every), None if labels is None else labels.outputs, counted)
        given = None if given is None else given.in_training(block.names, weight)
        in_groups = None if groups is None else read_groups(groups, every)
        outcomes = Outcomes.of(loss, encoded, weight, given, class_weights)
        chosen = None
        if type(block) is not Block:  # a sparse table
            chosen = screened(RowBlock(block, outcomes.y, outcomes.weight, outcomes.offset), loss)
        if labels is not None and not labels.ascending:
            warn_of_other_class(outcomes, labels)
        task = Task(
            block if chosen is None else chosen.X,
            outcomes.y,
            outcomes.weight,
            loss,
            labels,
            type(self).__name__,
            outcomes.offset,
            groups=in_groups if in_groups is None or counted is None else in_groups[counted],
            frequency=outcomes.frequency,
            given=GivenRows.of(y, every, in_groups),
            class_weights=class_weights,
        )
        return Training(task, None if given is None else given.offset, chosen)

    def _training_of_table(self, table: StoredTable, roles: ColumnRoles, loss: Loss) -> Training:
        """Return the training rows of a stored table, after one pass."""
        summarised = functools.partial(TableSummary.of, roles=roles, has_classes=is_classifier(self))
        seen = table.fold(summarised, roles.columns)
        check_weights(seen.largest_weight)
        labels, class_weights = None, None
        if is_classifier(self):
            classes, mass = np.array(list(seen.classes)), np.array(list(seen.classes.values()))
            _, loss, labels, class_weights = self._encoded(classes, mass, loss)
        offset = seen.offset(roles, labels)
        unit = weight_unit(seen.weight, seen.n_counted)
        rows = StoredRows(table, TableReader(roles, described(seen.columns), loss, labels, offset, class_weights, unit))
        nothing = np.empty(0)
        inputs, learner = Block.of_matrix(np.empty((0, 0))), type(self).__name__
        task = Task(inputs, nothing, nothing, loss, labels, learner, class_weights=class_weights)
        self.feature_names_in_ = np.array(roles.inputs, dtype=object)
        self.n_features_in_ = len(roles.inputs)
        return Training(task, offset, rows=rows, n_rows=seen.n_counted)

    def _model_of(self, growth: Growth, training: Training, *, by_hand: bool) -> Model:
        """Return what was learned as a model of all columns."""
        named = hasattr(self, "feature_names_in_")
        by_hand = by_hand and not named
        given = self.get_params(deep=False) | growth.parameters
        # Neither the number of workers nor the handling of interrupts changes the model.
        unused = {*self._without_effect(), "n_jobs", "keep_path"} | (set() if growth.from_some else {"search_rows"})
        unused |= {name for name in self.method_class.left_out_if_none if given[name] is None}
        parameters = tuple((name, plain(value)) for name, value in given.items() if name not in unused)
        offset, chosen = training.offset, range(len(growth.path))[growth.chosen]
        shift = 0.0 if offset is None else math.log(offset.unit)
        model = Model(
            tuple(member.shifted(-shift).ordered() for member in growth.path),
            chosen,
            training.task.loss,
            training.task.labels,
            origin=Origin(type(self).__name__, parameters, growth.n_iter, by_hand or named, by_hand),
            ranges=growth.ranges,
            offset=offset,
            class_weights=training.task.class_weights,
            ridges=growth.ridges,
            expected=growth.expected if np.isfinite(growth.expected).all() else (),
            standard_errors=growth.standard_errors,
            selected=chosen if growth.standard_errors else None,
            separated=growth.separated,
        )
        return model if training.screened is None else training.screened.in_all_columns(model)

    # ---- what was fitted ----

    def _with(self, model: Model) -> Self:
        """Return a copy of this estimator that holds another model."""
        other = copy.copy(self)
        other.model_ = model
        return other

    def _fitted_method(self) -> Method:
        """Return the method with the parameters of the last `fit`."""
        fitted = dict(self.model_.origin.parameters) if self.model_.origin is not None else self.get_params(deep=False)
        given = {name: fitted[name] for name in declarations(self.method_class) if name in fitted}
        if self.model_.ridges:
            given["ridge"] = self.model_.ridges[self.model_.chosen]
        return self.method_class(**given)

    def _read(self, X: Any, *, warned: bool = True) -> ModelRows:
        """Return rows of any kind in the columns of `fit`."""
        if not hasattr(self, "model_"):
            check_is_fitted(self)
        check = None if self.model_.named_by_hand else self._check_names
        return read_rows(self.model_, X, type(self).__name__, warned=warned, check=check)

    def _check_names(self, X: Any) -> None:
        """Raise as scikit-learn does unless X has the columns of `fit`."""
        if self.model_.expected_names is not None and own_names(X) == self.model_.expected_names:
            return
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            # scikit-learn names missing and new columns, but not those in another order.
            if "same order" in str(error):
                raise ValueError(f"{error}{misplaced_column(X, self.model_.feature_names)}") from error
            raise

    def _read_to_learn(self, X: Any, y: Any, sample_weight: Any, exposure: Any, offset: Any) -> tuple[ModelRows, Outcomes]:
        """Return rows to fit weights to, reweighted as in `fit`."""
        rows = self._read(X).with_offset(exposure, offset)
        outcomes = rows.outcomes(y, sample_weight)
        if self.model_.labels is not None:
            self.model_.labels.check_both(outcomes.y[outcomes.weight > 0.0])
        return rows, outcomes.reweighted(self.model_.class_weights)


def make_init(declarations: Declarations) -> Callable[..., None]:
    """Return an ``__init__`` that stores the declared parameters."""
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, (default, _) in declarations.items()
    ]
    signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])

    def init(self: Any, *args: Any, **given: Any) -> None:
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for name in declarations:
            setattr(self, name, bound.arguments[name])

    # scikit-learn takes the names of parameters from the signature.
    init.__name__, init.__signature__ = "__init__", signature  # type: ignore[attr-defined]
    return init


def documented(kind: type, parameters: Declarations) -> str:
    """Return a docstring with declared parameters and inherited attributes."""
    attributes: dict[str, str] = {}
    for base in reversed([one for one in kind.__mro__ if issubclass(one, Fitting)]):
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        before, section, after = text.partition("Attributes\n----------\n")
        own, _, after = after.partition("\n\n")
        if not section:
            before, heading, after = text.partition("Examples\n--------\n")
            after = heading + after
        attributes |= {entry.partition(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", own) if section and entry}
    sections = (
        f"Parameters\n----------\n{documentation(parameters)}",
        "Attributes\n----------\n" + "\n".join(attributes.values()),
    )
    return "\n\n".join([before.rstrip(), *sections, after])


def plain(value: Any) -> Any:
    """Return a parameter as a JSON value, None where JSON has none."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else None
