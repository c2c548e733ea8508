"""RuleModel: what all estimators share: check and read data, let the method learn, hold the model and delegate to it."""

from __future__ import annotations

import copy
import functools
import html
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import _num_samples, assert_all_finite, check_is_fitted, validate_data

from obliquerules.arrays import Vector
from obliquerules.data.blocks import RowBlock, StoredTable
from obliquerules.data.frames import column_kinds, misplaced_column
from obliquerules.data.offsets import (
    OffsetValues,
    Outcomes,
    exposure_unit,
    read_groups,
    read_model_offset,
    read_offset,
    warn_of_other_class,
)
from obliquerules.data.reading import (
    check_weights,
    read_inputs,
    read_outcomes,
    read_table,
    read_target,
    read_training,
    read_weights,
)
from obliquerules.data.sample import Sample
from obliquerules.data.sparse import scores_of, screened
from obliquerules.data.stored_tables import ColumnRoles, StoredRows, TableReader, TableSummary, stored_table
from obliquerules.data.training_columns import check_sizes
from obliquerules.estimators.dask_predict import dask_predict
from obliquerules.estimators.declared import make_init, with_parameters
from obliquerules.estimators.editing import Editing
from obliquerules.export.export_formats import Export, export
from obliquerules.inspection.closest.closest_change import ClosestChange, closest_change
from obliquerules.inspection.closest.request import feasible_region, goal_for
from obliquerules.inspection.explanation import Explanation, explain
from obliquerules.inspection.importance import Importances, variable_importance
from obliquerules.inspection.rule_table import RuleTable, rule_table
from obliquerules.inspection.stability import Stability, stability
from obliquerules.inspection.variables import Numbers, Values, unseen_words
from obliquerules.learning.method import GivenRows, Growth, Method, Task
from obliquerules.learning.subsampled_fit import grown, grown_on, weight_unit
from obliquerules.losses import Loss, class_loss
from obliquerules.parameters import (
    Parameter,
    check_jobs,
    check_real,
    check_seed,
    check_text,
    check_whole,
    declarations,
)
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head
from obliquerules.report.workbench import write_workbench
from obliquerules.rules import BandTable, Block, Labels, Model, RuleEnsemble
from obliquerules.rules.columns import Level
from obliquerules.rules.edits import EditLog
from obliquerules.rules.files.encoding import save_model
from obliquerules.rules.model import Offset, Origin
from obliquerules.rules.path_table import PathTable
from obliquerules.status_line import Stopwatch

Arguments = ParamSpec("Arguments")
Estimator = TypeVar("Estimator", bound="RuleModel")
Fit: TypeAlias = Callable[Concatenate[Estimator, Arguments], Estimator]


