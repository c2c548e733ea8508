"""Factors: what they multiply by, print as, read back as, and cost."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Column, ModelFileError, Rule, RuleEnsemble, load_model
from obliquerules.rules import Factor
from obliquerules.rules.files.decoding import decode_content
from obliquerules.rules.files.encoding import ensemble_content
from obliquerules.rules.files.fields import document_text, parse_document

from .strategies import conjunctions, factors, few, ordinary

NAMES = ("age", "what if", "b clipped to [0, 1]")
ODD_NAMES = ("min(b, 1)", "max(c", "if")


@st.composite
def sloped(draw):
    """Draw an ensemble some of whose rules have a factor."""
    rules = st.builds(Rule, ordinary, conjunctions(), st.none() | factors())
    names = draw(st.sampled_from([None, NAMES, ODD_NAMES]))
    return RuleEnsemble(draw(st.lists(rules, max_size=4)), draw(ordinary), names)


sloped_rows = st.lists(st.lists(ordinary | st.just(math.nan), min_size=3, max_size=3), min_size=1, max_size=4)


def plain_score(ensemble, row):
    """Return the score of one row, step by step in Python's own numbers."""
    score = ensemble.intercept
    for rule in ensemble:
        if not rule.condition([row])[0]:
            continue
        if rule.factor is None:
            score += rule.weight
        elif not math.isnan(row[rule.factor.column]):
            value = min(max(row[rule.factor.column], rule.factor.lower), rule.factor.upper)
            score += rule.weight * (value - rule.factor.origin)
    return score


@given(sloped(), sloped_rows)
def test_a_score_is_the_products_added_from_left_to_right(ensemble, rows):
    assert ensemble(rows).tolist() == [plain_score(ensemble, row) for row in rows]


@given(sloped())
def test_what_is_printed_in_full_reads_back(ensemble):
    assert RuleEnsemble.parse(ensemble.to_text(exact=True), ensemble.columns) == ensemble


@few
@given(sloped())
def test_what_is_saved_reads_back(ensemble):
    text = document_text(ensemble_content(ensemble))
    assert decode_content(parse_document(text.encode(), "file")) == ensemble
    assert pickle.loads(pickle.dumps(ensemble)) == ensemble


def test_complexity_is_one_for_the_weight_and_one_for_the_factor():
    ensemble = RuleEnsemble.parse("+1 if True\n+0.3 age\n+0.2 (age - 50) if age >= 40", ["age"])
    # Beside a condition, an origin says something.
    assert [rule.complexity for rule in ensemble] == [2, 5]
    assert (ensemble.complexity, ensemble.intercept, ensemble.used_columns) == (7, 1.0, (0,))


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("+0.3 age", Factor(0)),
        ("+0.3 (age - 50)", Factor(0, 50.0)),
        ("+0.3 (age + 50)", Factor(0, -50.0)),
        ("+0.3 age clipped to [20, 80]", Factor(0, 0.0, 20.0, 80.0)),
        ("+0.3 (min(age, 80) - 50)", Factor(0, 50.0, upper=80.0)),
        ("+0.3 max(age, 20)", Factor(0, lower=20.0)),
        ("+0.3 min(seen, 2021-03-01)", Factor(1, upper=18687.0)),
        ("+0.3 (max(stay, 2 days) + 5 days)", Factor(2, -5.0, lower=2.0)),
        ('+0.3 min("max(a, 3)", 8)', Factor(4, upper=8.0)),
        ("+0.3 (seen - 2021-03-01)", Factor(1, 18687.0)),
        ("+0.3 stay clipped to [0 days, 10 days]", Factor(2, 0.0, 0.0, 10.0)),
        ('+0.3 "a if b"', Factor(3)),
    ],
)
def test_text(text, factor):
    columns = ["age", Column("seen", kind="date"), Column("stay", kind="duration"), "a if b", "max(a, 3)"]
    rule = Rule.parse(text, columns)
    assert rule == Rule(0.3, factor=factor)
    assert rule.describe(columns) == text
    assert Rule.parse(f"{text} if age >= 3", columns).condition.complexity == 2


def test_limits_hold_outliers_and_what_is_missing_adds_nothing():
    factor = Factor(0, origin=10.0, lower=0.0, upper=20.0)
    assert factor([[-1e300], [5.0], [1e300], [math.nan]]).tolist() == [-10.0, -5.0, 10.0, 0.0]
    columns = [Column("age", missing=True)]
    assert str(RuleEnsemble([Rule(2.0, factor=0)], 1.0, columns)).endswith("# a missing age adds nothing")


def test_a_slope_is_not_part_of_a_staircase():
    ensemble = RuleEnsemble.parse("+1 if age >= 30\n+2 if age >= 40\n+0.5 age\n+0.1 age if age >= 35", ["age"])
    (table,) = ensemble.band_tables()
    assert str(table) == "age alone, apart from its slope: below 30 +0, to below 40 +1, from 40 +3"
    assert ensemble.ordered() == ensemble


def test_simplification_keeps_slopes_apart_from_the_constant():
    ensemble = RuleEnsemble([Rule(1.0), Rule(2.0, factor=0), Rule(3.0)], 4.0)
    assert ensemble.simplified() == RuleEnsemble([Rule(2.0, factor=0), Rule(3.0)], 5.0)


def test_sentences_say_how_the_score_changes():
    text = RuleEnsemble.parse("+0.3 age\n-2 (age - 50) if age >= 40", ["age"]).to_text("sentences")
    assert text.splitlines()[1:] == [
        "Always, the score changes by +0.3 times age.",
        "If age is at least 40, the score changes by -2 times (age minus 50).",
    ]


def test_rounding_shortens_the_weight_of_a_slope():
    rows = np.linspace(20.0, 80.0, 50)[:, None]
    rounding = RuleEnsemble([Rule(0.312345678, factor=Factor(0, 50.0))], 1.23456789, ["age"]).rounded(rows)
    assert str(rounding.ensemble) == "+1.235 if True\n+0.312 (age - 50)"
    assert rounding.digits == (4, 3, 1)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Factor(-1), "column of a factor"),
        (lambda: Factor(0, math.inf), "origin of a factor must be finite"),
        (lambda: Factor(0, 0.0, 2.0, 1.0), "lower limit of a factor must be below the upper"),
        (lambda: RuleEnsemble([Rule(1.0, factor=0)], 0.0, [Column("colour", ("red", "blue"))]), "'colour' has levels"),
        (lambda: RuleEnsemble([Rule(1.0, factor=3)], 0.0, ["age"]), "uses column 3"),
        (lambda: Rule.parse("+1 weight", ["age"]), "no column 'weight'"),
        (lambda: Rule.parse("+1 (age - old)", ["age"]), "a number in the place of 'old'"),
        (lambda: Rule.parse("+1", ["age"]), "A rule reads like"),
    ],
)
def test_complaints(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


@pytest.mark.parametrize(
    ("factor", "complaint"),
    [({"column": 5}, "factor.column"), ({"column": 0, "lower": 2, "upper": 1}, "lower limit"), (3, "should be an object")],
)
def test_a_file_with_a_bad_factor_is_refused(factor, complaint, tmp_path):
    content = ensemble_content(RuleEnsemble([Rule(1.0, factor=0)], 0.0, ["age"]))
    content["ensemble"]["rules"][0]["factor"] = factor
    (tmp_path / "model.json").write_text(document_text(content), encoding="utf-8")
    with pytest.raises(ModelFileError, match=complaint):
        load_model(tmp_path / "model.json")
