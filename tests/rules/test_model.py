"""A model is a value: other sizes and edits are other models of the same path, and its file says all of it."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obliquerules import Conjunction, Model, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Labels
from obliquerules.rules.edits import EditLog
from obliquerules.rules.files.decoding import decode_model
from obliquerules.rules.files.encoding import encode_model
from obliquerules.rules.files.fields import Field

from .strategies import any_finite, edit_logs, few, matrices, models

NAMES = ["age", "bmi"]
CONSTANT = RuleEnsemble([], 0.5, NAMES)
OLD = RuleEnsemble([Rule(-2.0, Conjunction([Proposition([0], [1.0], 50.0)]))], 1.5, NAMES)
ROWS = [[20.0, 30.0], [60.0, 30.0]]
complexities = st.integers(0, 40)


def written_and_read(model):
    """Return what is read from the text of a model's file."""
    text = json.dumps(encode_model(model), allow_nan=False)
    assert json.dumps(encode_model(decode_model(Field(json.loads(text), "text")))) == text
    return decode_model(Field(json.loads(text), "text"))


@st.composite
def edited_models(draw):
    model = draw(models())
    return model.edited(draw(edit_logs(model.ensemble)))


# Sizes


@given(models(), complexities)
def test_a_size_is_the_largest_that_is_allowed(model, complexity):
    sizes = [ensemble.complexity for ensemble in model.path]
    taken = model.at(complexity)
    assert taken.ensemble.complexity == max(size for size in sizes if size <= complexity)
    assert dataclasses.replace(taken, chosen=model.chosen) == model


@given(models(), complexities, complexities)
def test_the_last_size_asked_for_is_the_one_that_counts(model, first, second):
    assert model.at(first).at(second) == model.at(second)
    assert model.at(first).at(first) == model.at(first)


def test_of_several_with_the_same_complexity_the_last_is_taken():
    path = (CONSTANT, OLD, OLD.with_weights([3.0], 0.0))
    assert Model(path, 0, LOSSES["squared"]).at(3).chosen == 2


def test_a_size_below_the_smallest_is_refused():
    with pytest.raises(ValueError, match="complexity must be at least 3, the smallest on the path; got 2"):
        Model.of(OLD, LOSSES["squared"]).at(2)


def test_an_unknown_word_for_a_size_is_refused():
    with pytest.raises(ValueError, match="complexity must be a whole number or 'auto'; got 'best'"):
        Model.of(OLD, LOSSES["squared"]).at("best")


def test_without_expected_losses_there_is_no_automatic_size():
    model = Model((CONSTANT, OLD), 1, LOSSES["squared"], ridges=(4.0, 8.0))
    with pytest.raises(ValueError, match=r"complexity='auto' needs the expected loss of each size.*Give a number, or fit"):
        model.at("auto")
    assert model.verdict == ""


def test_the_automatic_size_is_that_of_the_expected_losses_or_of_the_folds():
    model = Model((CONSTANT, OLD, OLD.with_weights([3.0], 0.0)), 2, LOSSES["squared"], expected=(4.0, 1.03, 1.0))
    assert model.at("auto") == dataclasses.replace(model, chosen=1)
    cross_validated = dataclasses.replace(model, standard_errors=(0.1, 0.1, 0.1), selected=0)
    assert cross_validated.at("auto").chosen == cross_validated.at(3).at("auto").chosen == 0


@given(edited_models())
def test_losses_do_not_outlive_their_ensembles(edited):
    alone = edited.alone()
    assert alone.ridges == edited.ridges[edited.chosen :][:1]
    assert alone.expected == alone.standard_errors == ()
    assert alone.selected is alone.separated is None
    names = ("ridges", "expected", "standard_errors", "selected", "separated")
    renumbered = edited.renumbered({place: place for place in range(len(edited.columns))}, edited.columns)
    assert [getattr(renumbered, name) for name in names] == [getattr(edited, name) for name in names]


def test_other_shares_of_classes_have_no_expected_losses():
    labels = Labels.of(["ill", "well"])
    model = Model((CONSTANT, OLD), 1, LOSSES["logistic"], labels, ridges=(4.0, 8.0), expected=(0.7, 0.5), separated=3)
    shifted = model.with_shares([0.5, 0.5])
    assert (shifted.ridges, shifted.expected, shifted.separated) == ((4.0, 8.0), (), None)


# Edits


@few
@given(edited_models(), complexities)
def test_an_edit_leaves_the_path_alone(edited, complexity):
    fitted = dataclasses.replace(edited, edits=None)
    assert edited.path == fitted.path
    assert edited.ensemble == edited.edits.ensemble == edited.ensembles[edited.present]
    assert edited.ensembles == (*fitted.path, edited.edits.ensemble)
    assert fitted.ensemble == fitted.ensembles[fitted.present] == edited.edits.start
    assert edited.at(complexity) == fitted.at(complexity)


