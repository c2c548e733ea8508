"""The pictures in the guide: a waterfall, a choice of size, and the rules that fire together, from data of scikit-learn."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier, TGBRegressorCV
from obliquerules.inspection import CoverageDisplay, RiskComplexityDisplay, WaterfallDisplay

FOLDER = Path("docs/_static")


def main():
    """Fit two models, and draw them in three ways."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = LLTBoostClassifier(max_propositions=1, max_variables=2, linear_terms=False, random_state=0)
    small = model.fit(X, y.map({0: "malignant", 1: "benign"})).at(16)
    patients, _, progression, _ = train_test_split(*load_diabetes(return_X_y=True, as_frame=True, scaled=False), random_state=0)
    chooser = TGBRegressorCV(max_rules=17).fit(patients, progression)
    pictures = {
        "waterfall.png": WaterfallDisplay.from_estimator(small, X, 7),
        "risk_complexity.png": RiskComplexityDisplay.from_estimator(chooser),
        "coverage.png": CoverageDisplay.from_estimator(small, X),
    }
    for name, display in pictures.items():
        display.figure_.savefig(FOLDER / name, dpi=110, pil_kwargs={"optimize": True})
        print(f"Wrote {FOLDER / name}.")


if __name__ == "__main__":
    main()
