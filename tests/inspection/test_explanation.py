"""Explanations: contributions add up to the score to the last bit, and margins say on which side a row is."""

import numpy as np
import pandas as pd
from hypothesis import given

from obliquerules import LLTBoostRegressor, RuleEnsemble
from obliquerules.inspection.explanation import explain
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from ..estimators.fitted import every_kind, fitted
from ..rules.strategies import any_finite, ensembles, holds, matrices


def added(row):
    """Add up constant and contributions in plain Python, from left to right."""
    total = row.intercept
    for rule in row.rules:
        if rule.fires:
            total += rule.contribution
    return total


def same(one, other):
    return one == other or (np.isnan(one) and np.isnan(other))


@given(ensembles(), matrices())
def test_contributions_add_up_to_the_score_to_the_last_bit(ensemble, X):
    explanation = explain(Model.of(ensemble, LOSSES["squared"]), X)
    assert [added(row) for row in explanation] == ensemble(X).tolist() == [row.score for row in explanation]
    assert [[rule.fires for rule in row.rules] for row in explanation] == ensemble.fires(X).tolist()


@given(ensembles(any_finite), matrices(any_finite))
def test_margins_are_not_negative_just_where_conditions_hold(ensemble, X):
    for row, values in zip(explain(Model.of(ensemble, LOSSES["squared"]), X), X.tolist(), strict=True):
        for rule, contribution in zip(ensemble, row.rules, strict=True):
            for proposition, margin in zip(rule.condition, contribution.margins, strict=True):
                assert margin.holds == holds(proposition, values) == (margin.margin >= 0.0)
                assert same(margin.margin, float(proposition.project([values])[0] - proposition.threshold))


@every_kind
def test_every_model_explains_its_predictions(kind):
    model, X, _ = fitted(kind)
    explanation = model.explain(X)
    assert [added(row) for row in explanation] == model.ensemble_(X).tolist()
    assert [row.prediction for row in explanation] == model.predict(X).tolist()
    assert len(model.ensemble_) > 0


@every_kind
def test_one_row_is_printed_with_names_and_values(kind):
    model, X, _ = fitted(kind)
    for row in range(5):
        text = str(model.explain(X.iloc[[row]]))
        assert text.startswith("Predicted: ")
        assert model.ensemble_.feature_names is not None
        for rule, fires in zip(model.ensemble_, model.ensemble_.fires(X.iloc[[row]])[0], strict=True):
            told = [line for line in text.split("\n") if f" {'because' if fires else 'if'} " in line]
            unmet = [p for p in rule.condition if fires or not p(X.iloc[[row]])[0]]
            assert any(all(p.describe(model.ensemble_.feature_names) in line for p in unmet) for line in told)
        assert "Values: " in text


def test_text_for_a_case():
    rules = "+1 if True\n-2.5 if age - 2 bmi <= 3 & bmi >= 20\n+0.3 if age >= 70 & bmi >= 10"
    ensemble = RuleEnsemble.parse(rules, ["age", "bmi"])
    assert str(explain(Model.of(ensemble, LOSSES["squared"]), np.array([[41.0, 22.25]]))) == "\n".join(
        [
            "Predicted: -1.5",
            "    +1  to start with",
            "  -2.5  because age - 2 bmi <= 3 (it is -3.5, met by 6.5) & bmi >= 20 (it is 22.25, met by 2.25)",
            "  -1.5  in all, the prediction",
            "Not counted, because a condition is not met:",
            "  +0.3  if age >= 70 (it is 41, missed by 29)",
            "Values: age = 41, bmi = 22.25",
        ]
    )


def test_many_rows_are_cut_short():
    model, X, _ = fitted("classifier")
    text = str(model.explain(X))
    assert text.startswith("Row 0. Predicted")
    assert text.endswith(f"... and {len(X) - 10} rows more.")


def test_frames():
    model, X, _ = fitted("poisson")
    explanation = model.explain(X[:7])
    records = explanation.to_dicts()
    assert len(records) == 7 * (1 + len(model.ensemble_)) == len(explanation.to_pandas()) == len(explanation.to_polars())
    frame = explanation.to_pandas()
    np.testing.assert_allclose(frame.groupby("row")["contribution"].sum(), model.ensemble_(X[:7]), rtol=1e-12)
    assert frame["rule"].isna().sum() == 7
    assert [len(record["margins"]) for record in records[: 1 + len(model.ensemble_)]] == [
        0,
        *map(len, (r.condition for r in model.ensemble_)),
    ]


def test_a_value_far_outside_the_training_range_gets_a_remark():
    X = pd.DataFrame({"dose": np.linspace(0.0, 10.0, 60), "age": np.tile([20.0, 40.0, 60.0], 20)})
    model = LLTBoostRegressor(max_rules=1).fit(X, X["dose"] > 5.0)
    far = pd.DataFrame({"dose": [13.0, 99.0], "age": [1000.0, 30.0]})
    assert [row.remarks for row in model.explain(far)] == [
        (),
        ("Far outside what the rules were learned from: dose = 99 (there: nearly all from 0.6 to 9.4).",),
    ]
    assert str(model.explain(far[1:])).endswith("(there: nearly all from 0.6 to 9.4).")
