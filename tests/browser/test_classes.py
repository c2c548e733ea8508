"""In the browser the workbench counts with many classes as the library does: scores, figures, a case, and the file."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss, zero_one_loss

from obliquerules import Rule, RuleEnsemble
from obliquerules.losses import MultinomialLoss
from obliquerules.rules.model import NO_LOSSES
from obliquerules.rules.numbers import readable
from obliquerules.rules.text.style import PLAIN

from ..report.mixed import any_rows
from .models import CULTIVARS, ODD_CLASSES, measured, of_classes, three

pytestmark = pytest.mark.browser

SCORES = """
const value = (row) => (column) => row[column] ?? NaN;
const holds = (row) => (condition) => conditionHolds(condition, value(row));
return arguments[0].map((row) => score(current(), switchedOff(), holds(row), null, value(row)));
"""
CODES = "return arguments[0].map((scores) => [leading(scores), ...ranked(scores).slice(0, 2)])"


def as_json(block):
    return [[None if value != value else value for value in row] for row in block.matrix.tolist()]


def figures_of(scores, y):
    """Return what scikit-learn says about scores."""
    labels = sorted(CULTIVARS)
    shares, called = MultinomialLoss(3).inverse_link(scores), np.array(labels)[np.argmax(scores, axis=1)]
    return {"log loss": log_loss(y, shares, labels=labels), "errors": zero_one_loss(y, called)}


def open_three(workbench, **options):
    model, X, y = three()
    return workbench.open(model, X, y, **options), model, X, y


def scores_of(model, X, off=(), size=None):
    ensemble = model.ensemble_ if size is None else model.path_[size]
    return ensemble.with_rules(rule for index, rule in enumerate(ensemble) if index not in off)(X.to_numpy())


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_any_rows_are_those_of_the_library(seed, workbench):
    model, rows = of_classes(seed)
    page = workbench.show(model, rows)
    block = any_rows(model.columns, 10_000, seed)
    scores = model.scores(block)
    assert page.run(SCORES, as_json(block)) == scores.tolist()  # to the last bit
    assert page.run(CODES, scores.tolist()) == [
        [code, *model.leading(of_row)] for code, of_row in zip(model.codes(scores).tolist(), scores, strict=True)
    ]
    page.toggle(3)
    page.toggle(30)
    kept = model.ensemble.with_rules(rule for index, rule in enumerate(model.ensemble) if index not in (3, 30))
    assert page.run(SCORES, as_json(block)) == kept(block).tolist()


def test_of_equal_scores_the_first_class_is_called(workbench):
    model, _ = of_classes(0)
    tied = RuleEnsemble([], [0.5, 1.0, 1.0, 1.0], model.columns, model.path[0].outputs)
    page = workbench.show(replace(model.alone(), path=(tied,)))
    assert page.text("answer") == "blue"
    assert page.find("rival").text.split("\n")[0] == "'green'"
    assert "'blue' is as probable as 'green', and comes before it" in page.text("waterfall")


def test_every_size_has_the_figures_of_scikit_learn(workbench):
    page, model, X, y = open_three(workbench, min_count=1)
    for index, size in enumerate(page.payload["sizes"]):
        page.choose(index)
        scores = scores_of(model, X, size=size)
        assert page.run(SCORES, X.to_numpy().tolist()) == scores.tolist()
        assert page.figure("complexity") == str(model.path_[size].complexity)
        assert page.measures() == pytest.approx(figures_of(scores, y), rel=1e-12, abs=1e-12)
        assert not page.run("return /NaN|undefined|Infinity|null/.exec(document.querySelector('main').innerHTML)")
    share = max((y == name).mean() for name in CULTIVARS)
    assert f"{100 * (1 - share):.1f} % without rules" in page.text("figures")


def test_rules_switched_off_have_the_figures_of_the_model_without_them(workbench):
    page, model, X, y = open_three(workbench, min_count=1)
    off = set()
    for rule in range(len(model.ensemble_)):
        page.toggle(rule)
        off.add(rule)
        scores = scores_of(model, X, off)
        assert page.measures() == pytest.approx(figures_of(scores, y), rel=1e-12, abs=1e-12)
        left = [rule for index, rule in enumerate(model.ensemble_) if index not in off]
        assert page.figure("complexity") == str(sum(rule.complexity for rule in left))
        assert confusion(page) == expected_confusion(scores, y)
    page.find("all-on").send_keys(" ")
    assert page.measures() == pytest.approx(figures_of(scores_of(model, X), y), rel=1e-12, abs=1e-12)


def confusion(page):
    """Return the confusion table as it is shown; what is blank is zero."""
    return [[int(cell or 0) for cell in line[1:]] for line in page.table("confusion-table")]


def expected_confusion(scores, y):
    """Return the same, in the order of the labels of the model."""
    labels = sorted(CULTIVARS)
    return confusion_matrix(y, np.array(labels)[np.argmax(scores, axis=1)], labels=labels).tolist()


def class_figures(table):
    """Return base rate, sensitivity, specificity and predictive value of each class, by their definitions."""
    table = np.array(table, dtype=float)
    right, are, called, total = np.diag(table), table.sum(axis=1), table.sum(axis=0), table.sum()
    with np.errstate(invalid="ignore"):
        return np.column_stack([are / total, right / are, (total - are - called + right) / (total - are), right / called])


def test_classes_have_sensitivity_and_predictive_value(workbench):
    page, model, X, y = open_three(workbench, min_count=1)
    for index, size in enumerate(page.payload["sizes"]):
        page.choose(index)
        expected = expected_confusion(scores_of(model, X, size=size), y)
        assert confusion(page) == expected
        shown = page.run("return classes.map((code) => classFigures(confusion(predictedGroups()), code))")
        assert np.array(shown, dtype=float) == pytest.approx(class_figures(expected), rel=1e-12, nan_ok=True)
    assert [line[0] for line in page.table("class-table")] == sorted(CULTIVARS)
    assert page.text("about-model") == "Classes\n'Barbera', 'Barolo', 'Grignolino'"
    assert "no threshold to choose" in page.text("confusion-card")
    assert not page.find("decision-card").is_displayed()


def test_mistakes_of_merged_rows_are_close(workbench):
    page, model, X, y = open_three(workbench, min_count=5)
    exact = np.array(expected_confusion(scores_of(model, X), y))
    assert np.abs(np.array(confusion(page)) - exact).sum() <= 0.05 * len(y)
    assert np.sum(confusion(page)) == len(y)
    assert "close, but not exact" in page.text("confusion-rows")


@pytest.mark.parametrize("least", [1, 5])
def test_calibration_is_of_the_predicted_class_or_of_one_that_is_chosen(least, workbench):
    page, model, X, y = open_three(workbench, min_count=least)
    shares = model.predict_proba(X)
    for code, name in enumerate(model.classes_):
        page.choose_from("asked", name)
        points = page.run("return calibrationPoints(inQuestion(predictedGroups()))")
        assert sum(point["rows"] for point in points) == len(X)
        predicted = sum(point["weight"] * point["predicted"] for point in points)
        assert predicted == pytest.approx(shares[:, code].sum(), rel=1e-3, abs=page.predicted_within())
        assert sum(point["weight"] * point["observed"] for point in points) == pytest.approx((y == name).sum(), rel=1e-12)
        assert len(page.table("calibration-table")) == len(points)
    page.choose_from("asked", "the predicted class")
    points = page.run("return calibrationPoints(inQuestion(predictedGroups()))")
    right = (model.predict(X) == y).sum()
    assert sum(point["weight"] * point["observed"] for point in points) == pytest.approx(right, abs=0 if least == 1 else 5)
    assert "share that is right" in page.text("calibration")


def test_rules_have_a_column_for_each_class_and_blanks_for_zero(workbench):
    page, model, _, _ = open_three(workbench)
    lines = page.table("rules")
    weights = [model.ensemble_.intercepts, *(rule.weights for rule in model.ensemble_)]
    for index, (line, expected) in enumerate(zip(lines, weights, strict=True)):
        shown = [cell.replace("−", "-") for cell in line[1:4]]
        assert shown == [PLAIN.signed(weight) if weight or index == 0 else "" for weight in expected]
    heads = page.driver.find_elements("css selector", "#rules thead th.weight")
    assert [head.text for head in heads] == sorted(CULTIVARS)
    assert any(weight == 0.0 for rule in model.ensemble_ for weight in rule.weights)


def stairs():
    """Return an ensemble of three classes with several rules on one variable alone."""
    text = (
        "Barbera | Barolo | Grignolino | if\n+0.5 | -0.5 | +0 | True\n+1.5 | | -0.25 | alcohol >= 12\n"
        "| +1.25 | | alcohol >= 13\n-1.5 | | +0.25 | alcohol >= 13 & alcohol <= 14\n| | -2 | ash <= 2\n+1 | | | hue >= 1"
    )
    return RuleEnsemble.parse(text, list(three()[1]))


def test_band_tables_have_the_sums_of_the_library(workbench):
    model, X, y = three()
    model = replace(model.model_.alone(), path=(stairs(),))
    page = workbench.show(model, measured(model, X, model.labels.encode(y)))
    (lines,) = page.run("return staircases().map(([column, stairs]) => bandsOf(stairs))")
    middles = [11.0, 12.5, 13.5, 15.0]
    assert len(lines) == len(middles)
    for output, name in enumerate(model.labels.names):
        (table,) = [one for one in model.ensemble.band_tables() if one.output == name] or [None]
        if table is not None:
            assert [line["weight"][output] for line in lines] == table(middles).tolist()
    heads = page.driver.find_elements("css selector", "#bands thead th")
    assert [head.text for head in heads] == ["alcohol alone", "Barbera", "Barolo", "Grignolino"]
    (table,) = page.driver.find_elements("css selector", "#bands table")
    words = [line.text.split("\n")[0] for line in table.find_elements("css selector", "tbody th")]
    assert words == ["below 12", "from 12 to below 13", "from 13 to 14", "above 14"]


def test_a_case_has_the_classes_of_the_model_with_their_probabilities(workbench):
    page, model, X, _ = open_three(workbench)
    for row in (0, 60, 100, 170):
        page.type_case({column: X.iloc[row, column] for column in page.columns()})
        shares, scores = page.class_answer()
        assert scores == model.decision_function(X.iloc[[row]])[0].tolist()  # to the last bit
        assert shares == pytest.approx(model.predict_proba(X.iloc[[row]])[0], rel=1e-12)
        assert page.text("answer") == model.predict(X.iloc[[row]])[0]
        order = np.argsort([-share for share in shares], kind="stable")
        chances = page.text("answer-bar").replace("\u00a0", " ").split("\n")
        assert chances == [text for code in order for text in (model.classes_[code], f"{100 * shares[code]:.1f} %")]


def test_the_explanation_says_why_this_class_and_not_the_runner_up(workbench):
    page, model, X, _ = open_three(workbench)
    ensemble = model.ensemble_
    for row in (0, 60, 170):
        page.type_case({column: X.iloc[row, column] for column in page.columns()})
        scores = model.decision_function(X.iloc[[row]])[0]
        first, *others = np.argsort(-scores, kind="stable").tolist()
        for rival in others:
            page.choose_from("rival", f"'{model.classes_[rival]}'")
            assert page.find("why-class").text == f"'{model.classes_[first]}'"
            fires = ensemble.fires(X.iloc[[row]].to_numpy())[0]
            leads = [(rule.weights[first] - rule.weights[rival], fired) for rule, fired in zip(ensemble, fires, strict=True)]
            said = [lead for lead, fired in leads if lead and fired], [lead for lead, fired in leads if lead and not fired]
            start = ensemble.intercepts[first] - ensemble.intercepts[rival]
            amounts = [start, *said[0], scores[first] - scores[rival], *said[1]]
            assert [line[0].replace("−", "-") for line in page.table("waterfall")] == [PLAIN.signed(one) for one in amounts]
            times = readable(float(f"{np.exp(scores[first] - scores[rival]):.3g}"))
            assert f"is {times} times as probable as '{model.classes_[rival]}'" in page.text("waterfall")
        page.choose_from("rival", f"'{model.classes_[others[0]]}'")


def test_the_edited_model_comes_back(workbench):
    page, model, X, _ = open_three(workbench, min_count=1)
    last = len(model.ensemble_) - 1
    page.toggle(0)
    page.toggle(last)
    back = page.download()
    assert back.ensemble_ == model.ensemble_.with_rules(model.ensemble_.rules[1:-1])
    assert back.path_ == model.path_
    assert back.classes_.tolist() == model.classes_.tolist()
    assert '"version": 1' in page.payload["file"]
    step, other = back.edits_
    assert step.description == f"drop rule 0: {told(model.ensemble_, 0)}"
    assert (other.rule, other.description) == (last - 1, f"drop rule {last - 1}: {told(model.ensemble_, last)}")
    assert other.complexity_after == back.ensemble_.complexity
    codes = model.model_.labels.encode(three()[2])
    loss = MultinomialLoss(3).risk(codes, back.ensemble_(X.to_numpy()), np.ones(len(X)))
    assert other.loss_after == pytest.approx(loss, rel=1e-12)
    page.find("all-on").send_keys(" ")
    assert page.download().model_ == replace(model.model_, **NO_LOSSES)  # exact losses of training rows are on no page


def told(ensemble, index):
    return ensemble[index].describe(ensemble.columns, outputs=ensemble.outputs)


def test_without_rows(workbench):
    model, _, _ = three()
    page = workbench.open(model)
    assert page.measures() == {}
    assert not page.find("confusion-card").is_displayed()
    page.toggle(0)
    lacking = np.full((1, len(model.model_.columns)), np.nan)
    assert page.class_answer()[1] == model.ensemble_.with_rules(model.ensemble_.rules[1:])(lacking)[0].tolist()
    assert page.download().path_[0].outputs == model.ensemble_.outputs


def test_a_size_without_exact_figures(workbench):
    model, X, y = three()
    page = workbench.open(model.at(3), X[::3], y[::3])
    exact = page.payload["figures"]["exact"]
    assert not all(exact)
    page.choose(exact.index(False))
    assert page.figure("log loss") != "–"
    assert np.sum(confusion(page)) == len(X[::3])
    page.toggle(0)
    assert page.figure("log loss") == "–"
    assert not page.find("confusion-part").is_displayed()
    assert "too few rows" in page.text("confusion-rows")


def test_hostile_names_of_classes_are_text(workbench):
    model, rows = of_classes(0, ODD_CLASSES, n_rules=6)
    page = workbench.show(model, rows)
    assert page.run("return document.querySelectorAll('script').length") == 2
    assert page.run("return document.images.length") == 0
    page.toggle(0)
    assert page.download().classes_.tolist() == list(ODD_CLASSES)
    for width in (390, 1280):
        page.resize(width)
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_on_a_narrow_page_weights_stand_beside_the_names_of_classes(workbench):
    page, model, _, _ = open_three(workbench)
    (code, *_) = model.ensemble_[0].classes_with_weight
    name = model.classes_[code]
    assert name not in page.text("rule-0")
    page.resize(390)
    assert name in page.text("rule-0")
    assert page.run("return document.documentElement.scrollWidth") <= 390
    page.resize(1280)
    assert name not in page.text("rule-0")


@pytest.mark.parametrize("kind", ["three", "odd"])
@pytest.mark.parametrize("look", ["light", "dark"])
def test_axe_finds_nothing(kind, look, workbench, axe):
    features = [{"name": "prefers-color-scheme", "value": look}]
    workbench.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    model, rows = of_classes(0, ODD_CLASSES, n_rules=6)
    page = workbench.show(model, rows) if kind == "odd" else open_three(workbench)[0]
    page.run(axe)
    for width in (1280, 400):
        page.resize(width)
        page.toggle(0)
        page.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        found = page.driver.execute_async_script("axe.run().then(arguments[0])")
        assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found["violations"]] == []


def test_numbers_that_speak_for_no_class_are_shown_as_a_rule(workbench):
    model, rows = of_classes(1, n_rules=3)
    silent = model.ensemble.with_rules([Rule([0.0] * 4, model.ensemble[0].condition), *model.ensemble.rules[1:]])
    page = workbench.show(replace(model.alone(), path=(silent,)), rows)
    assert page.figure("rules") == "3"
    page.toggle(0)
    assert page.download().ensemble_ == silent.with_rules(silent.rules[1:])
