"""Parsing: what is printed in full is read back as the same ensemble, whatever the columns are called."""

import math
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules import Conjunction, Factor, Proposition, Rule, RuleEnsemble
from obliquerules.rules import Column, Columns, Membership
from obliquerules.rules.text.parsing import Reader
from obliquerules.rules.text.style import PLAIN

from .. import hostile
from ..strategies import N_COLUMNS, any_finite, rules

# Names can be mistaken in many ways, so that a few examples show little.
many = settings(max_examples=max(200, settings().max_examples))
WORDS = ["a", "b", "2", "1e5", "+", "-", ">=", "<=", "&", "if", "True", '"', "\\", "x0", "worst", "\n", "\u2028", "-3", ""]
names = st.lists(
    st.one_of(st.text(st.characters(codec="utf-8")), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)),
    min_size=N_COLUMNS,
    max_size=N_COLUMNS,
    unique=True,
)


@given(st.lists(rules(any_finite), max_size=4), any_finite, st.none() | names)
def test_what_is_printed_in_full_is_read_back_as_the_same(drawn, intercept, feature_names):
    ensemble = RuleEnsemble(drawn, intercept, feature_names)
    text = ensemble.to_text(exact=True)
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    assert len(lines) == 1 + len(ensemble)
    assert RuleEnsemble.parse(text, feature_names) == ensemble
    for rule, line in zip(ensemble, lines[1:], strict=True):
        assert Rule.parse(line, feature_names) == rule
        assert Conjunction.parse(line.partition(" if ")[2], feature_names) == rule.condition


def reads_back(ensemble):
    """Say whether the text in full reads back as the same ensemble, to the last bit."""
    again = RuleEnsemble.parse(ensemble.to_text(exact=True), ensemble.columns)
    return again == ensemble and repr(again) == repr(ensemble)


@many
@given(hostile.ensembles())
def test_no_name_or_level_is_mistaken_for_anything_else(ensemble):
    assert reads_back(ensemble)


@pytest.mark.printed
@settings(max_examples=20_000)
@given(hostile.ensembles())
def test_twenty_thousand_ensembles_read_back(ensemble):
    assert reads_back(ensemble)


@given(hostile.ensembles())
def test_a_rule_and_a_condition_read_back_by_themselves(ensemble):
    for rule in ensemble:
        style = PLAIN.in_full()
        text = rule.describe(ensemble.columns, style, ensemble.outputs)
        assert Rule.parse(text, ensemble.columns, ensemble.outputs) == rule
        assert Conjunction.parse(rule.condition.describe(ensemble.columns, style), ensemble.columns) == rule.condition


@many
@given(hostile.ensembles())
def test_short_text_has_the_same_conditions_to_the_printed_digits(ensemble):
    again = RuleEnsemble.parse(ensemble.to_text(), ensemble.columns)
    assert again.outputs == ensemble.outputs
    assert all(map(close, again.intercepts, ensemble.intercepts))
    for one, other in zip(again, ensemble, strict=True):
        assert all(map(close, one.weights, other.weights))
        assert all(map(alike, one.condition, other.condition))
        assert len(one.condition) == len(other.condition)
        assert (one.factor is None) == (other.factor is None)
        if one.factor is not None:
            assert one.factor.column == other.factor.column
            assert all(close(getattr(one.factor, name), getattr(other.factor, name)) for name in ("origin", "lower", "upper"))


def test_a_factor_whose_weights_are_all_zero_reads_back():
    rules = [Rule([0.0, 0.0], Conjunction(), Factor(0, lower=0.0, upper=1.0))]
    ensemble = RuleEnsemble(rules, (0.5, -0.5), columns=Columns.of(("a", "b")), outputs=("yes", "no"))
    assert reads_back(ensemble)


def close(one, other):
    return math.isclose(one, other, rel_tol=5.1e-3)  # three digits


def alike(one, other):
    """Say whether two conditions are on the same columns and levels, with nearly the same numbers."""
    if isinstance(other, Membership):
        return one == other
    if (one.columns, one.missing) != (other.columns, other.missing):
        return False
    size = abs(other.weights[0]) if one.weights in ((1.0,), (-1.0,)) else 1.0
    numbers = zip((*one.weights, one.threshold), (*other.weights, other.threshold), strict=True)
    return all(close(number, meant / size) for number, meant in numbers)


