"""Decision regions: each point of the map lies in a region that says what the model says there."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.path import Path

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import DecisionRegionsDisplay

from ...estimators.fitted import NAMES, every_kind, fitted
from .looks import clipped, written

FEATURES = ["age", "body mass"]


def rows_at(model, X, display, points):
    """Return rows that are at the given points in the two features and elsewhere at the medians."""
    rows = np.tile(X.median().to_numpy(), (len(points), 1))
    rows[:, [NAMES.index(feature) for feature in FEATURES]] = points
    return rows


def region_of(display, point):
    return [index for index, region in enumerate(display.regions) if Path(region).contains_point(point)]


@every_kind
def test_regions_say_what_the_model_says(kind):
    model, X, y = fitted(kind)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES)
    points = np.random.default_rng(0).uniform(display.low, display.high, size=(200, 2))
    rows = rows_at(model, X, display, points)
    found = [region_of(display, point) for point in points]
    assert all(len(regions) == 1 for regions in found)
    regions = [index for (index,) in found]
    assert len(set(display.scores)) > 1
    assert display.scores[regions].tolist() == model.ensemble_(rows).tolist()
    predicted = model.model_.means(display.scores)
    assert display.response.tolist() == predicted.tolist()
    assert clipped(display) == []


@pytest.mark.parametrize("method", ["predict", "score_samples"])
def test_a_classifier_may_show_classes_or_scores(method):
    model, X, y = fitted("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES, response_method=method)
    shown = display.scores if method == "score_samples" else display.scores > 0.0
    assert display.response.tolist() == shown.astype(float).tolist()
    assert clipped(display) == []


def test_borders_are_where_score_and_class_change():
    model, X, y = fitted("classifier")
    # A rule that changes the score and hardly the class.
    model = model.edit(X, y).add("+0.25 if age >= 0.5").model
    display = DecisionRegionsDisplay.from_estimator(model, X, features=FEATURES)
    for segments, of_score in ((display.steps, lambda s: s), (display.boundary, lambda s: s > 0.0)):
        assert len(segments)
        along = segments[:, 1] - segments[:, 0]
        over = 1e-6 * np.column_stack([-along[:, 1], along[:, 0]])
        sides = [of_score(model.ensemble_(rows_at(model, X, display, segments.mean(axis=1) + s * over))) for s in (1, -1)]
        assert (sides[0] != sides[1]).all()
    assert len(display.boundary) < len(display.steps)


def test_other_inputs_are_fixed_where_they_are_wanted():
    model, X, _ = fitted("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, features=(0, 1), fixed={"a - b": 3.0}, units={"age": "years"})
    assert display.fixed["a - b"] == 3.0
    assert "a - b = 3" in written(display)
    assert "age (years)" in written(display)


def test_the_constant_has_one_region():
    model, X, y = fitted("squared")
    display = DecisionRegionsDisplay.from_estimator(model.at(0), X, y, features=FEATURES)
    assert len(display.regions) == 1
    assert len(display.steps) == len(display.boundary) == 0
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


@every_kind
def test_where_there_are_slopes_a_region_is_nearly_what_the_model_says(kind):
    model, X, y = sloped(kind)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES)
    points = np.random.default_rng(0).uniform(display.low, display.high, size=(200, 2))
    found = [region_of(display, point) for point in points]
    assert all(len(regions) == 1 for regions in found)
    means = model.model_.means(model.ensemble_(rows_at(model, X, display, points)))
    # The colour is that of the middle, and what the whole map spans has 64 shades.
    assert np.abs(means - display.response[[index for (index,) in found]]).max() <= 1.01 * np.ptp(display.response) / 63
    assert clipped(display) == []


def test_shades_of_scores_are_equally_wide():
    model, X, y = sloped("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES, response_method="score_samples")
    points = np.random.default_rng(0).uniform(display.low, display.high, size=(200, 2))
    scores = model.ensemble_(rows_at(model, X, display, points))
    shown = np.array([display.response[region_of(display, point)[0]] for point in points])
    assert np.abs(scores - shown).max() <= 1.01 * np.ptp(display.response) / 63


def test_classes_are_exact_where_there_are_slopes():
    model, X, y = sloped("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=FEATURES, response_method="predict")
    points = np.random.default_rng(1).uniform(display.low, display.high, size=(500, 2))
    predicted = model.ensemble_(rows_at(model, X, display, points)) > 0.0
    assert [display.response[region_of(display, point)[0]] for point in points] == predicted.astype(float).tolist()
    assert 0.0 < predicted.mean() < 1.0


def test_steps_are_where_the_score_jumps_and_slopes_end_a_class_too():
    model, X, _ = sloped("classifier")
    display = DecisionRegionsDisplay.from_estimator(model, X, features=FEATURES)

    def on_both_sides(segments, step):
        along = (segments[:, 1] - segments[:, 0]) / np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)[:, None]
        over = step * np.column_stack([-along[:, 1], along[:, 0]])
        # Not in the middle, where a jump that grows along the border may be zero.
        at = 0.6 * segments[:, 0] + 0.4 * segments[:, 1]
        return [model.ensemble_(rows_at(model, X, display, at + side * over)) for side in (1, -1)]

    one, other = on_both_sides(display.steps, 1e-8)
    assert np.abs(one - other).min() > 1e-6
    one, other = on_both_sides(display.boundary, 1e-6)
    assert ((one > 0.0) != (other > 0.0)).all()
    assert (np.abs(one - other) < 1e-4).any()


def test_a_slope_in_another_input_leaves_regions_as_they_are():
    model, X, y = fitted("squared")
    tilted = model.edit(X, y).add('+3 "a - b"').model
    plain, display = (DecisionRegionsDisplay.from_estimator(one, X, y, features=FEATURES) for one in (model, tilted))
    assert len(plain.regions) == len(display.regions)
    np.testing.assert_allclose(display.scores, plain.scores + 3.0 * X["a - b"].median())


def test_whole_numbers_are_moved_beside_each_other_on_slopes_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=200), "count": rng.integers(0, 4, 200)})
    model = LLTBoostClassifier(max_rules=2).fit(X, (X["dose"] > 0.5) | (X["count"] > 2))
    tilted = model.edit(X, (X["dose"] > 0.5) | (X["count"] > 2)).add("+0.01 count").model
    display = DecisionRegionsDisplay.from_estimator(tilted, X)
    assert np.array_equal(np.rint(display.places[:, 1]), X["count"])
    assert len(np.unique(display.places[:, 1])) > 150
