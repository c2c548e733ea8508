"""Explanations of many classes, and with an exposure or offset: they add up to every score, and say why this class."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import RuleEnsemble
from obliquerules.inspection.explanation import explain
from obliquerules.losses import LOSSES
from obliquerules.rules import Model
from obliquerules.rules.model import Offset

from ..rules.strategies import few, matrices
from .many import class_ensembles, class_model, irises, ten

TEXT = """
 red | green | blue | if
+0.5 |  -0.5 |   +0 | True
  +1 |       |   +2 | age >= 40
     |    -1 |      | age >= 60
     |    +3 |      | bmi <= 20
"""


def model():
    return class_model(RuleEnsemble.parse(TEXT.strip(), ["age", "bmi"]))


def added(row):
    """Add up in plain Python, for each class, the constant, what is given and the contributions, from left to right."""
    totals = list(row.intercept)
    for amounts in [*([] if row.offset is None else [row.offset.amount]), *(rule.contribution for rule in row.rules)]:
        totals = [total + amount for total, amount in zip(totals, amounts, strict=True)]
    return totals


@given(class_ensembles(), matrices())
def test_contributions_add_up_to_the_score_of_every_class_to_the_last_bit(ensemble, X):
    explanation = explain(class_model(ensemble), X)
    assert [added(row) for row in explanation] == ensemble(X).tolist() == [list(row.score) for row in explanation]


@few
@given(class_ensembles(), matrices(), st.integers(0, 99))
def test_an_offset_comes_after_the_constant(ensemble, X, seed):
    offset = np.random.default_rng(seed).normal(size=(len(X), 3))
    explained = replace(class_model(ensemble), offset=Offset("offset", ("a", "b", "c")))
    rows = explain(explained, X, given=offset)
    assert [added(row) for row in rows] == explained.scores(X, offset).tolist()
    assert [row.prediction for row in rows] == explained.predict(X, offset).tolist()


@few
@given(class_ensembles(), matrices(), st.sampled_from([None, "red", "green", "blue"]))
def test_the_predicted_class_is_compared_with_the_one_that_is_asked_for_or_the_runner_up(ensemble, X, versus):
    for row in explain(class_model(ensemble), X, versus=versus):
        first, second = row.between.first, row.between.second
        ranking = sorted(range(3), key=lambda output: (-row.score[output], output))
        asked = None if versus is None else ["red", "green", "blue"].index(versus)
        assert first == ranking[0]
        assert second == (ranking[1] if asked in (None, first) else asked)
        assert row.shown(row.score) == row.score[first] - row.score[second] >= 0.0
        for rule in row.rules:
            assert row.shown(rule.contribution) == rule.contribution[first] - rule.contribution[second]


def test_text_for_a_case():
    assert str(explain(model(), np.array([[41.0, 22.25]]))) == "\n".join(
        [
            "Predicted: 'blue' (probability 59.2 %; next is 'red', 35.9 %)",
            "  blue   red  difference",
            "    +0  +0.5        -0.5  to start with",
            "    +2    +1          +1  because age >= 40 (it is 41, met by 1)",
            "    +2  +1.5        +0.5  in all, the log-odds of 'blue' against 'red'",
            "Other scores: green -0.5",
            "2 other rules say nothing of these two classes.",
            "Values: age = 41, bmi = 22.25",
        ]
    )


def test_text_for_a_case_against_another_class():
    offset = replace(model(), offset=Offset("offset", ("log r", "log g", "log b")))
    assert str(explain(offset, np.array([[41.0, 22.25]]), given=np.array([[0.0, 0.25, 0.125]]), versus="green")) == "\n".join(
        [
            "Predicted: 'blue' (probability 61.4 %; next is 'red', 32.9 %)",
            "    blue  green  difference",
            "      +0   -0.5        +0.5  to start with",
            "  +0.125  +0.25      -0.125  given (log b, log g)",
            "      +2                 +2  because age >= 40 (it is 41, met by 1)",
            "  +2.125  -0.25      +2.375  in all, the log-odds of 'blue' against 'green'",
            "Not counted, because a condition is not met:",
            "  green -1  if age >= 60 (it is 41, missed by 19)",
            "  green +3  if bmi <= 20 (it is 22.25, missed by 2.25)",
            "Other scores: red +1.5",
            "Values: age = 41, bmi = 22.25",
        ]
    )


def test_frames_have_every_class():
    found, X, _ = irises()
    frame = found.explain(X[::10]).to_pandas()
    scores = found.decision_function(X[::10])
    sums = frame.groupby("row").sum(numeric_only=True)
    for output, name in enumerate(found.classes_):
        np.testing.assert_allclose(sums[f"contribution of {name}"], scores[:, output], rtol=1e-12)
        assert frame.groupby("row")[f"score of {name}"].first().tolist() == scores[:, output].tolist()
    assert (frame["against"] != frame["prediction"]).all()
    ranked = np.sort(scores, axis=1)
    np.testing.assert_allclose(sums["contribution"], ranked[:, -1] - ranked[:, -2], atol=1e-12)
    assert found.explain(X[::10]).to_polars().columns == list(frame.columns)


def test_classes_that_are_numbers():
    found, X, _ = ten()
    row = found.explain(X[:1], versus=4)[0]
    assert row.prediction == found.predict(X[:1])[0]
    assert row.between.against == 4
    assert "class 4" in str(row)
    assert found.explain(X[:1], versus="4")[0] == row


def test_versus_must_be_one_of_many_classes():
    found, X, _ = irises()
    with pytest.raises(ValueError, match="versus must be one of the classes, 'setosa', 'versicolor', 'virginica'; got 'rose'"):
        found.explain(X, versus="rose")
    two = Model.of(RuleEnsemble.parse("+1 if True"), LOSSES["squared"])
    with pytest.raises(ValueError, match="versus names one of many classes; this model has no more than two"):
        explain(two, np.zeros((1, 1)), versus="yes")


# One score with an exposure or an offset


COUNTS = RuleEnsemble.parse("+1 if True\n-0.5 if age >= 40\n+2 if age >= 60", ["age"])


def test_an_exposure_multiplies_at_the_end():
    counts = replace(Model.of(COUNTS, LOSSES["poisson"]), offset=Offset("exposure", ("years",)))
    rows = explain(counts, np.array([[41.0], [20.0]]), given=np.array([2.5, 0.5]))
    assert [row.prediction for row in rows] == (np.array([2.5, 0.5]) * np.exp([0.5, 1.0])).tolist()
    assert str(rows[0]) == "\n".join(
        [
            "Predicted: 4.122",
            "     +1  to start with",
            "   -0.5  because age >= 40 (it is 41, met by 1)",
            "   +0.5  in all, the logarithm of the expected count",
            "  1.649  the expected count for an exposure of 1",
            "  x 2.5  given (years)",
            "  4.122  in all, the expected count",
            "Not counted, because a condition is not met:",
            "  +2  if age >= 60 (it is 41, missed by 19)",
            "Values: age = 41",
        ]
    )
    assert {record["exposure"] for record in rows.to_dicts()} == {2.5, 0.5}
    assert rows[0].score == 0.5


def test_an_offset_is_a_line_of_its_own():
    counts = replace(Model.of(COUNTS, LOSSES["poisson"]), offset=Offset("offset", ("offset",)))
    rows = explain(counts, np.array([[41.0]]), given=np.array([0.53]))
    assert rows[0].score == (1.0 + 0.53) + -0.5
    assert rows[0].prediction == np.exp([1.03]).tolist()[0]
    assert "  +0.53  given (offset)\n   -0.5  because" in str(rows)
    assert [record["contribution"] for record in rows.to_dicts()] == [1.0, 0.53, -0.5, 0.0]
    assert [record["rule"] for record in rows.to_dicts()] == [None, None, 0, 1]


def test_the_score_of_two_classes_has_an_offset_too():
    two = Model.of(COUNTS, LOSSES["logistic"], class_model(RuleEnsemble([], [0, 0], None, ("no", "yes"))).labels)
    offset = replace(two, offset=Offset("offset", ("offset",)))
    assert explain(offset, np.array([[41.0]]), given=np.array([-2.0]))[0].headline.startswith("Predicted: 'no'")
    assert explain(two, np.array([[41.0]]))[0].headline.startswith("Predicted: 'yes'")


def test_without_an_exposure_a_rate_is_explained_and_an_offset_is_needed():
    counts = replace(Model.of(COUNTS, LOSSES["poisson"]), offset=Offset("exposure", ("years",)))
    one = explain(counts, np.array([[41.0]]), given=np.ones(1))
    assert str(explain(counts, np.array([[41.0]]))) == str(one)
    with pytest.raises(ValueError, match="fitted with an offset and needs it here, too"):
        explain(replace(counts, offset=Offset("offset", ("shift",))), np.array([[41.0]]))
