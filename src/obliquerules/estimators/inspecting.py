"""Inspecting: path, rules, explanations, importance, closest changes, stability."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from obliquerules.data.reading import read_weights
from obliquerules.estimators.fitting import Fitting
from obliquerules.inspection.closest.closest_change import ClosestChange, closest_change
from obliquerules.inspection.closest.feasible import feasible_region, goal_for
from obliquerules.inspection.explanation import Explanation, explain
from obliquerules.inspection.importance import Importances, variable_importance
from obliquerules.inspection.rule_table import RuleTable, rule_table
from obliquerules.inspection.stability import Stability, stability
from obliquerules.inspection.variables import Numbers, Values
from obliquerules.learning.method import Task
from obliquerules.parameters import check_jobs, check_real, check_seed, check_whole
from obliquerules.rules.path_table import PathTable


class Inspecting(Fitting):
    """An estimator that answers questions about its model and about rows."""

    def path_table(self) -> PathTable:
        """Return the sizes of `path_` with their expected losses.

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

    def rule_table(self, X: Any, y: Any = None, sample_weight: Any = None) -> RuleTable:
        """Return coverage, mean contribution and purity of each rule.

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
        rows = self._read(X)
        target = None if y is None else rows.target(y)
        return rule_table(self.model_, rows.X, target, read_weights(sample_weight, len(rows)))

    def explain(self, X: Any, *, versus: Any = None, exposure: Any = None, offset: Any = None) -> Explanation:
        """Explain the prediction for each row as a sum of rules.

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
        rows = self._read(X).with_offset(exposure, offset)
        return explain(self.model_, rows.X, rows.unseen_levels, rows.given, versus=versus)

    def variable_importance(self, X: Any, sample_weight: Any = None) -> Importances:
        """Return the mean change of scores if a variable is exchanged.

        A variable takes the value of another row: the mean is over all pairs of rows, of absolute changes, and exact; see
        `Importances`.

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
        X = self._read(X).X
        return variable_importance(self.model_, X, read_weights(sample_weight, len(X)))

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
        """Return the closest change to a row with another prediction.

        The distance is the sum of the absolute changes, each in standard deviations of its variable in X; a change to another
        level counts as one. A mixed-integer program proposes which conditions hold, the model checks the rows, and a bound
        proves that no change is closer. The returned row has the wanted prediction.

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
        row = self._read(_as_frame(x))
        if len(row) != 1:
            raise ValueError(f"x must be one row; got {len(row)}.")
        row, X = row.with_offset(exposure, offset), self._read(X, warned=False).X
        goal = goal_for(self.model_, row.X, above, below, to, row.given)
        region = feasible_region(
            self.model_,
            row.X.matrix[0],
            X,
            fixed=fixed,
            whole=whole,
            lower=lower or {},
            upper=upper or {},
            cost=cost or {},
            fill=fill,
        )
        words = {column: word for (_, column), word in row.unseen_levels.items()}
        return closest_change(
            self.model_, region, goal, X, tolerance=tolerance, max_steps=max_steps, words=words, given=row.given
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
        """Return how often rules recur in refits, and intervals of weights.

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
        rows, seen = self._read_to_learn(X, y, sample_weight, exposure, offset)
        model = self.model_
        task = Task(
            rows.X,
            seen.y,
            seen.weight,
            model.loss,
            model.labels,
            offset=seen.offset,
            frequency=seen.frequency,
            class_weights=model.class_weights,
        )
        return stability(
            model.ensemble,
            task.on(seen.weight > 0.0),
            self._fitted_method(),
            n_bootstraps=n_bootstraps,
            overlap=overlap,
            confidence=confidence,
            random_state=check_random_state(random_state),
            n_jobs=n_jobs,
        )


def _as_frame(x: Any) -> Any:
    """Return one row as a frame or matrix."""
    if issparse(x):
        return x.reshape(1, -1) if x.ndim == 1 else x
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T.infer_objects()
    if hasattr(x, "columns") or hasattr(x, "schema"):
        return x
    array = np.asarray(x)
    if array.dtype.kind in "US":  # numbers among text stay numbers
        array = np.asarray(x, dtype=object)
    return array.reshape(1, -1) if array.ndim == 1 else array
