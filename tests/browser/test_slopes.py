"""In the browser rules with factors are scored as the library does, shown in its words, explained, and kept in the file."""

from dataclasses import replace

import numpy as np
import pytest

from obliquerules.rules.model import NO_LOSSES

from ..report.mixed import any_rows
from ..report.slopes import sloped
from .test_mixed import plain, typed

pytestmark = pytest.mark.browser

SCORES = """
const value = (row) => (column) => row[column] ?? NaN;
const holds = (row) => (condition) => conditionHolds(condition, value(row));
return arguments[0].map((row) => score(current(), switchedOff(), holds(row), null, value(row)));
"""


def opened(workbench, **options):
    model, X, y = sloped()
    return model, X, workbench.open(model, X, y, **options)


def in_full(block):
    return [[None if value != value else value for value in row] for row in block.matrix.tolist()]


def without(ensemble, *off):
    return ensemble.with_rules(rule for index, rule in enumerate(ensemble) if index not in off)


def test_scores_of_any_rows_are_those_of_the_library(workbench):
    model, _, page = opened(workbench)
    block = any_rows(model.ensemble_.columns, 5_000, 3)
    assert np.isnan(block.matrix).any(axis=0).all()
    for off in ((), (1,), (1, 3)):
        for rule in off[-1:]:
            page.toggle(rule)
        assert page.run(SCORES, in_full(block)) == without(model.ensemble_, *off)(block).tolist()
        assert page.figure("complexity") == str(without(model.ensemble_, *off).complexity)


def test_a_typed_row_has_the_score_of_the_model(workbench):
    model, X, page = opened(workbench)
    assert page.columns() == list(model.ensemble_.used_columns)
    for row in range(0, 40, 5):
        values = typed(X, row)
        page.type_case({column: values[column] for column in page.columns()})
        prediction, score = page.answer()
        assert score == model.decision_function(X.iloc[[row]])[0]
        assert prediction == pytest.approx(model.predict_proba(X.iloc[[row]])[0, 1], rel=1e-15)


def test_rules_say_what_their_weight_is_multiplied_by(workbench):
    _, _, page = opened(workbench)
    assert plain(page.text("rule-0-if")) == "times (age − 50)"
    assert plain(page.text("rule-1-if")) == "times bmi clipped to [18, 40], if age >= 40"
    assert plain(page.text("rule-2-if")) == "times (admitted − 2021-03-01)"
    assert plain(page.text("rule-3-if")) == "times (stay clipped to [0 days, 10 days] + 3 days)"
    assert "100.0 %" in plain(page.text("rule-0"))
    assert "its number is multiplied by that value" in page.text("rules-note")
    assert page.band_lines() == []  # a rule on age alone, and one that multiplies age


def test_the_waterfall_shows_weight_times_value(workbench):
    _, _, page = opened(workbench)
    page.type_case({0: 60, 1: None})
    text = plain(page.text("waterfall"))
    assert "+0.31" in text
    assert "+0.031 times (age − 50)\nage is 60, times 10" in text
    assert "+0.2 times bmi clipped to [18, 40]\nbmi is missing, which adds nothing\nbecause age >= 40" in text
    page.type_case({0: 30, 1: 50})
    text = plain(page.text("waterfall"))
    assert "+8 not counted if age >= 40" in text


def test_figures_are_of_all_rows_with_all_rules(workbench):
    model, X, page = opened(workbench)
    errors = np.mean(model.predict(X) != sloped()[2])
    assert float(page.figure("errors").split()[0]) == pytest.approx(100 * errors, abs=0.06 + 100 * page.within(1))
    assert "what some rules add differs from row to row" in page.text("about")
    assert page.find("calibration-details").is_displayed()
    page.toggle(4)
    why = "What some rules add differs from row to row, so there are no figures with rules switched off."
    assert page.figure("errors") == "–"
    assert [page.text(place) for place in ("figures-rows", "calibration-note", "decision-rows")] == [why] * 3


def test_the_model_comes_back_with_its_factors(workbench):
    model, _, page = opened(workbench)
    assert page.download().model_ == replace(model.model_, **NO_LOSSES)  # exact losses of training rows are on no page
    page.toggle(1)
    back = page.download()
    assert (back.ensemble_, back.edits_) == (without(model.ensemble_, 1), None)


def test_a_value_that_is_missing_against_expectation_is_remarked_on(workbench):
    _, _, page = opened(workbench)
    page.type_case({0: None})
    assert page.text("case-remark").endswith("are not met, and what is multiplied by it adds nothing.")


def test_axe_finds_nothing(workbench, axe):
    _, _, page = opened(workbench)
    page.run(axe)
    found = page.driver.execute_async_script("axe.run().then((result) => arguments[0](result.violations))")
    assert [violation["id"] for violation in found] == []
