"""Class map: the regions, the rows and the legend of many classes, each with a colour and a marker of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.inspection.displays import drawing

Codes = NDArray[np.intp]

# In inches: the room for a legend, and for the patch and the gaps beside the name of a class.
LEGEND_WIDTH, HANDLE = 5.0, 0.55
# In points, the height of a line of the legend.
LEGEND_LINE = 15.0


def region_colours(codes: Codes, probability: Matrix | None, n_classes: int) -> Matrix:
    """Return the colour of each region: that of its class, the stronger the more probable it is, if that is shown."""
    colours = [drawing.class_colour(code) for code in codes.tolist()]
    least = 1.0 / n_classes
    strength = np.full(len(codes), 0.6) if probability is None else (probability - least) / (1.0 - least)
    return drawing.tints(colours, strength)


def draw_scale(ax: Any, name: str, limits: tuple[float, float]) -> None:
    """Draw beside a map, in grey, how the strength of a colour says how probable a class is."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    greys = ListedColormap(drawing.tints(["black"] * 64, np.linspace(0.0, 1.0, 64)))
    bar = ax.figure.colorbar(ScalarMappable(Normalize(*limits), greys), ax=ax, pad=0.02, aspect=30)
    bar.set_label(drawing.wrapped(name, 3.2))
    bar.outline.set_visible(False)


def draw_points(ax: Any, points: Matrix, target: Matrix, size: float) -> dict[int, Any]:
    """Draw the rows of each class; return what was drawn for each, by the number of the class."""
    codes = np.unique(target).astype(np.intp).tolist()
    return {code: ax.scatter(*points[target == code].T, s=size, **drawing.class_points(code)) for code in codes}


def draw_legend(ax: Any, labels: Sequence[str], shown: Sequence[int], marked: Mapping[int, Any]) -> int:
    """Name the classes above a map; return the number of lines that this takes."""
    from matplotlib.patches import Patch

    names = [drawing.wrapped(labels[code], 1.8, 2) for code in shown]
    filled = drawing.tints([drawing.class_colour(code) for code in shown], np.full(len(shown), 0.6))
    patches = [Patch(facecolor=colour, edgecolor="none") for colour in filled]
    # A marker stands on the patch of its class.
    handles = [(patch, marked[code]) if code in marked else patch for patch, code in zip(patches, shown, strict=True)]
    widest = max(drawing.text_width(line) for name in names for line in name.split("\n"))
    n_lines = math.ceil(len(names) / max(1, int(LEGEND_WIDTH / (widest + HANDLE))))
    n_columns = math.ceil(len(names) / n_lines)
    # A legend is filled column by column, and read line by line.
    order = [k for first in range(n_columns) for k in range(first, len(names), n_columns)]
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    look = {"frameon": False, "handletextpad": 0.4, "columnspacing": 1.0, "handlelength": 1.6, "handleheight": 0.9}
    ax.legend([handles[k] for k in order], [names[k] for k in order], ncols=n_columns, **place, **look)
    return n_lines * max(map(drawing.n_lines, names))
