"""Class weights: the same as row weights, said to be there, and undone on request."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, TGBClassifier, load_model
from obliquerules.estimators.loading import ESTIMATORS

CLASSIFIERS = [kind for name, kind in ESTIMATORS.items() if "Classifier" in name]
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(400, 3)).round(2), columns=["a", "b", "c"])
RARE = np.where(RNG.random(400) < 1.0 / (1.0 + np.exp(4.0 - 2.0 * (X["a"] > 0.0) - X["b"])), "ill", "well")
KINDS = np.select([X["a"] > 1.2, X["b"] > 1.0], ["x", "y"], "z")


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_every_classifier_declares_it(kind):
    assert kind().class_weight is None
    assert 'class_weight : dict, "balanced" or None, default=None' in kind.__doc__


def test_a_dict_is_the_same_as_row_weights():
    one = TGBClassifier(max_rules=3, class_weight={"ill": 5.0}).fit(X, RARE)
    # A row that counts five times for its class is one observation, where a row of weight 5 is five.
    other = TGBClassifier(max_rules=3).fit(X, RARE, np.where(RARE == "ill", 5.0, 1.0), groups=range(len(X)))
    assert one.path_ == other.path_


@pytest.mark.parametrize("y", [RARE, KINDS], ids=["two", "three"])
def test_balanced_classes_have_equal_weight_and_the_correction_gives_them_back_their_shares(y):
    model = LLTBoostClassifier(max_rules=3, class_weight="balanced").fit(X, y)
    classes, counts = np.unique(y, return_counts=True)
    np.testing.assert_allclose(model.model_.class_weights, len(y) / (len(classes) * counts))
    np.testing.assert_allclose(model.at(0).predict_proba(X)[0], 1.0 / len(classes), rtol=1e-9)
    corrected = model.with_class_shares()
    np.testing.assert_allclose(corrected.at(0).predict_proba(X)[0], counts / len(y), rtol=1e-9)
    np.testing.assert_allclose(corrected.predict_proba(X).mean(axis=0), counts / len(y), atol=0.03)
    assert [rule.weight for rule in corrected.ensemble_] == [rule.weight for rule in model.ensemble_]
    assert corrected.model_.class_weights is None
    elsewhere = model.with_class_shares(dict.fromkeys(classes.tolist(), 7.0))
    np.testing.assert_allclose(elsewhere.at(0).predict_proba(X)[0], 1.0 / len(classes), rtol=1e-9)


def test_weights_of_rows_count_for_what_is_balanced():
    weight = RNG.integers(1, 4, len(RARE))
    weighted = TGBClassifier(max_rules=2, class_weight="balanced").fit(X, RARE, weight)
    repeated = TGBClassifier(max_rules=2, class_weight="balanced").fit(
        X.loc[np.repeat(X.index, weight)].reset_index(drop=True), np.repeat(RARE, weight)
    )
    assert weighted.model_.class_weights == pytest.approx(repeated.model_.class_weights)
    assert weighted.path_ == repeated.path_


def test_probabilities_are_said_to_be_of_reweighted_classes_also_by_a_file(tmp_path):
    model = TGBClassifier(max_rules=1, class_weight={"ill": 5}).fit(X, RARE)
    assert "Probabilities are of reweighted classes: 'ill' times 5, 'well' times 1." in model.to_text("sentences")
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.model_.class_weights == (5.0, 1.0)
    np.testing.assert_array_equal(loaded.with_class_shares().predict_proba(X), model.with_class_shares().predict_proba(X))
    assert "reweighted" not in model.with_class_shares().to_text("sentences")


def test_a_refit_by_hand_reweights_as_the_fit_did():
    model = LLTBoostClassifier(max_rules=2, class_weight="balanced").fit(X, RARE)
    again = model.edit(X, RARE).refit().model
    np.testing.assert_allclose(again.ensemble_.weight_table, model.ensemble_.weight_table, atol=1e-5)
    with pytest.raises(ValueError, match="not edited"):
        again.with_class_shares()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sick": 2.0}, "class_weight has the class 'sick', which y does not have"),
        ({"ill": 0.0}, "class 'ill' has 0.0"),
        ({"ill": "many"}, "class 'ill' has 'many'"),
        ("even", "class_weight must be a dict of label and number, 'balanced' or None; got 'even'"),
    ],
)
def test_bad_weights_are_refused(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        TGBClassifier(class_weight=given).fit(X, RARE)


def test_shares_must_be_of_all_classes():
    model = TGBClassifier(max_rules=1).fit(X, RARE)
    with pytest.raises(ValueError, match="shares must give each of the classes"):
        model.with_class_shares({"ill": 0.2})