@few
@given(edited_models())
def test_locks_are_those_of_rules_that_are_still_there(edited):
    assert all(0 <= rule < len(edited.ensemble) for rule in edited.edits.locked)
    locked = [False for _ in edited.edits.start]  # the same, one answer for each rule instead of a set of positions
    for step in edited.edits:
        if step.action == "add":
            locked.append(False)
        elif step.action == "drop":
            del locked[step.rule]
        elif step.rule is not None:
            locked[step.rule] = step.action == "lock"
    assert edited.edits.locked == {rule for rule, kept in enumerate(locked) if kept}


@few
@given(edited_models())
def test_a_log_is_a_sequence_of_its_steps(edited):
    log = edited.edits
    assert tuple(log) == log.steps
    assert len(str(log).splitlines()) == 1 + len(log) == 1 + len(log.to_dicts())
    for step, entries in zip(log, log.to_dicts(), strict=True):
        new = None if entries["new"] is None else Rule.parse(entries["new"], log.start.feature_names)
        told = entries | {"new": new, "settings": step.settings}
        assert dataclasses.replace(step, new=new) == step == type(step)(**told)


def test_a_log_without_steps_has_a_heading_only():
    assert str(EditLog(OLD, (), OLD)).split() == ["complexity", "mean", "loss", "step"]


# Files and values


@given(models(any_finite))
def test_encode_and_decode_are_the_identity(model):
    assume(all(np.isfinite(sum((abs(r.weight) for r in member), abs(member.intercept))) for member in model.path))
    assert written_and_read(model) == model


@given(edited_models())
def test_encode_and_decode_are_the_identity_for_edited_models(edited):
    assert written_and_read(edited) == edited


@few
@given(models(), matrices())
def test_a_model_that_was_read_predicts_the_same(model, X):
    predicted = written_and_read(model).predict(X)
    assert predicted.tolist() == model.predict(X).tolist()
    assert predicted.dtype == model.predict(X).dtype


@few
@given(models() | edited_models())
def test_models_are_values(model):
    again = pickle.loads(pickle.dumps(model))
    assert type(again.loss) is type(model.loss)
    assert again == model
    assert hash(again) == hash(model)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.chosen = 0


def test_a_model_of_unknown_origin_is_not_written():
    with pytest.raises(ValueError, match="does not say which estimator it comes from"):
        encode_model(Model.of(OLD, LOSSES["squared"]))


# Predictions and words


def test_a_classifier_gives_labels_and_probabilities():
    model = Model.of(OLD, LOSSES["logistic"], Labels.of(["ill", "well"]))
    assert model.scores(ROWS).tolist() == [1.5, -0.5]
    assert model.predict(ROWS).tolist() == ["well", "ill"]
    assert model.probabilities(model.scores(ROWS)).sum(axis=1).tolist() == [1.0, 1.0]
    assert model.headline(1.5) == "Predicted: 'well' (probability of 'well': 81.8 %)"
    assert (model.mean_name, model.target_name) == ("probability of 'well'", "share of 'well'")
    assert model.to_text("sentences").startswith("The log-odds of 'well' start at 1.5")


def test_a_regressor_gives_expected_values():
    assert Model.of(OLD, LOSSES["squared"]).predict(ROWS).tolist() == [1.5, -0.5]
    counts = Model.of(OLD, LOSSES["poisson"])
    # Of one number and of many, NumPy may not compute the same last bit.
    assert counts.predict(ROWS).tolist() == pytest.approx(np.exp([1.5, -0.5]).tolist(), rel=1e-15)
    assert counts.headline(1.5) == "Predicted: 4.482"
    assert counts.target_name == "mean of y"
    for name in ("gamma", "tweedie"):
        amounts = Model.of(OLD, LOSSES[name])
        assert amounts.predict(ROWS).tolist() == counts.predict(ROWS).tolist()
        assert amounts.mean_name == "expected value"
        assert amounts.to_text("sentences") == counts.to_text("sentences").replace("expected count", "expected value")


def test_columns_without_names_are_called_by_their_number():
    unnamed = RuleEnsemble(OLD.rules, 1.5)
    assert Model((RuleEnsemble(), unnamed), 0, LOSSES["squared"]).feature_names == ("x0",)
    assert Model.of(OLD, LOSSES["squared"]).expected_names == ("age", "bmi")


def test_a_model_prints_as_the_ensemble_that_predicts():
    model = Model.of(RuleEnsemble.parse("+1.5 if True\n-2 if age >= 50", ["age"]), LOSSES["squared"])
    assert str(model) == "+1.5 if True\n-2 if age >= 50"
