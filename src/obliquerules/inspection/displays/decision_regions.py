"""Decision regions: what a model predicts for two of its inputs, as a map with the rows on it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.data.model_rows import read_rows
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.displays import class_map, drawing
from obliquerules.inspection.displays.cells import cut, edges, middles
from obliquerules.inspection.displays.plane import Facets, Plane, n_bands
from obliquerules.inspection.variables import Facts, Value, Values, column_of, value_text, with_values
from obliquerules.rules import Block, Column, Model
from obliquerules.rules.columns import EPOCH

# The margin of the map on each side of the data.
MARGIN = 0.05
# The largest number of fixed inputs that the title names.
MOST_NAMED = 4
MOST_POINTS = 2000
# Axes end this share of the usual range, that of all but one per cent of the rows at either end, beyond it.
TAIL, BEYOND = 0.01, 0.25
# By how much whole numbers are moved, so that equal rows do not hide each other.
JITTER = 0.2
# The largest number of levels on an axis.
MOST_LEVELS = 12
# Into how many shades a slope is divided.
SHADES = 64
# Of two sums, the share of their size by which they may differ although they are the same.
ROUNDING = 1e-9
# For which exposure or offset a map is drawn.
GIVEN = {"exposure": "for an exposure of 1", "offset": "at an offset of 0"}


@dataclass(eq=False)
class DecisionRegionsDisplay:
    """A map of two inputs, divided into the regions in which the prediction is constant.

    The regions are exact: the lines at which conditions change cut the map into polygons, and within each polygon the same
    rules fire. Where one of the two inputs is a factor, the score is linear within a polygon, and the line at which the class
    changes is straight and exact, too. To show the slope, the polygon is then cut along lines of equal score into narrow
    regions, from one of which to the next the response changes by 1/64 of its range on the map; each region has the colour of
    its middle. With many classes, each has a colour, the stronger the more probable it is. It is recommended to use
    `from_estimator`.

    Parameters
    ----------
    regions : list of arrays of shape (n_corners, 2)
        Polygons in the units of the data.
    scores : array of shape (n_regions,) or (n_regions, n_classes)
        The score in each of them; where there is a slope, in the middle of it.
    response : array of shape (n_regions,)
        What is shown by colour: a class (0, 1, ...), a probability, a score or a prediction. With many classes, the probability
        is that of the predicted one.
    response_name : str or None
        The name of the response; None for classes.
    limits : tuple of float
        The ends of the colour scale.
    steps : array of shape (n_steps, 2, 2)
        The borders at which the score changes, each given by its two ends; where there is a slope, those at which it jumps.
    boundary : array of shape (n_borders, 2, 2)
        The borders at which the predicted class changes: some of those, and lines at which a slope leads from one to another.
    points : array of shape (n_samples, 2)
        The rows.
    target : array of shape (n_samples,) or None
        Their targets; classes as 0, 1, ...
    labels : tuple of str
        The names of the classes, empty if there are none.
    names : tuple of str
        The labels of the two axes.
    fixed : dict of str to number, level, date, time, duration or None
        The other inputs that the model uses, and the values at which they are fixed.
    low, high : array of shape (2,)
        The ranges of the axes.
    places : array of shape (n_samples, 2), optional
        Where the rows are drawn: equal ones beside each other, but never in another region.
    axes : pair of Column, optional
        The two inputs. Those with levels, or of 0 and 1, have a band for each value; dates are written as dates.
    given : str, optional
        Of a model with an exposure or offset, that for which the map is drawn.

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

    regions: list[Matrix]
    scores: Matrix
    response: Matrix
    response_name: str | None
    limits: tuple[float, float]
    steps: Matrix
    boundary: Matrix
    points: Matrix
    target: Matrix | None
    labels: tuple[str, ...]
    names: tuple[str, str]
    fixed: dict[str, Value]
    low: Matrix
    high: Matrix
    places: Matrix | None = None
    axes: tuple[Column, Column] | None = None
    given: str = ""
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
        fixed: Values | None = None,
        response_method: str = "auto",
        units: Mapping[str, str] | None = None,
        given: Any = None,
        ax: Any = None,
    ) -> DecisionRegionsDisplay:
        """Draw the regions of a fitted model.

        Parameters
        ----------
        estimator : fitted rule model
        X : data frame or array of shape (n_samples, n_features)
            The rows to draw; of more than 2000, only every second, third and so on; whole numbers are moved a little, so that
            equal rows do not hide each other. They also determine the medians of the other inputs and the ranges of the map,
            which leave out extreme values: the title says how many rows lie beyond them, and how many lack one of the values.
        y : array of shape (n_samples,), optional
            Their targets, for the colour of the points.
        features : pair of str or int, optional
            The two inputs, by name or number. By default, the two inputs that the model uses, if there are exactly two. One
            with levels (at most twelve) has one band per level.
        fixed : dict, optional
            The values at which to fix other inputs, by name or number; by default, their medians and most frequent levels.
        response_method : {"auto", "predict", "predict_proba", "score_samples"}, default="auto"
            What to show: the prediction, the probability of the positive class or, of many, of the predicted one, or the score
            of the positive class, unless there are many. ``"auto"`` means ``"predict_proba"`` for a classifier and
            ``"predict"``, the only choice, for a regressor.
        units : dict of str to str, optional
            The units of inputs, by name.
        given : array of shape (n_samples,), optional
            The exposure of each row, if the model has one, so that targets are shown for an exposure of 1. Without it, or if
            the model has an offset, numeric targets are not shown: those of the map are for an offset of 0.
        ax : matplotlib Axes, optional
            Where to draw; without it, in a new figure.

        Returns
        -------
        DecisionRegionsDisplay
        """
        model = drawing.fitted_model(estimator)
        rows = read_rows(model, X)
        block = rows.X
        target = None if y is None else _comparable(model, rows.target(y), given)
        plane = _plane(model, block, _two_columns(model, features), fixed or {})
        facets = _facets(model, plane)
        steps, boundary = _borders(model, plane, facets)
        polygons, scores = _shaded(model, plane, facets, response_method)
        response, response_name, limits = _response(model, response_method, scores, target)
        names, axis_names = model.feature_names, drawing.names_with_units(model, units)
        points, still = block.matrix[:, plane.columns], Facts(Block(model.columns, plane.row[None, :]))
        display = cls(
            regions=[plane.points(polygon) for polygon in polygons],
            scores=scores,
            response=response,
            response_name=response_name,
            limits=limits,
            steps=steps,
            boundary=boundary,
            points=points,
            target=target,
            labels=() if model.labels is None else tuple(str(label) for label in model.labels.values),
            names=(axis_names[plane.columns[0]], axis_names[plane.columns[1]]),
            fixed={names[j]: still.value(0, j) for j in model.ensemble.used_columns if j not in plane.columns},
            low=plane.low,
            high=plane.high,
            places=_places(model, plane, points),
            axes=(model.columns[plane.columns[0]], model.columns[plane.columns[1]]),
            given="" if model.offset is None else GIVEN[model.offset.kind],
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> DecisionRegionsDisplay:
        """Draw on the given axes, or in a new figure."""
        with drawing.axes_to_draw_on(ax, height=4.4) as ax:
            self.ax_, self.figure_ = ax, ax.figure
            self._fill()
            grey = drawing.GREY if self.labels else "white"  # stands out from the colours of the regions
            ax.add_collection(_segments(self.steps, colors=grey, linewidths=0.6, linestyles="--"))
            ax.add_collection(_segments(self.boundary, colors="black", linewidths=1.4))
            n_lines = self._mark_rows()
            ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
            ax.set_xlabel(drawing.wrapped(self.names[0], 4.8))
            ax.set_ylabel(drawing.wrapped(self.names[1], 3.2))
            for axis, column in zip((ax.xaxis, ax.yaxis), self.axes or (), strict=False):
                _label_values(axis, column)
            if remarks := self._remarks():
                pad = 6.0 + n_lines * (class_map.LEGEND_LINE if self.is_many else 14.0)  # above the legend
                ax.set_title(drawing.wrapped(remarks, 5.0), loc="left", color=drawing.GREY, pad=pad)
        return self

    @property
    def is_many(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.labels) > 2

    def _fill(self) -> None:
        """Fill the regions, by class or by number."""
        if self.is_many:
            self._draw_many_classes()
        elif self.response_name is None:
            self._draw_classes()
        else:
            self._draw_numbers(self.response_name)

    def _mark_rows(self) -> int:
        """Draw the rows and, of classes, the legend; return the number of lines of it."""
        if self.is_many:
            return self._draw_points_of_many()
        if self.labels and self.target is not None:
            self._draw_labelled_points(self.target)
            return 1
        self._draw_points()
        return 0

    def _remarks(self) -> str:
        """Return what the map does not show: the inputs that are fixed, and the rows that lie beyond it."""
        outside = int(((self.points < self.low) | (self.points > self.high)).any(axis=1).sum())
        rows = f"{outside} {'row lies' if outside == 1 else 'rows lie'} beyond the axes" if outside else ""
        absent = int(np.isnan(self.points).any(axis=1).sum())
        lacking = f"{absent} {'row lacks' if absent == 1 else 'rows lack'} a value" if absent else ""
        return "; ".join(filter(None, (_fixed_text(self.fixed) if self.fixed else "", self.given, rows, lacking)))

    def _draw_classes(self) -> None:
        """Fill the regions by class; a hatch marks the positive class in print without colour."""
        second = [region for region, label in zip(self.regions, self.response, strict=True) if label == 1.0]
        colours = np.array([drawing.PALE_BLUE, drawing.PALE_VERMILLION])[self.response.astype(np.intp)]
        self.ax_.add_collection(_polygons(self.regions, facecolors=colours, edgecolors="face", linewidths=0.3))
        self.ax_.add_collection(
            _polygons(second, facecolors="none", edgecolors=drawing.LIGHT_VERMILLION, hatch=drawing.HATCH, linewidths=0.0)
        )

    def _draw_many_classes(self) -> None:
        """Fill the regions by class, the stronger the more probable it is."""
        probability = None if self.response_name is None else self.response
        colours = class_map.region_colours(self.scores.argmax(axis=1), probability, len(self.labels))
        self.ax_.add_collection(_polygons(self.regions, facecolors=colours, edgecolors="face", linewidths=0.3))
        if self.response_name is not None:
            class_map.draw_scale(self.ax_, self.response_name, self.limits)

    def _draw_points_of_many(self) -> int:
        """Draw the rows and the legend, which names the classes that the map shows; return the number of lines of it."""
        drawn = self._drawn()
        points, marked = self._places()[drawn], {}
        if self.target is None:
            self._draw_points()
        else:
            marked = class_map.draw_points(self.ax_, points, self.target[drawn], _size(points))
        shown = sorted({*self.scores.argmax(axis=1).tolist(), *marked})
        return class_map.draw_legend(self.ax_, self.labels, shown, marked)

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

    def _draw_labelled_points(self, target: Matrix) -> None:
        looks = (
            {"marker": "o", "facecolors": drawing.BLUE, "edgecolors": "white", "linewidths": 0.4},
            {"marker": "x", "c": drawing.VERMILLION, "linewidths": 0.9},
        )
        drawn = self._drawn()
        points, target = self._places()[drawn], target[drawn]
        for code, (label, look) in enumerate(zip(self.labels, looks, strict=True)):
            self.ax_.scatter(*points[target == code].T, s=_size(points), label=drawing.wrapped(label, 1.8, 2), **look)
        # Beside the map, not on it: there is no corner that is always free of points.
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        self.ax_.legend(ncols=2, frameon=False, handletextpad=0.2, **place)

    def _draw_points(self) -> None:
        drawn = self._drawn()
        points = self._places()[drawn]
        if self.target is None:
            look: dict[str, Any] = {"facecolors": "none", "edgecolors": "black"}
        else:
            colours = {"cmap": self._colours(), "vmin": self.limits[0], "vmax": self.limits[1]}
            look = {"c": self.target[drawn], "edgecolors": "white", **colours}
        self.ax_.scatter(*points.T, s=_size(points), linewidths=0.4, **look)

    def _places(self) -> Matrix:
        return self.points if self.places is None else self.places

    def _drawn(self) -> slice:
        """Return which rows are drawn: too many would hide each other and the map."""
        return slice(None, None, -(-len(self.points) // MOST_POINTS))


def _size(points: Matrix) -> float:
    """Return the size of the points: the more points, the smaller."""
    return float(np.clip(6000 / max(len(points), 1), 10, 24))


def _polygons(polygons: list[Matrix], **look: Any) -> Any:
    from matplotlib.collections import PolyCollection

    return PolyCollection(polygons, **look)


def _segments(segments: Matrix, **look: Any) -> Any:
    from matplotlib.collections import LineCollection

    return LineCollection(list(segments), **look)


def _fixed_text(fixed: dict[str, Value]) -> str:
    inputs = [
        f"{name} is missing" if value is None else f"{name} = {value_text(value, rounded=True)}"
        for name, value in fixed.items()
    ]
    more = [f"and {len(inputs) - MOST_NAMED} more"] if len(inputs) > MOST_NAMED else []
    return "where " + ", ".join(inputs[:MOST_NAMED] + more)


def _label_values(axis: Any, column: Column) -> None:
    """Write levels, dates and times as what they are."""
    if column.kind == "date":
        axis.axis_date()  # it counts days since the beginning of 1970, too
    elif column.kind == "time":
        axis.set_major_formatter(lambda seconds, _: (EPOCH + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%d\n%H:%M"))
    elif n_bands(column):
        levels = (0, 1) if column.levels is None else column.levels
        axis.set_ticks(range(len(levels)), [drawing.wrapped(str(level), 1.2, 2) for level in levels])
        axis.set_tick_params(length=0)


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


def _plane(model: Model, block: Block, columns: tuple[int, int], fixed: Values) -> Plane:
    if not len(block):
        raise ValueError("X must have at least one row, to say how wide the map is.")
    row = with_values(model, "fixed", fixed, np.array([_usual_value(block, column) for column in range(block.n_columns)]))
    if np.isinf(row).any():
        raise ValueError(f"fixed must be a finite number for each input; got {dict(fixed)!r}.")
    low, high = np.array([_ends(block, column) for column in columns]).T
    return Plane(model.columns, columns, row, low, high)


def _present(block: Block, column: int) -> Matrix:
    values = block.matrix[:, column]
    return np.asarray(values[~np.isnan(values)])


def _usual_value(block: Block, index: int) -> float:
    """Return the median of a column or its most frequent level; NaN if all values are missing."""
    column, values = block.column(index), _present(block, index)
    if column.levels is not None:
        codes = values[values >= 0.0].astype(np.intp)
        return float(np.bincount(codes).argmax()) if codes.size else np.nan
    if not values.size:
        return np.nan
    # Between two dates, or 0 and 1, there may be nothing.
    return float(np.median(values) if column.kind == "number" else np.sort(values)[(len(values) - 1) // 2])


def _ends(block: Block, index: int) -> tuple[float, float]:
    """Return the ends of the axis of a column: half a band beyond levels, and a margin beyond numbers."""
    column, values = block.column(index), _present(block, index)
    n = n_bands(column)
    if column.levels is not None and not 1 <= n <= MOST_LEVELS:
        raise ValueError(f"An axis has room for 1 to {MOST_LEVELS} levels; '{column.name}' has {n}. Draw another input.")
    if n:
        return -0.5, n - 0.5
    if not values.size:
        raise ValueError(f"All values of '{column.name}' are missing in X, so that nothing says how wide the map is.")
    low, high = _usual_range_of(values)
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _usual_range_of(values: Matrix) -> tuple[float, float]:
    """Return the range of values, except extreme ones, beside which all others would be drawn on one spot."""
    low, high = np.quantile(values, [TAIL, 1.0 - TAIL]).tolist()
    lowest, highest = float(values.min()), float(values.max())
    if low == high:  # where all but a few values are equal there is no usual range
        return lowest, highest
    reach = BEYOND * (high - low)
    return max(lowest, low - reach), min(highest, high + reach)


def _places(model: Model, plane: Plane, points: Matrix) -> Matrix:
    """Return where to draw points: whole numbers are jittered, unless that puts a point on the wrong side of a threshold."""
    whole = (np.isnan(points) | (points == np.rint(points))).all(axis=0)
    jitter = np.where(whole, np.random.default_rng(0).uniform(-JITTER, JITTER, points.shape), 0.0)
    right, places = _belongs(model, plane, points), points.copy()
    for move in (-jitter, jitter):  # the last one that stays where it belongs
        stays = _alike(_belongs(model, plane, points + move), right)
        places[stays] = (points + move)[stays]
    return places


def _belongs(model: Model, plane: Plane, points: Matrix) -> Matrix:
    """Return what points of a region have in common: their scores or, with slopes, the rules that fire, and the class."""
    rows = plane.rows_at(points)
    scores = model.scores(rows)
    if not plane.is_sloped(model.ensemble):
        return scores
    classes = np.zeros(len(scores)) if model.labels is None else model.codes(scores)
    return np.column_stack([model.ensemble.fires(rows), classes])


def _alike(scores: Matrix, others: Matrix) -> NDArray[np.bool_]:
    """Say which rows have the same score, or with many classes the same scores."""
    same = scores == others
    return same if same.ndim == 1 else np.asarray(same.all(axis=1))


def _comparable(model: Model, target: Matrix, given: Any) -> Matrix | None:
    """Return targets as the map shows them: for an exposure of 1; None if numbers cannot be compared with it."""
    if model.offset is None or model.labels is not None:
        return target
    exposure = None if given is None or model.offset.kind == "offset" else model_offset(model, given, len(target))
    return None if exposure is None else np.asarray(target / exposure)


def _response(
    model: Model, method: str, scores: Matrix, target: Matrix | None
) -> tuple[Matrix, str | None, tuple[float, float]]:
    """Return the response at each score, its name, and the ends of its colour scale."""
    classifies, many = model.labels is not None, model.has_many_classes
    methods = (
        "auto",
        "predict",
        *(["predict_proba"] if classifies else []),
        *(["score_samples"] if classifies > many else []),
    )
    if method not in methods:
        raise ValueError(f"response_method must be one of {', '.join(map(repr, methods))}; got {method!r}.")
    if method == "score_samples":
        reach = float(np.abs(scores).max()) or 1.0
        return scores, model.wording.total, (-reach, reach)
    if classifies and method == "predict":
        return model.codes(scores).astype(np.float64), None, (0.0, 1.0)
    response = model.means(scores)
    if many:
        return response.max(axis=1), "probability of the predicted class", (1.0 / response.shape[1], 1.0)
    return response, model.mean_name, (0.0, 1.0) if classifies else _usual_range(response, target)


def _usual_range(response: Matrix, target: Matrix | None) -> tuple[float, float]:
    """Return the range of predictions and targets, except extreme targets, beside which all others would look alike."""
    usual = response if target is None else np.quantile(target, [0.02, 0.98])
    low, high = float(min(response.min(), usual.min())), float(max(response.max(), usual.max()))
    return low, high if high > low else low + 1.0


def _facets(model: Model, plane: Plane) -> Facets:
    """Return the polygons between the lines at which the score jumps or bends, and with slopes those at which a class ends."""
    lines = plane.lines(model.ensemble)
    facets = _facets_between(model, plane, lines)
    if model.labels is None or not plane.is_sloped(model.ensemble):
        return facets
    leads = (
        [facets] if facets.scores.ndim == 1 else [facets.leads(*two) for two in combinations(range(facets.scores.shape[1]), 2)]
    )
    # Through the whole map, so that where two polygons meet they have the same corners.
    return _facets_between(model, plane, [*lines, *(line for lead in leads for line in lead.level_lines(0.0))])


def _facets_between(model: Model, plane: Plane, lines: Sequence[tuple[float, float, float]]) -> Facets:
    polygons = cut(lines)
    points = middles(polygons)
    return Facets(polygons, points, model.scores(plane.rows(points)), plane.gradients(model.ensemble, points))


def _shaded(model: Model, plane: Plane, facets: Facets, method: str) -> tuple[list[Matrix], Matrix]:
    """Return the polygons, with slopes cut so that the response is nearly the same in each, and the scores in their middles."""
    classes_alone = model.labels is not None and method == "predict"
    if classes_alone or not plane.is_sloped(model.ensemble):
        return facets.polygons, facets.scores
    if facets.scores.ndim == 2:
        # What the lead over the runner-up says of the probability is nearly all.
        ranked = np.argsort(-facets.scores, axis=1, kind="stable")
        shares = np.linspace(0.5, 1.0, SHADES // 2 + 1)[1:-1]
        polygons = facets.leads(ranked[:, 0], ranked[:, 1]).cut_at(np.log(shares / (1.0 - shares)))
        return polygons, model.scores(plane.rows(middles(polygons)))
    heights = np.concatenate(facets.heights())
    low, high = float(heights.min()), float(heights.max())
    if method == "score_samples":
        levels = np.linspace(low, high, SHADES + 1)[1:-1]
    else:
        low, high = model.means(np.array([low, high])).tolist()
        levels = np.array([model.loss.link(mean) for mean in np.linspace(low, high, SHADES + 1)[1:-1].tolist()])
    polygons = facets.cut_at(levels)
    return polygons, model.scores(plane.rows(middles(polygons)))


def _borders(model: Model, plane: Plane, facets: Facets) -> tuple[Matrix, Matrix]:
    """Return the edges at which the score jumps, and those at which the class changes."""
    owner, ends, beyond = edges(facets.polygons)
    here, there = facets.scores[owner], model.scores(plane.rows(beyond))
    sloped = plane.is_sloped(model.ensemble)
    # Each edge is seen from both of its sides: count the one with the lower score, the first that differs if there are many.
    if sloped:
        jumps = _sloped_jumps(facets, owner, ends, beyond, there, plane.gradients(model.ensemble, beyond))
    else:
        jumps = _first_difference(here, there)
    lower = jumps < 0.0
    if sloped and model.has_many_classes:
        turns = np.asarray(model.codes(here) < model.codes(there))
    else:
        turns = (here < there if sloped else lower) & (model.labels is not None)
        turns[turns] = model.codes(here[turns]) != model.codes(there[turns])
    return plane.points(ends[lower]), plane.points(ends[turns])


def _sloped_jumps(
    facets: Facets, owner: NDArray[np.intp], ends: Matrix, beyond: Matrix, scores: Matrix, slopes: Matrix
) -> Matrix:
    """Return by how much scores jump at edges; with many classes, of the first class that does."""
    if scores.ndim == 1:
        return _jumps(facets, owner, ends, beyond, scores, slopes)
    outputs = range(scores.shape[1])
    jumps = np.column_stack([_jumps(facets.of(k), owner, ends, beyond, scores[:, k], slopes[:, :, k]) for k in outputs])
    return _first_difference(jumps, np.zeros_like(jumps))


def _jumps(facets: Facets, owner: NDArray[np.intp], ends: Matrix, beyond: Matrix, scores: Matrix, slopes: Matrix) -> Matrix:
    """Return by how much scores jump at edges, given scores and slopes beyond them: zero if at neither end of the edge.

    On the lower side, that is negative. The ends belong to both sides, so the score there is computed from within each.
    """
    here = facets.scores[owner, None] + _dot(ends - facets.middles[owner, None], facets.gradients[owner, None])
    there = scores[:, None] + _dot(ends - beyond[:, None], slopes[:, None])
    size = np.abs(here) + np.abs(there) + np.abs(facets.gradients[owner]).sum(axis=1, keepdims=True)
    jumps = np.where(np.abs(here - there) > ROUNDING * size, here - there, 0.0)
    total = jumps.sum(axis=1)
    # What rises at one end as much as it falls at the other is a jump on either side.
    return np.where(total == 0.0, -np.abs(jumps[:, 0]), total)


def _dot(vectors: Matrix, others: Matrix) -> Matrix:
    return np.asarray((vectors * others).sum(axis=-1))


def _first_difference(scores: Matrix, others: Matrix) -> Matrix:
    """Return the difference of scores; with many classes, of the first class that has one."""
    if scores.ndim == 1:
        return scores - others
    first = (scores != others).argmax(axis=1)[:, None]
    return np.asarray(np.take_along_axis(scores - others, first, axis=1)[:, 0])
