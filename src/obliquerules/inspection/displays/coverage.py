"""Coverage: how many rows each rule covers, and which rules fire together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.data.model_rows import read_rows
from obliquerules.inspection.displays import drawing

LABEL_WIDTH = 2.8  # in inches
# In lines of text: the gap between two rules, and the thickness of a bar.
GAP, THICKNESS = 0.8, 1.1
# In units of the bar of a rule that covers all rows: where the overlaps start, and the widths of one column, of all columns
# and of the heading above them.
FIRST_COLUMN, COLUMN, ALL_COLUMNS, HEADING = 1.25, 0.16, 1.6, 1.2
# The largest numbers of columns with legible numbers in the cells, and below the columns.
MOST_NUMBERS, MOST_TICKS = 12, 20


@dataclass(eq=False)
class CoverageDisplay:
    """The share of rows that each rule covers, and how much the rules overlap.

    The overlap of two rules is their Jaccard index: of the rows covered by either, the share that is covered by both. It is
    recommended to use `from_estimator`.

    Parameters
    ----------
    rules : tuple of str
        The rules as text, in the order of the ensemble.
    weights : array of shape (n_rules,) or (n_rules, n_classes)
        Their weights.
    coverage : array of shape (n_rules,)
        The share of the rows for which each fires.
    overlap : array of shape (n_rules, n_rules)
        The overlap of each pair; NaN where neither rule covers a row.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifier
    >>> from obliquerules.inspection import CoverageDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifier(max_rules=3, random_state=0).fit(X, y)
    >>> display = CoverageDisplay.from_estimator(model, X)
    >>> bool((display.coverage == model.ensemble_.fires(X).mean(axis=0)).all())
    True
    """

    rules: tuple[str, ...]
    weights: Matrix
    coverage: Matrix
    overlap: Matrix
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> CoverageDisplay:
        """Draw which rows the rules of a fitted model cover.

        Parameters
        ----------
        estimator : fitted rule model
        X : data frame or array of shape (n_samples, n_features)
        ax : matplotlib Axes, optional
            Where to draw; without it, in a new figure, which is as high as the rules need.

        Returns
        -------
        CoverageDisplay
        """
        model = drawing.fitted_model(estimator)
        ensemble = model.ensemble
        fires = ensemble.fires(read_rows(model, X).X)
        covers = fires.astype(np.float64)
        both = np.einsum("ni,nj->ij", covers, covers)
        either = both.diagonal()[:, None] + both.diagonal() - both
        display = cls(
            rules=tuple(rule.describe(ensemble.columns, outputs=ensemble.outputs) for rule in ensemble),
            weights=ensemble.weight_table[1:],
            coverage=fires.mean(axis=0),
            overlap=np.divide(both, either, out=np.full_like(both, np.nan), where=either > 0.0),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw on the given axes, or in a new figure."""
        lines = drawing.label_lines(len(self.rules))
        rules = self.rules if self.weights.ndim == 1 else tuple(map(drawing.glued, self.rules))
        labels = [drawing.wrapped(f"{index}:  {rule}", LABEL_WIDTH, lines) for index, rule in enumerate(rules)]
        sizes = np.array([max(drawing.n_lines(label), THICKNESS) + GAP for label in labels])
        with drawing.axes_to_draw_on(ax, height=0.9 + drawing.LINE * max(sizes.sum(), 3.0), width=7.5) as ax:
            self.ax_, self.figure_ = ax, ax.figure
            if not labels:
                ax.text(0.5, 0.5, "No rules: the model is a constant.", ha="center", va="center", transform=ax.transAxes)
                ax.set(xticks=[], yticks=[])
                return self
            edges = np.concatenate([[0.0], np.cumsum(sizes)])
            places = 0.5 * (edges[1:] + edges[:-1])
            # Each pair is shown once, in the line of the later rule: the last rule needs no column, and a single rule none.
            width = min(COLUMN, ALL_COLUMNS / len(labels))
            columns = np.array([FIRST_COLUMN + width * column for column in range(len(labels))])
            for place, share, weight in zip(places, self.coverage, self.weights, strict=True):
                ax.barh(place, share, height=THICKNESS, **drawing.bar_look(weight))
                ax.text(share + 0.02, place, f"{100 * share:.0f} %", va="center")
            if len(labels) > 1:
                self._draw_overlaps(edges, columns)
            self._write_scales(columns)
            ax.set_yticks(places, labels, linespacing=1.1)
            ax.set_ylim(edges[-1], 0.0)
        return self

    def _draw_overlaps(self, edges: Matrix, columns: Matrix) -> None:
        """Draw the overlaps to the right of the bars, each pair once; with many rules, by colour alone."""
        n = len(self.rules)
        shown = np.where(np.tri(n, n - 1, k=-1) > 0.0, self.overlap[:, :-1], np.nan)
        mesh = self.ax_.pcolormesh(columns, edges, shown, cmap="Blues", vmin=0.0, vmax=1.0, edgecolors="white")
        if n > MOST_NUMBERS:
            bar = self.figure_.colorbar(mesh, ax=self.ax_, pad=0.02, aspect=30, ticks=[0.0, 0.5, 1.0], format="{x:.0%}")
            bar.outline.set_visible(False)
            return
        middles, places = 0.5 * (columns[1:] + columns[:-1]), 0.5 * (edges[1:] + edges[:-1])
        for row, column in zip(*np.nonzero(np.isfinite(shown)), strict=True):
            share = shown[row, column]
            colour = "white" if share > 0.5 else "black"
            text = f"{100 * share:.0f}"
            self.ax_.text(middles[column], places[row], text, ha="center", va="center", color=colour)

    def _write_scales(self, columns: Matrix) -> None:
        """Write the ticks below the bars and the columns, and the headings above."""
        ax, n = self.ax_, len(columns) - 1
        middles = 0.5 * (columns[1:] + columns[:-1])
        numbers = [str(column) if n <= MOST_TICKS or column % 5 == 0 else "" for column in range(n)]
        ax.set_xticks([0.0, 0.5, 1.0, *middles], ["0 %", "50 %", "100 %", *numbers])
        ax.set_xlim(0.0, max(columns[-1], FIRST_COLUMN + HEADING) if n else 1.15)
        headings = [(0.0, "left", "rows covered"), (columns[0], "left", "overlap with rule, in %")]
        for x, align, heading in headings[: 2 if n else 1]:
            ax.text(x, 1.01, heading, ha=align, va="bottom", transform=ax.get_xaxis_transform())
        ax.tick_params(length=0)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
