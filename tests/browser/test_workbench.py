"""In the browser the workbench counts as the library does: sizes, rules switched off, cases, and the file that comes back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import (
    d2_tweedie_score,
    log_loss,
    mean_squared_error,
    mean_tweedie_deviance,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    zero_one_loss,
)

from obliquerules import RuleEnsemble
from obliquerules.rules.numbers import readable
from obliquerules.rules.text.formats import Wording
from obliquerules.rules.text.style import PLAIN

from ..export.models import MODELS as ODD
from .models import HOSTILE, KINDS, fitted, holding, hostile, stairs

pytestmark = pytest.mark.browser
every_kind = pytest.mark.parametrize("kind", KINDS)


def figures_of(model, X, y):
    """Return what scikit-learn says about a model, in the words of the page."""
    if hasattr(model, "classes_"):
        share = model.predict_proba(X)[:, 1]
        return {
            "log loss": log_loss(y, np.column_stack([1.0 - share, share]), labels=model.classes_),
            "errors": zero_one_loss(y, model.predict(X)),
            "AUC": roc_auc_score(y == model.classes_[1], model.decision_function(X)),
        }
    mean = model.predict(X)
    if model.loss == "squared":
        return {"RMSE": mean_squared_error(y, mean) ** 0.5, "R²": r2_score(y, mean)}
    power = model.model_.loss.power
    deviance, explained = mean_tweedie_deviance(y, mean, power=power), d2_tweedie_score(y, mean, power=power)
    return {"mean deviance": deviance, "deviance explained": explained}


def member(model, page, index):
    """Return the model at a size of the slider."""
    return model.at(model.path_[page.payload["sizes"][index]].complexity)


def without(model, X, y, off):
    """Return the model without some rules, as the library edits it."""
    editing = model.edit(X, y)
    for count, rule in enumerate(sorted(off)):
        editing = editing.drop(rule - count)
    return editing.model


@every_kind
def test_the_slider_shows_every_size(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y, min_count=1)
    assert page.find("size").get_property("value") == str(page.payload["present"])
    for index in range(len(page.payload["sizes"])):
        page.choose(index)
        at = member(model, page, index)
        assert page.figure("complexity") == str(at.ensemble_.complexity)
        assert page.figure("rules") == str(len(at.ensemble_))
        assert len(page.driver.find_elements("css selector", "#rules tbody tr")) == 1 + len(at.ensemble_)
        assert page.measures() == pytest.approx(figures_of(at, X, y), rel=1e-12, abs=1e-12)
        assert not page.run("return /NaN|undefined|Infinity|null/.exec(document.querySelector('main').innerHTML)")


@every_kind
@pytest.mark.parametrize("least", [1, 5])
def test_calibration_is_of_all_rows(kind, least, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y, min_count=least)
    target = y == model.classes_[1] if kind == "logistic" else y
    for index in range(len(page.payload["sizes"])):
        page.choose(index)
        at = member(model, page, index)
        mean = at.predict_proba(X)[:, 1] if kind == "logistic" else at.predict(X)
        points = page.run("return calibrationPoints(predictedGroups())")
        assert sum(point["rows"] for point in points) == len(X)
        predicted, within = sum(point["weight"] * point["predicted"] for point in points), page.predicted_within()
        assert predicted == pytest.approx(mean.sum(), rel=1e-3, abs=within)
        assert least > 1 or within == 0
        assert sum(point["weight"] * point["observed"] for point in points) == pytest.approx(target.sum(), rel=1e-12)
        assert len(page.driver.find_elements("css selector", "#calibration-table tbody tr")) == len(points)
        if not len(at.ensemble_):
            assert len(points) == 1  # whatever groups there are, all rows have the same prediction


@every_kind
def test_rules_switched_off_have_the_figures_of_the_edited_model(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y, min_count=1)
    off = set()
    assert "the size that the model has" in page.text("size-output")
    for rule in range(len(model.ensemble_)):
        page.toggle(rule)
        off.add(rule)
        assert "the size that the model has" not in page.text("size-output")
        assert page.measures() == pytest.approx(figures_of(without(model, X, y, off), X, y), rel=1e-12, abs=1e-12)
        assert page.driver.switch_to.active_element.get_attribute("id") == f"rule-{rule}-switch"
    page.toggle(0)
    off.remove(0)
    assert page.measures() == pytest.approx(figures_of(without(model, X, y, off), X, y), rel=1e-12, abs=1e-12)
    page.find("all-on").click()
    assert page.measures() == pytest.approx(figures_of(model, X, y), rel=1e-12, abs=1e-12)


@every_kind
def test_with_small_groups_merged_the_other_rows_are_counted_exactly(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y, min_count=5)
    figures = page.payload["figures"]
    rows = sum(figures["groups"]["rows"][: len(figures["groups"]["patterns"])])
    conditions = list(dict.fromkeys(rule.condition for ensemble in model.path_ for rule in ensemble))
    bits = np.column_stack([conditions[index](X.to_numpy()) for index in figures["conditions"]])
    _, inverse, counts = np.unique(bits, axis=0, return_inverse=True, return_counts=True)
    kept = counts[inverse.ravel()] > 5
    assert kept.sum() == rows  # no further group had to join the rest
    assert f"{rows} of {figures['rows']} rows" not in page.text("figures-rows")
    page.toggle(0)
    assert page.measures() == pytest.approx(figures_of(without(model, X, y, {0}), X[kept], y[kept]), rel=1e-12, abs=1e-12)
    assert f"{rows} of {figures['rows']} rows" in page.text("figures-rows")
    assert f"{figures['rows'] - rows} rows with rare combinations" in page.text("about")


@every_kind
def test_a_case_has_the_prediction_of_the_model(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y)
    predict = (lambda rows: model.predict_proba(rows)[:, 1]) if kind == "logistic" else model.predict
    for row in (0, 50, 200):
        page.type_case({column: X.iloc[row, column] for column in page.columns()})
        prediction, score = page.answer()
        assert prediction == pytest.approx(predict(X.iloc[[row]])[0], rel=1e-12, abs=1e-12)
        assert score == model.ensemble_(X.iloc[[row]])[0]  # to the last bit
        page.find(f"value-{page.columns()[0]}").send_keys("\ue007")  # Enter, which must send nothing
        assert page.answer() == (prediction, score)


def test_a_case_on_a_threshold_and_rules_that_are_off(workbench):
    model, X, y = fitted("logistic")
    page = workbench.open(model, X, y)
    row = X.iloc[7].to_numpy().copy()
    page.type_case({column: row[column] for column in page.columns()})
    page.toggle(1)
    edited = without(model, X, y, {1})
    assert page.answer()[1] == edited.ensemble_(row[None, :])[0]
    single = next(p for rule in edited.ensemble_ for p in rule.condition if len(p.columns) == 1)
    row[single.columns[0]] = single.threshold / single.weights[0]
    page.type_case({single.columns[0]: row[single.columns[0]]})
    assert page.answer()[1] == edited.ensemble_(row[None, :])[0]


@every_kind
def test_a_case_that_lacks_a_value_is_scored_as_the_model_does_and_remarked_on(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y)
    first, second = page.columns()[:2]
    row = X.iloc[[3]].astype(float)
    page.type_case({column: row.iloc[0, column] for column in page.columns()})
    assert "Left empty" not in page.text("case-remark")
    for column, lacking in ((first, [first]), (second, [first, second])):
        page.type_case({column: None})
        row.iloc[0, column] = np.nan
        assert page.answer()[1] == model.ensemble_(row)[0]
        assert f"Left empty: {', '.join(X.columns[lacking])}. In training" in page.text("case-remark")
        assert f"{X.columns[column]} is missing" in page.text("waterfall")
        assert ", so that it is not met" in page.text("waterfall")


def test_what_cannot_be_read_is_not_scored(workbench):
    model, X, y = fitted("logistic")
    page = workbench.open(model, X, y)
    first = page.columns()[0]
    page.type_case({first: None})
    page.find(f"value-{first}").send_keys("-")
    assert page.text("answer") == "cannot score"
    assert page.find("answer").get_attribute("data-value") is None
    assert page.text("case-warning") == f"A number is needed for {X.columns[first]}."
    assert (page.text("verdict"), page.text("waterfall"), page.text("answer-bar")) == ("", "", "")
    page.type_case({first: 1.0})
    assert page.text("case-warning") == ""
    assert page.answer()


def test_only_the_values_that_rules_need_are_asked_for(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    page.type_case({0: None})
    for rule in range(5):
        page.toggle(rule)
    assert page.answer()[1] == -4.5 - 0.75 * page.find("value-1").is_selected()


def test_a_value_far_outside_the_data_is_remarked_on(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    low, high = page.payload["ranges"]["0"]
    for value, far in ((high, False), (high + 0.49 * (high - low), False), (high + 0.51 * (high - low), True), (-9e9, True)):
        page.type_case({0: value})
        assert ("balance is far outside what the rules were learned from" in page.text("case-remark")) is far
        assert page.answer()[1] == model.ensemble_([[value, page.find("value-1").is_selected()]])[0]


def test_a_column_of_zeros_and_ones_has_a_tick_box(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    assert page.find("value-1").get_attribute("type") == "checkbox"
    assert page.find("value-1").is_selected() == (X["student"].median() == 1.0)
    for student in (0, 1, 0):
        page.type_case({0: 1100.0, 1: student})
        assert page.answer()[1] == model.ensemble_([[1100.0, student]])[0]


def expected_decisions(model, X, y, threshold):
    """Return what scikit-learn says about the decisions at a threshold, in the words of the page."""
    event, called = y == model.classes_[1], model.predict_proba(X)[:, 1] > threshold
    return {
        "sensitivity": recall_score(event, called),
        "specificity": recall_score(~event, ~called),
        "positive predictive value": precision_score(event, called, zero_division=np.nan),
        "negative predictive value": precision_score(~event, ~called, zero_division=np.nan),
        "errors": zero_one_loss(event, called),
        "base rate": event.mean(),
        "net benefit": (event & called).mean() - (~event & called).mean() * threshold / (1.0 - threshold),
    }


def test_decisions_have_the_figures_of_scikit_learn(workbench):
    for model, X, y in (fitted("logistic"), stairs()):
        page = workbench.open(model, X, y, min_count=1)
        for percent in (50, 3, 12.5, 30, 80):
            page.decide_at(percent)
            assert page.decisions() == pytest.approx(expected_decisions(model, X, y, percent / 100), rel=1e-12, nan_ok=True)
            assert float(page.find("threshold").get_property("value")) == pytest.approx(percent, abs=0.5)
        page.toggle(1)
        assert page.decisions() == pytest.approx(
            expected_decisions(without(model, X, y, {1}), X, y, 0.8), rel=1e-12, nan_ok=True
        )


def test_decisions_on_merged_rows_are_close(workbench):
    model, X, y = fitted("logistic")
    page = workbench.open(model, X, y, min_count=5)
    for percent in (50, 20, 80):
        page.decide_at(percent)
        assert page.decisions() == pytest.approx(expected_decisions(model, X, y, percent / 100), abs=0.03)
    assert "close, but not exact" in page.text("decision-rows")
    page.toggle(0)
    assert "exact" not in page.text("decision-rows")
    assert page.run("return document.getElementById('decision-rows').textContent").startswith("On ")


def test_the_threshold_decides_on_the_case(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    page.type_case({0: 1100.0, 1: 0})
    share = 100 * page.answer()[0]
    page.decide_at(round(share - 1, 1))
    assert page.text("verdict").startswith("Predicted: 'Yes', with the threshold at ")
    page.decide_at(round(share + 1, 1))
    assert page.text("verdict").startswith("Predicted: 'No', with the threshold at ")
    before = page.decisions()
    for nonsense in ("0", "100", "-3", ""):
        page.decide_at(nonsense)
        assert page.run("return state.threshold") not in (0, 1)
    page.decide_at(round(share + 1, 1))
    assert page.decisions() == before
    page.find("threshold").send_keys("\ue010")  # End
    assert page.find("threshold-number").get_property("value") == "99.5"


def test_errors_stand_beside_those_without_rules(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    share = (y == "Yes").mean()
    assert f"{100 * min(share, 1 - share):.1f} % without rules" in page.text("figures")


def band_lines(ensemble):
    return [[(band.describe(), PLAIN.signed(band.weight)) for band in table.legible] for table in ensemble.band_tables()]


def test_band_tables_are_those_of_the_library(workbench):
    model, X, y = stairs()
    page = workbench.open(model, X, y)
    assert page.band_lines() == band_lines(model.ensemble_) != []
    page.toggle(2)
    assert page.band_lines() == band_lines(without(model, X, y, {2}).ensemble_)
    for rule in (0, 1, 3):
        page.toggle(rule)
    assert page.band_lines() == []
    assert not page.find("bands-part").is_displayed()


def test_weights_have_odds_ratios_where_there_are_odds(workbench):
    for kind, factor in (("logistic", "odds"), ("squared", None), ("poisson", "expected count"), ("gamma", "expected value")):
        model, X, y = fitted(kind)
        page = workbench.open(model, X, y)
        assert ("×" in page.text("rules")) == (factor is not None)
        weight = model.ensemble_[0].weight
        if factor:
            assert f"× {factor}" in page.text("rules")
            assert page.text("rule-0").split("\n")[1] == Wording(None, factor).ratio(weight)


def test_the_head_says_what_the_model_is_for(workbench):
    model, X, y = fitted("logistic")
    words = {
        "target": "diagnosis",
        "data": HOSTILE[0],
        "date": "May 2026",
        "intended_use": f"{HOSTILE[1]} {'and so on ' * 30}".strip(),
    }
    page = workbench.open(model, X, y, **words)
    said = ["Target", words["target"], "Event", "'malignant'", "Data", words["data"], "Date", words["date"]]
    assert page.text("about-model").split("\n") == [*said, "Intended use", words["intended_use"]]


@pytest.mark.parametrize("width", [320, 390, 700])
def test_a_coefficient_stands_on_the_line_of_its_variable(width, workbench):
    workbench.resize(width)
    model, X, y = fitted("squared")
    ensemble = RuleEnsemble.parse("\n".join(f"+1 if 1.5 age - 0.{n} bmi + {n} sex >= 3" for n in range(1, 9)), list(X))
    model = model._with(replace(model.model_.alone(), path=(ensemble,)))
    model.cv_results_ = None
    page = workbench.open(model, X, y)
    assert page.run(BROKEN) == []


# The coefficients whose last digit is on another line than the first letter of the variable behind them.
BROKEN = """
return [...document.querySelectorAll('.condition b, .why b')].filter((name) => {
  const before = name.previousSibling;
  if (!before || before.nodeType !== Node.TEXT_NODE || !/\\d\\s$/.test(before.data)) return false;
  const end = (node, from, to) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range.getClientRects()[0];
  };
  const letter = name.querySelector('bdi').firstChild;
  const digit = end(before, before.length - 2, before.length - 1);
  return Math.abs(digit.top - end(letter, 0, 1).top) > 3;
}).map((name) => name.previousSibling.data + name.textContent);
"""


def test_the_waterfall_says_how_clearly_conditions_are_met(workbench):
    model, X, y = fitted("squared")
    page = workbench.open(model, X, y)
    page.type_case({column: X.iloc[3, column] for column in page.columns()})
    shown = page.text("waterfall").replace("−", "-").replace("≥", ">=").replace("≤", "<=")
    row = X.iloc[[3]].to_numpy(float)
    for rule in model.ensemble_:
        for test in rule.condition:
            (projection,), (holds,) = test.project(row), test(row)
            if holds and not rule.condition(row)[0]:
                continue  # another condition is the reason
            value = row[0, test.columns[0]] if test.only_number is not None else np.sign(test.weights[0]) * projection
            told = f"{'met' if holds else 'missed'} by {readable(abs(projection - test.threshold))}"
            assert f"{test.describe(model.ensemble_.columns)}\nit is {readable(value)}, {told}" in shown


@every_kind
def test_the_edited_model_comes_back(kind, workbench):
    model, X, y = fitted(kind)
    page = workbench.open(model, X, y, min_count=1)
    page.toggle(0)
    page.toggle(len(model.ensemble_) - 1)
    back, edited = page.download(), without(model, X, y, {0, len(model.ensemble_) - 1})
    assert back.ensemble_ == edited.ensemble_
    assert back.path_ == model.path_
    assert back.model_.origin == model.model_.origin
    assert back.model_.ridges == model.model_.ridges
    assert back.edits_.start == edited.edits_.start
    for step, expected in zip(back.edits_, edited.edits_, strict=True):
        assert (step.action, step.rule, step.description) == (expected.action, expected.rule, expected.description)
        assert (step.complexity_before, step.complexity_after) == (expected.complexity_before, expected.complexity_after)
        assert (step.loss_before, step.loss_after) == pytest.approx((expected.loss_before, expected.loss_after), rel=1e-12)
    page.type_case({column: X.iloc[9, column] for column in page.columns()})
    assert back.ensemble_(X.iloc[[9]])[0] == page.answer()[1]


def test_another_size_an_edited_model_and_one_without_rows_come_back(workbench):
    model, X, y = fitted("squared")
    page = workbench.open(model, X, y)
    page.choose(1)
    back = page.download()
    assert back.ensemble_ == model.path_[page.payload["sizes"][1]]
    assert (back.path_, back.edits_) == (model.path_, None)
    edited = model.edit(X, y).drop(0).refit().model
    page = workbench.open(edited, X, y, min_count=1)
    assert page.download().edits_ == edited.edits_
    page.toggle(0)
    back = page.download()
    assert back.ensemble_ == edited.edit(X, y).drop(0).ensemble
    assert [step.action for step in back.edits_] == ["drop", "refit", "drop"]
    page = workbench.open(model)
    page.toggle(1)
    back = page.download()
    assert back.ensemble_ == without(model, X, y, {1}).ensemble_
    assert back.path_ == (back.ensemble_,)


def test_labels_of_every_type_come_back(workbench):
    model, X, y = fitted("logistic")
    for labels in ([1.0, 2.0], [False, True], [-3, 2**60], ["1", "2"]):
        page = workbench.open(type(model)(max_rules=1, random_state=0).fit(X, np.array(labels)[(y == "benign").astype(int)]))
        assert page.download().classes_.tolist() == labels
        assert type(page.download().classes_.tolist()[0]) is type(labels[0])


@pytest.mark.parametrize("name", ODD)
def test_odd_models(name, workbench):
    model, X, y = holding(*ODD[name])
    page = workbench.open(model, X, y, min_count=1)
    for row in range(3):
        page.type_case({column: X.iloc[row, column] for column in page.columns()})
        assert page.answer()[1] == model.ensemble_(X.iloc[[row]])[0]
    for rule in range(len(model.ensemble_)):
        page.toggle(rule)
    assert page.answer()[1] == model.ensemble_.intercept
    assert page.download().ensemble_ == model.ensemble_[:0]
    assert not page.run("return /NaN|undefined/.exec(document.querySelector('main').innerHTML)")


def test_hostile_names_are_text(workbench):
    model, X, y = hostile()
    page = workbench.open(model, X, y, title=HOSTILE[0], data_name=HOSTILE[1], min_count=1)
    assert page.driver.title == HOSTILE[0]
    assert page.driver.find_element("tag name", "h1").text == HOSTILE[0]
    assert page.run("return document.querySelectorAll('script').length") == 2
    assert page.run("return document.images.length") == 0
    assert len(page.columns()) == len(HOSTILE)
    shown = page.text("case")
    for name in HOSTILE[:4]:
        assert (json.dumps(name, ensure_ascii=False) if '"' in name else name) in shown
    page.toggle(0)
    back = page.download()
    assert back.ensemble_.feature_names == HOSTILE
    assert back.ensemble_ == without(model, X, y, {0}).ensemble_
    assert back.edits_.steps[0].description == without(model, X, y, {0}).edits_.steps[0].description
    assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_numbers_are_written_as_the_library_writes_them(workbench):
    model, _, _ = fitted("squared")
    page = workbench.open(model)
    rng = np.random.default_rng(0)
    numbers = [0.0, 1.0, -1.0, 0.1, 0.1 + 0.2, 1e-7, 2.5e-9, -1234567.8, 123456789.123, 1e10, 3e22, 5e-324, 1.7e308, 1 / 3]
    numbers += (10.0 ** rng.uniform(-12, 14, 300) * rng.choice([-1, 1], 300)).tolist()
    numbers += (rng.normal(size=200) * 100).round(2).tolist()
    assert page.run("return arguments[0].map(number => readable(number))", numbers) == [readable(number) for number in numbers]


@every_kind
def test_losses_are_those_of_the_library_for_any_score(kind, workbench):
    model, _, _ = fitted(kind)
    page, loss = workbench.open(model), model.model_.loss
    for score in (-800.0, -30.0, -0.5, 0.0, 3.0, 40.0, 599.0, 650.0, 800.0):
        for y in (0.5 if kind == "gamma" else 0.0, 1.0):
            told = page.run("return GROUP_LOSSES[arguments[0]](arguments[1], arguments[2])", kind, score, group_of(y))
            assert told == pytest.approx(float(loss.value(np.array([y]), np.array([score]))[0]), rel=1e-12)
            mean = page.run("return inverseLink(arguments[0])", score)
            assert mean == pytest.approx(float(loss.inverse_link(np.array([score]))[0]), rel=1e-12)


def group_of(y):
    """Return a group of one row with this target."""
    return {"weight": 1.0, "target": y, "spread": 0.0}


def test_without_rows(workbench):
    model, _, _ = fitted("logistic")
    page = workbench.open(model)
    assert page.measures() == {}
    assert not page.find("calibration-card").is_displayed()
    page.toggle(0)
    assert page.figure("rules") == str(len(model.ensemble_) - 1)
    assert not page.find("decision-card").is_displayed()
    assert page.answer()[1] == without(model, *fitted("logistic")[1:], {0}).ensemble_(np.full((1, 30), np.nan))[0]
    assert page.text("case-remark").startswith("Left empty: ")
    page.choose(0)
    assert page.answer()[1] == model.path_[0].intercept


def test_a_size_without_exact_figures(workbench):
    model, X, y = fitted("squared")
    page = workbench.open(model.at(4), X[:60], y[:60])
    exact = page.payload["figures"]["exact"]
    assert not all(exact)
    page.choose(exact.index(False))
    assert page.figure("RMSE") != "–"
    page.toggle(0)
    assert page.figure("RMSE") == "–"
    assert "too few rows" in page.text("figures-rows")
    assert page.download().edits_ is None


@pytest.mark.parametrize("kind", [*KINDS, "bare", "hostile", "stairs"])
@pytest.mark.parametrize("look", ["light", "dark"])
def test_axe_finds_nothing(kind, look, workbench, axe):
    features = [{"name": "prefers-color-scheme", "value": look}]
    workbench.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    model, X, y = {"hostile": hostile, "stairs": stairs}.get(kind, lambda: fitted("logistic" if kind == "bare" else kind))()
    page = workbench.open(model, *(() if kind == "bare" else (X, y)))
    page.run(axe)  # which the driver may do in spite of the policy
    for width in (1280, 400):
        page.resize(width)
        page.toggle(0)
        page.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        found = page.driver.execute_async_script("axe.run().then(arguments[0])")
        assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found["violations"]] == []
        assert len(found["passes"]) > 20


@pytest.mark.parametrize("width", [400, 700, 1280])
def test_nothing_is_wider_than_the_window(width, workbench):
    workbench.resize(width)
    for model, X, y in (fitted("logistic"), hostile()):
        page = workbench.open(model, X, y)
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_print_is_white_and_without_controls(workbench):
    model, X, y = fitted("logistic")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page = workbench.open(model, X, y)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.find("size").is_displayed()
    assert not page.find("download").is_displayed()
    assert page.find(f"rule-{len(model.ensemble_) - 1}").is_displayed()


def test_a_path_of_ten_steps_is_small_and_opens_at_once(workbench):
    model, X, y = fitted("logistic")
    page = workbench.open(model, X, y, max_sizes=10)
    assert len(page.payload["sizes"]) == min(10, len(model.path_)) >= 9
    assert (page.place / "model.html").stat().st_size < 150_000
    timing = page.run("return performance.getEntriesByType('navigation')[0].toJSON()")
    assert 0.0 < timing["loadEventEnd"] < 1000.0
