"""Explanations: contributions add up to the score to the last bit, and margins say on which side a row is."""

import numpy as np
import pandas as pd
from hypothesis import given

from obliquerules import Column, LLTBoostRegressor, RuleEnsemble
from obliquerules.inspection.explanation import explain
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from ..estimators.fitted import every_kind, fitted
from ..rules.strategies import any_finite, ensembles, holds, matrices
from ..rules.test_factor import sloped, sloped_rows


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


@given(sloped(), sloped_rows)
def test_products_add_up_to_the_score_to_the_last_bit(ensemble, rows):
    explanation = explain(Model.of(ensemble, LOSSES["squared"]), np.array(rows))
    assert [added(row) for row in explanation] == ensemble(rows).tolist() == [row.score for row in explanation]
    for row in explanation:
        for rule in row.rules:
            if rule.multiplied is not None and rule.fires:
                assert rule.contribution == rule.weight * rule.multiplied.amount
                assert f"{rule.multiplied.fact}: {rule.multiplied.product}" in str(row)


SLOPES = """+1 if True
+0.31 (age - 50)
-0.5 (stay + 2 days)
+0.2 bmi clipped to [18, 40] if age >= 40
+0.1 (seen - 2021-03-01)
-2 stay if age >= 30 & bmi >= 20
+0.7 bmi if age >= 70"""


def explained(*row):
    columns = ["age", "bmi", Column("seen", kind="date"), Column("stay", kind="duration")]
    return explain(Model.of(RuleEnsemble.parse(SLOPES, columns), LOSSES["squared"]), np.array([row]))


def test_a_slope_is_told_as_a_calculation():
    assert str(explained(60.0, 44.25, 18697.0, -3.0)) == "\n".join(
        [
            "Predicted: 19.6",
            "     +1  to start with",
            "   +3.1  because age is 60: +0.31 x (60 - 50)",
            "   +0.5  because stay is -3 days: -0.5 x (-3 days + 2 days)",
            "     +8  because age >= 40 (it is 60, met by 20), and bmi is 44.25, clipped to 40: +0.2 x 40",
            "     +1  because seen is 2021-03-11: +0.1 x (2021-03-11 - 2021-03-01)",
            "     +6  because age >= 30 (it is 60, met by 30) & bmi >= 20 (it is 44.25, met by 24.25), "
            "and stay is -3 days: -2 x (-3 days)",
            "  +19.6  in all, the prediction",
            "Not counted, because a condition is not met:",
            "  +0.7 bmi  if age >= 70 (it is 60, missed by 10)",
            "Values: age = 60, bmi = 44.25, seen = 2021-03-11, stay = -3 days",
        ]
    )


def test_what_is_missing_is_said_to_add_nothing():
    lines = str(explained(np.nan, 20.0, 18687.0, -2.0)).split("\n")
    assert lines[2] == "  +0  because age is missing: +0.31 (age - 50) adds nothing"
    (factor,) = {rule.multiplied for rule in explained(np.nan, 20.0, 0.0, 0.0)[0].rules[:1]}
    assert (factor.factor, factor.value, factor.amount) == ("(age - 50)", None, 0.0)


def test_frames_have_factors_where_rules_have():
    records = explained(60.0, 44.25, 18697.0, -3.0).to_dicts()
    assert [record["factor"] for record in records[:4]] == [None, "(age - 50)", "(stay + 2 days)", "bmi clipped to [18, 40]"]
    assert [record["factor_value"] for record in records] == [None, 10.0, -1.0, 40.0, 10.0, -3.0, 44.25]


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
