"""Typed rules: >, < and = become conditions that say the same of every row, and the log says which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import LLTBoostRegressor
from obliquerules.estimators.editing import read_typed
from obliquerules.rules import Block, RuleEnsemble
from obliquerules.rules.text.style import PLAIN

from ..rules import hostile

NAMES = ["age", "flag"]
ROWS = np.array([[30.0, 0.0], [40.0, 1.0], [50.0, 0.0], [50.5, 1.0], [61.0, 1.0]])


def read(text, weight=0.0, rows=ROWS):
    """Read a rule on two columns of numbers."""
    return read_typed(text, RuleEnsemble(columns=NAMES), Block.of_matrix(rows, NAMES), weight)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("age > 50", "age >= 50.2"),
        ("age < 50", "age <= 45"),
        ("flag = 1", "flag >= 1"),
        ("flag == 0", "flag <= 0"),
        ("age = 50", "age >= 45 & age <= 50.2"),
        ("age > 50 & flag >= 0.123", "age >= 50.2 & flag >= 0.123"),
        ("age + 10 flag > 50", "age + 10 flag >= 55"),
    ],
)
def test_what_is_made_of_a_comparison(text, meant):
    rule, remark = read(text, 2.0)
    assert rule.weight == 2.0
    assert rule.condition.describe(NAMES) == meant
    assert remark == f"'{text}' is {meant} on these rows"


def test_what_a_model_would_print_is_taken_as_it_is():
    rule, remark = read("+1.5 if age >= 50.123456789 & flag <= 0.1")
    assert (rule.weight, [one.threshold for one in rule.condition], remark) == (1.5, [50.123456789, -0.1], "")


@given(hostile.ensembles())
def test_a_rule_is_typed_as_it_is_printed(ensemble):
    rows = Block.of_matrix(np.empty((0, 5)))
    for rule in ensemble:
        text = rule.describe(ensemble.columns, PLAIN.in_full(), ensemble.outputs)
        assert read_typed(text, ensemble, rows, ensemble.intercept) == (rule, "")
        condition = rule.condition.describe(ensemble.columns, PLAIN.in_full())
        assert read_typed(condition, ensemble, rows, rule.weight, rule.factor) == (rule, "")


@given(
    st.lists(st.sampled_from([-1.5, 0.0, 1.0, 2.0, 2.25, 7.0]), min_size=2, max_size=9).filter(
        lambda values: len(set(values)) > 1
    ),
    st.sampled_from([-1.5, -1.0, 0.0, 1.0, 2.0, 2.1, 7.0]),
    st.sampled_from([">", "<", ">=", "<="]),
)
def test_it_says_the_same_of_every_row(values, number, comparison):
    X = np.array(values)[:, None]
    says = {">": X[:, 0] > number, "<": X[:, 0] < number, ">=": X[:, 0] >= number, "<=": X[:, 0] <= number}[comparison]
    rule, _ = read_typed(f"x0 {comparison} {number}", RuleEnsemble(), Block.of_matrix(X), 1.0)
    assert rule.condition(X).tolist() == says.tolist()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("age = 51", "No row has the value in 'age = 51'"),
        ("age - flag = 3", "'=' compares a single column with a number"),
        ("height > 3", "There is no column 'height'"),
    ],
)
def test_complaints(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(text)


def test_a_value_that_all_rows_have():
    with pytest.raises(ValueError, match="All rows have the value in 'flag = 1'"):
        read("flag = 1", rows=ROWS[[1, 3, 4]])


def test_the_log_of_an_edit_says_what_was_made_of_it():
    X = np.repeat(ROWS, 8, axis=0)
    model = LLTBoostRegressor(max_rules=1).fit(X, X[:, 0], feature_names=NAMES)
    log = model.edit(X, X[:, 0]).add("flag = 1").replace(0, "age > 50").log
    assert log.steps[0].description == "add rule 1: +0 if flag = 1"
    assert log.steps[1].description.endswith("('age > 50' is age >= 50.2 on these rows)")
