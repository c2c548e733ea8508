"""Decision regions: what a model predicts for two of its inputs, as a map with the rows on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.displays import drawing
from obliquerules.inspection.displays.cells import cut, edges, middles
from obliquerules.inspection.variables import column_of, with_given
from obliquerules.rows.reading import read_inputs, read_target
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.decimals.numbers import readable

Array = NDArray[np.float64]
# The margin of the map on each side of the data.
MARGIN = 0.05
# The largest number of fixed inputs that the title names.
MOST_NAMED = 4
MOST_POINTS = 2000
# Axes end this share of the usual range, that of all but one per cent of the rows at either end, beyond it.
TAIL, BEYOND = 0.01, 0.25
# By how much whole numbers are moved, so that equal rows do not hide each other.
JITTER = 0.2


@dataclass(frozen=True, eq=False)
class Plane:
    """A rectangle in two of the inputs, with the others fixed.

    Attributes
    ----------
    columns : tuple of int
        The two inputs.
    row : array of shape (n_features,)
        The values at which the other inputs are fixed.
    low, high : array of shape (2,)
        The ranges of the two inputs.
    """

    columns: tuple[int, int]
    row: Array
    low: Array
    high: Array

    def points(self, unit: Array) -> Array:
        """Return points of the unit square in the units of the data."""
        return np.asarray(self.low + unit * (self.high - self.low), dtype=np.float64)

    def rows(self, unit: Array) -> Array:
        """Return points of the unit square as rows of inputs."""
        rows = np.tile(self.row, (len(unit), 1))
        rows[:, self.columns] = self.points(unit)
        return rows

    def lines(self, ensemble: RuleEnsemble) -> list[tuple[float, float, float]]:
        """Return the lines a x + b y = c of the unit square at which propositions change, each once."""
        width = self.high - self.low
        corner = self.rows(np.zeros((1, 2)))
        lines: dict[tuple[float, float, float], None] = {}
        for proposition in (p for rule in ensemble for p in rule.condition):
            weights = dict(zip(proposition.columns, proposition.weights, strict=True))
            a, b = (weights.get(column, 0.0) * width[i] for i, column in enumerate(self.columns))
            lines[a, b, float(proposition.threshold - proposition.project(corner)[0])] = None
        return list(lines)


@dataclass(eq=False)
class DecisionRegionsDisplay:
    """A map of two inputs, divided into the regions in which the prediction is constant.

    The regions are exact: the lines at which conditions change cut the map into polygons, and within each polygon the same
    rules fire. It is recommended to use `from_estimator`.

    Parameters
    ----------
    regions : list of arrays of shape (n_corners, 2)
        Polygons in the units of the data.
    scores : array of shape (n_regions,)
        The score in each of them.
    response : array of shape (n_regions,)
        What is shown by colour: a class (0 or 1), a probability, a score or a prediction.
    response_name : str or None
        The name of the response; None for classes.
    limits : tuple of float
        The ends of the colour scale.
    steps : array of shape (n_steps, 2, 2)
        The borders at which the score changes, each given by its two ends.
    boundary : array of shape (n_borders, 2, 2)
        Those borders at which the predicted class changes.
    points : array of shape (n_samples, 2)
        The rows.
    target : array of shape (n_samples,) or None
        Their targets; classes as 0 and 1.
    labels : tuple of str
        The names of the classes, empty if there are none.
    names : tuple of str
        The labels of the two axes.
    fixed : dict of str to float
        The other inputs that the model uses, and the values at which they are fixed.
    low, high : array of shape (2,)
        The ranges of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifier
    >>> from obliquerules.inspection import DecisionRegionsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X[["worst radius", "worst texture"]]
    >>> model = LLTBoostClassifier(max_rules=2, random_state=0).fit(X, y)
    >>> display = DecisionRegionsDisplay.from_estimator(model, X, y, units={"worst radius": "mm"})
    >>> display.ax_.get_xlabel()
    'worst radius (mm)'
    """

    regions: list[Array]
    scores: Array
    response: Array
    response_name: str | None
    limits: tuple[float, float]
    steps: Array
    boundary: Array
    points: Array
    target: Array | None
    labels: tuple[str, ...]
    names: tuple[str, str]
    fixed: dict[str, float]
    low: Array
    high: Array
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[str | int] | None = None,
        fixed: Mapping[str | int, float] | None = None,
        response_method: str = "auto",
        units: Mapping[str, str] | None = None,
        ax: Any = None,
    ) -> DecisionRegionsDisplay:
        """Draw the regions of a fitted model.

        Parameters
        ----------
        estimator : fitted rule model
        X : data frame or array of shape (n_samples, n_features)
            The rows to draw; of more than 2000, only every second, third and so on; whole numbers are moved a little, so that
            equal rows do not hide each other. They also determine the medians of the other inputs and the ranges of the map,
            which leave out extreme values: the title says how many rows lie beyond them.
        y : array of shape (n_samples,), optional
            Their targets, for the colour of the points.
        features : pair of str or int, optional
            The two inputs, by name or number. By default, the two inputs that the model uses, if there are exactly two.
        fixed : dict, optional
            The values at which to fix other inputs, by name or number; by default, their medians.
        response_method : {"auto", "predict", "predict_proba", "decision_function"}, default="auto"
            What to show: the prediction, the probability of the positive class, or the score. ``"auto"`` means
            ``"predict_proba"`` for a classifier and ``"predict"``, the only choice, for a regressor.
        units : dict of str to str, optional
            The units of inputs, by name.
        ax : matplotlib Axes, optional
            Where to draw; without it, in a new figure.

        Returns
        -------
        DecisionRegionsDisplay
        """
        model = drawing.fitted_model(estimator)
        matrix = read_inputs(model, X)
        target = None if y is None else read_target(model, y, len(matrix))
        plane = _plane(model, matrix, _two_columns(model, features), fixed or {})
        polygons = cut(plane.lines(model.ensemble))
        scores = model.scores(plane.rows(middles(polygons)))
        response, response_name, limits = _response(model, response_method, scores, target)
        steps, boundary = _borders(model, plane, polygons, scores)
        names, axis_names = model.feature_names, drawing.names_with_units(model, units)
        display = cls(
            regions=[plane.points(polygon) for polygon in polygons],
            scores=scores,
            response=response,
            response_name=response_name,
            limits=limits,
            steps=steps,
            boundary=boundary,
            points=matrix[:, plane.columns],
            target=target,
            labels=() if model.labels is None else tuple(str(label) for label in model.labels.values),
            names=(axis_names[plane.columns[0]], axis_names[plane.columns[1]]),
            fixed={names[j]: float(plane.row[j]) for j in model.ensemble.used_columns if j not in plane.columns},
            low=plane.low,
            high=plane.high,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> DecisionRegionsDisplay:
        """Draw on the given axes, or in a new figure."""
        with drawing.axes_to_draw_on(ax, height=4.4) as ax:
            self.ax_, self.figure_ = ax, ax.figure
            if self.response_name is None:
                self._draw_classes()
            else:
                self._draw_numbers(self.response_name)
            grey = drawing.GREY if self.labels else "white"  # stands out from the colours of the regions
            ax.add_collection(_segments(self.steps, colors=grey, linewidths=0.6, linestyles="--"))
            ax.add_collection(_segments(self.boundary, colors="black", linewidths=1.4))
            if self.labels and self.target is not None:
                self._draw_labelled_points(self.target)
            else:
                self._draw_points()
            ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
            ax.set_xlabel(drawing.wrapped(self.names[0], 4.8))
            ax.set_ylabel(drawing.wrapped(self.names[1], 3.2))
            if remarks := self._remarks():
                pad = 20.0 if ax.get_legend() else 6.0  # above the legend
                ax.set_title(drawing.wrapped(remarks, 5.0), loc="left", color=drawing.GREY, pad=pad)
        return self

    def _remarks(self) -> str:
        """Return what the map does not show: the inputs that are fixed, and the rows that lie beyond it."""
        outside = int(((self.points < self.low) | (self.points > self.high)).any(axis=1).sum())
        rows = f"{outside} {'row lies' if outside == 1 else 'rows lie'} beyond the axes" if outside else ""
        return "; ".join(filter(None, (_fixed_text(self.fixed) if self.fixed else "", rows)))

    def _draw_classes(self) -> None:
        """Fill the regions by class; a hatch marks the positive class in print without colour."""
        second = [region for region, label in zip(self.regions, self.response, strict=True) if label == 1.0]
        colours = np.array([drawing.PALE_BLUE, drawing.PALE_VERMILLION])[self.response.astype(np.intp)]
        self.ax_.add_collection(_polygons(self.regions, facecolors=colours, edgecolors="face", linewidths=0.3))
        self.ax_.add_collection(
            _polygons(second, facecolors="none", edgecolors=drawing.LIGHT_VERMILLION, hatch=drawing.HATCH, linewidths=0.0)
        )

    def _draw_numbers(self, name: str) -> None:
        """Fill the regions by number, with a scale beside them."""
        filled = _polygons(self.regions, edgecolors="face", linewidths=0.3, cmap=self._colours(), clim=self.limits)
        filled.set_array(self.response)
        self.ax_.add_collection(filled)
        bar = self.figure_.colorbar(filled, ax=self.ax_, pad=0.02, aspect=30, extend=self._extend())
        bar.set_label(drawing.wrapped(name, 3.2))
        bar.outline.set_visible(False)

    def _colours(self) -> Any:
        """Return the colours of numbers: white where a classifier is undecided."""
        from matplotlib.colors import LinearSegmentedColormap

        if not self.labels:
            return "cividis"
        return LinearSegmentedColormap.from_list("undecided", [drawing.LIGHT_BLUE, "white", drawing.LIGHT_VERMILLION])

    def _extend(self) -> str:
        """Return at which ends of the colour scale targets lie beyond it."""
        if self.labels or self.target is None:
            return "neither"
        below, above = bool((self.target < self.limits[0]).any()), bool((self.target > self.limits[1]).any())
        return {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[below, above]

    def _draw_labelled_points(self, target: Array) -> None:
        looks = (
            {"marker": "o", "facecolors": drawing.BLUE, "edgecolors": "white", "linewidths": 0.4},
            {"marker": "x", "c": drawing.VERMILLION, "linewidths": 0.9},
        )
        drawn = self._drawn()
        points, target = _spread_out(self.points)[drawn], target[drawn]
        for code, (label, look) in enumerate(zip(self.labels, looks, strict=True)):
            self.ax_.scatter(*points[target == code].T, s=_size(points), label=drawing.wrapped(label, 1.8, 2), **look)
        # Beside the map, not on it: there is no corner that is always free of points.
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        self.ax_.legend(ncols=2, frameon=False, handletextpad=0.2, **place)

    def _draw_points(self) -> None:
        drawn = self._drawn()
        points = _spread_out(self.points)[drawn]
        if self.target is None:
            look: dict[str, Any] = {"facecolors": "none", "edgecolors": "black"}
        else:
            colours = {"cmap": self._colours(), "vmin": self.limits[0], "vmax": self.limits[1]}
            look = {"c": self.target[drawn], "edgecolors": "white", **colours}
        self.ax_.scatter(*points.T, s=_size(points), linewidths=0.4, **look)

    def _drawn(self) -> slice:
        """Return which rows are drawn: too many would hide each other and the map."""
        return slice(None, None, -(-len(self.points) // MOST_POINTS))


def _size(points: Array) -> float:
    """Return the size of the points: the more points, the smaller."""
    return float(np.clip(6000 / max(len(points), 1), 10, 24))


def _polygons(polygons: list[Array], **look: Any) -> Any:
    from matplotlib.collections import PolyCollection

    return PolyCollection(polygons, **look)


def _segments(segments: Array, **look: Any) -> Any:
    from matplotlib.collections import LineCollection

    return LineCollection(list(segments), **look)


def _fixed_text(fixed: dict[str, float]) -> str:
    inputs = [f"{name} = {readable(value)}" for name, value in fixed.items()]
    more = [f"and {len(inputs) - MOST_NAMED} more"] if len(inputs) > MOST_NAMED else []
    return "where " + ", ".join(inputs[:MOST_NAMED] + more)


def _two_columns(model: Model, features: Sequence[str | int] | None) -> tuple[int, int]:
    if features is None:
        columns = [0, 1] if len(model.feature_names) == 2 else list(model.ensemble.used_columns)
        if len(columns) != 2:
            raise ValueError(f"features must name the two inputs to draw, because the model uses {len(columns)} of them.")
    else:
        columns = [column_of(model, "features", feature) for feature in features]
        if len(set(columns)) != 2 or len(columns) != 2:
            raise ValueError(f"features must be two different inputs; got {list(features)!r}.")
    return columns[0], columns[1]


def _plane(model: Model, matrix: Array, columns: tuple[int, int], fixed: Mapping[str | int, float]) -> Plane:
    if not len(matrix):
        raise ValueError("X must have at least one row, to say how wide the map is.")
    row = with_given(model, "fixed", fixed, np.median(matrix, axis=0))
    if not np.isfinite(row).all():
        raise ValueError(f"fixed must be a finite number for each input; got {dict(fixed)!r}.")
    low, high = _usual_box(matrix[:, columns])
    margin = MARGIN * (high - low)
    margin[margin == 0.0] = 1.0
    return Plane(columns, row, low - margin, high + margin)


def _usual_box(points: Array) -> tuple[Array, Array]:
    """Return the ranges of the points, except extreme ones, beside which all others would be drawn on one spot."""
    low, high = np.quantile(points, [TAIL, 1.0 - TAIL], axis=0)
    reach = BEYOND * (high - low)
    # Where all but a few values are equal there is no usual range.
    wide = high > low
    lowest, highest = points.min(axis=0), points.max(axis=0)
    return np.where(wide, np.maximum(lowest, low - reach), lowest), np.where(wide, np.minimum(highest, high + reach), highest)


def _spread_out(points: Array) -> Array:
    """Return points to draw, with columns of whole numbers jittered: by less than the distance to a threshold between them."""
    whole = (points == np.rint(points)).all(axis=0)
    jitter = np.random.default_rng(0).uniform(-JITTER, JITTER, points.shape)
    return np.where(whole, points + jitter, points)


def _response(model: Model, method: str, scores: Array, target: Array | None) -> tuple[Array, str | None, tuple[float, float]]:
    """Return the response at each score, its name, and the ends of its colour scale."""
    classifies = model.labels is not None
    methods = ("auto", "predict", "predict_proba", "decision_function") if classifies else ("auto", "predict")
    if method not in methods:
        raise ValueError(f"response_method must be one of {', '.join(map(repr, methods))}; got {method!r}.")
    if method == "decision_function":
        reach = float(np.abs(scores).max()) or 1.0
        return scores, model.wording.total, (-reach, reach)
    if classifies and method == "predict":
        return (scores > 0.0).astype(np.float64), None, (0.0, 1.0)
    response = model.means(scores)
    return response, model.mean_name, (0.0, 1.0) if classifies else _usual_range(response, target)


def _usual_range(response: Array, target: Array | None) -> tuple[float, float]:
    """Return the range of predictions and targets, except extreme targets, beside which all others would look alike."""
    usual = response if target is None else np.quantile(target, [0.02, 0.98])
    low, high = float(min(response.min(), usual.min())), float(max(response.max(), usual.max()))
    return low, high if high > low else low + 1.0


def _borders(model: Model, plane: Plane, polygons: list[Array], scores: Array) -> tuple[Array, Array]:
    """Return the edges at which the score changes, and those of them at which the class does."""
    owner, ends, beyond = edges(polygons)
    here, there = scores[owner], model.scores(plane.rows(beyond))
    lower = here < there  # of the two sides of an edge, count the one with the lower score
    turns = lower & (here <= 0.0) & (there > 0.0) & (model.labels is not None)
    return plane.points(ends[lower]), plane.points(ends[turns])
