"""Decision regions: each pixel of the map says what the model says there."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import DecisionRegionsDisplay

from ...estimators.fitted import NAMES, every_kind, fitted
from .looks import borders, clipped, pixels, written

FEATURES = ["age", "body mass"]


def rows_at(model, X, display, points):
    """Return rows that are at the given points in the two features and elsewhere at the medians."""
    rows = np.tile(X.median().to_numpy(), (len(points), 1))
    rows[:, [NAMES.index(feature) for feature in FEATURES]] = points
    return rows


@every_kind
@pytest.mark.parametrize("tilt", [False, True])
def test_pixels_say_what_the_model_says(kind, tilt):
    model, X, y = (sloped if tilt else fitted)(kind)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES)
    places, points = pixels(display, 300)
    scores = model.ensemble_(rows_at(model, X, display, points))
    np.testing.assert_allclose(display.scores[places], scores, rtol=1e-12)
    assert len(np.unique(display.scores)) > (100 if tilt else 1)
    assert np.array_equal(display.response, model.model_.means(display.scores))
    assert clipped(display) == []


@pytest.mark.parametrize("method", ["predict", "score_samples"])
def test_a_classifier_may_show_classes_or_scores(method):
    model, X, y = fitted("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES, response_method=method)
    shown = display.scores if method == "score_samples" else display.scores > 0.0
    assert np.array_equal(display.response, shown)
    assert clipped(display) == []


@pytest.mark.parametrize("tilt", [False, True])
def test_borders_are_where_score_and_class_change(tilt):
    model, X, y = (sloped if tilt else fitted)("classifier")
    # A rule that changes the score and hardly the class.
    model = model.edit(X, y).add("+0.25 if age >= 0.5").model
    display = DecisionRegionsDisplay.from_estimator(model, X, features=FEATURES)
    for width, of_score in ((0.6, lambda s: s), (1.4, lambda s: s > 0.0)):
        middles, across = borders(display, width)
        sides = [of_score(model.ensemble_(rows_at(model, X, display, middles + side * across))) for side in (1, -1)]
        assert len(middles)
        assert (sides[0] != sides[1]).mean() > 0.95  # but where borders cross


def test_a_hinge_has_no_border_where_it_begins():
    model, X, y = fitted("squared")
    plain = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES)
    for text, n_more in (("+3 (age - 0.5) if age >= 0.5", 0), ("+3 (age - 0.5) if age >= 0.7", 1), ('+3 "a - b"', 0)):
        bent = model.edit(X, y).add(text).model
        assert len(DecisionRegionsDisplay.from_estimator(bent, X, y, features=FEATURES).steps) == len(plain.steps) + n_more


def test_other_inputs_are_fixed_where_they_are_wanted():
    model, X, _ = fitted("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, features=(0, 1), fixed={"a - b": 3.0}, units={"age": "years"})
    assert display.fixed["a - b"] == 3.0
    assert "a - b = 3" in written(display)
    assert "age (years)" in written(display)


def test_the_constant_has_one_region():
    model, X, y = fitted("squared")
    display = DecisionRegionsDisplay.from_estimator(model.at(0), X, y, features=FEATURES)
    assert len(np.unique(display.scores)) == 1
    assert display.steps == []
    assert clipped(display) == []


def test_two_inputs_need_no_naming():
    model, X, y = fitted("classifier")
    two = type(model)(max_rules=1, random_state=0).fit(X[FEATURES], y)
    assert DecisionRegionsDisplay.from_estimator(two, X[FEATURES]).names == tuple(FEATURES)


def test_of_very_many_rows_some_are_drawn():
    model, X, y = fitted("squared")
    rows = np.arange(5000) % len(X)
    display = DecisionRegionsDisplay.from_estimator(model, X.iloc[rows], y[rows], features=FEATURES)
    points = [len(drawn.get_offsets()) for drawn in display.ax_.collections if type(drawn).__name__ == "PathCollection"]
    assert len(display.points) == 5000
    assert points == [1667]


def test_a_single_row_and_given_axes_will_do():
    model, X, y = fitted("classifier")
    _, ax = plt.subplots()
    display = DecisionRegionsDisplay.from_estimator(model, X[:1], y[:1], features=FEATURES, ax=ax)
    assert display.ax_ is ax
    assert (display.low < display.high).all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "features must name the two inputs"),
        ({"features": ["age", "age"]}, "features must be two different inputs"),
        ({"features": ["age", "height"]}, "features names the variable 'height'"),
        ({"features": FEATURES, "fixed": {"height": 1.0}}, "fixed names the variable 'height'"),
        ({"features": FEATURES, "fixed": {"a - b": np.inf}}, "fixed must be a finite number"),
        ({"features": FEATURES, "units": {"height": "m"}}, "units names the variable 'height'"),
        ({"features": FEATURES, "response_method": "proba"}, "response_method must be one of 'auto', 'predict'"),
        ({"features": FEATURES, "y": ["yes"]}, "y must have one entry for each of the 150 rows"),
    ],
)
def test_complaints_name_the_parameter(arguments, complaint):
    model, X, _ = fitted("classifier")
    if not arguments:
        model = type(model)(max_rules=6, complexity_penalty=0.0, ridge=0.1, random_state=0).fit(X, fitted("classifier")[2])
    with pytest.raises(ValueError, match=complaint):
        DecisionRegionsDisplay.from_estimator(model, X, **arguments)


def test_extreme_rows_do_not_squeeze_the_map_and_are_counted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=500), "count": rng.integers(0, 4, 500)})
    X.loc[[3, 7], "dose"] = [1e6, -1e5]
    model = LLTBoostClassifier(max_rules=2).fit(X, (X["dose"] > 0.5) | (X["count"] > 2))
    display = DecisionRegionsDisplay.from_estimator(model, X)
    assert -10.0 < display.low[0] < display.high[0] < 10.0
    assert "2 rows lie beyond the axes" in display.ax_.get_title(loc="left")
    drawn = display.ax_.collections[-1].get_offsets()
    assert np.array_equal(np.rint(drawn[:, 1]), X["count"])  # jittered, so that equal rows do not hide each other
    assert len(np.unique(drawn[:, 1])) > 400
    assert np.array_equal(display.points[:, 1], X["count"])


SLOPES = ["+5 (age - 0.5)", "-9 body mass clipped to [0.2, 0.6] if age >= 0.4", "+2 age if age + body mass >= 1"]


def sloped(kind):
    model, X, y = fitted(kind)
    editing = model.edit(X, y)
    for slope in SLOPES:
        editing = editing.add(slope)
    return editing.model, X, y


def test_whole_numbers_are_moved_beside_each_other_on_slopes_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=200), "count": rng.integers(0, 4, 200)})
    model = LLTBoostClassifier(max_rules=2).fit(X, (X["dose"] > 0.5) | (X["count"] > 2))
    tilted = model.edit(X, (X["dose"] > 0.5) | (X["count"] > 2)).add("+0.01 count").model
    display = DecisionRegionsDisplay.from_estimator(tilted, X)
    assert np.array_equal(np.rint(display.places[:, 1]), X["count"])
    assert len(np.unique(display.places[:, 1])) > 150
