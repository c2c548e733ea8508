"""In the browser a case is given its exposure or offset, and without it there is no score."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, log_loss, mean_poisson_deviance, zero_one_loss

from obliquerules.rules.model import NO_LOSSES

from .models import fitted, measured, three, with_offset

pytestmark = pytest.mark.browser

SCORES = """
const value = (row) => (column) => row[column];
const [rows, given] = arguments;
const holds = (row) => (condition) => conditionHolds(condition, value(row));
return rows.map((row, index) => score(current(), new Set(), holds(row), given[index]));
"""


def exposed(least=1):
    """Return a model of counts with an exposure, rows, counts, and exposures."""
    estimator, X, y = fitted("poisson")
    exposure = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    model = with_offset(estimator.model_, "exposure", "years")
    return model, X, y.to_numpy(), exposure, measured(model, X, y, least, exposure)


def shifted(kind, least=5):
    """Return a model with an offset, its rows as an array, targets as numbers, offsets, and the measured rows."""
    estimator, X, y = three() if kind == "three" else fitted(kind)
    model, rng = estimator.model_, np.random.default_rng(0)
    y = y if model.labels is None else model.labels.encode(y)
    offset = rng.normal(size=(len(y), 3) if kind == "three" else len(y)).round(2)
    names = [f"offset of {name}" for name in model.labels.names] if kind == "three" else ["prior"]
    model = with_offset(model, "offset", *names)
    return model, X, np.asarray(y, dtype=float), offset, measured(model, X, y, least, offset)


def test_a_prediction_is_multiplied_by_the_exposure(workbench):
    model, X, _, _, rows = exposed()
    page = workbench.show(model, rows)
    assert page.find("offset-0").get_property("value") == "1"
    assert page.text("case").startswith("years exposure")
    page.type_case({column: X.iloc[3, column] for column in page.columns()})
    block = model.ensemble.block(X.iloc[[3]].to_numpy(float))
    score = model.scores(block)
    for exposure in (1.0, 2.5, 1e-3, 1e9):
        page.give(0, exposure)
        assert page.answer() == (
            pytest.approx(model.predict(block, np.array([exposure]))[0], rel=1e-12),
            score[0],  # to the last bit
        )
    page.give(0, 2.5)
    assert page.text("verdict").endswith(" for an exposure of 1, times 2.5")


@pytest.mark.parametrize("exposure", [None, 0, -2])
def test_without_a_positive_exposure_there_is_no_score(exposure, workbench):
    model, _, _, _, rows = exposed()
    page = workbench.show(model, rows)
    page.give(0, exposure)
    assert page.text("answer") == "cannot score"
    assert page.text("case-warning") == "A positive number is needed for years."
    assert page.find("answer").get_attribute("data-value") is None
    assert (page.text("verdict"), page.text("waterfall")) == ("", "")
    page.give(0, 2)
    assert page.text("case-warning") == ""
    assert page.answer()


def test_figures_are_of_rates(workbench):
    model, X, y, exposure, rows = exposed()
    page = workbench.show(model, rows)
    for off in ((), (0,), (0, 2)):
        for rule in off[-1:]:
            page.toggle(rule)
        kept = model.ensemble.with_rules(rule for index, rule in enumerate(model.ensemble) if index not in off)
        rate = np.exp(kept(X.to_numpy(float)))
        assert page.measures() == pytest.approx(
            {
                "mean deviance": mean_poisson_deviance(y / exposure, rate, sample_weight=exposure),
                "deviance explained": d2_tweedie_score(y / exposure, rate, sample_weight=exposure, power=1),
            },
            rel=1e-12,
        )
        points = page.run("return calibrationPoints(predictedGroups())")
        assert sum(point["weight"] * point["observed"] for point in points) == pytest.approx(y.sum(), rel=1e-12)
        assert sum(point["weight"] * point["predicted"] for point in points) == pytest.approx(
            (exposure * rate).sum(), rel=1e-12
        )
    assert "for an exposure of 1" in page.text("about")
    assert "observed rate" in page.text("calibration")


def test_a_model_with_an_exposure_comes_back(workbench):
    model, _, _, _, rows = exposed()
    page = workbench.show(model, rows)
    assert page.download().model_ == replace(model, **NO_LOSSES)  # exact losses of training rows are on no page
    page.toggle(0)
    back = page.download().model_
    assert back.offset == model.offset
    assert back.ensemble == model.ensemble.with_rules(model.ensemble.rules[1:])


@pytest.mark.parametrize("kind", ["logistic", "squared", "poisson", "three"])
def test_scores_with_an_offset_are_those_of_the_library(kind, workbench):
    model, X, _, offset, rows = shifted(kind)
    page = workbench.show(model, rows)
    assert page.run(SCORES, X.to_numpy(float).tolist(), offset.tolist()) == model.scores(X.to_numpy(float), offset).tolist()
    page.type_case({column: X.iloc[7, column] for column in page.columns()})
    names = model.offset.names
    assert page.text("answer") == "cannot score"
    assert page.text("case-warning") == f"A number is needed for {', '.join(names)}."
    for index, number in enumerate(np.ravel(offset[7])):
        assert page.text("answer") == "cannot score"
        page.give(index, number)
        assert page.text("case-warning") == (
            f"A number is needed for {', '.join(names[index + 1 :])}." if names[index + 1 :] else ""
        )
    scores = model.scores(X.iloc[[7]].to_numpy(float), offset[7:8])
    assert (page.class_answer()[1] if kind == "three" else page.answer()[1]) == scores[0].tolist()
    assert "given as the offset" in page.text("waterfall")
    back = page.download().model_
    assert (back.path, back.offset) == (model.path, model.offset)


@pytest.mark.parametrize("kind", ["logistic", "squared", "poisson", "three"])
def test_with_an_offset_figures_are_of_all_rows_with_all_rules(kind, workbench):
    model, X, y, offset, rows = shifted(kind)
    page = workbench.show(model, rows)
    assert min(page.payload["figures"]["groups"]["rows"]) >= 5
    mean = model.means(model.scores(X.to_numpy(float), offset))
    points = page.run("return calibrationPoints(inQuestion(predictedGroups()))")
    assert sum(point["rows"] for point in points) == len(y)
    if kind in ("logistic", "three"):
        called = np.argmax(mean, axis=1) if kind == "three" else mean > 0.5
        assert float(page.figure("log loss")) == pytest.approx(log_loss(y, mean), rel=1e-3, abs=page.within(0))
        errors = float(page.figure("errors").split()[0])
        assert errors == pytest.approx(100 * zero_one_loss(y, called), abs=0.06 + 100 * page.within(1))
        assert "to within" in page.text("figures")
    else:
        predicted = sum(point["weight"] * point["predicted"] for point in points)
        assert predicted == pytest.approx(mean.sum(), rel=1e-3, abs=page.predicted_within())
    assert "without rules" in page.text("figures")
    page.toggle(0)
    assert "no figures with rules switched off" in page.text("figures-rows")
    assert page.measures() == {}
    assert page.download().ensemble_ == model.ensemble.with_rules(model.ensemble.rules[1:])


@pytest.mark.parametrize("kind", ["exposure", "logistic", "three"])
def test_axe_finds_nothing(kind, workbench, axe):
    model, *_, rows = exposed() if kind == "exposure" else shifted(kind)
    page = workbench.show(model, rows)
    page.run(axe)
    for width in (1280, 400):
        page.resize(width)
        found = page.driver.execute_async_script("axe.run().then(arguments[0])")
        assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found["violations"]] == []
        assert page.run("return document.documentElement.scrollWidth") <= width
