"""Risk and complexity: how good each size of a model is, and which size was chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.model_rows import read_rows
from obliquerules.inspection.displays import drawing
from obliquerules.rules import Model, RuleEnsemble

# Inputs, targets, and the exposures or offsets.
Data = tuple[Any, Any, Any]

TRAINING, TEST = "training rows", "test rows"
LOOKS = {
    TRAINING: {"color": drawing.GREEN, "marker": "s", "linestyle": ":"},
    TEST: {"color": drawing.VERMILLION, "marker": "^", "linestyle": "--"},
}


@dataclass(frozen=True, eq=False)
class CrossValidatedRisk:
    """The cross-validated risk of each member of a path.

    Attributes
    ----------
    complexity : array of shape (n_members,)
    mean, low, high : array of shape (n_members,)
        The risk, and the ends of a band of one standard error on either side.
    best : int
        The complexity of the member with the least risk.
    """

    complexity: NDArray[np.intp]
    mean: Vector
    low: Vector
    high: Vector
    best: int


@dataclass(eq=False)
class RiskComplexityDisplay:
    """The risk of each member of a path against its complexity.

    It is recommended to use `from_estimator`.

    Parameters
    ----------
    complexity : array of shape (n_members,)
        The complexity of each member of the path.
    risks : dict of str to array of shape (n_members,)
        The risk of each member on ``"training rows"`` and ``"test rows"``, or on one of them, or none: log loss, root mean
        squared error or mean Poisson deviance.
    cross_validated : CrossValidatedRisk or None
        The risk by which a size was chosen.
    chosen : int
        The complexity of the ensemble that predicts: a member of the path, unless the model was edited.
    chosen_risk : float or None
        Its risk on the cross-validated curve or, without one, on the last of ``risks``. None if it is unknown, because the
        model was edited and no rows are given.
    n_rules : int
        Its number of rules.
    risk_name : str
        What the risk is called.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import TGBClassifierCV
    >>> from obliquerules.inspection import RiskComplexityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = TGBClassifierCV(max_rules=3).fit(X, y)
    >>> display = RiskComplexityDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'log loss'
    """

    complexity: NDArray[np.intp]
    risks: dict[str, Vector]
    cross_validated: CrossValidatedRisk | None
    chosen: int
    chosen_risk: float | None
    n_rules: int
    risk_name: str
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        given: Any = None,
        given_test: Any = None,
        ax: Any = None,
    ) -> RiskComplexityDisplay:
        """Draw the risk of each size of a fitted model.

        If the model chose its size by cross-validation, the cross-validated risk of each size is drawn, with a band of one
        standard error of the risk on either side. Other curves need data.

        Parameters
        ----------
        estimator : fitted rule model
        X, y : data frame or array of shape (n_samples, n_features), and targets, optional
            The rows that the model was fitted to.
        X_test, y_test : data frame or array of shape (n_samples, n_features), and targets, optional
            Rows that the model was not fitted to.
        given, given_test : array of shape (n_samples,) or (n_samples, n_classes), optional
            The exposure or the offset of each of these rows, if the model has one.
        ax : matplotlib Axes, optional
            Where to draw; without it, in a new figure.

        Returns
        -------
        RiskComplexityDisplay
        """
        model = drawing.fitted_model(estimator)
        rows = _rows((X, y, given), (X_test, y_test, given_test))
        cross_validated = _cross_validated(model)
        risks = {name: _risks(model, model.path, *data) for name, data in rows.items()}
        if cross_validated is None and not risks:
            raise ValueError("X and y, or X_test and y_test, must be given: this model has no results of cross-validation.")
        display = cls(
            complexity=np.array([ensemble.complexity for ensemble in model.path]),
            risks=risks,
            cross_validated=cross_validated,
            chosen=model.ensemble.complexity,
            chosen_risk=_risk_of_the_model(model, cross_validated, rows),
            n_rules=len(model.ensemble),
            risk_name=model.loss.risk_name,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> RiskComplexityDisplay:
        """Draw on the given axes, or in a new figure."""
        with drawing.axes_to_draw_on(ax, height=3.8) as ax:
            self.ax_, self.figure_ = ax, ax.figure
            for name, look in LOOKS.items():
                if name in self.risks:
                    ax.plot(self.complexity, self.risks[name], label=name, markersize=4, linewidth=1.2, **look)
            if self.cross_validated is not None:
                self._draw_cross_validated(self.cross_validated)
            label = f"this model: complexity {self.chosen}, {self.n_rules} {'rule' if self.n_rules == 1 else 'rules'}"
            if self.chosen_risk is None:
                ax.axvline(self.chosen, color="black", linewidth=0.7, zorder=0, label=label)
            else:
                ring = {"marker": "o", "color": "black", "fillstyle": "none", "markersize": 11, "linestyle": "none"}
                ax.plot([self.chosen], [self.chosen_risk], label=label, **ring)
            ax.set(xlabel="complexity: rules, conditions and variables", ylabel=self.risk_name)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(loc="upper right", facecolor="white", edgecolor="none", framealpha=1.0)
        return self

    def _draw_cross_validated(self, risk: CrossValidatedRisk) -> None:
        ax = self.ax_
        band = {"color": drawing.PALE_BLUE, "linewidth": 0.0, "zorder": 0}
        ax.fill_between(risk.complexity, risk.low, risk.high, label="one standard error on either side", **band)
        line = {"color": drawing.BLUE, "marker": "o", "markersize": 4, "linewidth": 1.4}
        ax.plot(risk.complexity, risk.mean, label="cross-validated", **line)
        least = {"color": drawing.BLUE, "markersize": 7, "label": f"least: complexity {risk.best}", "zorder": 3}
        ax.plot([risk.best], [risk.mean.min()], "D", **least)


def _cross_validated(model: Model) -> CrossValidatedRisk | None:
    if not model.standard_errors:
        return None
    mean, error, shown = np.array(model.expected), np.array(model.standard_errors), model.loss.shown_risk
    complexity = np.array([ensemble.complexity for ensemble in model.path])
    low, best = np.maximum(mean - error, 0.0), int(complexity[mean.argmin()])
    return CrossValidatedRisk(complexity, shown(mean), shown(low), shown(mean + error), best)


def _rows(training: Data, test: Data) -> dict[str, Data]:
    """Return the data that are given; raise if inputs come without targets or targets without inputs."""
    data = {TRAINING: training, TEST: test}
    for names, (inputs, targets, _) in zip(("X and y", "X_test and y_test"), data.values(), strict=True):
        if (inputs is None) != (targets is None):
            raise ValueError(f"{names} must be given together.")
    return {name: one for name, one in data.items() if one[0] is not None}


def _risks(model: Model, ensembles: Iterable[RuleEnsemble], X: Any, y: Any, given: Any) -> Vector:
    """Return the risk of each ensemble, as users know it."""
    rows = read_rows(model, X).with_given(given)
    target, weight, amounts = rows.target(y), np.ones(len(rows)), rows.given
    # Under a log link, an exposure is an offset on the scale of scores.
    offset = (
        np.log(amounts) if amounts is not None and model.offset is not None and model.offset.kind == "exposure" else amounts
    )
    risks = [model.loss.risk(target, ensemble(rows.X, offset), weight) for ensemble in ensembles]
    return model.loss.shown_risk(np.array(risks))


def _risk_of_the_model(model: Model, cross_validated: CrossValidatedRisk | None, rows: dict[str, Data]) -> float | None:
    if cross_validated is not None and model.ensemble in model.path:
        return float(cross_validated.mean[model.path.index(model.ensemble)])
    return float(_risks(model, [model.ensemble], *list(rows.values())[-1])[0]) if rows else None