@pytest.mark.parametrize("name", ["age", "worst radius", "petal length (cm)", "x-ray", "od280/od315", "größe", "%_2"])
def test_ordinary_names_need_no_quotes(name):
    assert Proposition([0], [1.0], 3.0).describe([name]) == f"{name} >= 3"


@pytest.mark.parametrize("name", ["", " a", "a  b", "a\tb", "2", "2 a", "-1", "True", "a + b", "a & b", '"a"', "1e5 x", "if"])
def test_other_names_stand_in_quotes(name):
    assert Proposition([0], [1.0], 3.0).describe([name]).startswith('"')


@pytest.mark.parametrize(
    "name",
    [
        *("worst concave points", "mean radius (mm)", "weight (in kg) [2020]", "rate (per 1,000)", "f(x)", "log10(age)", "a.b"),
        *(
            "share %",
            "x-ray 2",
            "route 66",
            "# of rooms",
            "born in",
            "cause of death",
            "max heart rate",
            "days in care",
            "is old",
        ),
        *(
            "R&D",
            "below average",
            "not-so-good",
            "3rd",
            "10-20",
            "did not answer",
            "x0",
            "class 3",
            "größe",
            "漢字",
            "a/b",
            "it's",
        ),
    ],
)
def test_ordinary_names_and_levels_need_no_quotes(name):
    columns = [Column(name), Column("c", (name, "other"))]
    for text in (f"2 {name} - x <= 3", f"c = {name} & {name} is missing", f"c in {{{name}, other}} & {name} >= 3 or missing"):
        condition = Conjunction.parse(text, [*columns, "x"])
        assert condition.describe([*columns, "x"]) == text


ODD = [
    *(
        "a = b",
        "a != b",
        "a >= b",
        "<",
        ">",
        "a<b",
        "<=50K",
        "a & b",
        "a and b",
        "x or missing",
        "what if",
        "c in {a}",
        "x not",
    ),
    *('5"', '"', "\\", " a", "a ", "a  b", "a\nb", "a\tb", "", "3", "-1.5", "2 legs", "True", "missing", "2021-03-01", "not a"),
    *("if", "and", "a, b", "{a}", "(a)", "a | b", "x is missing", "\u2028", "\xa0", "\0", "\u200d"),
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_and_levels_stand_in_quotes(name):
    columns = [Column(name), Column("c", (name, "other"))]
    condition = Conjunction([Proposition([0], [1.0], 3.0), Membership(1, [name]), Membership(1, ["other", name], True, True)])
    text = condition.describe(columns)
    assert text.startswith('"')
    assert len(text.splitlines()) == 1
    assert text.isprintable()
    assert Conjunction.parse(text, columns) == condition


def test_odd_levels_stand_in_one_list():
    columns = [Column("c", tuple(ODD), ordered=True)]
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Membership(0, ODD[::-1])]))], 0.5, columns, None)
    assert RuleEnsemble.parse(str(ensemble), columns) == ensemble


def test_and_stands_between_conditions_of_any_kind():
    columns = [Column("c", ("a", "b")), Column("d", ("u", "v")), "age", Column("drug", kind="flag")]
    ensemble = RuleEnsemble.parse("+1 if c = a and d = u\n+2 if age >= 3 and not drug and c != b or missing", columns)
    assert [len(rule.condition) for rule in ensemble] == [2, 3]
    assert ensemble[0].condition == Conjunction([Membership(0, ["a"]), Membership(1, ["u"])])
    assert str(ensemble[1]) == "+2 if x2 >= 3 & x3 <= 0 & x0 != b or missing"


