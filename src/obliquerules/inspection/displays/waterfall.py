"""Waterfall: how the rules that fire for one row add up to its score and prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.data.model_rows import read_rows
from obliquerules.inspection.classes import difference, weights_of
from obliquerules.inspection.displays import drawing
from obliquerules.inspection.explanation import RowExplanation, explain
from obliquerules.losses import LOSSES, Loss
from obliquerules.rules.numbers import readable
from obliquerules.rules.text.style import PLAIN

LABEL_WIDTH = 3.0  # in inches
# How much less text fits in bold type.
BOLD = 0.88
# In lines of text: the gap between two bars, and the thickness of a bar.
GAP, THICKNESS = 0.8, 1.1
# As shares of the width: the room for the numbers beside the bars, and the least distance between two marks.
ROOM, APART = 0.25, 0.12


@dataclass(frozen=True)
class Bar:
    """One bar of a waterfall: its label, where it starts, and how far it goes up or down."""

    label: str
    start: float
    change: float
    is_rule: bool = False

    @property
    def look(self) -> dict[str, Any]:
        """The colour of the bar."""
        return drawing.bar_look(self.change) if self.is_rule else {"color": drawing.GREY}


@dataclass(eq=False)
class WaterfallDisplay:
    """The score of one row as a sum: the constant, and the weight of each rule that fires, times its factor if it has one.

    With many classes, what is added up is the difference between the scores of the predicted class and of another one, by
    default the runner-up: the log-odds of one against the other. It is recommended to use `from_estimator`.

    Parameters
    ----------
    explanation : RowExplanation
        One row of what ``model.explain(X)`` returns.
    loss : Loss or None
        The loss of the model, whose link gives the scale of predictions above the scores; None for no such scale. With many
        classes, the logistic one: it is between two of them.
    mean_name : str
        What the predictions on that scale are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifier
    >>> from obliquerules.inspection import WaterfallDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifier(max_rules=3, random_state=0).fit(X, y)
    >>> display = WaterfallDisplay.from_estimator(model, X, row=7)
    >>> float(display.ends[-1]) == float(model.score_samples(X)[7])
    True
    """

    explanation: RowExplanation
    loss: Loss | None = None
    mean_name: str = "prediction"
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        row: int = 0,
        *,
        all_rules: bool = False,
        versus: Any = None,
        given: Any = None,
        ax: Any = None,
    ) -> WaterfallDisplay:
        """Draw why a fitted model predicts what it does for one row.

        Parameters
        ----------
        estimator : fitted rule model
        X : data frame or array of shape (n_samples, n_features)
        row : int, default=0
            The position of the row in X.
        all_rules : bool, default=False
            Also list the rules that do not fire.
        versus : object, optional
            With many classes, the label of the one with which the predicted class is compared; by default, the runner-up.
        given : array of shape (n_samples,) or (n_samples, n_classes), optional
            The exposure or the offset of each row, if the model has one.
        ax : matplotlib Axes, optional
            Where to draw; without it, in a new figure, which is as high as the rules need.

        Returns
        -------
        WaterfallDisplay
        """
        model = drawing.fitted_model(estimator)
        rows = read_rows(model, X).with_given(given)
        if not -len(rows) <= row < len(rows):
            raise ValueError(f"row must be the position of one of the {len(rows)} rows of X; got {row!r}.")
        one = rows.rows([row])
        explanation = explain(model, one.X, one.unseen_levels, one.given, versus=versus)[0]
        explanation = replace(explanation, row=row % len(rows))
        if (two := explanation.between) is not None:
            name = f"probability of {model.class_word(two.first)} rather than {model.class_word(two.second)}"
            return cls(explanation, LOSSES["logistic"], name).plot(ax, all_rules=all_rules)
        display = cls(explanation, model.loss, model.mean_name)
        return display.plot(ax, all_rules=all_rules)

    @property
    def changes(self) -> Vector:
        """The constant with the offset, if one is given, and what each rule adds: its weight, times its factor if
        it has one, or nothing if it does not fire.

        With many classes, these are differences between two of them.
        """
        row = self.explanation
        start = row.shown(row.intercept) + (0.0 if row.offset is None else row.shown(row.offset.amount))
        return np.array([start, *(row.shown(rule.contribution) for rule in row.rules)])

    @property
    def ends(self) -> Vector:
        """The score after the constant and after each rule; the last one is the score of the row, to the last bit.

        With many classes, these are differences between the scores of two of them.
        """
        row = self.explanation
        start = np.array(weights_of(row.intercept)) + (0.0 if row.offset is None else np.array(weights_of(row.offset.amount)))
        scores = np.cumsum([start, *(weights_of(rule.contribution) for rule in row.rules)], axis=0)
        return np.array([row.shown(tuple(score)) for score in scores.tolist()])

    def plot(self, ax: Any = None, *, all_rules: bool = False) -> WaterfallDisplay:
        """Draw on the given axes, or in a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        all_rules : bool, default=False
            Also list the rules that do not fire.
        """
        bars = self._bars(all_rules)
        sizes = np.array([max(drawing.n_lines(bar.label), THICKNESS) + GAP for bar in bars])
        with drawing.axes_to_draw_on(ax, height=1.1 + drawing.LINE * sizes.sum(), width=7.0) as ax:
            self.ax_, self.figure_ = ax, ax.figure
            places = np.cumsum(sizes) - 0.5 * sizes
            self._draw_bars(bars, places)
            ax.set_ylim(sizes.sum(), 0.0)
            ax.set_yticks(places, [bar.label for bar in bars], linespacing=1.1)
            ax.get_yticklabels()[-1].set_fontweight("bold")
            ax.tick_params("y", length=0)
            ax.set_xlabel(drawing.wrapped(self.explanation.total, 3.4))
            ax.spines[["top", "right", "left"]].set_visible(False)
            if self.loss is not None and self.loss.factor_name is not None:
                self._draw_predictions(self.loss)
        return self

    def _bars(self, all_rules: bool) -> list[Bar]:
        row = self.explanation
        spoken, ends = row.spoken, self.ends.tolist()
        listed = [rule for rule in spoken if rule.fires or all_rules]
        lines = drawing.label_lines(len(listed))
        constant = row.shown(row.intercept)
        bars = [Bar("constant, with which every score starts", 0.0, constant)]
        if row.offset is not None:
            bars.append(
                Bar(drawing.wrapped(row.offset.words(row.between), LABEL_WIDTH), constant, row.shown(row.offset.amount))
            )
        for rule in listed:
            reason = rule.reasons(margins=False)
            if row.between is not None:  # for which classes the rule has a weight
                reason += f": {drawing.glued(row.between.named(rule.weight))}"
            label = drawing.wrapped(reason, LABEL_WIDTH, lines)
            bars.append(Bar(label, ends[rule.rule], row.shown(rule.contribution), is_rule=True))
        score, missed, silent = row.shown(row.score), len(spoken) - len(listed), len(row.rules) - len(spoken)
        if missed:
            others = "other rule does" if missed == 1 else "other rules do"
            bars.append(Bar(f"{missed} {others} not apply", score, 0.0, is_rule=True))
        if silent:
            others = "rule says" if silent == 1 else "rules say"
            bars.append(Bar(drawing.wrapped(f"{silent} {others} nothing of the two", LABEL_WIDTH), score, 0.0, is_rule=True))
        return [*bars, Bar(drawing.wrapped(row.headline, BOLD * LABEL_WIDTH), 0.0, score)]

    def _draw_bars(self, bars: list[Bar], places: Vector) -> None:
        """Draw the bars with their numbers, and lines from each bar to the next."""
        ax = self.ax_
        corners = np.array([[0.0, 0.0], *([bar.start, bar.start + bar.change] for bar in bars)])
        width = float(np.ptp(corners)) or 1.0
        for bar, place in zip(bars, places, strict=True):
            end = bar.start + bar.change
            ax.barh(place, bar.change, left=bar.start, height=THICKNESS, **bar.look)
            side = -1.0 if bar.change < 0.0 else 1.0
            text = PLAIN.signed(bar.change) if bar.change or not bar.is_rule else "0"
            number = ax.text(end + 0.015 * side * width, place, text, va="center", ha="right" if side < 0.0 else "left")
            number.set_bbox({"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5})
        for (_, end), above, below in zip(corners[1:], places[:-1], places[1:], strict=False):
            ax.plot([end, end], [above, below], color=drawing.GREY, linewidth=0.7, zorder=0)
        ax.axvline(0.0, color="black", linewidth=0.7, zorder=0)
        ax.set_xlim(corners.min() - ROOM * width, corners.max() + ROOM * width)

    def _draw_predictions(self, loss: Loss) -> None:
        """Draw the scale of predictions above the bars; an exposure, under a log link, shifts it."""
        low, high = self.ax_.get_xlim()
        exposure = self.explanation.exposure
        shift = 0.0 if exposure is None else math.log(difference(exposure.amount))
        means = landmarks(loss, low + shift, high + shift)
        above = self.ax_.twiny()
        above.set_xlim(low, high)
        above.set_xticks([loss.link(mean) - shift for mean in means], [readable(mean) for mean in means])
        at = "" if exposure is None else f", {exposure.names[0]} = {readable(difference(exposure.amount))}"
        above.set_xlabel(drawing.wrapped(f"{self.mean_name}{at}", 3.4))
        above.spines[["right", "left", "bottom"]].set_visible(False)


def landmarks(loss: Loss, low: float, high: float) -> list[float]:
    """Return predictions in few digits, well apart, to mark on a scale of scores.

    >>> from obliquerules.losses import LOSSES
    >>> landmarks(LOSSES["logistic"], -4.0, 3.0), landmarks(LOSSES["poisson"], 0.0, 4.0)
    ([0.02, 0.1, 0.3, 0.5, 0.7, 0.9], [1.0, 2.0, 5.0, 10.0, 20.0, 50.0])
    """
    # In order of precedence: 0.5, then powers of ten, then others that fill the gaps.
    candidates = [0.5, *(float(f"{digit}e{exponent}") for digit in (1, 5, 2, 3, 4, 7, 6, 8, 9) for exponent in range(-9, 10))]
    if loss.inverse_link(np.array([np.inf]))[0] == 1.0:  # a probability: as fine near one as near zero
        candidates = [mean for share in candidates if share <= 0.5 for mean in (share, 1.0 - share)]
    taken: dict[float, float] = {}
    for mean in candidates:
        score = loss.link(mean)
        if low <= score <= high and all(abs(score - other) > APART * (high - low) for other in taken):
            taken[score] = mean
    return [taken[score] for score in sorted(taken)]
