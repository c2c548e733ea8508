"""Pictures of many classes, and with an exposure or offset: they show what the model says, and nothing is cut off."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.metrics import log_loss, mean_poisson_deviance

from obliquerules import LLTBoostClassifier, RuleEnsemble
from obliquerules.inspection import CoverageDisplay, DecisionRegionsDisplay, RiskComplexityDisplay, WaterfallDisplay
from obliquerules.inspection.displays import drawing
from obliquerules.losses import LOSSES
from obliquerules.rules import Model
from obliquerules.rules.model import Offset

from ..many import irises, sloped_irises, ten
from .looks import borders, clipped, pixels, texts, written

every_size = pytest.mark.parametrize("fitted", [irises, ten])
FEATURES = {irises: ["petal length (cm)", "petal width (cm)"], ten: ["width", "height"]}


# Waterfall


@every_size
@pytest.mark.parametrize("versus", [None, 0])
def test_bars_add_up_to_the_difference_of_two_scores(fitted, versus):
    model, X, _ = fitted()
    label = None if versus is None else model.classes_[versus]
    for row in (0, 70, -1):
        display = WaterfallDisplay.from_estimator(model, X, row, versus=label, all_rules=True)
        assert display.explanation == model.explain(X, versus=label)[row]
        scores, two = model.decision_function(X)[row], display.explanation.between
        total = float(scores[two.first] - scores[two.second])
        assert display.ends[-1] == total >= 0.0
        assert display.changes.sum() == pytest.approx(total)
        *parts, last = [(bar.get_x(), bar.get_width()) for bar in display.ax_.patches]
        assert last == (0.0, total)
        assert np.allclose([start for start, _ in parts[1:]], [start + width for start, width in parts[:-1]])
        assert display.ax_.get_xlabel().replace("\n", " ") == two.total
        assert clipped(display) == []


def test_the_scale_above_is_the_probability_of_one_class_rather_than_the_other():
    model, X, _ = irises()
    display = WaterfallDisplay.from_estimator(model, X, 70)
    above = display.figure_.axes[1]
    two = display.explanation.between
    first, second = model.classes_[[two.first, two.second]]
    assert {first, second} == {"versicolor", "virginica"}
    assert first == model.predict(X[70:71]).item()
    assert above.get_xlabel() == f"probability of '{first}' rather than '{second}'"
    odds = {float(label.get_text()): place for label, place in zip(above.get_xticklabels(), above.get_xticks(), strict=True)}
    assert len(odds) > 1
    for share, place in odds.items():
        assert place == pytest.approx(np.log(share / (1.0 - share)), abs=1e-9)
    likely, less_likely = model.predict_proba(X[70:71])[0, [two.first, two.second]]
    assert np.log(likely / less_likely) == pytest.approx(display.ends[-1])


def test_rules_on_other_classes_are_counted():
    model, X, _ = irises()
    display = WaterfallDisplay.from_estimator(model, X, 70)
    silent = [rule for rule in model.ensemble_ if rule.classes_with_weight == (0,)]
    assert f"{len(silent)} rule says nothing of the two" in written(display)


COUNTS = Model.of(RuleEnsemble.parse("+1 if True\n-0.5 if age >= 40\n+2 if age >= 60", ["age"]), LOSSES["poisson"])
AGES = pd.DataFrame({"age": [20.0, 41.0, 70.0, 41.0]})


def test_an_offset_is_a_bar_and_an_exposure_shifts_the_scale():
    with_offset = replace(COUNTS, offset=Offset("offset", ("log years",)))
    given = np.array([0.0, 0.25, 0.5, 1.0])
    display = WaterfallDisplay.from_estimator(with_offset, AGES, 1, given=given)
    assert [bar.get_width() for bar in display.ax_.patches] == [1.0, 0.25, -0.5, 0.0, 0.75]
    assert display.ends[-1] == with_offset.scores(AGES, given)[1]
    assert "given (log years)" in written(display)
    with_exposure = replace(COUNTS, offset=Offset("exposure", ("years",)))
    display = WaterfallDisplay.from_estimator(with_exposure, AGES, 1, given=np.array([1.0, 2.0, 1.0, 1.0]))
    above = display.figure_.axes[1]
    assert "expected count, years = 2" in written(display)
    for label, place in zip(above.get_xticklabels(), above.get_xticks(), strict=True):
        assert 2.0 * np.exp(place) == pytest.approx(float(label.get_text()))
    assert clipped(display) == []


@pytest.mark.parametrize(
    ("offset", "given", "complaint"),
    [
        (None, np.ones(4), "fitted without exposure and offset and takes no offset"),
        (Offset("offset", ("years",)), None, "fitted with an offset and needs it here, too"),
        (Offset("exposure", ("years",)), np.ones(3), "exposure must have one number for each of the 4 rows"),
        (Offset("exposure", ("years",)), np.zeros(4), "exposure must be positive; row 0 is not"),
        (Offset("offset", ("years",)), np.full(4, np.nan), "offset has missing or infinite entries"),
    ],
)
def test_what_is_given_must_fit_the_model(offset, given, complaint):
    with pytest.raises(ValueError, match=complaint):
        WaterfallDisplay.from_estimator(replace(COUNTS, offset=offset), AGES, given=given)


# Decision regions


def rows_at(X, features, points):
    """Return rows that are at the given points in two features and elsewhere at the medians."""
    rows = pd.DataFrame([X.median()] * len(points)).reset_index(drop=True)
    rows[features] = points
    return rows


@pytest.mark.parametrize("method", ["predict", "auto"])
@pytest.mark.parametrize("fitted", [irises, sloped_irises, ten])
def test_pixels_say_what_the_model_says(fitted, method):
    model, X, y = fitted()
    features = FEATURES[irises if fitted is sloped_irises else fitted]
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=features, response_method=method)
    places, points = pixels(display, 60)
    np.testing.assert_allclose(display.scores[places], model.decision_function(rows_at(X, features, points)), rtol=1e-12)
    shown = display.scores.argmax(axis=2) if method == "predict" else model.model_.means(display.scores).max(axis=2)
    assert np.array_equal(display.response, shown)
    assert clipped(display) == []


def test_colours_are_those_of_classes_the_stronger_the_more_probable():
    model, X, _ = irises()
    display = DecisionRegionsDisplay.from_estimator(model, X, features=FEATURES[irises])
    faded = 1.0 - display.ax_.images[0].get_array().reshape(-1, 3)
    pure = 1.0 - np.array([to_rgb(drawing.class_colour(code)) for code in range(3)])[display.codes.ravel()]
    strength = (faded / np.maximum(pure, 1e-9)).max(axis=1)
    np.testing.assert_allclose(faded, strength[:, None] * pure, atol=1e-6)
    assert (np.diff(strength[np.argsort(display.response.ravel(), kind="stable")]) > -1e-9).all()
    assert "probability of the predicted class" in written(display)


@pytest.mark.parametrize("fitted", [irises, sloped_irises, ten])
def test_borders_are_where_classes_change(fitted):
    model, X, _ = fitted()
    features = FEATURES[irises if fitted is sloped_irises else fitted]
    middles, across = borders(DecisionRegionsDisplay.from_estimator(model, X, features=features), 1.4)
    one, other = (model.predict(rows_at(X, features, middles + side * across)) for side in (1, -1))
    assert len(middles)
    assert (one != other).mean() > 0.95  # but where borders cross


def legend_names(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_legend_names_the_classes_that_are_shown():
    model, X, y = ten()
    display = DecisionRegionsDisplay.from_estimator(model, X, y)
    assert sorted(legend_names(display)) == sorted(map(str, range(10)))
    corner = X[(X["width"] < 1.5) & (X["height"] < 4.0)]
    assert legend_names(DecisionRegionsDisplay.from_estimator(model, corner)) == ["0"]


def test_many_classes_with_awkward_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 2)), columns=["cost $x_1^2$ in $", "_hidden"])
    names = np.array([f"_$class$ {'W' * 12} {code} with a long name" for code in range(13)])
    y = names[(X.to_numpy()[:, 0] * 13).astype(int)]
    model = LLTBoostClassifier(max_rules=6, random_state=0).fit(X, y)
    for display in (
        DecisionRegionsDisplay.from_estimator(model, X, y, features=[0, 1]),
        CoverageDisplay.from_estimator(model, X),
        WaterfallDisplay.from_estimator(model, X, all_rules=True),
    ):
        assert clipped(display) == []
        assert {text.get_fontsize() for text in texts(display)} == {9.0}


def test_looks_of_classes_repeat_late():
    looks = [(drawing.class_colour(code), drawing.class_points(code)["marker"]) for code in range(110)]
    assert len(set(looks)) == 110


def test_there_is_no_score_to_draw_of_many():
    model, X, _ = irises()
    with pytest.raises(ValueError, match="response_method must be one of 'auto', 'predict', 'predict_proba'; got 'score_sam"):
        DecisionRegionsDisplay.from_estimator(model, X, features=FEATURES[irises], response_method="score_samples")


def test_a_map_is_for_an_exposure_of_one_and_so_are_targets():
    columns = ["age", "bmi"]
    model = Model.of(RuleEnsemble.parse("+1 if True\n+1 if age >= 40\n+1 if bmi >= 25", columns), LOSSES["poisson"])
    X = pd.DataFrame({"age": [20.0, 50.0, 30.0], "bmi": [20.0, 30.0, 40.0]})
    y, years = np.array([4.0, 6.0, 9.0]), np.array([2.0, 1.0, 3.0])
    exposed = replace(model, offset=Offset("exposure", ("years",)))
    display = DecisionRegionsDisplay.from_estimator(exposed, X, y, given=years)
    assert display.target.tolist() == [2.0, 6.0, 3.0]
    assert np.array_equal(display.response, model.means(display.scores))
    assert "for an exposure of 1" in written(display)
    assert DecisionRegionsDisplay.from_estimator(exposed, X, y).target is None
    shifted = replace(model, offset=Offset("offset", ("shift",)))
    assert DecisionRegionsDisplay.from_estimator(shifted, X, y, given=years).target is None
    assert "at an offset of 0" in written(DecisionRegionsDisplay.from_estimator(shifted, X))


# Coverage


@every_size
def test_coverage_names_the_classes_of_each_rule(fitted):
    model, X, _ = fitted()
    display = CoverageDisplay.from_estimator(model, X)
    assert display.coverage.tolist() == [rule.condition(X).mean() for rule in model.ensemble_]
    shown = written(display)
    for rule in model.ensemble_:
        assert rule.describe(model.ensemble_.columns, outputs=model.ensemble_.outputs) in shown
    for bar, rule in zip(display.ax_.patches, model.ensemble_, strict=True):
        signs = {weight > 0.0 for weight in rule.weights if weight}
        expected = {(True,): drawing.VERMILLION, (False,): drawing.BLUE, (False, True): drawing.GREY}[tuple(sorted(signs))]
        assert bar.get_facecolor()[:3] == to_rgb(expected)
    assert clipped(display) == []


# Risk and complexity


@every_size
def test_curves_are_the_risks_of_the_path(fitted):
    model, X, y = fitted()
    display = RiskComplexityDisplay.from_estimator(model, X, y)
    expected = [log_loss(y, model.model_.means(ensemble(X)), labels=model.classes_) for ensemble in model.path_]
    assert np.allclose(display.risks["training rows"], expected)
    assert clipped(display) == []


def test_risks_count_with_the_exposure_or_offset_of_each_row():
    y, years = np.array([4.0, 6.0, 9.0, 1.0]), np.array([2.0, 1.0, 3.0, 0.5])
    exposed = replace(COUNTS, offset=Offset("exposure", ("years",)))
    display = RiskComplexityDisplay.from_estimator(exposed, AGES, y, X_test=AGES, y_test=y, given=years, given_test=2.0 * years)
    expected = [mean_poisson_deviance(y, exposed.predict(AGES, given)) for given in (years, 2.0 * years)]
    assert [display.risks[name][0] for name in ("training rows", "test rows")] == pytest.approx(expected)
    shifted = replace(COUNTS, offset=Offset("offset", ("shift",)))
    found = RiskComplexityDisplay.from_estimator(shifted, AGES, y, given=years).risks["training rows"][0]
    assert found == pytest.approx(mean_poisson_deviance(y, shifted.predict(AGES, years)))
    with pytest.raises(ValueError, match="fitted with an offset and needs it here, too"):
        RiskComplexityDisplay.from_estimator(shifted, AGES, y)
