"""The positive class: scores, sentences and products are about the class that the user names; scikit-learn's contract holds."""

import json

import numpy as np
import pytest
from sklearn.metrics import get_scorer, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from obliquerules import TGBClassifier, load_model
from obliquerules.estimators.loading import ESTIMATORS

from .fitted import data

CLASSIFIERS = [kind for name, kind in ESTIMATORS.items() if "Classifier" in name]
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS, ids=str)
X, LABELS, _ = data()


def small(positive=None, y=LABELS):
    return TGBClassifier(max_rules=3, positive=positive).fit(X, y)


@every_classifier
def test_every_classifier_declares_it(kind):
    assert kind().positive is None
    assert "positive : str, int, float, bool or None, default=None" in kind.__doc__


def test_the_class_that_sorts_last_is_the_default(tmp_path):
    small().save(tmp_path / "default.json")
    small("yes").save(tmp_path / "named.json")
    default, named = (json.loads((tmp_path / f"{one}.json").read_text()) for one in ("default", "named"))
    assert named["parameters"].pop("positive") == "yes"
    assert "positive" not in default["parameters"]
    assert named == default


def test_scores_and_words_are_about_the_named_class():
    model = small("no")
    score = model.ensemble_(X)
    np.testing.assert_array_equal(model.predict(X), np.where(score > 0.0, "no", "yes"))
    assert "log-odds of 'no'" in model.to_text("sentences")
    assert "probability of 'no'" in str(model.explain(X[:1]))
    whole = model.rule_table(X, LABELS)[0]
    assert whole.purity == np.mean(LABELS == "no")
    assert "less than 0.2" in str(model.closest_change(X[score > 0.0].iloc[0], X, below=0.2))
    np.testing.assert_allclose(model.export("frame").content(X)["prediction"], 1.0 / (1.0 + np.exp(-score)))


def test_it_is_the_mirrored_problem():
    mirrored = small(y=np.where(LABELS == "no", 1, 0))
    assert small("no").ensemble_ == mirrored.ensemble_


def test_what_scikit_learn_asks_for_is_in_the_order_of_the_classes():
    model = small("no")
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.decision_function(X), -model.ensemble_(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(model.predict_proba(X), axis=1)])
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], 1.0 / (1.0 + np.exp(-model.ensemble_(X))), rtol=1e-15)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, model.predict_proba(X))
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, model.decision_function(X))
    assert get_scorer("roc_auc")(model, X, LABELS) > 0.8
    assert get_scorer("neg_log_loss")(model, X, LABELS) > -0.6


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_an_offset_and_the_scores_of_samples_are_about_the_positive_class(positive):
    first, second = small(positive), TGBClassifier(max_rules=3, positive=positive)
    given = first.score_samples(X)
    np.testing.assert_array_equal(given, first.ensemble_(X))
    second.fit(X, LABELS, offset=given)
    np.testing.assert_allclose(second.score_samples(X, offset=given), given + second.ensemble_(X), atol=1e-12)
    assert get_scorer("neg_log_loss")(first, X, LABELS) < -log_loss(LABELS, second.predict_proba(X, offset=given)) < 0.0


def test_an_offset_about_the_other_class_is_warned_of():
    first = small("no")
    sentence = "It must be log-odds of 'no', the positive class, as score_samples returns them; decision_function"
    with pytest.warns(UserWarning, match=sentence) as found:
        TGBClassifier(max_rules=1, positive="no").fit(X, LABELS, offset=first.decision_function(X))
    assert [warning.filename for warning in found] == [__file__]
    noise = np.random.default_rng(0).normal(size=len(LABELS))
    for offset in (first.score_samples(X), np.zeros(len(LABELS)), noise, -noise):
        TGBClassifier(max_rules=1, positive="no").fit(X, LABELS, offset=offset)


def test_meta_estimators_pass_the_scores_of_samples_on():
    numbers = X.select_dtypes("number")
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), TGBClassifier(max_rules=2, positive="no"))
    pipeline.fit(numbers, LABELS)
    np.testing.assert_array_equal(pipeline.score_samples(numbers), -pipeline.decision_function(numbers))


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_it_comes_back_from_a_file_and_from_an_edit(tmp_path, positive):
    model = small(positive)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.positive == positive
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    edited = loaded.edit(X, LABELS).refit().model
    np.testing.assert_array_equal(edited.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("labels", "positive"), [((0, 1), 0), ((1, 2), 1), ((False, True), False), ((1.0, 2.0), np.float32(1.0)), (("a", "b"), "a")]
)
def test_labels_of_any_type(tmp_path, labels, positive):
    y = np.where(LABELS == "no", *labels)
    model = small(positive, y)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").model_.labels.values == labels[::-1]


@pytest.mark.parametrize("positive", ["maybe", 1, ""])
def test_what_is_no_class_gets_a_sentence_that_lists_the_classes(positive):
    with pytest.raises(ValueError, match=rf"positive must be .* classes of y, which are 'no' and 'yes'; got {positive!r}"):
        small(positive)


@pytest.mark.parametrize("positive", [["no"], object(), {"no"}])
def test_what_can_be_no_label_is_refused(positive):
    with pytest.raises(ValueError, match="positive must be the label of a class"):
        small(positive)


@pytest.mark.parametrize(
    ("positive", "values", "sentence"),
    [
        ("no", ["no", "yes"], "parameters.positive should be the second class, 'yes'; got 'no'"),
        (None, ["yes", "no"], "values should be in ascending order, because no parameter names the positive class"),
        ("no", ["no", "no"], "two or more different labels"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, positive, values, sentence):
    small("no").save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["parameters"]["positive"], document["classes"]["values"] = positive, values
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=sentence):
        load_model(tmp_path / "model.json")
