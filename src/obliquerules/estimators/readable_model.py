"""What a user asks a fitted model: what its rules are like, why a row has its prediction, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from obliquerules.encoding import checked_weights
from obliquerules.estimators.parameters import check_real, check_whole
from obliquerules.export.registry import export
from obliquerules.export.target import Export
from obliquerules.inspection.change_search import Room, Wish
from obliquerules.inspection.closest_change import ClosestChange, closest_change
from obliquerules.inspection.explanation import Explanation, explain
from obliquerules.inspection.importance import Importances, variable_importance
from obliquerules.inspection.rule_table import RuleTable, rule_table
from obliquerules.losses import Loss
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.numbers import readable
from obliquerules.rules.text import Wording, ensemble_text

Vector = NDArray[np.float64]
Numbers = Mapping[str | int, float]


class ReadableModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A model that can be asked about its rules; a subclass says how it reads inputs and what its score means."""

    ensemble_: RuleEnsemble

    def _loss(self) -> Loss:
        """Return the loss, which also holds the link from score to prediction."""
        raise AttributeError(f"{type(self).__name__} does not say which loss it has.")

    def _matrix(self, X: Any) -> NDArray[np.float64]:  # noqa: ARG002  # for subclasses
        """Return checked inputs."""
        raise AttributeError(f"{type(self).__name__} does not say how it reads inputs.")

    def _feature_names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        raise AttributeError(f"{type(self).__name__} does not say what its columns are called.")

    def _coded(self, y: Any) -> Vector:  # noqa: ARG002  # for subclasses
        """Return targets, of the kind that the model was fitted to, as the numbers that the loss takes."""
        raise AttributeError(f"{type(self).__name__} does not say what its targets are.")

    def _coded_rows(self, y: Any, n_rows: int) -> Vector:
        """Return the coded targets of so many rows."""
        target = self._coded(y)
        if target.shape != (n_rows,):
            raise ValueError(f"y must have one entry for each of the {n_rows} rows of X; got shape {target.shape}.")
        return target

    def _target_words(self) -> str:
        """Return what a mean of coded targets is called."""
        return "mean of y"

    def _predictions(self, score: Vector) -> NDArray[Any]:
        """Return what is predicted for each score."""
        return self._loss().inverse_link(score)

    def _headline(self, score: float) -> str:
        """Return the prediction for a score in words."""
        return f"Predicted: {readable(float(self._predictions(np.array([score]))[0]))}"

    def _mean_words(self) -> str:
        """Return what the number is called that the link makes of a score."""
        return self._loss().mean_name

    def _wording(self) -> Wording:
        """Return what the score is called."""
        loss = self._loss()
        return Wording(loss.score_name, loss.factor_name)

    def to_text(self, format: str = "plain", *, exact: bool = False) -> str:  # noqa: A002  # the word users look for
        """Return `ensemble_` as text, with sentences that say what the score means; see `RuleEnsemble.to_text`.

        Parameters
        ----------
        format : {"plain", "markdown", "latex", "sentences"}, default="plain"
        exact : bool, default=False
            Write every number in full.
        """
        check_is_fitted(self)
        return ensemble_text(self.ensemble_, format, exact=exact, wording=self._wording())

    def export(self, to: str, X: Any = None, *, contributions: bool = False, **options: Any) -> Export:
        """Return `ensemble_` in another language, once it is known to compute the same.

        The export is run on the rows of X and on generated ones, which hit thresholds, miss them by one double, and hold
        extreme and missing values. Rules fire on the same rows, scores are equal to the last bit, predictions to 12 digits.

        Parameters
        ----------
        to : {"python", "c", "sql", "frame", "onnx", "excel", "json", "latex"}
            ``"python"``: a module of the standard library alone. ``"c"``: a header of C99. ``"sql"``: a query. ``"frame"``: an
            object that adds outputs to data frames of pandas, polars, pyarrow, DuckDB and Dask. ``"onnx"``: a graph in doubles.
            ``"excel"``: formulas. ``"json"``: the rules, which `load_model` reads. ``"latex"``: a table.
        X : data frame or array of shape (n_samples, n_features), optional
            Rows on which to compare the export with this model, besides generated ones.
        contributions : bool, default=False
            Also give what each rule adds to the score.
        **options
            ``dialect``, ``table``, ``prefix`` and ``connection`` for ``"sql"``: see `SqlTarget`. ``prefix`` for ``"c"`` and
            ``"frame"``. ``row`` for ``"excel"``. ``exact`` for ``"latex"``.

        Returns
        -------
        Export
            Its `content` is the product, its `verification` says what ran it, on how many rows. `save` writes a file.

        Raises
        ------
        ExportError
            If the export computes anything else than the model; the message names the first row that differs.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(7)
        >>> exported = model.export("sql", X, dialect="sqlite", table="patients")
        >>> exported.verification.engine, exported.verification.mismatches
        ('SQLite', 0)
        """
        check_is_fitted(self)
        rows = None if X is None else self._matrix(X)
        return export(self.ensemble_, self._loss(), to, rows, contributions=contributions, **options)

    def rule_table(self, X: Any, y: Any = None, sample_weight: Any = None) -> RuleTable:
        """Say for each rule of `ensemble_` how many rows it covers, what it adds on average, and what these rows are like.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Targets: then the table has for each rule the share of the second class among the covered rows, or their mean.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        RuleTable
            Print it, or take `to_dicts`, `to_pandas` or `to_polars`.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(7)
        >>> print(model.rule_table(X, y))
        rule  weight  complexity  coverage  mean contribution  mean of y  condition
              +104.6           0   100.0 %             +104.6      152.1  True
           0  +37.79           3    30.5 %             +11.54      200.1  bp >= 101.5
           1  +78.67           4    45.7 %             +35.96        203  bmi + 7 s5 >= 59.425
        """
        matrix = self._matrix(X)
        weight = checked_weights(sample_weight, len(matrix))
        target = None if y is None else self._coded_rows(y, len(matrix))
        return rule_table(self.ensemble_, matrix, target, weight, self._target_words())

    def explain(self, X: Any) -> Explanation:
        """Say for each row which rules fired, how clearly their conditions hold, and what they add up to.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            Its rows print as a calculation. The contributions, added from left to right after the constant, are the score to
            the last bit.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(7)
        >>> print(model.explain(X[:1]))
        Predicted: 183.3
          +104.6  to start with
          +78.67  because bmi + 7 s5 >= 59.425 (it is 66.1186, met by 6.694)
          +183.3  in all, the prediction
        Not counted, because a condition is not met:
          +37.79  if bp >= 101.5 (it is 101, missed by 0.5)
        Values: bmi = 32.1, bp = 101, s5 = 4.8598
        """
        return self._explained(self._matrix(X))

    def _explained(self, matrix: NDArray[np.float64]) -> Explanation:
        """Explain the predictions for checked inputs."""
        scores = self.ensemble_(matrix)
        headlines = [self._headline(score) for score in scores.tolist()]
        return explain(self.ensemble_, matrix, self._predictions(scores).tolist(), headlines, self._wording().total)

    def variable_importance(self, X: Any, sample_weight: Any = None) -> Importances:
        """Say for each variable how far the score would move, on average, if its value were that of a row drawn from X.

        It is the mean absolute change over all pairs of rows, exactly and with nothing sampled; see `Importances`.

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
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(7)
        >>> print(model.variable_importance(X))
        importance  rules  variable
             24.98      1  bmi
             19.74      1  s5
             16.03      1  bp
        (7 other variables in no rule)
        """
        matrix = self._matrix(X)
        return variable_importance(self.ensemble_, matrix, checked_weights(sample_weight, len(matrix)))

    def closest_change(
        self,
        x: Any,
        X: Any,
        *,
        above: float | None = None,
        below: float | None = None,
        fixed: Collection[str | int] = (),
        lower: Numbers | None = None,
        upper: Numbers | None = None,
        cost: Numbers | None = None,
        whole: Collection[str | int] = (),
        tolerance: float = 0.0,
        max_steps: int = 2000,
    ) -> ClosestChange:
        """Return the closest change of the inputs of one row that gives the other class, or a prediction beyond a value.

        The distance is the sum of the absolute changes, each in standard deviations of its variable in X. All ways in which
        conditions can hold and not hold are searched, by branch and bound with one linear program at each step, so that what is
        found is the closest change there is. It is tried on the model: the row that comes back has the wanted prediction.

        Parameters
        ----------
        x : data frame with one row, series, or array of shape (n_features,) or (1, n_features)
            The row.
        X : data frame or array of shape (n_samples, n_features)
            Rows that say how far a variable usually varies, such as those of `fit`. A variable that is the same in all of them
            stays as it is, and without other bounds a variable stays within the range that it has in them.
        above, below : float, optional
            The value that the prediction is to exceed, or to fall below; of a classifier, the probability of its second class.
            One of them must be given for a regressor. A classifier without either is to predict its other class.
        fixed : collection of str or int
            Variables, by name or column, that must stay as they are.
        lower, upper : dict, optional
            The least and the greatest value of variables, by name or column; `math.inf` for no bound.
        cost : dict, optional
            What a change by one standard deviation counts, by name or column, if it is not 1.
        whole : collection of str or int
            Variables that take whole numbers only, such as counts and columns of 0 and 1.
        tolerance : float, default=0.0
            By how many standard deviations the distance may exceed the least, for values in rounder numbers: 0.05 is good for
            reading. The least is reported as `ClosestChange.bound`.
        max_steps : int, default=2000
            The number of linear programs after which the search ends with the best that it has found, and says so.

        Returns
        -------
        ClosestChange
            Print it. Its `row` is None if no change within the bounds does it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y).at(7)
        >>> print(model.closest_change(X.iloc[0], X, below=150, fixed=["age", "sex"], tolerance=0.05))
        The prediction is 183.3. To make it less than 150, change
          bmi:  32.1 -> 25.4  (-6.7, 1.518 standard deviations)
        That is a distance of 1.518 standard deviations in all; none of less than 1.515 within the given ranges does it.
        """
        check_real("tolerance", tolerance, 0.0)
        check_whole("max_steps", max_steps, 1)
        row = self._matrix(_as_frame(x))
        if len(row) != 1:
            raise ValueError(f"x must be one row; got {len(row)}.")
        wish = self._wish(row, above, below)
        rows = self._matrix(X)
        room = self._room(row[0], rows, fixed, whole, lower or {}, upper or {}, cost or {})
        return closest_change(
            self.ensemble_,
            room,
            wish,
            rows,
            tolerance=tolerance,
            max_steps=max_steps,
            predict=lambda point: self._predictions(self.ensemble_(point[None, :])).tolist()[0],
        )

    def _wish(self, row: NDArray[np.float64], above: float | None, below: float | None) -> Wish:  # noqa: ARG002  # for subclasses
        """Return the prediction that is wanted instead of that of a row."""
        if (above is None) == (below is None):
            raise ValueError("Say either above or below which value the prediction is to be: one of them must be given.")
        word, value, direction = ("greater", above, 1.0) if above is not None else ("less", below, -1.0)
        check_real("above" if above is not None else "below", value, -np.inf)
        limit, inverse_link = float(value or 0.0), self._loss().inverse_link
        return Wish(
            lambda score: direction * inverse_link(score) > direction * limit, direction, f"{word} than {readable(limit)}"
        )

    def _room(
        self,
        x: Vector,
        rows: NDArray[np.float64],
        fixed: Collection[str | int],
        whole: Collection[str | int],
        lower: Numbers,
        upper: Numbers,
        cost: Numbers,
    ) -> Room:
        """Return where a row may move to."""
        unit, integral = rows.std(axis=0), self._mask("whole", whole)
        still = (unit == 0.0) | self._mask("fixed", fixed)
        least = self._with_given("lower", lower, np.minimum(rows.min(axis=0), x))
        most = self._with_given("upper", upper, np.maximum(rows.max(axis=0), x))
        least, most = np.where(integral, np.ceil(least), least), np.where(integral, np.floor(most), most)
        costs = self._with_given("cost", cost, np.ones(len(x)))
        if not ((costs > 0.0) & (costs < np.inf)).all():
            raise ValueError(f"cost must be a finite number above 0 for each variable; got {dict(cost)!r}.")
        for column in np.flatnonzero(~still & ((least > x) | (most < x) | (integral & (x != np.round(x))))).tolist():
            bounds = f"{readable(least[column])} to {readable(most[column])}{' in whole numbers' * int(integral[column])}"
            raise ValueError(f"x has {readable(x[column])} in '{self._feature_names()[column]}', whose range is {bounds}.")
        return Room(x, np.where(still, x, least), np.where(still, x, most), unit, costs, integral & ~still)

    def _mask(self, parameter: str, variables: Collection[str | int]) -> NDArray[np.bool_]:
        """Return which columns are named."""
        if isinstance(variables, str):
            raise ValueError(f"{parameter} must be a collection of variables; got the text {variables!r}.")
        named = np.zeros(len(self._feature_names()), dtype=np.bool_)
        named[[self._column(parameter, variable) for variable in variables]] = True
        return named

    def _with_given(self, parameter: str, given: Numbers, numbers: Vector) -> Vector:
        """Return one number for each column, those that were given in place of the others."""
        numbers = numbers.copy()
        for variable, number in given.items():
            if not isinstance(number, Real) or math.isnan(number):
                raise ValueError(f"{parameter} of {variable!r} must be a number; got {number!r}.")
            numbers[self._column(parameter, variable)] = number
        return numbers

    def _column(self, parameter: str, variable: str | int) -> int:
        """Return the column of a variable that is given by its name or number."""
        names = self._feature_names()
        if isinstance(variable, str) and variable in names:
            return names.index(variable)
        if isinstance(variable, (int, np.integer)) and not isinstance(variable, bool) and 0 <= variable < len(names):
            return int(variable)
        raise ValueError(f"{parameter} names the variable {variable!r}, which is not a column of X.")


def _as_frame(x: Any) -> Any:
    """Return one row as something that has rows and columns; a series of pandas keeps its names."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T.infer_objects()
    if hasattr(x, "columns") or hasattr(x, "schema"):
        return x
    array = np.asarray(x)
    return array.reshape(1, -1) if array.ndim == 1 else array
