"""Parsing: what is printed in full is read back as the same ensemble, whatever the columns are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble

from .strategies import N_COLUMNS, any_finite, rules

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


@pytest.mark.parametrize("name", ["age", "worst radius", "petal length (cm)", "x-ray", "od280/od315", "größe", "%_2", "if"])
def test_ordinary_names_need_no_quotes(name):
    assert Proposition([0], [1.0], 3.0).describe([name]) == f"{name} >= 3"


@pytest.mark.parametrize("name", ["", " a", "a  b", "a\tb", "2", "2 a", "-1", "True", "a + b", "a & b", '"a"', "1e5 x"])
def test_other_names_stand_in_quotes(name):
    assert Proposition([0], [1.0], 3.0).describe([name]).startswith('"')


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
        ("+1 if a => 3", "A condition reads like"),
        ("+1 if a >= ", "A condition reads like"),
        ("+1 if a >= 3 &", "A condition reads like"),
        ("+1 if a >= b", "A condition reads like"),
        ("+1 if 2 >= 3", "The name of a column is missing in '2 >= 3'"),
        ("+1 if a + + b >= 3", "The name of a column is missing"),
        ("+1 if c >= 3", "There is no column 'c'; the columns are 'a', 'b'"),
        ("+1 if a + a >= 3", "must be different"),
        ("+1 if 0 a >= 3", "finite and not zero"),
        ("+1 if a >= 1e999", "threshold of a proposition must be finite"),
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
