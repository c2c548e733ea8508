"""The pictures in the guide: a waterfall, a choice of size, and the rules that fire together, from data of scikit-learn."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from obliquerules import LLTBoostClassifierCV
from obliquerules.inspection import CoverageDisplay, RiskComplexityDisplay, WaterfallDisplay

FOLDER = Path("docs/_static")


def main():
    """Fit one model, and draw it in three ways."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = LLTBoostClassifierCV(max_propositions=1, max_variables=2, linear_terms=False, random_state=0)
    model.fit(X, y.map({0: "malignant", 1: "benign"}))
    small = model.at(16)
    pictures = {
        "waterfall.png": WaterfallDisplay.from_estimator(small, X, 7),
        "risk_complexity.png": RiskComplexityDisplay.from_estimator(model),
        "coverage.png": CoverageDisplay.from_estimator(small, X),
    }
    for name, display in pictures.items():
        display.figure_.savefig(FOLDER / name, dpi=110, pil_kwargs={"optimize": True})
        print(f"Wrote {FOLDER / name}.")


if __name__ == "__main__":
    main()
