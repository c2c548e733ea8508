"""Risk against complexity: the curves are the risks of the path, and the chosen size is the one that predicts."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error

from obliquerules.inspection import RiskComplexityDisplay

from ...estimators.fitted import every_kind, fitted
from .looks import clipped, written

HALF = 75


def risks_by_scikit_learn(kind, model, X, y):
    if kind.startswith("classifier"):
        return [log_loss(y, probability) for probability in model.staged_predict_proba(X)]
    measure = root_mean_squared_error if kind.startswith("squared") else mean_poisson_deviance
    return [measure(y, prediction) for prediction in model.staged_predict(X)]


@every_kind
def test_curves_are_the_risks_of_the_path(kind):
    model, X, y = fitted(kind)
    display = RiskComplexityDisplay.from_estimator(model, X[:HALF], y[:HALF], X_test=X[HALF:], y_test=y[HALF:])
    assert np.allclose(display.risks["training rows"], risks_by_scikit_learn(kind, model, X[:HALF], y[:HALF]))
    assert np.allclose(display.risks["test rows"], risks_by_scikit_learn(kind, model, X[HALF:], y[HALF:]))
    if display.cross_validated is None:
        assert display.chosen_risk == display.risks["test rows"][-1]
    assert display.complexity.tolist() == [ensemble.complexity for ensemble in model.path_]
    assert clipped(display) == []


@pytest.mark.parametrize("kind", ["classifier cv", "squared cv", "poisson cv"])
def test_the_cross_validated_curve_is_that_of_the_choice(kind):
    model, _, _ = fitted(kind)
    display = RiskComplexityDisplay.from_estimator(model)
    shown = model.model_.loss.shown_risk(model.cv_results_["mean_test_risk"])
    assert display.cross_validated.mean.tolist() == shown.tolist()
    assert (display.chosen, display.cross_validated.best) == (model.complexity_, model.best_complexity_)
    drawn = display.cross_validated
    assert drawn.complexity.tolist() == display.complexity.tolist() == model.cv_results_["complexity"].tolist()
    assert display.chosen_risk == drawn.mean[drawn.complexity == display.chosen][0]
    high = model.cv_results_["mean_test_risk"] + model.cv_results_["standard_error"]
    assert drawn.high.tolist() == model.model_.loss.shown_risk(high).tolist()
    assert (drawn.low < drawn.mean).all()
    # By the classical rule, the chosen risk is not above the band of the best size.
    assert display.chosen_risk <= drawn.high[drawn.mean.argmin()]
    assert clipped(display) == []
    assert f"this model: complexity {model.complexity_}" in written(display)


def test_another_size_is_shown_as_the_one_that_predicts():
    model, X, y = fitted("classifier")
    display = RiskComplexityDisplay.from_estimator(model.at(0), X_test=X, y_test=y)
    assert "this model: complexity 0, 0 rules" in written(display)


def test_an_edited_model_has_its_own_risk():
    model, X, y = fitted("classifier cv")
    edited = model.edit(X, y).drop(0).model
    assert edited.ensemble_ not in edited.path_
    display = RiskComplexityDisplay.from_estimator(edited, X, y)
    assert np.isclose(display.chosen_risk, log_loss(y, edited.predict_proba(X)))
    unknown = RiskComplexityDisplay.from_estimator(edited)
    assert unknown.chosen_risk is None
    assert f"this model: complexity {edited.ensemble_.complexity}" in written(unknown)


def test_without_anything_to_draw_it_says_what_is_missing():
    model, X, y = fitted("classifier")
    with pytest.raises(ValueError, match="X and y, or X_test and y_test, must be given"):
        RiskComplexityDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="X_test and y_test must be given together"):
        RiskComplexityDisplay.from_estimator(model, X, y, X_test=X)
    with pytest.raises(ValueError, match="y must hold the labels"):
        RiskComplexityDisplay.from_estimator(model, X, np.where(y == "yes", "maybe", y))
