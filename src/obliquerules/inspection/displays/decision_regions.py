"""Decision regions: what a model predicts for two of its inputs, as a map with the rows on it."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions
from obliquerules.data.model_rows import read_rows
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.displays import drawing
from obliquerules.inspection.variables import Facts, Value, Values, column_of, value_text, with_values
from obliquerules.rules import Block, Column, Columns, Model, Rule
from obliquerules.rules.columns import EPOCH

# The pixels of the map, about twice those of a figure.
PIXELS = (1000, 700)
# How many numbers are looked at in one go.
MOST_NUMBERS = 4_000_000
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
# For which exposure or offset a map is drawn.
GIVEN = {"exposure": "for an exposure of 1", "offset": "at an offset of 0"}
# In inches: the room for a legend, and for the patch and the gaps beside the name of a class; in points: the height of a line.
LEGEND_WIDTH, HANDLE, LEGEND_LINE = 5.0, 0.55, 15.0


@dataclass(eq=False)
class DecisionRegionsDisplay:
    """A map of two inputs, coloured by what the model predicts there.

    The model predicts the middle of each pixel, at about twice the resolution of the figure. Dashed lines are borders of
    conditions where the score jumps; black lines are borders between classes. With many classes, each class has a colour, which
    is stronger where the class is more probable. Create it with `from_estimator`.

    Parameters
    ----------
    scores : array of shape (n_vertical, n_horizontal) or (n_vertical, n_horizontal, n_classes)
        The score in the middle of each pixel, from the lower left corner on.
    response : array of shape (n_vertical, n_horizontal)
        What is shown by colour: a class (0, 1, ...), a probability, a score or a prediction. With many classes, the probability
        is that of the predicted one.
    response_name : str or None
        The name of the response; None for classes.
    limits : tuple of float
        The ends of the colour scale.
    steps : list of arrays of shape (n_vertical, n_horizontal)
        For each rule whose border is a jump of the score, where it fires.
    codes : array of shape (n_vertical, n_horizontal) or None
        The predicted class (0, 1, ...), if there are classes.
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

    scores: Matrix
    response: Matrix
    response_name: str | None
    limits: tuple[float, float]
    steps: list[Mask]
    codes: Positions | None
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
        scores, steps = _asked(model, plane)
        response, response_name, limits = _response(model, response_method, scores, target)
        names, axis_names = model.feature_names, drawing.names_with_units(model, units)
        points, still = block.matrix[:, plane.columns], Facts(Block(model.columns, plane.row[None, :]))
        display = cls(
            scores=scores,
            response=response,
            response_name=response_name,
            limits=limits,
            steps=steps,
            codes=None if model.labels is None else model.codes(scores),
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
            if self.codes is not None and self._shows_classes:
                self._fill_classes(self.codes)
            else:
                self._fill_numbers(self.response_name or "")
            grey = drawing.GREY if self.labels else "white"  # stands out from the colours of the regions
            self._draw_borders(self.steps, colors=grey, linewidths=0.6, linestyles="--")
            if self.codes is not None:
                self._draw_borders([self.codes == code for code in np.unique(self.codes)[1:]], colors="black", linewidths=1.4)
            n_lines = self._draw_points()
            ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
            ax.set_xlabel(drawing.wrapped(self.names[0], 4.8))
            ax.set_ylabel(drawing.wrapped(self.names[1], 3.2))
            for axis, column in zip((ax.xaxis, ax.yaxis), self.axes or (), strict=False):
                _label_values(axis, column)
            if remarks := self._remarks():
                pad = 6.0 + n_lines * LEGEND_LINE  # above the legend
                ax.set_title(drawing.wrapped(remarks, 5.0), loc="left", color=drawing.GREY, pad=pad)
        return self

    @property
    def _shows_classes(self) -> bool:
        return self.response_name is None or self.scores.ndim == 3

    def _remarks(self) -> str:
        """Return what the map does not show: the inputs that are fixed, and the rows that lie beyond it."""
        outside = int(((self.points < self.low) | (self.points > self.high)).any(axis=1).sum())
        rows = f"{outside} {'row lies' if outside == 1 else 'rows lie'} beyond the axes" if outside else ""
        absent = int(np.isnan(self.points).any(axis=1).sum())
        lacking = f"{absent} {'row lacks' if absent == 1 else 'rows lack'} a value" if absent else ""
        inputs = [
            f"{name} is missing" if value is None else f"{name} = {value_text(value, rounded=True)}"
            for name, value in self.fixed.items()
        ]
        more = [f"and {len(inputs) - MOST_NAMED} more"] if len(inputs) > MOST_NAMED else []
        where = "where " + ", ".join(inputs[:MOST_NAMED] + more) if inputs else ""
        return "; ".join(filter(None, (where, self.given, rows, lacking)))

    def _fill(self, response: Matrix, **look: Any) -> Any:
        """Fill the map with colours or numbers."""
        extent = (self.low[0], self.high[0], self.low[1], self.high[1])
        return self.ax_.imshow(response, extent=extent, origin="lower", aspect="auto", interpolation="nearest", **look)

    def _fill_classes(self, codes: Positions) -> None:
        """Fill the map by class, the stronger the more probable it is, if that is shown."""
        least = 1.0 / len(self.labels)
        shares = np.full(codes.shape, 0.6) if self.response_name is None else (self.response - least) / (1.0 - least)
        present, colour = np.unique(codes, return_inverse=True)
        colours = np.array([drawing.tints([drawing.class_colour(code)], np.ones(1))[0] for code in present.tolist()])
        white = (drawing.share_of_colour(shares) / drawing.STRONG)[..., None]
        self._fill(1.0 - white * (1.0 - colours[colour.reshape(codes.shape)]))
        if self.response_name is not None:
            from matplotlib.cm import ScalarMappable
            from matplotlib.colors import ListedColormap, Normalize

            greys = ListedColormap(drawing.tints(["black"] * 64, np.linspace(0.0, 1.0, 64)))
            self._add_scale(ScalarMappable(Normalize(*self.limits), greys), self.response_name)

    def _fill_numbers(self, name: str) -> None:
        """Fill the map by number."""
        low, high = self.limits
        filled = self._fill(self.response, cmap=self._colours(), vmin=low, vmax=high)
        extend = "neither"  # at which ends targets lie beyond the scale
        if not self.labels and self.target is not None:
            below, above = bool((self.target < low).any()), bool((self.target > high).any())
            extend = {(True, False): "min", (False, True): "max", (True, True): "both"}.get((below, above), extend)
        self._add_scale(filled, name, extend=extend)

    def _add_scale(self, filled: Any, name: str, **look: Any) -> None:
        """Draw the scale of colours beside the map."""
        bar = self.figure_.colorbar(filled, ax=self.ax_, pad=0.02, aspect=30, **look)
        bar.set_label(drawing.wrapped(name, 3.2))
        bar.outline.set_visible(False)

    def _colours(self) -> Any:
        """Return the colours of numbers: white where a classifier is undecided."""
        from matplotlib.colors import LinearSegmentedColormap

        if not self.labels:
            return "cividis"
        return LinearSegmentedColormap.from_list("undecided", [drawing.LIGHT_BLUE, "white", drawing.LIGHT_VERMILLION])

    def _draw_borders(self, areas: Sequence[Mask], **look: Any) -> None:
        """Draw the borders of areas, through the middle between pixels."""
        (height, width), reach = self.scores.shape[:2], self.high - self.low
        x, y = (low + (np.arange(n) + 0.5) * size / n for low, n, size in zip(self.low, (width, height), reach, strict=True))
        for area in areas:
            self.ax_.contour(x, y, area, levels=[0.5], **look)

    def _draw_points(self) -> int:
        """Draw the rows and, of classes, the legend; return the number of lines of it."""
        places = self.points if self.places is None else self.places
        drawn = slice(None, None, -(-len(places) // MOST_POINTS))  # too many would hide each other and the map
        places, target = places[drawn], None if self.target is None else self.target[drawn]
        size = float(np.clip(6000 / max(len(places), 1), 10, 24))
        marked: dict[int, Any] = {}
        if target is None:
            self.ax_.scatter(*places.T, s=size, linewidths=0.4, facecolors="none", edgecolors="black")
        elif self.labels:
            for code in np.unique(target).astype(np.intp).tolist():
                marked[code] = self.ax_.scatter(*places[target == code].T, s=size, **drawing.class_points(code))
        else:
            low, high = self.limits
            look = {"cmap": self._colours(), "vmin": low, "vmax": high, "edgecolors": "white"}
            self.ax_.scatter(*places.T, s=size, linewidths=0.4, c=target, **look)
        filled = set(np.unique(self.codes).tolist()) if self.codes is not None and self._shows_classes else set()
        return self._draw_legend(sorted(filled | set(marked)), marked, filled)

    def _draw_legend(self, shown: Sequence[int], marked: Mapping[int, Any], filled: set[int]) -> int:
        """Name classes above the map, where no point is; return the number of lines that this takes."""
        from matplotlib.patches import Patch

        if not shown:
            return 0
        names = [drawing.wrapped(self.labels[code], 1.8, 2) for code in shown]
        tints = drawing.tints([drawing.class_colour(code) for code in shown], np.full(len(shown), 0.6))
        patches = [Patch(facecolor=colour, edgecolor="none") for colour in tints]
        # A marker stands on the patch of its class.
        both = [(patch, marked[code]) if code in marked else patch for patch, code in zip(patches, shown, strict=True)]
        handles = both if filled else [marked[code] for code in shown]
        widest = max(drawing.text_width(line) for name in names for line in name.split("\n"))
        n_lines = math.ceil(len(names) / max(1, int(LEGEND_WIDTH / (widest + HANDLE))))
        n_columns = math.ceil(len(names) / n_lines)
        # A legend is filled column by column, and read line by line.
        order = [k for first in range(n_columns) for k in range(first, len(names), n_columns)]
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        look = {"frameon": False, "handletextpad": 0.4, "columnspacing": 1.0, "handlelength": 1.6, "handleheight": 0.9}
        self.ax_.legend([handles[k] for k in order], [names[k] for k in order], ncols=n_columns, **place, **look)
        return n_lines * max(map(drawing.n_lines, names))


@dataclass(frozen=True, eq=False)
class _Plane:
    """A rectangle in two of the inputs, with the others fixed.

    An input with levels has a band for each, around its code, and so has one of 0 and 1.
    """

    inputs: Columns
    columns: tuple[int, int]
    row: Matrix
    low: Matrix
    high: Matrix

    def rows_at(self, points: Matrix) -> Block:
        """Return points in the units of the data as rows of inputs; everywhere in a band is the same value."""
        rows = np.tile(self.row, (len(points), 1))
        for column, values in zip(self.columns, points.T, strict=True):
            n = n_bands(self.inputs[column])
            rows[:, column] = np.where(values >= -0.5, np.clip(np.round(values), 0.0, n - 1.0), values) if n else values
        return Block(self.inputs, rows)

    def axis(self, k: int) -> Matrix:
        """Return the middles of the pixels along an axis."""
        return np.asarray(self.low[k] + (np.arange(PIXELS[k]) + 0.5) / PIXELS[k] * (self.high[k] - self.low[k]))


def _asked(model: Model, plane: _Plane) -> tuple[Matrix, list[Mask]]:
    """Return the score at each pixel and, for each rule at whose border it jumps, where the rule fires."""
    ensemble, (x, y) = model.ensemble, (plane.axis(0), plane.axis(1))
    n_lines = max(1, MOST_NUMBERS // (len(x) * len(plane.row)))
    parts = [np.stack(np.meshgrid(x, y[i : i + n_lines]), axis=-1).reshape(-1, 2) for i in range(0, len(y), n_lines)]
    blocks = [plane.rows_at(part) for part in parts]
    scores = np.concatenate([model.scores(block) for block in blocks])
    fires = np.concatenate([ensemble.fires(block) for block in blocks]).reshape(len(y), len(x), len(ensemble))
    steps = [fires[..., i] for i, rule in enumerate(ensemble) if _jumps(rule, plane, fires[..., i])]
    return scores.reshape(len(y), len(x), *scores.shape[1:]), steps


def _jumps(rule: Rule, plane: _Plane, fires: Mask) -> bool:
    """Say whether a rule adds more beside its border than its slope does from pixel to pixel."""
    factor = rule.factor
    if not any(rule.weights) or fires.all() or not fires.any():
        return False
    if factor is None or factor.column not in plane.columns:
        return True
    k = plane.columns.index(factor.column)
    values = plane.axis(k)
    adds = np.abs(np.clip(values, factor.lower, factor.upper) - factor.origin) > 2.0 * (values[1] - values[0])
    there = fires & (adds[:, None] if k else adds)
    return any(bool((np.diff(fires, axis=k) & np.diff(there, axis=k)).any()) for k in (0, 1))


def n_bands(column: Column) -> int:
    """Return how many bands an axis of a column has; zero for one of numbers."""
    if column.levels is not None:
        return len(column.levels)
    return 2 if column.kind == "flag" else 0


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


def _plane(model: Model, block: Block, columns: tuple[int, int], fixed: Values) -> _Plane:
    if not len(block):
        raise ValueError("X must have at least one row, to say how wide the map is.")
    row = with_values(model, "fixed", fixed, np.array([_usual_value(block, column) for column in range(block.n_columns)]))
    if np.isinf(row).any():
        raise ValueError(f"fixed must be a finite number for each input; got {dict(fixed)!r}.")
    low, high = np.array([_ends(block, column) for column in columns]).T
    return _Plane(model.columns, columns, row, low, high)


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
    # Beside extreme values, all others would be drawn on one spot; where all but a few values are equal, none is usual.
    low, high = np.quantile(values, [TAIL, 1.0 - TAIL]).tolist()
    reach = BEYOND * (high - low) if low < high else np.inf
    low, high = max(float(values.min()), low - reach), min(float(values.max()), high + reach)
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _places(model: Model, plane: _Plane, points: Matrix) -> Matrix:
    """Return where to draw points: whole numbers are jittered, unless that puts a point on the wrong side of a threshold."""
    whole = (np.isnan(points) | (points == np.rint(points))).all(axis=0)
    jitter = np.where(whole, np.random.default_rng(0).uniform(-JITTER, JITTER, points.shape), 0.0)
    right, places = _belongs(model, plane, points), points.copy()
    for move in (-jitter, jitter):  # the last one that stays where it belongs
        stays = (_belongs(model, plane, points + move) == right).all(axis=1)
        places[stays] = (points + move)[stays]
    return places


def _belongs(model: Model, plane: _Plane, points: Matrix) -> Matrix:
    """Return which rules fire at points, and the predicted class, if there is one."""
    rows = plane.rows_at(points)
    classes = np.zeros(len(points)) if model.labels is None else model.codes(model.scores(rows))
    return np.column_stack([model.ensemble.fires(rows), classes])


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
    classifies, many = model.labels is not None, scores.ndim == 3
    methods = ["auto", "predict", *["predict_proba"] * classifies, *["score_samples"] * (classifies and not many)]
    if method not in methods:
        raise ValueError(f"response_method must be one of {', '.join(map(repr, methods))}; got {method!r}.")
    if method == "score_samples":
        reach = float(np.abs(scores).max()) or 1.0
        return scores, model.wording.total, (-reach, reach)
    if classifies and method == "predict":
        return model.codes(scores).astype(np.float64), None, (0.0, 1.0)
    response = model.means(scores)
    if many:
        return response.max(axis=-1), "probability of the predicted class", (1.0 / response.shape[-1], 1.0)
    if classifies:
        return response, model.mean_name, (0.0, 1.0)
    # Beside extreme targets, all others would look alike.
    usual = response if target is None else np.quantile(target, [0.02, 0.98])
    low, high = float(min(response.min(), usual.min())), float(max(response.max(), usual.max()))
    return response, model.mean_name, (low, high if high > low else low + 1.0)
