"""The paper's example: forged banknotes told from genuine ones by two inputs and one oblique rule, as text and as a picture.

Needs banknote.csv in the directory that OBLIQUERULES_DATA names; with matplotlib installed, draws the picture as well.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.datasets import load_banknote
from obliquerules import LLTBoostClassifier
from obliquerules.inspection import DecisionRegionsDisplay

PICTURE = Path("docs/_static/banknote.png")


def learn():
    """Return the data on variance and skewness, and the model with one rule."""
    data = load_banknote()
    frame = pd.DataFrame(data.data, columns=data.feature_names)[["variance", "skewness"]]
    forged = np.asarray(data.target).astype(int) == 1
    return frame, forged, LLTBoostClassifier(linear_terms=False).fit(frame, forged).at(4)


def draw(frame, forged, model):
    """Draw the notes and the line at which the rule changes its mind."""
    display = DecisionRegionsDisplay.from_estimator(model, frame, forged, response_method="predict")
    for text, label in zip(display.ax_.get_legend().get_texts(), ["genuine", "forged"], strict=True):
        text.set_text(label)
    display.figure_.savefig(PICTURE, dpi=110, pil_kwargs={"optimize": True})


def main():
    """Print the rule and draw it."""
    frame, forged, model = learn()
    print(f"Log-odds that a note is forged (accuracy {model.score(frame, forged):.1%}):\n\n{model.ensemble_}")
    try:
        draw(frame, forged, model)
    except ImportError as error:
        print(f"\n{error}", file=sys.stderr)


if __name__ == "__main__":
    main()
