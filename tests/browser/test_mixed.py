"""In the browser the workbench takes levels, dates, flags and missing values, and counts with them as the library does."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import RuleEnsemble
from obliquerules.rules import Block
from obliquerules.rules.columns import code_of

from ..report.mixed import COLOURS, any_rows, frame, holding, learned, made_up
from .test_workbench import band_lines

pytestmark = pytest.mark.browser

SCORES = """
const value = (row) => (column) => row[column] ?? NaN;
return arguments[0].map((row) => score(current(), new Set(), (condition) => conditionHolds(condition, value(row))));
"""
# How one level is shown that would fill the page.
LONG = COLOURS[-1][:75] + "…" + COLOURS[-1][-12:]
RULES = """
+0.5 if True
+1 if colour in {red, "1"} or missing
+2 if colour != red
+4 if age + 12 (smoker) >= 60
+8 if grade at least high
+16 if bmi is missing
+32 if admitted >= 2021-03-01 or missing
+64 if admitted >= 2022-02-01
+128 if seen at >= 2021-05-05 12:00:00
+256 if stay >= 3 days
+512 if sex_M = 1
+1024 if any of {sex_M, drug}
+2048 if ward in {1, 3}
+4096 if "drinks, or not"
+8192 if not smoker
+16384 if sex = male
"""


def ensemble():
    """Return one rule of each kind, whose weights are powers of two: the score says which of them fire."""
    columns = learned()[0].ensemble_.columns
    return RuleEnsemble.parse(RULES.strip(), columns)


def plain(text):
    """Return text as the library writes it."""
    for shown, meant in (("\u00a0", " "), ("≥", ">="), ("≠", "!=")):
        text = text.replace(shown, meant)
    return text


def place(name):
    return learned()[0].ensemble_.columns.names.index(name)


def open_all(workbench, **options):
    model, X, y = holding(ensemble())
    return workbench.open(model, X, y, **options)


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_any_rows_are_those_of_the_library(seed, workbench):
    model, X, y = holding(made_up(seed, n_rules=40))
    page = workbench.open(model, X, y)
    columns = model.ensemble_.columns
    block = any_rows(columns, 20_000, seed)
    for index in columns.with_levels:
        assert set(range(-1, len(columns[index].levels))) <= set(block.matrix[:, index])
    assert np.isnan(block.matrix).any(axis=0).all()
    rows = [[None if value != value else value for value in row] for row in block.matrix.tolist()]
    assert page.run(SCORES, rows) == model.ensemble_(block).tolist()


def test_scores_of_the_learned_model_are_those_of_the_library_at_every_size(workbench):
    model, X, y = learned()
    page = workbench.open(model, X, y)
    block = any_rows(model.ensemble_.columns, 2_000, 9)
    rows = [[None if value != value else value for value in row] for row in block.matrix.tolist()]
    for index, size in enumerate(page.payload["sizes"]):
        page.choose(index)
        assert page.run(SCORES, rows) == model.path_[size](block).tolist()
        assert page.figure("complexity") == str(model.path_[size].complexity)


def typed(X, row):
    """Return the values of a row as they are typed."""
    found = {}
    for column, (name, value) in enumerate(X.iloc[row].items()):
        if pd.isna(value):
            found[column] = None
        elif name in ("colour", "grade", "sex", "ward"):
            found[column] = LONG if value == COLOURS[-1] else str(value)
        elif name == "drinks, or not":
            found[column] = "yes" if value else "no"
        elif name == "drug":
            found[column] = str(int(value))
        elif name == "admitted":
            found[column] = value.strftime("%Y-%m-%d")
        elif name == "seen at":
            found[column] = value.strftime("%Y-%m-%dT%H:%M:%S")
        else:
            found[column] = value.days if name == "stay" else float(value)
    return found


def test_a_typed_row_has_the_score_of_the_model(workbench):
    page = open_all(workbench)
    model, X, _ = holding(ensemble())
    assert page.columns() == list(range(X.shape[1]))
    for row in range(8):
        page.type_case(typed(X, row))
        assert page.answer()[1] == model.decision_function(X.iloc[[row]])[0]


def test_fields_are_of_the_kind_of_their_columns(workbench):
    page = open_all(workbench)
    kinds = [page.find(f"value-{column}").get_attribute("type") for column in page.columns()]
    menu = "select-one"
    assert kinds == ["number", "number", menu, "checkbox", *[menu] * 4, "date", "datetime-local", "number", "checkbox", menu]
    levels = ["low", "mid", "high", "top"]
    assert page.entries(place("grade")) == ["missing", *levels, "another level"]
    assert set(page.entries(place("colour"))) == {"missing", "another level", LONG, *COLOURS[:-1]}
    assert page.entries(place("ward"))[0] == "missing"
    assert set(page.entries(place("ward"))[1:-1]) == {"1", "2", "3"}
    assert page.entries(place("drinks, or not")) == ["missing", "yes", "no"]
    assert page.entries(place("drug")) == ["missing", "1", "0"]
    assert "stay in days" in page.text("case")


def test_every_entry_of_a_menu_is_scored_as_the_model_does(workbench):
    page = open_all(workbench)
    model, _, _ = holding(ensemble())
    columns = model.ensemble_.columns
    case = np.array([page.run("return caseValue(arguments[0]) ", column) for column in page.columns()], dtype=float)
    for name in ("colour", "ward", "grade", "sex"):
        column = place(name)
        codes = {"missing": np.nan, "another level": -1.0} | {
            LONG if level == COLOURS[-1] else str(level): code_of(columns[column], level) for level in columns[column].levels
        }
        assert len(codes) == len(page.entries(column))
        for text, code in codes.items():
            page.choose_entry(column, text)
            case[column] = code
            assert page.answer()[1] == model.ensemble_(Block(columns, case[None, :]))[0]


def test_a_case_starts_with_medians_and_most_frequent_levels(workbench):
    page = open_all(workbench)
    _, X, _ = holding(ensemble())
    chosen = page.run("return arguments[0].selectedOptions[0].textContent", page.find(f"value-{place('colour')}"))
    assert chosen == X["colour"].mode()[0]
    month = X["admitted"].median().strftime("%Y-%m-01")
    assert page.find(f"value-{place('admitted')}").get_property("value") == month
    assert float(page.find("value-0").get_property("value")) == X["age"].median()
    assert "medians and the most frequent levels" in page.text("case-start")


def test_the_explanation_says_which_level_and_what_is_missing(workbench):
    page = open_all(workbench)
    page.type_case(
        {
            place("colour"): "red",
            place("bmi"): None,
            place("age"): 50,
            place("smoker"): 1.0,
            place("admitted"): "2021-03-03",
            place("stay"): 1,
            place("sex_M"): 0.0,
            place("drug"): None,
            place("seen at"): "2021-05-05T12:00:09",
            place("grade"): "mid",
            place("sex"): "male",
        }
    )
    told = plain(page.text("waterfall"))
    for words in (
        'because colour in {red, "1"} or missing\ncolour is red',
        "if colour != red\ncolour is red",
        "because age + 12 (smoker) >= 60\nit is 62, met by 2; smoker is yes",
        "if grade at least high\ngrade is mid",
        "because bmi is missing\n+32",
        "because admitted >= 2021-03-01 or missing\nit is 2021-03-03, met by 2 days",
        "if admitted >= 2022-02-01\nit is 2021-03-03, missed by 335 days",
        "because seen at >= 2021-05-05 12:00:00\nit is 2021-05-05 12:00:09, met by 9 seconds",
        "if stay >= 3 days\nit is 1 days, missed by 2 days",
        "because sex = male\n",
        "if sex_M = 1\nsex_M is 0",
        "if any of {sex_M, drug}\ndrug is missing, so that it is not met",
        "if not smoker\nsmoker is yes",
    ):
        assert words in told
    page.type_case({place("admitted"): None, place("colour"): "another level"})
    told = plain(page.text("waterfall"))
    assert "because admitted >= 2021-03-01 or missing\nadmitted is missing, which counts as met" in told
    assert "if admitted >= 2022-02-01\nadmitted is missing, so that it is not met" in told
    assert "because colour != red\ncolour is another level" in told


def test_only_a_column_that_was_complete_is_remarked_on_where_it_is_missing(workbench):
    page = open_all(workbench)
    page.type_case({place(name): None for name in ("bmi", "colour", "admitted", "drug", "drinks, or not")})
    assert page.text("case-remark") == ""
    page.type_case({place("age"): None, place("ward"): None, place("seen at"): None})
    assert page.text("case-remark").startswith("Left empty: age, ward, seen at. In training, nothing was missing there; ")
    page.type_case({place("age"): 50.0, place("ward"): "another level", place("seen at"): "2021-05-05T00:00:00"})
    assert page.text("case-remark") == "ward has a level that was not in training, so that no list of levels contains it."


def test_a_missing_value_of_which_a_condition_speaks_needs_no_remark(workbench):
    columns = learned()[0].ensemble_.columns
    model, X, y = holding(RuleEnsemble.parse("+1 if age >= 50 or missing\n+2 if age >= 60", columns))
    page = workbench.open(model, X, y)
    page.type_case({0: None})
    assert (page.answer()[1], page.text("case-remark")) == (1.0, "")
    page.toggle(0)
    assert page.answer()[1] == 0.0
    assert page.text("case-remark").startswith("Left empty: age.")


def test_a_date_far_outside_is_remarked_on_as_a_date(workbench):
    page = open_all(workbench)
    page.type_case({place("admitted"): "1950-01-01"})
    assert "admitted is far outside what the rules were learned from, nearly all from 2020-01-" in page.text("case-remark")


def test_rules_read_as_the_library_prints_them(workbench):
    page = open_all(workbench)
    for index, rule in enumerate(ensemble()):
        assert plain(page.text(f"rule-{index}-if")) == rule.condition.describe(ensemble().columns)


def test_bands_of_dates_are_dates(workbench):
    columns = learned()[0].ensemble_.columns
    text = "+1 if admitted >= 2021-03-01\n+2 if admitted >= 2022-02-01\n+1 if stay >= 3 days\n+2 if stay >= 5 days"
    model, X, y = holding(RuleEnsemble.parse(text, columns))
    page = workbench.open(model, X, y)
    assert page.band_lines() == band_lines(model.ensemble_)
    assert [[words for words, _ in table] for table in page.band_lines()] == [
        ["below 2021-03-01", "from 2021-03-01 to below 2022-02-01", "from 2022-02-01"],
        ["below 3 days", "from 3 days to below 5 days", "from 5 days"],
    ]


@pytest.mark.parametrize("seed", range(2))
def test_the_model_comes_back(seed, workbench):
    model, X, y = holding(made_up(seed))
    page = workbench.open(model, X, y)
    back = page.download()
    assert back.ensemble_ == model.ensemble_
    other = frame(seed=3)
    assert (back.decision_function(other) == model.decision_function(other)).all()


def test_the_edited_model_comes_back(workbench):
    model, X, y = learned()
    page = workbench.open(model, X, y, min_count=1)
    page.toggle(0)
    back = page.download()
    edited = model.edit(X, y).drop(0)
    assert back.ensemble_ == edited.ensemble
    assert [step.description for step in back.edits_] == [step.description for step in edited.log]


def test_without_rows_what_is_not_ticked_is_not_so(workbench):
    model, _, _ = holding(ensemble())
    page = workbench.open(model)
    block = Block(model.ensemble_.columns, np.full((1, 13), np.nan))
    block.matrix[0, [place("smoker"), place("sex_M")]] = 0.0
    assert page.answer()[1] == model.ensemble_(block)[0]
    assert "Left empty: age, grade, sex, ward, seen at, stay." in page.text("case-remark")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_axe_finds_nothing(look, workbench, axe):
    features = [{"name": "prefers-color-scheme", "value": look}]
    workbench.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page = open_all(workbench)
    page.run(axe)
    for width in (1280, 400):
        page.resize(width)
        page.type_case({place("age"): None, place("ward"): "another level"})
        found = page.driver.execute_async_script("axe.run().then(arguments[0])")
        assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found["violations"]] == []


@pytest.mark.parametrize("width", [320, 400, 700, 1280])
def test_nothing_is_wider_than_the_window(width, workbench):
    workbench.resize(width)
    page = open_all(workbench)
    page.choose_entry(place("colour"), LONG)
    assert page.run("return document.documentElement.scrollWidth") <= width
