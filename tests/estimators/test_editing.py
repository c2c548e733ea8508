"""Editing: each step does what it says, costs what the log says, and can be replayed from the file byte for byte."""

import copy

import numpy as np
import pytest
from scipy.optimize import minimize

from obliquerules import (
    Conjunction,
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostRegressor,
    LTRNetClassifier,
    Proposition,
    Rule,
    load_model,
)
from obliquerules.rules import Factor, Membership
from obliquerules.rules.text.formats import rule_lines
from obliquerules.rules.text.style import PLAIN

from ..inspection.mixed import fitted_mixed
from .fitted import data, every_kind, fitted


def started(kind):
    model, X, y = fitted(kind)
    return model, model.edit(X, y), X, y


def edited(editing):
    """Return an editing with each kind of step."""
    return (
        editing.add('+0.25 if body mass >= 0.5 & "a - b" <= 0.7')
        .lock(0)
        .refit()
        .replace(len(editing.ensemble), "body mass - age >= 0.1")
        .refit()
        .add(Conjunction([Proposition([2], [1.0], 0.3)]))
        .unlock(0)
        .refit()
        .drop(0)
        .refit()
        .round(2, tolerance=0.001, integers=True)
    )


@every_kind
def test_the_log_in_the_file_gives_the_same_model_byte_for_byte(kind, tmp_path):
    model, editing, X, y = started(kind)
    model.save(tmp_path / "original.json")
    edited(editing).model.save(tmp_path / "edited.json")
    log = load_model(tmp_path / "edited.json").edits_
    again = load_model(tmp_path / "original.json").edit(X, y).replay(log).model
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "edited.json").read_bytes()
    np.testing.assert_array_equal(again.predict(X), load_model(tmp_path / "edited.json").predict(X))