def test_votes_differ_from_conditions_one_by_one():
    columns = [Column("c", ("a", "b")), Column("d", ("u", "v"))]
    c, d, d_or_missing = Membership(0, ["a"]), Membership(1, ["u"]), Membership(1, ["u"], missing=True)
    texts = {
        "c = a & d = u": [c, d],
        "all of {c = a, d = u}": [Proposition([c, d], [1, 1], 2)],
        "all of {c = a, d = u or missing}": [Proposition([c, d_or_missing], [1, 1], 2)],
        "all of {c = a, d = u} or missing": [Proposition([c, d], [1, 1], 2, missing=True)],
        "all of {c = a}": [Proposition([c], [1], 1)],
        "c = a": [c],
    }
    for text, tests in texts.items():
        assert Conjunction(tests).describe(columns) == text
        assert Conjunction.parse(text, columns) == Conjunction(tests)
    assert Proposition([c, d], [1, -1], 1e-17).describe(columns) == "(c = a) - (d = u) >= 1e-17"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("x >= 0999-03-01", -354591.0),
        ("x >= 2021-03-01", 18687.0),
        ("x >= 2021-03-01 12:00", 18687.5),
        ("x >= 2021-03-01T12:00:00+12:00", 18687.0),
        ("x >= 2021-03-01 00:00:00Z", 18687.0),
    ],
)
def test_dates_and_zones(text, days):
    columns = [Column("x", kind="date")]
    condition = Conjunction.parse(text, columns)
    assert condition == Conjunction([Proposition([0], [1.0], days)])
    assert Conjunction.parse(condition.describe(columns), columns) == condition


def test_classes_that_could_be_taken_for_others():
    outputs = ["3", "class 3", "# 1", "a | b", "if", ""]
    ensemble = RuleEnsemble([Rule([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])], [0.5] * 6, None, outputs)
    assert RuleEnsemble.parse(str(ensemble)) == ensemble
    text = ensemble[0].describe(outputs=outputs)
    assert text == 'class 3 +1, "class 3" +2, "# 1" +3, "a | b" +4, "if" +5, "" +6 if True'
    assert Rule.parse(text, outputs=outputs) == ensemble[0]


def test_text_typed_by_hand():
    ensemble = RuleEnsemble.parse("\n -1.5 if  2 a - b <= 3  &  b >= 1\n+2e-1 if True\n", ["a", "b"])
    first = Conjunction([Proposition([0, 1], [-2.0, 1.0], -3.0), Proposition([1], [1.0], 1.0)])
    assert ensemble == RuleEnsemble([Rule(-1.5, first), Rule(0.2)], 0.0, ["a", "b"])
    assert RuleEnsemble.parse("3 if True") == RuleEnsemble([], 3.0)
    assert RuleEnsemble.parse("") == RuleEnsemble()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("+1 if True\n+2 when a >= 3", "Line 2: A rule reads like"),
        ("much if a >= 3", "Line 1: A rule reads like"),
        ("+1 if a => 3", "no column 'a => 3'; the columns are 'a', 'b'. Signs such as >= stand between spaces"),
        ("+1 if a >= ", "A condition reads like"),
        ("+1 if a >= 3 &", "A condition reads like"),
        ("+1 if a >= b", "A condition reads like"),
        ("+1 if 2 >= 3", "The name of a column is missing in"),
        ("+1 if a + + b >= 3", "The name of a column is missing"),
        ("+1 if c >= 3", "There is no column 'c'; the columns are 'a', 'b'"),
        ("+1 if a + a >= 3", "must be different"),
        ("+1 if 0 a >= 3", "finite and not zero"),
        ("+1 if a >= 1e999", "threshold of a proposition must be finite"),
        ('+1 if "a >= 3', "The quotes are not closed"),
        (r'+1 if "a\q" >= 3', "Text in quotes is written as in JSON"),
        ("+1 if a in {1, 2}", "Column 'a' holds numbers"),
        ("+1 a clipped to [1, 2, 3]", "A condition reads like"),
    ],
)
def test_complaints(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        RuleEnsemble.parse(text, ["a", "b"])


def test_columns_without_names_are_called_by_their_number():
    with pytest.raises(ValueError, match=r"There is no column 'age'; the columns are called x0, x1, \.\.\."):
        RuleEnsemble.parse("+1 if age >= 3")


def test_names_must_differ():
    with pytest.raises(ValueError, match="feature_names must be different"):
        RuleEnsemble.parse("+1 if a >= 3", ["a", "a"])


def test_the_guide_shows_the_grammar_of_the_parser():
    pages = (Path(__file__).parents[3] / "docs").rglob("*.rst")
    grammar = Reader.__doc__.partition("::\n\n")[2].partition("\n\n    Columns")[0]
    shown = textwrap.indent(textwrap.dedent(grammar), "   ")
    assert sum(shown in page.read_text(encoding="utf-8") for page in pages) == 1