def all_or_nothing(fit: Fit[Estimator, Arguments]) -> Fit[Estimator, Arguments]:
    """Make a fit that fails, or is interrupted, leave the estimator as it was before."""

    @functools.wraps(fit)
    def fit_or_restore(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        before = self.__dict__.copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return fit_or_restore


class RuleModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """An estimator whose method learns a `Model`.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit; the first is the constant.
    ensemble_ : RuleEnsemble
        The member of the path that predicts, with its edits if there are any; after `fit`, the last.
    edits_ : EditLog or None
        The log of its edits; None if it was not edited.
    """

    method_class: ClassVar[type[Method]]
    # Declares the parameters that concern the target and not the method.
    target_class: ClassVar[type | None] = None
    # The default and the declaration of each parameter.
    parameters: ClassVar[Mapping[str, tuple[Any, Parameter]]]
    model_: Model
    n_features_in_: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "method_class" in cls.__dict__:
            about_target = {} if cls.target_class is None else declarations(cls.target_class)
            cls.parameters = about_target | _own_first(cls.method_class)
            cls.__init__ = make_init(cls.parameters)  # type: ignore[method-assign]
            cls.__doc__ = with_parameters(cls.__doc__ or "", cls.parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.sparse = True
        return tags

    # ---- fit ----

    def _method(self) -> Method:
        """Return the method with the parameters of this estimator; raise if one is not valid."""
        return self.method_class(**{name: getattr(self, name) for name in declarations(self.method_class)})

    def _loss(self) -> Loss:
        """Return the loss; raise if its parameter is not valid."""
        raise AttributeError(f"{type(self).__name__} does not say which loss it has.")

    def _without_effect(self) -> Collection[str]:
        """Return the parameters that change nothing: left out of files, so that releases that do not know them read these."""
        return ()

    def _encoded(self, y: NDArray[Any], weight: Vector, loss: Loss) -> tuple[Vector, Labels | None]:  # noqa: ARG002
        """Return the targets as numbers for the loss, and the labels if they are classes; raise if they cannot be learned."""
        raise AttributeError(f"{type(self).__name__} does not say what its targets are.")

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
        """Learn rules from a data frame or array and its targets: labels for a classifier, numbers for a regressor.

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
        if table is not None:
            if groups is not None or feature_names is not None or ordered:
                raise ValueError("groups, feature_names and ordered are for tables in memory; X is not.")
            return self._learn_from_table(table, ColumnRoles.of(table, y, sample_weight, exposure, offset), stopwatch)
        block, target, every = self._training_data(X, y, sample_weight, feature_names, ordered)
        counted = None if len(target) == len(every) else np.flatnonzero(every)
        weight = every if counted is None else every[counted]
        encoded, labels = self._encoded(target, weight, loss)
        if labels is not None:
            loss = class_loss(len(labels))
        given = read_offset(exposure, offset, len(every), None if labels is None else labels.outputs, counted)
        class_weights = None if labels is None else self._class_weights(encoded, labels, weight)
        given = None if given is None else given.checked(block.names).with_mean_unit(weight)
        in_groups = None if groups is None else read_groups(groups, every)
        grouped = in_groups if in_groups is None or counted is None else in_groups[counted]
        rows = Outcomes.of(loss, encoded, weight, given, class_weights)
        screen = screened(RowBlock(block, rows.y, rows.weight, rows.offset), loss)
        if labels is not None and not labels.ascending:
            warn_of_other_class(rows, labels)
        task = Task(
            screen.X,
            rows.y,
            rows.weight,
            loss,
            labels,
            type(self).__name__,
            rows.offset,
            groups=grouped,
            frequency=rows.frequency,
            stopwatch=stopwatch,
            given=GivenRows.of(y, every, in_groups),
        )
        if task.offset is not None and not method.class_offsets:
            raise ValueError(f"{type(self).__name__} takes no offset; LLTBoostClassifier and TGBClassifier do.")
        method = replace(method, class_weights=class_weights)
        method.check_task(task)
        growth = grown(method, task)
        by_hand = feature_names is not None and not hasattr(self, "feature_names_in_")
        self._keep(growth, loss, labels, None if given is None else given.offset, class_weights, by_hand=by_hand)
        self.model_ = screen.in_all_columns(self.model_)
        return self

    def _learn_from_table(self, table: StoredTable, roles: ColumnRoles, stopwatch: Stopwatch) -> Self:
        """Learn rules from a table that is not in memory."""
        method, loss = self._method(), self._loss()
        seen = table.fold(functools.partial(TableSummary.of, roles=roles, has_classes=is_classifier(self)), roles.columns)
        check_weights(seen.largest_weight)
        labels, class_weights = None, None
        if is_classifier(self):
            classes, mass = np.array(list(seen.classes)), np.array(list(seen.classes.values()))
            codes, labels = self._encoded(classes, mass, loss)
            loss = class_loss(len(labels or ()))
            class_weights = None if labels is None else self._class_weights(codes, labels, mass)
        given = _offset_of(roles, labels, seen)
        unit = weight_unit(seen.weight, seen.n_counted)
        rows = StoredRows(table, TableReader(roles, seen.columns.described(), loss, labels, given, class_weights, unit))
        if rows.n_offsets and not method.class_offsets:
            raise ValueError(f"{type(self).__name__} takes no offset; LLTBoostClassifier and TGBClassifier do.")
        method = replace(method, class_weights=class_weights)
        nothing = np.empty(0)
        task = Task(Block.of_matrix(np.empty((0, 0))), nothing, nothing, loss, labels, type(self).__name__, stopwatch=stopwatch)
        method.check_task(task)
        if not method.can_learn_from_some(task):
            raise ValueError("cv must be a number of folds: rows that are not in memory cannot be split as given.")
        growth = grown_on(rows, seen.columns.n_rows, method, task)
        self.feature_names_in_ = np.array(roles.inputs, dtype=object)
        self.n_features_in_ = len(roles.inputs)
        return self._keep(growth, loss, labels, given, class_weights, by_hand=False)

    def _keep(
        self,
        growth: Growth,
        loss: Loss,
        labels: Labels | None,
        offset: Offset | None,
        class_weights: tuple[float, ...] | None,
        *,
        by_hand: bool,
    ) -> Self:
        """Keep what was learned."""
        shift = 0.0 if offset is None else math.log(offset.unit)
        self.model_ = Model(
            tuple(member.shifted(-shift).ordered() for member in growth.path),
            range(len(growth.path))[growth.chosen],
            loss,
            labels,
            origin=self._origin(growth, by_hand=by_hand),
            ranges=growth.ranges,
            offset=offset,
            class_weights=class_weights,
            ridges=growth.ridges,
            expected=growth.expected if np.isfinite(growth.expected).all() else (),
            standard_errors=growth.standard_errors,
            selected=range(len(growth.path))[growth.chosen] if growth.standard_errors else None,
            separated=growth.separated,
        )
        for name, value in growth.notes.items():
            setattr(self, name, value)
        return self

    def _class_weights(self, codes: Vector, labels: Labels, weight: Vector) -> tuple[float, ...] | None:  # noqa: ARG002
        """Return by what the rows of each class are multiplied, None if by nothing; for classifiers to override."""
        return None

    def _origin(self, growth: Growth, *, by_hand: bool) -> Origin:
        """Return what a model file says about the fit, with the values that it has found for parameters."""
        given = self.get_params(deep=False) | growth.parameters
        # The model, and so its file, does not depend on the number of workers, or on what an interrupt would have done.
        unused = {*self._without_effect(), "n_jobs", "keep_path"} | (set() if growth.from_some else {"search_rows"})
        unused |= {name for name in self.method_class.left_out_if_none if given[name] is None}
        parameters = tuple((name, plain(value)) for name, value in given.items() if name not in unused)
        return Origin(type(self).__name__, parameters, growth.n_iter, by_hand or hasattr(self, "feature_names_in_"), by_hand)

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, names: Sequence[str] | None, ordered: Sequence[str]
    ) -> tuple[Block, NDArray[Any], Vector]:
        """Return inputs and targets of rows with weight, and all weights.

        Attributes that describe the columns are set.
        """
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
        with np.errstate(invalid="ignore"):  # it adds all targets first, inf and -inf too
            assert_all_finite(target, input_name="y")
        return block, target, weight

    # ---- what was fitted ----

    @property
    def path_(self) -> tuple[RuleEnsemble, ...]:
        """The ensembles of the fit, of growing complexity."""
        return self.model_.path

    @property
    def ensemble_(self) -> RuleEnsemble:
        """The ensemble that predicts."""
        return self.model_.ensemble

    @property
    def edits_(self) -> EditLog | None:
        """The log of edits; None if there are none."""
        return self.model_.edits

    @property
    def n_iter_(self) -> int:
        """The number of steps of the fit."""
        return 0 if self.model_.origin is None else self.model_.origin.n_iter

    @property
    def ridge_(self) -> float:
        """The ridge of the rule weights of the member that predicts, estimated or given."""
        if self.model_.ridges:
            return self.model_.ridges[self.model_.chosen]
        found = dict(() if self.model_.origin is None else self.model_.origin.parameters).get("ridge")
        if not isinstance(found, (int, float)):
            raise AttributeError("The model does not say with which ridge it was fitted.")
        return float(found)

    def _with(self, model: Model) -> Self:
        """Return a copy of this estimator that holds another model."""
        other = copy.copy(self)
        other.model_ = model
        return other

    def _read(self, X: Any, *, warned: bool = True) -> Block:
        """Return the inputs as a block of the model's columns; raise if their columns are not those of `fit`."""
        check_is_fitted(self)
        model = self.model_
        block = read_table(X, model.columns, type(self).__name__)
        if not isinstance(X, Block) and not model.named_by_hand:
            self._check_names(X)
        return read_inputs(model, block, type(self).__name__, warned=warned)

    def _check_names(self, X: Any) -> None:
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            # scikit-learn names columns that are missing or new, but not those in a different order.
            if "same order" in str(error):
                raise ValueError(f"{error}{misplaced_column(X, self.model_.feature_names)}") from error
            raise

    def _rows(self, X: Any, y: Any, sample_weight: Any, exposure: Any = None, offset: Any = None) -> tuple[Block, Outcomes]:
        """Return inputs, and targets and weights as the loss takes them, read as in `fit`."""
        matrix, model = self._read(X), self.model_
        given = read_model_offset(model, exposure, offset, len(matrix))
        target, weight = read_outcomes(model, y, sample_weight, len(matrix))
        found = None if given is None or model.offset is None else OffsetValues(model.offset, given)
        return matrix, Outcomes.of(model.loss, target, weight, found)

    def _learnable_rows(self, *given: Any) -> tuple[Block, Outcomes]:
        """Return the same, with classes reweighted as in `fit`; raise if no weights can be fitted to them."""
        matrix, rows = self._rows(*given)
        if self.model_.labels is not None:
            self.model_.labels.check_both(rows.y[rows.weight > 0.0])
        return matrix, rows.reweighted(self.model_.class_weights)

    def _scores(self, X: Any, exposure: Any = None, offset: Any = None) -> tuple[Vector, Vector | None]:
        """Return the score of each row, and the exposure or offset that it was given."""
        matrix = self._read(X)  # first, because it raises if the model is not fitted
        given = read_model_offset(self.model_, exposure, offset, len(matrix))
        return scores_of(self.model_, matrix, given), given

    def _staged_scores(self, X: Any, exposure: Any = None, offset: Any = None) -> Iterator[tuple[Vector, Vector | None]]:
        matrix = self._read(X)
        given = read_model_offset(self.model_, exposure, offset, len(matrix))
        members = (replace(self.model_, chosen=chosen, edits=None) for chosen in range(len(self.model_.path)))
        return ((scores_of(member, matrix, given), given) for member in members)

    @dask_predict
    def score_samples(self, X: Any, *, offset: Any = None) -> Vector:
        """Return the score of each row: its rules added up.

        With two classes this is the log-odds of the positive one, with more a score for each; for numbers it is the prediction
        and, under a log link, its logarithm at an exposure of 1. As the ``offset`` of another fit it lets rules say what this
        model misses. `decision_function` is about the second of ``classes_`` instead, as scikit-learn asks.
        """
        return self._scores(X, offset=offset)[0]

    def _repr_html_inner(self) -> str:
        return self._shown_in_notebooks() or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: the rules of a fitted model, scikit-learn's diagram of one that is not."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._shown_in_notebooks() or bundle["text/html"]} if "text/html" in bundle else bundle

    def _shown_in_notebooks(self) -> str:
        """Return the rules as tables, with a sentence on what they add up to; empty if nothing is fitted."""
        if not hasattr(self, "model_"):
            return ""
        model, n_rules = self.model_, len(self.ensemble_)
        size = f"{n_rules} rule{'' if n_rules == 1 else 's'}, complexity {self.ensemble_.complexity}"
        total = "a score for each class" if model.has_many_classes else f"the {model.wording.total}"
        verdict = model.verdict and f"{model.verdict}."
        facts = [f"{size}: the weights of those that apply add up to {total}.", *filter(None, [verdict, model.remark])]
        sentences = "".join(f"<p>{html.escape(fact)}</p>" for fact in facts)
        return f"<p><code>{html.escape(repr(self))}</code></p>{sentences}\n{model._repr_html_()}"

    def at(self, complexity: int | str) -> Self:
        """Return the model at another size: the largest member of the path with at most the given complexity.

        ``"auto"`` is the size that cross-validation chose or, without it, the smallest whose expected loss is above the least
        by no more than 2 % of what the best size gains over the constant. Where the training classes are separated, the first
        size that separates them is the largest that is considered: leaving rows out says nothing of larger ones.

        The returned model keeps the whole path, so that another size can be chosen from it. Edits are not kept.
        """
        check_is_fitted(self)
        if not isinstance(complexity, str):
            check_whole("complexity", complexity, 0)
        return self._with(self.model_.at(complexity))

    def path_table(self) -> PathTable:
        """Return the sizes of `path_`: complexity, number of rules, ridge, and the loss to expect on new rows.

        Expected losses come from the training rows, by leaving each of them out, with an allowance for the search for
        conditions; with cross-validation, they are those of held-out rows. They are not known if rules were selected by
        validation rows, as in the paper, or learned as a network.

        Returns
        -------
        PathTable
            Print it, or convert it with `to_dicts`, `to_pandas` or `to_polars`. Its `verdict` is a line on the size that
            predicts.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y)
        >>> print(model.path_table())
        complexity  rules  ridge  expected root mean squared error  explained
                 0      0      -                              77.0      0.0 %
                 2      1      4                              62.9     33.4 %
                 3      1      4                              63.0     33.0 %
                 4      2      8                              57.3     44.6 %
                 5      2     16                              57.3     44.6 %
                 6      3     16                              56.4     46.3 %  auto
                 7      3     16                              56.4     46.4 %
                 8      3     16                              56.3     46.5 %
                 9      3     16                              56.3     46.6 %
                10      3     16                              56.2     46.7 %  predicts
        >>> model.at("auto").ensemble_.complexity
        6
        """
        check_is_fitted(self)
        return self.model_.path_table()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON with exact numbers, for `load_model`. The file is replaced in one step."""
        check_is_fitted(self)
        save_model(self.model_, path)

    def edit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None) -> Editing[Self]:
        """Start to edit the rules: drop, add, replace or lock some, and refit the weights.

        This model does not change. Every step is logged with its effect on complexity and loss, and the log is saved with the
        edited model.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            The data on which losses are measured and weights are fitted, preferably those of `fit`.

        Returns
        -------
        Editing
            Its methods `drop`, `add`, `replace`, `lock`, `unlock`, `refit` and `round` return the next `Editing`; its `model`
            is the edited model.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(random_state=0).fit(X, y).at(14)
        >>> edited = model.edit(X, y).drop(0).refit().model
        >>> len(model.ensemble_), len(edited.ensemble_)
        (5, 4)
        """
        block, rows = self._learnable_rows(X, y, sample_weight, exposure, offset)
        return Editing(self, Sample.of(block, rows.y, rows.weight, rows.total_offset))

    def rounded(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        digits: int = 3,
        tolerance: float = 0.0,
        integers: bool = False,
        exposure: Any = None,
        offset: Any = None,
    ) -> Self:
        """Return the model with all numbers in few digits; this one does not change.

        The last step of its `edits_` certifies what that changes on the data: how many rows change side of a condition, by how
        much scores change, and the mean loss before and after. It is saved with the model.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            The data on which the certificate holds, preferably those of `fit`.
        digits : int, default=3
            The significant digits wanted for rule weights. More are kept if the mean loss would rise by more than 0.1 %.
        tolerance : float, default=0.0
            By how much the mean loss may rise. If it may, conditions are shortened further, so that rows may change side, and
            rule weights may have fewer than ``digits`` digits.
        integers : bool, default=False
            Prefer whole numbers of at most 1000 as weights in oblique conditions, where no row changes side.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> short = model.rounded(X, y, digits=2)
        >>> print(short.to_text())
        +204 if True
        +7.6 (bmi - 26)
        +60 (min(s5, 5.34) - 5.34)
        -25 if bp <= 99.8 & bmi >= 23.25
        >>> short.edits_[-1].description
        'round to 2 digits: no row changes side, scores change by 1.044 at most'
        """
        editing = self.edit(X, y, sample_weight, exposure=exposure, offset=offset)
        return editing.round(digits, tolerance=tolerance, integers=integers).model

    # ---- questions ----

    def to_text(self, format: str = "plain", *, exact: bool = False) -> str:  # noqa: A002  # the word users look for
        """Return `ensemble_` as text; sentences also say what the score means. See `RuleEnsemble.to_text`.

        Parameters
        ----------
        format : {"plain", "markdown", "latex", "sentences"}, default="plain"
        exact : bool, default=False
            Write every number in full.
        """
        check_is_fitted(self)
        return self.model_.to_text(format, exact=exact)

    def band_tables(self) -> tuple[BandTable, ...]:
        """Return what the rules on one variable alone add up to; see `RuleEnsemble.band_tables`."""
        check_is_fitted(self)
        return self.model_.ensemble.band_tables()

    def export(self, to: str, X: Any = None, *, contributions: bool = False, **options: Any) -> Export:
        """Return `ensemble_` in another language, after verifying that it computes the same.

        The export is run on the rows of X and on generated rows, which hit thresholds, miss them by one double, or hold extreme
        or missing values. The same rules fire, scores are equal to the last bit, and predictions are equal to 12 digits.

        Parameters
        ----------
        to : {"python", "c", "sql", "frame", "onnx", "excel", "json", "latex"}
            ``"python"``: a module that needs only the standard library. ``"c"``: a C99 header. ``"sql"``: a query. ``"frame"``:
            an object that adds outputs to data frames of pandas, polars, pyarrow, DuckDB and Dask. ``"onnx"``: a graph in
            doubles. ``"excel"``: an .xlsx workbook. ``"json"``: the rules, which `load_model` reads. ``"latex"``: a table.
        X : data frame or array of shape (n_samples, n_features), optional
            Rows on which to compare the export with this model, besides the generated ones. A query is written for the types
            of the columns of a data frame, such as booleans.
        contributions : bool, default=False
            Also output the contribution of each rule to the score.
        **options
            ``dialect``, ``table``, ``prefix``, ``types`` and ``connection`` for ``"sql"``: see `SqlFormat`. ``prefix`` for
            ``"c"`` and ``"frame"``. ``rows`` and ``office`` for ``"excel"``: see `ExcelFormat`. ``exact`` for ``"latex"``.

        Returns
        -------
        Export
            Its `content` is the product; its `verification` says what ran it and on how many rows. `save` writes a file.

        Raises
        ------
        ExportError
            If the export does not compute the same as the model; the message names the first row that differs.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> exported = model.export("sql", X, dialect="sqlite", table="patients")
        >>> exported.verification.engine, exported.verification.mismatches
        ('SQLite', 0)
        """
        check_is_fitted(self)
        rows = None if X is None else self._read(X)
        return export(self.model_, to, rows, contributions=contributions, kinds=column_kinds(X), **options)

    def rule_table(self, X: Any, y: Any = None, sample_weight: Any = None) -> RuleTable:
        """Return the coverage, the mean contribution and, given targets, the purity of each rule of `ensemble_`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Targets. With them, the table has the mean target of the rows that each rule covers: the share of the positive
            class, or of each of many classes, or the mean of y.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        RuleTable
            Print it, or convert it with `to_dicts`, `to_pandas` or `to_polars`.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> print(model.rule_table(X, y))
        rule                        weight  complexity  coverage  mean contribution  mean of y  condition
                                      +204           0   100.0 %               +204      152.1  True
           0              +7.57 (bmi - 26)           2   100.0 %              +2.85      152.1  True
           1  +59.6 (min(s5, 5.34) - 5.34)           3   100.0 %              -43.2      152.1  True
           2                         -25.3           5    43.9 %              -11.1      143.9  bp <= 99.8 & bmi >= 23.25
        """
        matrix = self._read(X)
        target = None if y is None else read_target(self.model_, y, len(matrix))
        return rule_table(self.model_, matrix, target, read_weights(sample_weight, len(matrix)))

    def explain(self, X: Any, *, versus: Any = None, exposure: Any = None, offset: Any = None) -> Explanation:
        """Explain the prediction for each row: which rules fire, how clearly their conditions hold, and what they add up to.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
        versus : object, optional
            With many classes, the label of the class with which the predicted one is compared. Without it, and where it is
            the predicted class itself, that is the runner-up.
        exposure, offset : array, optional
            As in `predict`.

        Returns
        -------
        Explanation
            Prints as a calculation. The constant and the contributions, added from left to right, are the score to the last
            bit.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> print(model.explain(X[:1]))
        Predicted: 221.2
           +204  to start with
          +46.2  because bmi is 32.1: +7.57 x (32.1 - 26)
          -28.6  because s5 is 4.8598: +59.6 x (4.8598 - 5.34)
           +221  in all, the prediction
        Not counted, because a condition is not met:
          -25.3  if bp <= 99.8 (it is 101, missed by 1.2)
        Values: bmi = 32.1, bp = 101, s5 = 4.8598
        """
        block = self._read(X)
        given = read_model_offset(self.model_, exposure, offset, len(block))
        return explain(self.model_, block, self._unseen(X, block), given, versus=versus)

    def _unseen(self, X: Any, block: Block) -> dict[tuple[int, int], Level]:
        """Return what the levels that were never seen in `fit` are called, by row and column."""
        return unseen_words(read_table(X, self.model_.columns, type(self).__name__), block)

    def variable_importance(self, X: Any, sample_weight: Any = None) -> Importances:
        """Return by how much the score changes, on average, if a variable takes the value of another row of X.

        This is the mean absolute change over all pairs of rows, computed exactly; see `Importances`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        Importances
            The most important variable first.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(4)
        >>> print(model.variable_importance(X))
        importance  rules  variable
             35.55      1  bmi
              32.7      1  s5
        (8 other variables in no rule)
        """
        matrix = self._read(X)
        return variable_importance(self.model_, matrix, read_weights(sample_weight, len(matrix)))

    def closest_change(
        self,
        x: Any,
        X: Any,
        *,
        to: Any = None,
        above: float | None = None,
        below: float | None = None,
        fixed: Collection[str | int] = (),
        lower: Values | None = None,
        upper: Values | None = None,
        cost: Numbers | None = None,
        whole: Collection[str | int] | None = None,
        fill: Collection[str | int] = (),
        tolerance: float = 0.0,
        max_steps: int = 2000,
        exposure: Any = None,
        offset: Any = None,
    ) -> ClosestChange:
        """Return the closest change to one row that gives another class, or a prediction above or below a value.

        The distance is the sum of the absolute changes, each in standard deviations of its variable in X; a change to another
        level counts as one. Branch and bound over the truth values of the conditions, with a linear program at each step,
        proves that no change is closer. The result is checked on the model: the returned row has the wanted prediction.

        A column with levels, ordered or not, changes only to levels that were seen in `fit` and that it has in X. Of levels
        that no rule tells apart, the most frequent one is proposed or, where they are ordered, the nearest. No value becomes
        missing, and a value that is missing stays so unless ``fill`` allows it to become known.

        Parameters
        ----------
        x : data frame with one row, series, or array of shape (n_features,) or (1, n_features)
            The row.
        X : data frame or array of shape (n_samples, n_features)
            Rows that show how much each variable varies, such as those of `fit`. A variable that is constant in them does not
            change, and without other bounds a variable stays within its range, or among its levels, in them.
        to : object, optional
            The label of the class that a classifier must predict; by default, any other than now.
        above, below : float, optional
            The value that the prediction must exceed or fall below; for a classifier, the prediction is the probability of the
            positive class or, with many classes, of the class ``to``. A regressor needs one of them.
        fixed : collection of str or int
            Variables, by name or column, that must not change.
        lower, upper : dict, optional
            The least and the greatest value of variables, by name or column: numbers, `math.inf` for no bound, dates or, for
            ordered columns, levels.
        cost : dict, optional
            The cost of a change by one standard deviation, or to another level, by name or column; 1 by default.
        whole : collection of str or int, optional
            Variables that take whole numbers only, such as counts. By default, those that have nothing but whole numbers, of at
            most a million, in x and X. Columns that were 0 or 1 in `fit`, dates, and times in whole seconds always stay so.
        fill : collection of str or int
            Variables whose value is missing in x and may become known. That counts as one, and a number moreover as its
            distance from the median in X.
        tolerance : float, default=0.0
            By how many standard deviations the distance may exceed the least, in exchange for rounder numbers: 0.05 makes them
            easy to read. The least distance is reported as `ClosestChange.bound`.
        max_steps : int, default=2000
            The largest number of linear programs. At this limit the best change found so far is returned as not proven.
        exposure, offset : array, optional
            Those of the row, which do not change.

        Returns
        -------
        ClosestChange
            Print it. Its `row` is None if no such change was found.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> print(model.closest_change(X.iloc[0], X, below=150, fixed=["age", "sex"], tolerance=0.05))
        The prediction is 221.2. To make it less than 150, change
          bmi:   32.1 -> 26  (-6.1, 1.382 standard deviations)
           bp:  101 -> 99.6  (-1.4, 0.1013 standard deviations)
        That is a distance of 1.484 standard deviations in all; none of less than 1.458 within the given ranges does it.
        """
        check_real("tolerance", tolerance, 0.0)
        check_whole("max_steps", max_steps, 1)
        frame = _as_frame(x)
        row = self._read(frame)
        if len(row) != 1:
            raise ValueError(f"x must be one row; got {len(row)}.")
        given = read_model_offset(self.model_, exposure, offset, 1)
        goal, rows = goal_for(self.model_, row, above, below, to, given), self._read(X, warned=False)
        region = feasible_region(
            self.model_,
            row.matrix[0],
            rows,
            fixed=fixed,
            whole=whole,
            lower=lower or {},
            upper=upper or {},
            cost=cost or {},
            fill=fill,
        )
        words = {column: word for (_, column), word in self._unseen(frame, row).items()}
        return closest_change(
            self.model_, region, goal, rows, tolerance=tolerance, max_steps=max_steps, words=words, given=given
        )

    def stability(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_bootstraps: int = 50,
        overlap: float = 0.8,
        confidence: float = 0.9,
        random_state: Any = None,
        n_jobs: int | None = None,
        exposure: Any = None,
        offset: Any = None,
    ) -> Stability:
        """Return how often each rule of `ensemble_` comes back in refits to bootstrap samples, and an interval for its weight.

        Each refit learns rules and weights from scratch, up to the complexity of `ensemble_`. The interval is for fixed
        conditions and does not account for the search for them: see `Stability` for what it means.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            The data of `fit`, or other data from the same population. Rows are drawn with equal probability and keep their
            weights.
        n_bootstraps : int, default=50
            The number of refits. Intervals come from 1000 fits of the weights alone.
        overlap : float, default=0.8
            The least overlap, in rows of X, with a rule of the refit at which a rule counts as having come back.
        confidence : float, default=0.9
            The nominal coverage of the intervals.
        random_state : int, RandomState instance or None, default=None
        n_jobs : int or None, default=None
            The number of parallel workers, as joblib understands it. The result does not depend on it.

        Returns
        -------
        Stability
            Print it, or convert it with `to_dicts`, `to_pandas` or `to_polars`.
        """
        check_whole("n_bootstraps", n_bootstraps, 1)
        check_real("overlap", overlap, 0.0, 1.0)
        check_real("confidence", confidence, 0.0, 1.0)
        check_seed("random_state", random_state)
        check_jobs("n_jobs", n_jobs)
        matrix, rows = self._learnable_rows(X, y, sample_weight, exposure, offset)
        task = Task(
            matrix,
            rows.y,
            rows.weight,
            self.model_.loss,
            self.model_.labels,
            offset=rows.offset,
            frequency=rows.frequency,
        )
        return stability(
            self.model_.ensemble,
            task.on(rows.weight > 0.0),
            self._fitted_method(),
            n_bootstraps=n_bootstraps,
            overlap=overlap,
            confidence=confidence,
            random_state=check_random_state(random_state),
            n_jobs=n_jobs,
        )

    def _fitted_method(self) -> Method:
        """Return the method with the parameters of the last `fit`, even if they were changed since."""
        fitted = dict(self.model_.origin.parameters) if self.model_.origin is not None else self.get_params(deep=False)
        given = {name: fitted[name] for name in declarations(self.method_class) if name in fitted}
        if self.model_.ridges:
            given["ridge"] = self.ridge_
        return self.method_class(**given, class_weights=self.model_.class_weights)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        title: str | None = None,
        target: str | None = None,
        data: str | None = None,
        date: str | None = None,
        intended_use: str | None = None,
        data_name: str = "rows",
        min_count: int = 5,
        max_sizes: int = 12,
    ) -> None:
        """Write the workbench of this model: one HTML file to read it, score cases, and see what happens without a rule.

        The file works in any browser, without a network or other files. It has a slider along the path, the rules at each size,
        calibration, for classifiers a threshold to choose with what follows from it, and a form that explains the prediction
        for a case: with menus for levels, date fields and tick boxes, and empty fields for missing values. Rules can be
        switched off, which updates the figures, and the edited model can be downloaded as a file for `load_model`.

        The file contains no row, but, as a saved model does, all levels that the columns had in `fit`. Figures come from one
        table that counts rows by the conditions that hold, in groups of at least ``min_count`` rows. Rows with rare
        combinations of conditions are merged with others of similar predictions. They count while all rules are on; with rules
        switched off, figures are for the other rows only, and the page says how many. If rules have factors, or the model an
        offset, conditions do not determine predictions: rows are then counted by similar predictions alone, and there are no
        figures with rules switched off. What does not follow from the table is rounded so far that one row could not change it.

        Parameters
        ----------
        path : str or path
            The file to write; it is replaced in one step.
        X, y : data frame or array of shape (n_samples, n_features), and targets, optional
            Rows to measure the model on, preferably not those of `fit`. Without them there are no figures.
        sample_weight, exposure : array of shape (n_samples,), optional
        offset : array, optional
            As in `fit`, of these rows.
        title : str, optional
            The heading of the page.
        target, data, date, intended_use : str, optional
            What the head of the page says: what is predicted, what it was learned from, when, and who may use it for what. The
            class that the scores speak of is named in any case.
        data_name : str, default="rows"
            The name of the rows on the page, such as ``"test rows"``.
        min_count : int, default=5
            The least number of rows in a group. With 1, all figures are exact on all rows, but a group may be a single row,
            which reveals its target and the conditions that hold for it.
        max_sizes : int, default=12
            The largest number of sizes on the slider. A size whose conditions would leave too few rows in groups of
            ``min_count`` has no figures with rules switched off, and the page says so.

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
        check_is_fitted(self)
        check_whole("min_count", min_count, 1)
        check_whole("max_sizes", max_sizes, 1)
        head = Head(title=title, target=target, data=data, date=date, intended_use=intended_use)
        check_text("data_name", data_name)
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together.")
        rows = None if X is None else self._measured_rows(X, y, sample_weight, exposure, offset, data_name, int(min_count))
        results = getattr(self, "cv_results_", None)
        write_workbench(self.model_, path, rows, head=head, max_sizes=int(max_sizes), cv_results=results)

    def _measured_rows(
        self, X: Any, y: Any, sample_weight: Any, exposure: Any, offset: Any, name: str, least: int
    ) -> MeasuredRows:
        """Return the rows on which a report measures the model."""
        block = self._read(X)
        amounts = read_model_offset(self.model_, exposure, offset, len(block))
        return MeasuredRows.counted(block, *read_outcomes(self.model_, y, sample_weight, len(block)), name, least, amounts)


def _offset_of(roles: ColumnRoles, labels: Labels | None, seen: TableSummary) -> Offset | None:
    """Return what the exposure or offset of a table is; raise if it cannot be one."""
    if roles.exposure is not None:
        return Offset("exposure", (roles.exposure,), exposure_unit(seen.exposure / seen.weight))
    if roles.offset is None:
        return None
    if labels is not None and labels.many:
        raise ValueError("offset is for numbers and two classes if the table is not in memory; y has more classes.")
    return Offset("offset", (roles.offset,))


def _own_first(kind: type[Method]) -> dict[str, tuple[Any, Parameter]]:
    """Return the declarations of a method: its own parameters first, then those of all methods."""
    found, shared = declarations(kind), declarations(Method)
    return {name: one for name, one in found.items() if name not in shared} | {name: found[name] for name in shared}


def plain(value: Any) -> Any:
    """Return a parameter as a JSON value; a random generator or a splitter, which JSON cannot hold, becomes None."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else None


def _as_frame(x: Any) -> Any:
    """Return one row as a frame or matrix; a pandas series keeps its names."""
    if issparse(x):
        return x.reshape(1, -1) if x.ndim == 1 else x
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T.infer_objects()
    if hasattr(x, "columns") or hasattr(x, "schema"):
        return x
    array = np.asarray(x)
    if array.dtype.kind in "US":  # a list of numbers and text is not one of text
        array = np.asarray(x, dtype=object)
    return array.reshape(1, -1) if array.ndim == 1 else array
