"""Drawing: what all pictures share, such as colours, type, names as harmless text, and the late import of matplotlib."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.variables import column_of
from obliquerules.rules import Model

# From the palette of Okabe and Ito, whose colours can be told apart with any kind of colour vision. Markers and hatches do the
# same in print without colour.
BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
# The same colours as backgrounds, on which points and text stand out.
PALE_BLUE, PALE_VERMILLION, PALE_GREY = "#D3E6F2", "#F9DFCC", "#E6E6E6"
LIGHT_BLUE, LIGHT_VERMILLION = "#7FB8DA", "#EDA877"
HATCH = "////"
# Many classes: the colours that Okabe and Ito add to those above, the yellow darker, then three of Paul Tol. The number of
# markers has no divisor in common with that of colours, so that every pair of both is seen once before they begin again.
CLASS_COLOURS = (BLUE, VERMILLION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#B3A800", "#882255", "#332288", "#661100")
CLASS_MARKERS = ("o", "x", "^", "s", "+", "D", "v", "*", "p", "<", ">")
# How much of its colour the background of a class has, where it is no more probable than the others and where it is certain.
FAINT, STRONG = 0.08, 0.55

TYPE = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "hatch.linewidth": 0.5,
    "text.usetex": False,  # TeX would read the names of features as commands
}
# In inches: the width of a text column or page in print, and the height of a line of 9 points with its leading.
WIDTH = 6.4
LINE = 0.165
# The width of a narrow letter, and where to give up making lines shorter.
CHARACTER = 0.06
FEWEST_CHARACTERS = 8
MOST_LINES = 6


def pyplot() -> Any:
    """Return matplotlib.pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need the package matplotlib: install obliquerules[plots], or matplotlib itself.") from error
    return plt


@contextmanager
def axes_to_draw_on(ax: Any, height: float, width: float = WIDTH) -> Iterator[Any]:
    """Yield the given axes, or those of a new figure, with the fonts of all pictures in effect."""
    plt = pyplot()
    with plt.rc_context(TYPE):
        if ax is None:
            figure, ax = plt.subplots(figsize=(width, height))
            # Labels at the ends of axes may reach a little beyond what the layout engine allows for.
            figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.06)
        yield ax


def fitted_model(estimator: Any) -> Model:
    """Return the model of a fitted estimator, or the model itself."""
    if isinstance(estimator, Model):
        return estimator
    if not hasattr(type(estimator), "method_class"):
        raise TypeError(f"estimator must be a rule model, such as LLTBoostClassifier; got {type(estimator).__name__}.")
    from sklearn.utils.validation import check_is_fitted  # here, because a model needs no scikit-learn

    check_is_fitted(estimator)
    model: Model = estimator.model_
    return model


def harmless(text: str) -> str:
    r"""Return text that matplotlib draws as it is: a dollar starts no formula, and no label is left out of a legend.

    >>> print(harmless("price in $"), harmless("_id"))
    price in \$  _id
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def wrapped(text: str, width: float, most_lines: int = MOST_LINES) -> str:
    r"""Return harmless text in lines of at most ``width`` inches; text that does not fit ends in dots.

    >>> wrapped("worst concave points >= 0.1358", 1.7)
    'worst concave points\n>=\xa00.1358'
    """
    for unbroken in ("= ", "it is ", " %"):  # a number stays beside what it belongs to
        text = text.replace(unbroken, unbroken.replace(" ", "\xa0"))
    characters = int(width / CHARACTER)
    while True:
        lines = textwrap.wrap(text, characters, max_lines=most_lines, placeholder=" ...")
        if characters <= FEWEST_CHARACTERS or all(text_width(line) <= width for line in lines):
            return harmless("\n".join(lines))
        characters = max(FEWEST_CHARACTERS, int(0.9 * characters))


def glued(text: str) -> str:
    r"""Return text in which a number with a sign stays beside the name of its class.

    >>> glued("setosa -3.29 if width - 2 height >= 2")
    'setosa\xa0-3.29 if width - 2 height >= 2'
    """
    return re.sub(r" (?=[+-]\d)", "\N{NO-BREAK SPACE}", text)


def text_width(line: str) -> float:
    """Return the width of a line in inches."""
    pyplot()  # raises if matplotlib is not installed
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points: float = text_to_path.get_text_width_height_descent(line, FontProperties(size=TYPE["font.size"]), False)[0]
    return points / 72.0


def label_lines(n_labels: int) -> int:
    """Return how many lines each of ``n_labels`` labels may take."""
    return MOST_LINES if n_labels <= 12 else 3


def n_lines(text: str) -> int:
    """Return how many lines a text takes."""
    return 1 + text.count("\n")


def names_with_units(model: Model, units: Mapping[str, str] | None) -> list[str]:
    """Return the names of the inputs, each followed by its unit if it has one."""
    names = list(model.feature_names)
    for name, unit in (units or {}).items():
        column = column_of(model, "units", name)
        names[column] = f"{names[column]} ({unit})"
    return names


def bar_look(weight: Any) -> dict[str, Any]:
    """Return the colour of the bar of a rule; a hatch marks negative weights in print without colour.

    A rule that raises the scores of some of many classes and lowers those of others is grey.
    """
    if np.max(weight) > 0.0 > np.min(weight):
        return {"color": GREY}
    if np.min(weight) < 0.0:
        return {"facecolor": BLUE, "hatch": HATCH, "edgecolor": "white", "linewidth": 0.0}
    return {"color": VERMILLION}


def class_colour(code: int) -> str:
    """Return the colour of one of many classes."""
    return CLASS_COLOURS[code % len(CLASS_COLOURS)]


def class_points(code: int) -> dict[str, Any]:
    """Return how the rows of one of many classes are marked."""
    marker = CLASS_MARKERS[code % len(CLASS_MARKERS)]
    if marker in "x+":
        return {"marker": marker, "c": class_colour(code), "linewidths": 0.9}
    return {"marker": marker, "facecolors": class_colour(code), "edgecolors": "white", "linewidths": 0.4}


def tints(colours: Any, strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return colours mixed with white, the more of them the stronger: from 0 to 1."""
    from matplotlib.colors import to_rgb

    share = share_of_colour(strength)[:, None]
    return np.asarray(1.0 - share * (1.0 - np.array([to_rgb(colour) for colour in colours])))


def share_of_colour(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of its colour a background has."""
    return FAINT + (STRONG - FAINT) * strength
