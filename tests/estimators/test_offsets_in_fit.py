"""Exposure and offset: rules of rates, and rules that say what a given score misses."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    TGBClassifier,
    TGBRegressor,
    load_model,
)

N = 300
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 3)).round(2), columns=["a", "b", "c"])
EXPOSURE = pd.Series(RNG.uniform(0.1, 3.0, N), name="years")
COUNTS = RNG.poisson(EXPOSURE * np.exp(X["a"] > 0.3)).astype(float)
OFFSET = 2.0 * X["a"].to_numpy()
LABELS = np.where(RNG.random(N) < 1.0 / (1.0 + np.exp(-OFFSET - 3.0 * (X["b"] > 0.5) + 1.0)), "yes", "no")
KINDS = np.select([X["a"] > 0.5, X["b"] > 0.2], ["x", "y"], "z")


def same(one, other):
    return [member.to_text(exact=True) for member in one.path_] == [member.to_text(exact=True) for member in other.path_]


@pytest.mark.parametrize("kind", [LLTBoostRegressor, TGBRegressor])
def test_an_exposure_is_the_same_as_rates_with_weights(kind):
    relative = EXPOSURE / EXPOSURE.mean()
    model = kind(loss="poisson", max_rules=3).fit(X, COUNTS, exposure=EXPOSURE)
    # A row of twice the exposure is one observation, where a row of twice the weight is two.
    rates = kind(loss="poisson", max_rules=3).fit(X, COUNTS / relative, relative, groups=range(len(X)))
    assert [rule.condition for rule in model.ensemble_] == [rule.condition for rule in rates.ensemble_]
    np.testing.assert_allclose(model.predict(X, exposure=EXPOSURE), relative * rates.predict(X), rtol=1e-10)
    np.testing.assert_allclose(model.predict(X), rates.predict(X) / EXPOSURE.mean(), rtol=1e-10)
    one = kind(loss="poisson", max_rules=3).fit(X, COUNTS, exposure=relative)
    np.testing.assert_allclose(one.predict(X), rates.predict(X), rtol=1e-10)
    *_, last = model.staged_predict(X, exposure=EXPOSURE)
    np.testing.assert_array_equal(last, model.predict(X, exposure=EXPOSURE))


def test_the_unit_of_an_exposure_does_not_matter():
    # A power of two, so that the last bits do not decide between candidates.
    years = LLTBoostRegressor(loss="poisson", max_rules=3).fit(X, COUNTS, exposure=EXPOSURE)
    blocks = LLTBoostRegressor(loss="poisson", max_rules=3).fit(X, COUNTS, exposure=256.0 * EXPOSURE)
    assert [rule.condition for rule in blocks.ensemble_] == [rule.condition for rule in years.ensemble_]
    np.testing.assert_allclose(blocks.predict(X, exposure=256.0 * EXPOSURE), years.predict(X, exposure=EXPOSURE), rtol=1e-8)
    again = blocks.edit(X, COUNTS, exposure=256.0 * EXPOSURE).refit().model
    np.testing.assert_allclose(again.ensemble_.weight_table, blocks.ensemble_.weight_table, atol=1e-6)


def test_a_file_knows_the_exposure(tmp_path):
    model = LLTBoostRegressor(loss="poisson", max_rules=2).fit(X, COUNTS, exposure=EXPOSURE)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.model_.offset == model.model_.offset
    assert loaded.model_.offset.names == ("years",)
    np.testing.assert_array_equal(loaded.predict(X, exposure=EXPOSURE), model.predict(X, exposure=EXPOSURE))
    assert "multiplied by the exposure, 'years'" in loaded.to_text("sentences")


def test_an_exposure_needs_a_log_link_and_a_model_that_knows_it():
    with pytest.raises(ValueError, match="exposure needs a log link"):
        LLTBoostRegressor().fit(X, COUNTS, exposure=EXPOSURE)
    plain = TGBRegressor(loss="poisson", max_rules=1).fit(X, COUNTS)
    with pytest.raises(ValueError, match="fitted without exposure and offset and takes no exposure"):
        plain.predict(X, exposure=EXPOSURE)


def test_an_exposure_is_no_input():
    with pytest.raises(ValueError, match="The exposure 'years' has the name of a column of X; drop that column from X"):
        TGBRegressor(loss="poisson").fit(X.assign(years=EXPOSURE), COUNTS, exposure=EXPOSURE)


def test_an_offset_of_numbers_is_taken_from_the_target():
    model = LLTBoostRegressor(max_rules=2).fit(X, COUNTS, offset=OFFSET)
    assert same(model, LLTBoostRegressor(max_rules=2).fit(X, COUNTS - OFFSET))
    np.testing.assert_allclose(model.predict(X, offset=OFFSET), OFFSET + model.ensemble_(X), rtol=1e-12)


def test_an_offset_of_counts_is_the_logarithm_of_an_exposure():
    relative = EXPOSURE / EXPOSURE.mean()
    one = TGBRegressor(loss="poisson", max_rules=3).fit(X, COUNTS, offset=np.log(relative))
    other = TGBRegressor(loss="poisson", max_rules=3).fit(X, COUNTS, exposure=relative)
    np.testing.assert_allclose(one.predict(X, offset=np.log(relative)), other.predict(X, exposure=relative), rtol=1e-8)


@pytest.mark.parametrize("learner", [LLTBoostClassifier(max_rules=2), TGBClassifier(max_rules=3)], ids=str)
def test_rules_say_what_a_given_score_misses(learner):
    model = learner.fit(X, LABELS, offset=OFFSET)
    assert {column for rule in model.at(3).ensemble_ for column in rule.used_columns} == {1}
    score = model.decision_function(X, offset=OFFSET)
    np.testing.assert_allclose(score, OFFSET + model.ensemble_(X), rtol=1e-12, atol=1e-12)
    # At the minimum, the mean probability is the share of the class, for the rows of each rule but for the ridge.
    assert model.predict_proba(X, offset=OFFSET)[:, 1].mean() == pytest.approx(np.mean(LABELS == "yes"), abs=1e-6)
    assert model.score(X, LABELS, offset=OFFSET) > np.mean((OFFSET > 0.0) == (LABELS == "yes"))
    with pytest.raises(ValueError, match="fitted with an offset and needs it"):
        model.predict(X)


def test_an_offset_that_is_the_same_for_all_rows_only_moves_the_constant():
    plain = LLTBoostClassifier(max_rules=3).fit(X, LABELS)
    moved = LLTBoostClassifier(max_rules=3).fit(X, LABELS, offset=np.full(N, 0.7))
    assert [rule.condition for rule in moved.ensemble_] == [rule.condition for rule in plain.ensemble_]
    np.testing.assert_allclose(moved.ensemble_.weight_table[1:], plain.ensemble_.weight_table[1:], atol=1e-6)
    assert moved.ensemble_.intercept + 0.7 == pytest.approx(plain.ensemble_.intercept, abs=1e-6)


def test_editing_rounding_and_stability_take_the_offset():
    model = LLTBoostClassifier(max_rules=2).fit(X, LABELS, offset=OFFSET)
    again = model.edit(X, LABELS, offset=OFFSET).refit().model
    np.testing.assert_allclose(again.ensemble_.weight_table, model.ensemble_.weight_table, atol=1e-5)
    assert model.rounded(X, LABELS, offset=OFFSET).edits_[-1].loss_before == pytest.approx(
        again.edits_[-1].loss_after, rel=1e-6
    )
    stable = model.stability(X, LABELS, n_bootstraps=2, random_state=0, offset=OFFSET)
    assert all(rule.interval[0] <= rule.interval[1] for rule in stable)


def test_many_classes_have_an_offset_for_each():
    given = RNG.normal(size=(N, 3))
    model = LLTBoostClassifier(max_rules=3).fit(X, KINDS, offset=given)
    score = model.decision_function(X, offset=given)
    np.testing.assert_allclose(score, given + model.ensemble_(X), atol=1e-12)
    shares = model.predict_proba(X, offset=given)
    np.testing.assert_allclose(shares.mean(axis=0), [np.mean(kind == KINDS) for kind in "xyz"], atol=1e-6)
    moved = LLTBoostClassifier(max_rules=3).fit(X, KINDS, offset=given + 5.0)
    np.testing.assert_allclose(moved.predict_proba(X, offset=given), shares, atol=1e-6)


def test_cross_validation_takes_the_offset():
    model = LLTBoostClassifierCV(max_rules=2, effort=0, cv=2).fit(X, LABELS, offset=OFFSET)
    assert model.risk_ < 0.69
    assert model.predict(X, offset=OFFSET).shape == (N,)


def test_a_network_refuses_an_offset_of_classes():
    with pytest.raises(ValueError, match="DRNetClassifier takes no offset"):
        DRNetClassifier().fit(X, LABELS, offset=OFFSET)
