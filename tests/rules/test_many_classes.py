"""Ensembles with a score for each of many classes: scores, complexity, text and files."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, ModelFileError, Proposition, Rule, RuleEnsemble, load_model
from obliquerules.rules.files.decoding import decode_content
from obliquerules.rules.files.encoding import ensemble_content
from obliquerules.rules.files.fields import Field

from .strategies import conjunctions, few, ordinary

IRIS = RuleEnsemble.parse(
    """
    setosa | versicolor | virginica | if
      +1.5 |         +0 |      -1.5 | True
        -3 |            |           | length >= 2
           |       -2.5 |        +1 | length >= 4.9
           |            |        +2 | width - 0.5 length >= 0.1
    """,
    ["length", "width"],
)
names_of_classes = st.lists(st.text(st.characters(codec="utf-8"), min_size=0, max_size=6), min_size=2, max_size=4, unique=True)


@st.composite
def class_ensembles(draw):
    outputs = draw(names_of_classes)
    weights = st.lists(ordinary | st.just(0.0), min_size=len(outputs), max_size=len(outputs))
    rules = draw(st.lists(st.builds(Rule, weights, conjunctions()), max_size=3))
    return RuleEnsemble(rules, draw(weights), ["a", "b | c", "d"], outputs)


@given(class_ensembles(), st.lists(st.lists(ordinary, min_size=3, max_size=3), min_size=1, max_size=3))
@few
def test_a_score_is_the_sum_from_left_to_right_of_the_weights_for_its_class(ensemble, rows):
    scores = ensemble(rows)
    assert scores.shape == (len(rows), len(ensemble.outputs))
    for output in range(len(ensemble.outputs)):
        alone = ensemble.of_output(output)
        assert alone(np.array(rows)).tolist() == scores[:, output].tolist()


@given(class_ensembles())
@few
def test_text_reads_back_as_the_same_ensemble(ensemble):
    assert RuleEnsemble.parse(ensemble.to_text(exact=True), ensemble.columns) == ensemble


@given(class_ensembles())
@few
def test_each_rule_by_itself_reads_back(ensemble):
    for rule in ensemble:
        text = rule.describe(ensemble.columns, outputs=ensemble.outputs)
        again = Rule.parse(text, ensemble.columns, ensemble.outputs)
        np.testing.assert_allclose(again.weights, rule.weights, rtol=1e-2, atol=1e-12)
        assert again.classes_with_weight == rule.classes_with_weight or not rule.classes_with_weight


@given(class_ensembles())
@few
def test_a_document_holds_the_same_ensemble(ensemble):
    content = json.loads(json.dumps(ensemble_content(ensemble)))
    assert decode_content(Field(content, "file")) == ensemble


def test_a_rule_pays_for_each_class_that_it_speaks_for():
    assert [rule.complexity for rule in IRIS] == [1 + 2, 2 + 2, 1 + 3]
    assert [rule.classes_with_weight for rule in IRIS] == [(0,), (1, 2), (2,)]
    assert IRIS.complexity == 11


def test_it_prints_as_a_small_table():
    assert str(IRIS).split("\n")[:3] == [
        "setosa | versicolor | virginica | if",
        "  +1.5 |         +0 |      -1.5 | True",
        "    -3 |            |           | length >= 2",
    ]


def test_sentences_name_the_classes():
    sentences = IRIS.to_text("sentences")
    assert "If length is at least 4.9, the score of versicolor falls by 2.5 and the score of virginica rises by 1." in sentences


def test_tables_have_a_column_for_each_class():
    assert IRIS.to_text("markdown").split("\n")[0] == "| setosa | versicolor | virginica | if |"
    assert IRIS.to_text("latex").split("\n")[0] == r"\begin{tabular}{rrrll}"
    assert "<th" in IRIS._repr_html_()
    assert "versicolor" in IRIS._repr_html_()


def test_bands_are_of_one_class():
    stairs = RuleEnsemble.parse("a | b | if\n+1 | +2 | x0 >= 3\n | +3 | x0 >= 4")
    (table,) = stairs.band_tables()
    assert str(table) == "x0 alone, b: below 3 +0, to below 4 +2, from 4 +5"


def test_numbers_as_classes_are_called_classes_beside_their_weights():
    rule = Rule([0.0, 1.5, -2.0])
    assert rule.describe(outputs=["1", "2", "3"]) == "class 2 +1.5, class 3 -2 if True"
    assert Rule.parse("class 2 +1.5, 3 -2 if True", outputs=["1", "2", "3"]) == rule


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("red +1 if x0 >= 1", "There is no class 'red'; the classes are 'a', 'b'."),
        ("+1 if x0 >= 1", "A rule for many classes reads like 'a +1.5, b -2 if x0 >= 3'"),
        ("a +1, b if x0 >= 1", "A rule for many classes"),
    ],
)
def test_a_rule_must_name_its_classes(text, complaint):
    with pytest.raises(ValueError, match="class") as caught:
        Rule.parse(text, outputs=["a", "b"])
    assert complaint in str(caught.value)


def test_weights_must_be_as_many_as_classes():
    with pytest.raises(ValueError, match="3 weights, one for each output"):
        RuleEnsemble([Rule([1.0, 2.0])], [0.0, 0.0, 0.0], None, ["a", "b", "c"])
    with pytest.raises(ValueError, match="one weight"):
        RuleEnsemble([Rule([1.0, 2.0])], 0.0)
    with pytest.raises(ValueError, match="different names"):
        RuleEnsemble([], [0.0, 0.0], None, ["a", "a"])


def test_a_file_with_too_few_weights_is_refused(tmp_path):
    path = tmp_path / "model.json"
    IRIS.save(path)
    assert load_model(path) == IRIS
    document = json.loads(path.read_text())
    document["ensemble"]["rules"][1]["weight"].pop()
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=r"rules\[1\].weight should be a list of 3 numbers, one for each class"):
        load_model(path)


def test_simplifying_and_ordering_keep_the_scores():
    condition = Conjunction([Proposition([0], [2.0], 3.0)])
    ensemble = RuleEnsemble(
        [Rule([1.0, 2.0]), Rule([0.0, 0.0], condition), Rule([0.0, 3.0], condition)], [0.5, 0.5], None, "ab"
    )
    rows = np.array([[1.0], [2.0]])
    simple = ensemble.simplified()
    assert len(simple) == 1
    assert simple.intercepts == (1.5, 2.5)
    np.testing.assert_array_equal(simple(rows), ensemble(rows))
    np.testing.assert_array_equal(IRIS.ordered()([[5.0, 1.0]]), IRIS([[5.0, 1.0]]))


def test_rounding_shortens_the_weights_of_all_classes():
    ensemble = IRIS.with_weight_table(IRIS.weight_table * 1.23456789)
    rounding = ensemble.rounded([[1.0, 0.0], [3.0, 1.0], [5.0, 3.0]], digits=2)
    assert rounding.ensemble.rules[0].weights == (-3.7, 0.0, 0.0)
    assert rounding.ensemble.rules[1].classes_with_weight == (1, 2)
    assert rounding.rows_changed == 0