@every_kind
def test_a_loaded_model_is_edited_further_as_if_it_had_never_been_saved(kind, tmp_path):
    _, editing, X, y = started(kind)
    first = editing.lock(0).add("body mass >= 0.4")
    first.model.save(tmp_path / "first.json")
    first.refit().model.save(tmp_path / "one.json")
    load_model(tmp_path / "first.json").edit(X, y).refit().model.save(tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


@every_kind
def test_the_original_stays_as_it_is(kind):
    model, editing, X, _ = started(kind)
    before = copy.copy(vars(model))
    other = edited(editing).model
    assert vars(model) == before
    assert model.edits_ is None
    assert other.path_ == model.path_
    assert other.ensemble_ != model.ensemble_
    assert other.predict(X).shape == (len(X),)


@every_kind
def test_the_log_says_what_each_step_costs(kind):
    model, editing, X, y = started(kind)
    final = edited(editing)
    target = (y == "yes") * 1.0 if kind.startswith("classifier") else y
    steps = list(final.log)
    replayed = editing
    for step in steps:
        before = replayed.ensemble
        replayed = replayed.replay(type(final.log)(before, (step,), before))
        after = replayed.ensemble
        assert (step.complexity_before, step.complexity_after) == (before.complexity, after.complexity)
        for loss, ensemble in ((step.loss_before, before), (step.loss_after, after)):
            assert loss == pytest.approx(model.model_.loss.value(target, ensemble(X)).mean())
    assert replayed.ensemble == final.ensemble
    assert [step.action for step in steps].count("refit") == 4
    assert len(str(final.log).split("\n")) == 1 + len(steps)


# The steps


def test_drop_removes_a_rule_and_nothing_else():
    model, editing, *_ = started("classifier")
    rules = editing.drop(1).ensemble.rules
    assert rules == (*model.ensemble_.rules[:1], *model.ensemble_.rules[2:])


def test_add_takes_rules_conditions_and_text():
    _, editing, *_ = started("classifier")
    condition = Conjunction([Proposition([0], [1.0], 0.5)])
    for new, weight in [(Rule(1.5, condition), 1.5), (condition, 0.0), ("+1.5 if age >= 0.5", 1.5), ("age >= 0.5", 0.0)]:
        assert editing.add(new).ensemble.rules[-1] == Rule(weight, condition)
        assert editing.replace(0, new).ensemble.rules[0] == Rule(weight or editing.ensemble[0].weight, condition)
    with pytest.raises(TypeError, match="A rule is a Rule, a Conjunction or text; got int"):
        editing.add(3)
    with pytest.raises(ValueError, match="There is no column 'weight'"):
        editing.add("weight >= 3")
    with pytest.raises(ValueError, match="A rule uses column 9"):
        editing.add(Conjunction([Proposition([9], [1.0], 0.5)]))


def test_locks_follow_their_rules():
    editing = started("classifier")[1].add('"a - b" >= 0.6')
    assert len(editing.ensemble) >= 3
    locked = editing.lock(0).lock(2)
    assert locked.log.locked == {0, 2}
    assert locked.drop(1).log.locked == {0, 1}
    assert locked.drop(0).log.locked == {1}
    assert locked.replace(2, "age >= 0").log.locked == {0}
    assert locked.unlock(0).log.locked == {2}
    assert locked.add("age >= 0").log.locked == {0, 2}


@every_kind
def test_refit_keeps_locked_weights_and_finds_the_best_others(kind):
    model, editing, X, y = started(kind)
    new = editing.replace(0, "-0.75 if age >= 0.1").lock(0).add("body mass >= 0.4")
    after = new.refit().ensemble
    assert after[0].weight == -0.75
    target = (y == "yes") * 1.0 if kind.startswith("classifier") else y
    loss, design = model.model_.loss, np.column_stack([np.ones(len(X)), after.fires(X)]).astype(float)
    ridge = getattr(model, "ridge_", model.ridge) * loss.curvature(target, np.ones(len(X)))

    def filled(free):
        return np.array([free[0], -0.75, *free[1:]])

    def objective(free):
        return loss.value(target, design @ filled(free)).sum() + 0.5 * ridge * (free[1:] ** 2).sum()

    def gradient(free):
        full = design.T @ loss.gradient(target, design @ filled(free))
        return np.array([full[0], *(full[2:] + ridge * free[1:])])

    found = minimize(objective, np.zeros(len(after)), jac=gradient, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose([after.intercept, *(rule.weight for rule in after.rules[1:])], found.x, atol=1e-4)


@every_kind
def test_refit_of_a_fitted_model_changes_next_to_nothing(kind):
    model, editing, X, _ = started(kind)
    np.testing.assert_allclose(editing.refit().ensemble(X), model.ensemble_(X), atol=1e-5)


@every_kind
def test_a_refit_never_raises_the_penalised_mean_loss_that_the_log_shows(kind):
    model, _, X, y = started(kind)
    some = np.arange(0, len(X), 5)
    editing = model.edit(X.iloc[some], y[some]).add("+0.1 (age - 0.5)").add("body mass >= 0.4").lock(0)
    for step in (editing.refit(), editing.drop(0).refit()):
        before, after = shown_penalised(step)
        assert after < before
        assert shown_penalised(step.refit()) == [after]


def shown_penalised(editing):
    """Return the penalised mean losses that the last step of a log shows."""
    return [float(figure) for figure in editing.log[-1].description.partition("penalised mean loss ")[2].split(" -> ")]


def test_rows_that_weigh_less_than_those_of_the_fit_may_raise_the_mean_loss_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.logistic(size=500) > 0.0).astype(int)
    step = LLTBoostClassifier(max_rules=4, effort=0, ridge=64.0).fit(X, y).edit(X, y, np.full(500, 0.2)).refit()
    light = LLTBoostClassifier(max_rules=4, effort=0, ridge=64.0).fit(X, y).edit(X[::5], y[::5]).refit()
    assert len(shown_penalised(step)) == 1  # weights below one are shares of the rows, not of those of the fit
    assert light.log[-1].loss_after > light.log[-1].loss_before
    before, after = shown_penalised(light)
    assert after < before


def test_the_order_of_rows_and_rows_given_twice_do_not_matter():
    model, editing, X, y = started("classifier")
    expected = edited(editing)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = edited(model.edit(X.iloc[order], y[order]))
    assert (shuffled.ensemble, shuffled.log) == (expected.ensemble, expected.log)
    twice = np.repeat(np.arange(len(X)), 2)
    doubled, weighted = edited(model.edit(X.iloc[twice], y[twice])), edited(model.edit(X, y, np.full(len(X), 2.0)))
    assert (doubled.ensemble, doubled.log) == (weighted.ensemble, weighted.log)


def test_a_constant_alone_can_be_refitted():
    _, editing, _, y = started("squared")
    for _ in range(len(editing.ensemble)):
        editing = editing.drop(0)
    assert editing.refit().ensemble.intercept == pytest.approx(y.mean())
    with pytest.raises(ValueError, match=r"^There is no rule 0: the model has no rules\.$"):
        editing.drop(0)


# What goes wrong, and what is forgotten


@pytest.mark.parametrize("step", ["drop", "lock", "unlock"])
def test_a_rule_that_is_not_there_is_named(step):
    _, editing, *_ = started("classifier")
    n_rules = len(editing.ensemble)
    with pytest.raises(
        ValueError, match=f"^There is no rule 7: the model has {n_rules} rules, numbered from 0 to {n_rules - 1}"
    ):
        getattr(editing, step)(7)
    with pytest.raises(ValueError, match="rule must be a whole number of at least 0; got -1"):
        getattr(editing, step)(-1)


def test_locks_are_not_set_twice():
    _, editing, *_ = started("classifier")
    with pytest.raises(ValueError, match="Rule 1 is not locked"):
        editing.unlock(1)
    with pytest.raises(ValueError, match="Rule 1 is locked already"):
        editing.lock(1).lock(1)


def test_a_log_that_does_not_fit_the_model_is_refused():
    model, editing, X, y = started("classifier")
    log = editing.drop(len(editing.ensemble) - 1).log
    with pytest.raises(ValueError, match="There is no rule"):
        model.at(0).edit(X, y).replay(log)


def test_labels_of_others_are_refused():
    model, _, X, _ = started("classifier")
    with pytest.raises(ValueError, match="y must hold the labels that the model was fitted to"):
        model.edit(X, np.where(X["age"] > 0, "a", "b"))


def test_another_size_and_another_fit_forget_the_edits():
    model, editing, X, y = started("classifier")
    other = editing.drop(0).model
    assert other.edits_ is not None
    assert other.at(3).edits_ is None
    assert other.at(3).ensemble_ == model.at(3).ensemble_
    assert copy.copy(other).fit(X, y).edits_ is None
    assert other.edits_ is not None


def test_editing_prints_rules_and_log():
    model, editing, *_ = started("classifier")
    assert str(editing) == str(model.ensemble_)
    text = str(editing.drop(0))
    assert text.startswith(str(model.ensemble_).split("\n")[0])
    assert f"drop rule 0: {model.ensemble_[0].describe(model.ensemble_.feature_names)}" in text
    records = edited(editing).log.to_dicts()
    assert records[0]["new"] == '+0.25 if body mass >= 0.5 & "a - b" <= 0.7'
    assert len(edited(editing).log.to_polars()) == len(records)


@pytest.mark.parametrize("make", [LLTBoostClassifier, LLTBoostRegressor])
def test_models_on_arrays_can_be_edited(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0.0) * 1.0
    model = make(max_rules=1).fit(X, y).edit(X, y).add("x1 >= 0").refit().model
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").edits_ == model.edits_


RULE_SET = {
    "n_penalties": 1,
    "min_penalty": 1e-3,
    "max_penalty": 1e-3,
    "max_iter": 3000,
    "phase_length": 500,
    "random_state": 0,
}
NETWORKS = {
    "LTRNet": LTRNetClassifier(n_penalties=3, n_restarts=2, max_iter=100, random_state=0),
    "DRNet": DRNetClassifier(describe="yes", **RULE_SET),
    "DRNet, other class": DRNetClassifier(describe="no", **RULE_SET),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_refit_of_rules_that_nobody_edited_leaves_the_weights_of_a_network_as_they_are(name):
    X, labels, _ = data()
    model = NETWORKS[name].fit(X, labels)
    assert len(model.ensemble_) > 0
    again = model.edit(X, labels).refit().model.ensemble_
    for rule, before in zip(again, model.ensemble_, strict=True):
        assert rule.weight == pytest.approx(before.weight, rel=1e-4)
    assert again.intercept == pytest.approx(model.ensemble_.intercept, rel=1e-4)


def test_a_rule_set_stays_one_when_its_weights_are_refitted():
    X, labels, _ = data()
    model = DRNetClassifier(describe="yes", ridge=20.0, **RULE_SET).fit(X, labels)
    editing = model.edit(X, labels).add("age >= 0.9").refit()
    fires = editing.ensemble.fires(X.to_numpy()).any(axis=1)
    np.testing.assert_array_equal(editing.model.predict(X), np.where(fires, "yes", "no"))


@every_kind
def test_slopes_are_added_refitted_replaced_and_replayed(kind, tmp_path):
    model, editing, X, y = started(kind)
    slope = len(editing.ensemble)
    steps = editing.add("+0.01 (age - 0.5)").add("+0 body mass clipped to [0.1, 0.9] if age > 0.5").refit()
    steps = steps.replace(slope, "age >= 0.2").replace(slope + 1, Conjunction([Proposition([0], [1.0], 0.3)])).lock(slope)
    log = steps.refit().round(2).log
    descriptions = [step.description for step in log]
    assert descriptions[0] == f"add rule {slope}: +0.01 (age - 0.5)"
    assert " (age - 0.5), by " in descriptions[3]
    assert descriptions[3].endswith(" (age - 0.5) if age >= 0.2")
    assert [rule.factor for rule in log.ensemble][slope:] == [Factor(0, 0.5), Factor(1, 0.0, 0.1, 0.9)]
    steps.refit().round(2).model.save(tmp_path / "edited.json")
    loaded = load_model(tmp_path / "edited.json")
    assert loaded.edits_ == log
    assert model.edit(X, y).replay(loaded.edits_).ensemble == log.ensemble


def test_a_rule_set_with_a_factor_is_a_sum():
    X, labels, _ = data()
    model = DRNetClassifier(describe="yes", ridge=20.0, **RULE_SET).fit(X, labels)
    editing = model.edit(X, labels).add("+0.1 age if age >= 0.2")
    assert editing.refit().log.steps[-1].loss_after < editing.log.steps[-1].loss_after


@pytest.mark.parametrize("number", [np.int64, np.int32, np.uint8], ids=str)
def test_steps_that_were_given_numbers_of_numpy_are_those_given_plain_ones(number, tmp_path):
    _, editing, X, y = started("poisson")
    new = Rule(np.float32(0.25), Conjunction([Proposition(np.array([2]), np.array([1.0]), np.float64(0.3))]))
    steps = [editing.drop, editing.lock, editing.lock(0).unlock, lambda rule: editing.replace(rule, new)]
    for index, step in enumerate(steps):
        edited = step(number(0)).add(new).model
        assert edited.edits_ == step(0).add(new).model.edits_
        assert type(edited.edits_.steps[-2].rule) is int
        edited.save(tmp_path / f"{index}.json")
        edited.report(tmp_path / f"{index}.html", X, y)
        assert load_model(tmp_path / f"{index}.json").edits_ == edited.edits_


@pytest.mark.parametrize("rule", [1.0, np.float64(1.0), True, np.bool_(True), "1", None])
def test_what_is_no_whole_number_names_no_rule(rule):
    _, editing, _, _ = started("squared")
    with pytest.raises(ValueError, match=r"^rule must be a whole number"):
        editing.drop(rule)


@every_kind
def test_a_step_to_an_infinite_loss_is_refused(kind):
    _, editing, _, _ = started(kind)
    with pytest.raises(ValueError, match=r"^Cannot add rule .* the mean loss, .* before and inf after, must be finite[.]$"):
        editing.add("+1.5e308 if age >= -100")
    with pytest.raises(ValueError, match=r"must be finite[.]$"):
        editing.replace(0, Rule(-1.7e308))


@every_kind
def test_a_rounded_model_is_a_model_with_its_certificate(kind, tmp_path):
    model, X, y = fitted(kind)
    short = model.rounded(X, y, digits=2)
    engine = model.ensemble_.rounded(X, digits=2)
    assert type(short) is type(model)
    assert short.ensemble_ != model.ensemble_
    assert [rule.condition for rule in short.ensemble_] == [rule.condition for rule in engine.ensemble]
    step = short.edits_[-1]
    assert step.action == "round"
    assert step.description.startswith("round to 2 digits: no row changes side, scores change by ")
    assert step.loss_after <= 1.001 * step.loss_before
    short.save(tmp_path / "short.json")
    again = load_model(tmp_path / "short.json")
    assert again.edits_ == short.edits_
    assert rule_lines(again.ensemble_) == rule_lines(again.ensemble_, PLAIN.in_full())
    np.testing.assert_array_equal(again.predict(X), short.predict(X))
    assert short.export("json", X).verification.mismatches == 0


def test_a_rounding_with_a_tolerance_says_how_many_rows_change_side():
    model, X, y = fitted("squared")
    step = model.rounded(X, y, tolerance=0.1).edits_[-1]
    assert "of 150 distinct rows change side of a condition" in step.description
    assert step.loss_before < step.loss_after <= step.loss_before + 0.1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"digits": 0}, "digits must be a whole number of at least 1"),
        ({"tolerance": -1.0}, "tolerance must be a finite number of at least 0"),
        ({"integers": "yes"}, "integers must be True or False"),
    ],
)
def test_a_rounding_that_makes_no_sense_is_refused(given, sentence):
    model, X, y = fitted("classifier")
    with pytest.raises(ValueError, match=sentence):
        model.rounded(X, y, **given)


