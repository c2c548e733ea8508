"""The paper's example: forged banknotes told from genuine ones by two inputs and one oblique rule, as text and as a picture.

Needs banknote.csv in the directory that OBLIQUERULES_DATA names; with matplotlib installed, draws the picture as well.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from obliquerules import LLTBoostClassifier
from obliquerules.datasets import load_banknote

PICTURE = Path("docs/_static/banknote.png")
# Colours that are told apart with any kind of colour vision, and in print.
GENUINE, FORGED = "#0072B2", "#D55E00"


def learn():
    """Return the data on variance and skewness, and the model with one rule."""
    data = load_banknote()
    frame = pd.DataFrame(data.data, columns=data.feature_names)[["variance", "skewness"]]
    forged = np.asarray(data.target).astype(int) == 1
    return frame, forged, LLTBoostClassifier(random_state=0).fit(frame, forged).at(4)


def draw(frame, forged, model):
    """Draw the notes and the line at which the rule changes its mind."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    first, second = np.meshgrid(np.linspace(-8, 8, 400), np.linspace(-15, 14, 400))
    score = model.ensemble_(np.column_stack([first.ravel(), second.ravel()])).reshape(first.shape)
    axes.contourf(first, second, score, levels=[-np.inf, 0, np.inf], colors=[GENUINE, FORGED], alpha=0.15)
    for label, colour, marker, rows in (("genuine", GENUINE, "o", ~forged), ("forged", FORGED, "x", forged)):
        axes.scatter(
            frame.variance[rows], frame.skewness[rows], s=12, c=colour, marker=marker, linewidths=0.8, alpha=0.7, label=label
        )
    axes.set(xlabel="variance", ylabel="skewness", title=str(model.ensemble_).replace("\n", "    "))
    axes.title.set_fontsize(9)
    axes.title.set_family("monospace")
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(PICTURE, dpi=150)


def main():
    """Print the rule and draw it."""
    frame, forged, model = learn()
    print(f"Log-odds that a note is forged (accuracy {model.score(frame, forged):.1%}):\n\n{model.ensemble_}")
    try:
        draw(frame, forged, model)
    except ImportError:
        print("\n(The picture needs matplotlib.)", file=sys.stderr)


if __name__ == "__main__":
    main()
