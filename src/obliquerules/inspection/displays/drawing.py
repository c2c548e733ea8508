"""Drawing: what all pictures share, such as colours, type, names as harmless text, and the late import of matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from obliquerules.inspection.variables import column_of
from obliquerules.rules import Model

# From the palette of Okabe and Ito, whose colours can be told apart with any kind of colour vision. Markers and hatches do the
# same in print without colour.
BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
# The same colours as backgrounds, on which points and text stand out.
PALE_BLUE, PALE_VERMILLION, PALE_GREY = "#D3E6F2", "#F9DFCC", "#E6E6E6"
LIGHT_BLUE, LIGHT_VERMILLION = "#7FB8DA", "#EDA877"
HATCH = "////"

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
        if characters <= FEWEST_CHARACTERS or all(_width(line) <= width for line in lines):
            return harmless("\n".join(lines))
        characters = max(FEWEST_CHARACTERS, int(0.9 * characters))


def _width(line: str) -> float:
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


def bar_look(weight: float) -> dict[str, Any]:
    """Return the colour of the bar of a rule; a hatch marks negative weights in print without colour."""
    if weight < 0.0:
        return {"facecolor": BLUE, "hatch": HATCH, "edgecolor": "white", "linewidth": 0.0}
    return {"color": VERMILLION}


def say_there_are_no_rules(ax: Any) -> None:
    """Write on the axes that the model has no rules."""
    ax.text(0.5, 0.5, "No rules: the model is a constant.", ha="center", va="center", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[])