# Levels, missing values and dates


def test_rules_on_levels_are_typed_logged_saved_and_replayed(tmp_path):
    model, X, y = fitted_mixed()
    editing = (
        model.edit(X, y)
        .add("+1 if colour in {red, blue} & age >= 50")
        .add("day > 2020-03-01 & not smoker")
        .add("age + 12 (smoker) >= 60")
        .add("bmi > 30 or missing")
        .add("grade below high")
        .add("colour != green or missing")
        .refit()
        .round(2)
    )
    n = len(model.ensemble_)
    assert [step.description.split(" (")[0] for step in editing.log.steps[:2]] == [
        f"add rule {n}: +1 if colour in {{red, blue}} & age >= 50",
        f"add rule {n + 1}: +0 if day >= 2020-03-02 & not smoker",
    ]
    assert editing.log.steps[3].description.endswith("or missing on these rows)")
    assert "grade below high" in str(editing)
    assert "colour != green or missing" in str(editing)
    editing.model.save(tmp_path / "edited.json")
    again = load_model(tmp_path / "edited.json")
    assert again.edits_ == editing.model.edits_
    assert model.edit(X, y).replay(again.edits_).ensemble == again.ensemble_
    np.testing.assert_array_equal(again.predict(X), editing.model.predict(X))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("colour in {red, mauve}", "^Column 'colour' has no level mauve; its levels are .*red.*[.]$"),
        ("colour = Red", "^Column 'colour' has no level Red; its levels are .*red.*[.]$"),
        ("age + 3 (colour = mauve) >= 5", "^Column 'colour' has no level mauve"),
        ("smoker = yes", "^Column 'smoker' has no level yes; its levels are False, True[.]$"),
        ("grade at least best", "^Column 'grade' has no level best; its levels are low, mid, high[.]$"),
        ("colour at least red", "^Column 'colour' has no ordered levels for 'at least'[.]$"),
        ("age = old", "^Column 'age' holds numbers, and has no levels for a condition[.]$"),
        ("colour >= 3", "^Column 'colour' has levels, and no numbers for a sum[.]$"),
        ("day >= 2020-13-01", "There is no date '2020-13-01'"),
    ],
)
def test_a_slip_of_the_pen_is_named(text, complaint):
    model, X, y = fitted_mixed()
    for new in (text, f"+1.5 if {text}"):
        with pytest.raises(ValueError, match=complaint):
            model.edit(X, y).add(new)
        with pytest.raises(ValueError, match=complaint):
            model.edit(X, y).replace(0, new)


def test_levels_of_rules_that_are_given_as_values_are_checked():
    model, X, y = fitted_mixed()
    with pytest.raises(ValueError, match="Column 'colour' has no level mauve"):
        model.edit(X, y).add(Conjunction([Membership(1, ["mauve"])]))
    assert model.edit(X, y).add(Conjunction([Membership(1, ["teal"])])).ensemble[-1] == Rule(
        0.0, Conjunction([Membership(1, ["teal"])])
    )


def test_rounding_keeps_conditions_on_levels_and_the_rows_that_they_cover():
    model, X, y = fitted_mixed()
    editing = (
        model.edit(X, y)
        .add("+1.23456 if colour in {red, blue} or missing")
        .add("+0.98765 if 1.23456 age + 9.8765 (smoker) >= 70")
    )
    short = editing.round(2)
    assert "no row changes side" in short.log.steps[-1].description
    before, after = editing.ensemble, short.ensemble
    for old, new in zip(before, after, strict=True):
        assert [test for test in old.condition if isinstance(test, Membership)] == [
            test for test in new.condition if isinstance(test, Membership)
        ]
    block = model._read(X).X
    np.testing.assert_array_equal(before.fires(block), after.fires(block))
    assert any(isinstance(test, Membership) for rule in after for test in rule.condition)
