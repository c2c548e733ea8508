"""Readable numbers: the loss of each size rises by no more than promised, and with exact="rows" no row changes side."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obliquerules import Conjunction, LLTBoostRegressor, LTRNetRegressor, Proposition, Rule, RuleEnsemble, TGBRegressor
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.method import Task
from obliquerules.learning.refit import fitted_weights, refit
from obliquerules.learning.shorten import SHARE_OF_ERROR, _Rows, readable_path, shortened_path
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Factor
from obliquerules.rules.numbers import significant_digits
from obliquerules.rules.redundancy import without_redundant_rules
from obliquerules.rules.text.bands import bends, single_column

few = settings(max_examples=25, deadline=None)
N_ROWS = 300


def task(loss, seed, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(50.0, 20.0, n_rows), rng.normal(size=n_rows), rng.integers(0, 9, n_rows)])
    score = 0.8 * (X[:, 0] + 9.0 * X[:, 1] > 51.0) - 0.5 * (X[:, 2] > 3)
    draw = {
        "squared": rng.normal,
        "logistic": lambda f: rng.random(n_rows) < 1 / (1 + np.exp(-f)),
        "poisson": lambda f: rng.poisson(np.exp(f)),
        "gamma": lambda f: rng.gamma(2.0, np.exp(f)),
        "tweedie": lambda f: rng.poisson(1.0, n_rows) * rng.gamma(2.0, np.exp(f)),
    }
    y = draw[loss](score)
    weight = rng.integers(1, 3, n_rows) * 1.0
    return Task(Block.of_matrix(X, ("a", "b", "c")), y * 1.0, weight, LOSSES[loss])


def random_path(task, seed, n_rules=5):
    """Return ensembles of random rules, each with one rule more than the one before, and with fitted weights."""
    rng, rules, path = np.random.default_rng(seed), [], [fitted(RuleEnsemble(), task)]
    for _ in range(n_rules):
        row = task.sample.X.matrix[rng.integers(len(task.sample.y))]
        oblique = Proposition([0, 1], [1.0, rng.uniform(1.0, 20.0)], row[0] + rng.normal())
        axis = Proposition([2], [-1.0], -rng.integers(1, 8) - 0.5)
        rules.append(Rule(0.0, Conjunction([oblique, axis][: rng.integers(1, 3)])))
        path.append(fitted(RuleEnsemble(rules), task))
    return path


def fitted(ensemble, task):
    sample = task.sample
    design = np.column_stack([np.ones(len(sample.y)), ensemble.fires(sample.X)])
    patterns, start = FiringPatterns(design, np.arange(len(sample.y))), np.zeros(1 + len(ensemble))
    weights = refit(patterns, sample.y, sample.weight, task.loss, 1.0, start)
    return ensemble.with_weights(weights[1:], weights[0])


def readable(path, task, exact):
    """Return the readable path of ensembles with a ridge of one row each."""
    after, places = readable_path([(ensemble, 1.0) for ensemble in path], task, exact)
    assert len(after) == len(places) == len(set(places))
    return after


def losses(ensemble, task):
    return task.loss.value(task.sample.y, ensemble(task.sample.X))


def mean_and_error(ensemble, task):
    value, weight = losses(ensemble, task), task.sample.weight
    mean = np.average(value, weights=weight)
    return mean, np.sqrt(np.average((value - mean) ** 2, weights=weight) / weight.sum())


def keeps_its_promise(ensemble, after, data):
    """Say whether a model as simple costs a share of a standard error for its digits, and one for each part left out."""
    mean, error = mean_and_error(ensemble, data)
    simple = [one for one in after if one.complexity <= ensemble.complexity]
    most = [1.01 * SHARE_OF_ERROR * error * (1 + ensemble.complexity - one.complexity) for one in simple]
    return any(mean_and_error(one, data)[0] <= mean + rise + 1e-12 * abs(mean) for one, rise in zip(simple, most, strict=True))


@few
@given(st.sampled_from(list(LOSSES)), st.integers(0, 10**6))
def test_the_loss_rises_by_a_share_of_its_standard_error_at_most(loss, seed):
    data = task(loss, seed)
    before = random_path(data, seed)
    after = readable(before, data, "loss")
    assert all(keeps_its_promise(ensemble, after, data) for ensemble in before)
    costs = [(one.complexity, mean_and_error(one, data)[0]) for one in after]
    assert costs == sorted(costs)
    assert [cost[1] for cost in costs] == sorted((cost[1] for cost in costs), reverse=True)


def redundant(ensemble, data):
    """Say whether a rule of an ensemble fires where another does or does not."""
    return len(without_redundant_rules(ensemble, ensemble.fires(data.sample.X).T)) < len(ensemble)


@few
@given(st.sampled_from(list(LOSSES)), st.integers(0, 10**6))
def test_exact_rows_means_that_no_row_changes_side(loss, seed):
    data = task(loss, seed)
    before = random_path(data, seed)
    # Rules that fire on the same rows, or on none, become one.
    assume(not any(redundant(ensemble, data) for ensemble in before))
    after, places = readable_path([(ensemble, 1.0) for ensemble in before], data, "rows")
    # With a ridge, a longer ensemble may have the higher loss; then it is not on the path.
    assert all(keeps_its_promise(ensemble, after, data) for ensemble in before)
    for exact, short in zip([before[place] for place in places], after, strict=True):
        assert (exact.fires(data.sample.X) == short.fires(data.sample.X)).all()
        assert [rule.weight for rule in exact] == [rule.weight for rule in short]


def test_the_weight_of_merged_rules_is_fitted_anew():
    data = task("logistic", 0)
    rule = Rule(0.0, Conjunction([Proposition([0], [1.0], 50.0)]))
    once, twice = (fitted(RuleEnsemble([rule] * times), data) for times in (1, 2))
    for exact in ("rows", "loss"):
        _, merged = readable([fitted(RuleEnsemble(), data), twice], data, exact)
        # A ridge charges less for two weights than for their sum.
        assert abs(twice[0].weight) < abs(merged[0].weight) < 2.0 * abs(twice[0].weight)
        assert merged[0].weight == pytest.approx(once[0].weight)
        assert len(merged) == 1


def test_each_ensemble_is_fitted_anew_with_its_own_ridge():
    data = task("logistic", 0)
    rule = Rule(0.0, Conjunction([Proposition([0], [1.0], 50.0)]))
    other = Rule(0.0, Conjunction([Proposition([1], [1.0], 0.0)]))
    ridges = {(): 9.0, (rule, rule): 5.0, (rule, rule, other): 30.0}
    path = [(fitted(RuleEnsemble(rules), data), ridge) for rules, ridge in ridges.items()]
    after, places = readable_path(path, data, "loss")
    assert places == [0, 1, 2]
    for ensemble, ridge in zip(after[1:], (5.0, 30.0), strict=True):
        again = fitted_weights(ensemble, data.sample, data.loss, ridge, ensemble.weight_table)
        assert ensemble.weight_table == pytest.approx(again, rel=1e-6)


def test_idle_variables_go_but_not_from_conditions_as_they_were_learned():
    data = task("squared", 0)
    idle = Proposition([0, 1], [1.0, 1e-9], 50.0)
    path = [fitted(RuleEnsemble(), data), fitted(RuleEnsemble([Rule(0.0, Conjunction([idle]))]), data)]
    assert [rule.used_columns for rule in shortened_path(path, data)[1]] == [(0, 1)]
    for exact in ("rows", "loss"):
        _, needed = readable(path, data, exact)
        assert [rule.used_columns for rule in needed] == [(0,)]
        assert needed(data.sample.X) == pytest.approx(path[1](data.sample.X))


def test_of_rules_on_the_same_rows_the_shortest_stays():
    X = np.column_stack([np.arange(10.0), np.zeros(10)])
    ensemble = RuleEnsemble.parse("+1 if x0 >= 4.5 & x1 >= -3\n+2 if x0 <= 4.5")
    tidy = without_redundant_rules(ensemble, ensemble.fires(X).T)
    assert tidy(X).tolist() == ensemble(X).tolist()
    assert tidy == RuleEnsemble.parse("+1 if True\n+1 if x0 <= 4.5")


def test_rules_that_become_equal_or_complements_are_one():
    X = np.arange(10.0)[:, None]
    above, below = Proposition([0], [1.0], 4.5), Proposition([0], [-1.0], -4.5)
    always, never = Proposition([0], [1.0], -1.0), Proposition([0], [1.0], 11.0)
    conditions = [[above], [above, above], [below], [always], [never]]
    ensemble = RuleEnsemble([Rule(1.0 + index, Conjunction(each)) for index, each in enumerate(conditions)], 0.5)
    tidy = without_redundant_rules(ensemble, ensemble.fires(X).T)
    assert tidy(X).tolist() == ensemble(X).tolist()
    assert tidy == RuleEnsemble([Rule(1.0 + 2.0 - 3.0, Conjunction([above]))], 0.5 + 3.0 + 4.0)


def test_a_rule_with_a_factor_is_one_with_the_same_factor_on_the_same_rows():
    X = np.arange(10.0)[:, None]
    text = ["+1 if x0 >= 4.5", "+2 x0 if x0 >= 4.5", "+3 x0 if x0 >= 4.2", "+4 x0 if x0 <= 4.5", "+5 (x0 - 1) if x0 >= 4.5"]
    text += ["+6 x0", "+7 x0 if x0 >= -1", "+8 x0 if x0 >= 11", "+9 if x0 <= 4.5"]
    ensemble = RuleEnsemble.parse("\n".join(text))
    tidy = without_redundant_rules(ensemble, ensemble.fires(X).T)
    assert tidy(X).tolist() == ensemble(X).tolist()
    kept = ["+9 if True", "-8 if x0 >= 4.5", "+5 x0 if x0 >= 4.5", "+4 x0 if x0 <= 4.5", "+5 (x0 - 1) if x0 >= 4.5", "+13 x0"]
    assert tidy.to_text().splitlines()[: len(kept)] == kept
    assert len(tidy) == len(kept) - 1


def sloped_path(task, seed):
    """Return random ensembles with a slope in each of them and a factor in some rules, with fitted weights."""
    plain, rng = random_path(task, seed), np.random.default_rng(seed)
    factors = [Factor(0, 50.0, 20.0, 80.0), Factor(1), None]
    rules = [replace(rule, factor=factors[rng.integers(3)]) for rule in plain[-1]]
    sizes = [RuleEnsemble([Rule(0.0, factor=Factor(0, 50.0)), *rules[:size]]) for size in range(len(plain))]
    fit = [one.with_weight_table(fitted_weights(one, task.sample, task.loss, 1.0, one.weight_table)) for one in sizes]
    return [plain[0], *fit]


@few
@given(st.sampled_from(["squared", "logistic", "poisson"]), st.integers(0, 10**6))
def test_slopes_survive_and_the_loss_rises_by_no_more_than_promised(loss, seed):
    data = task(loss, seed)
    before = sloped_path(data, seed)
    after = readable(before, data, "loss")
    assert all(keeps_its_promise(ensemble, after, data) for ensemble in before)
    # Another rule on its variable alone may take its place.
    assert all(any(single_column(rule) == 0 for rule in one) for one in after[1:])
    for ensemble in after:
        again = fitted_weights(ensemble, data.sample, data.loss, 1.0, np.zeros(1 + len(ensemble)))
        # A ridge of one row: where nothing could be shortened, the weights are those of the path, fitted in the same way.
        np.testing.assert_allclose(again, ensemble.weight_table, rtol=1e-5, atol=1e-6)


def digits(model):
    """Return the digits of the numbers in the conditions of a model on single columns."""
    return [significant_digits(each.threshold) for rule in model.ensemble_ for each in rule.condition]


def many_rows(n_rows=30_000):
    rng = np.random.default_rng(0)
    X = rng.normal(500.0, 100.0, size=(n_rows, 3))
    return X, 1.0 * (X[:, 0] > 512.3) + 0.5 * (X[:, 1] > 444.4) + rng.normal(scale=3.0, size=n_rows)


def test_many_rows_do_not_make_numbers_long():
    X, y = many_rows()
    exact, short = (TGBRegressor(max_rules=5, exact=exact, search_rows=None).fit(X, y) for exact in ("rows", "loss"))
    assert np.median(digits(exact)) > 4
    assert np.median(digits(short)) <= 3
    assert max(digits(short)) < max(digits(exact))


@pytest.mark.parametrize("estimator", [LLTBoostRegressor(max_rules=3), LTRNetRegressor(n_penalties=2, max_iter=40)])
def test_the_order_of_rows_does_not_matter(estimator):
    X, y = many_rows(200)
    estimator.set_params(random_state=0)
    path = estimator.fit(X, y).path_
    assert estimator.fit(X[::-1], y[::-1]).path_ == path
    assert estimator.fit(X, y, np.full(200, 2.0)).path_ == estimator.fit(np.tile(X, (2, 1)), np.tile(y, 2)).path_


@pytest.mark.parametrize(
    ("estimator", "as_in_the_paper"),
    [
        (LLTBoostRegressor(max_rules=3), {"selection": "validation"}),
        (LTRNetRegressor(n_penalties=2, max_iter=40), {"discretization": "paper"}),
    ],
)
def test_the_ways_of_the_papers_are_as_exact_as_the_rows(estimator, as_in_the_paper):
    X, y = many_rows(200)
    estimator.set_params(random_state=0, **as_in_the_paper)
    assert estimator.set_params(exact="loss").fit(X, y).path_ == estimator.set_params(exact="rows").fit(X, y).path_


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="exact must be one of 'loss', 'rows'; got 'digits'"):
        LLTBoostRegressor(exact="digits").fit(np.zeros((4, 1)), np.arange(4.0))


# ---- rules on one variable merge


def bent(seed, effect, loss="squared", n_rows=N_ROWS):
    """Return rows on which a line jumps at 33, and 37 if ``effect`` is large, with a noisy variable beside it."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(20.0, 50.0, n_rows), rng.normal(size=n_rows)])
    score = (X[:, 0] > 33.0) + effect * (X[:, 0] > 37.0) + 0.1 * X[:, 1]
    y = score + rng.normal(scale=0.3, size=n_rows) if loss == "squared" else rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score))
    return Task(Block.of_matrix(X, ("age", "noise")), y * 1.0, np.ones(n_rows), LOSSES[loss])


def shortest_of(data, text, exact="loss"):
    """Return an ensemble with fitted weights, and the last member of its readable path."""
    start = RuleEnsemble.parse(text, ["age", "noise"])
    table = fitted_weights(start, data.sample, data.loss, 1.0, start.weight_table)
    before = start.with_weight_table(table)
    return before, readable([fitted(RuleEnsemble(), data), before], data, exact)[-1]


NEAR_STEPS = "+1 if age >= 33\n+0.1 if age >= 37\n+0.1 noise"


def test_two_steps_at_nearly_the_same_place_become_one():
    before, after = shortest_of(bent(1, 0.0), NEAR_STEPS)
    assert [rule.used_columns for rule in after] == [(0,), (1,)]
    assert after[0].condition.propositions[0].threshold == pytest.approx(33.0, abs=0.5)
    assert after.complexity == before.complexity - 3


def test_two_steps_that_matter_stay():
    _, after = shortest_of(bent(1, 1.0), NEAR_STEPS)
    assert [rule.used_columns for rule in after] == [(0,), (0,), (1,)]


def test_of_a_step_and_a_hinge_that_say_the_same_the_step_stays():
    _, after = shortest_of(bent(1, 0.0), "+1 if age >= 33\n+0.01 (max(age, 36) - 36)")
    assert [rule.factor for rule in after] == [None]


def test_a_knot_takes_the_threshold_of_a_step_nearby():
    data = bent(1, 0.0)
    ages = data.X.matrix[:, 0]
    data = replace(data, y=data.y + 0.2 * np.maximum(ages - 33.2, 0.0))
    before, after = shortest_of(data, "+1 if age >= 33\n+0.2 (max(age, 33.2) - 33.2)")
    assert len(bends(before)) == 2
    assert bends(after) == {(0, after[0].condition.propositions[0].threshold)}
    assert after.complexity == before.complexity


def test_rules_with_several_conditions_do_not_merge():
    condition = "noise >= -9 & age >="
    data = bent(1, 0.0)
    rows = _Rows(data)
    start = RuleEnsemble.parse(f"+1 if {condition} 33\n+0.1 if {condition} 37", data.X.names)
    assert not [way for index in range(2) for way in rows._ways_to_merge(rows.scored(start, 1.0), index)]


def test_exact_rows_merges_no_rules_on_one_variable():
    before, after = shortest_of(bent(1, 0.0), NEAR_STEPS, "rows")
    assert [rule.weight for rule in after] == [rule.weight for rule in before]


def test_rules_merge_in_the_same_way_in_any_order_of_rows():
    data = bent(1, 0.02)
    turned = replace(data, X=data.X.rows(np.arange(N_ROWS)[::-1]), y=data.y[::-1])
    assert shortest_of(data, NEAR_STEPS)[1] == shortest_of(turned, NEAR_STEPS)[1]


@few
@given(st.sampled_from(["squared", "logistic"]), st.integers(0, 10**6))
def test_merging_costs_a_budget_each_time_and_no_complexity(loss, seed):
    rng = np.random.default_rng(seed)
    data = bent(seed, rng.uniform(0.0, 0.5), loss)
    numbers = rng.uniform(25.0, 45.0, 4).tolist()
    steps = "\n".join(f"+1 if age >= {number}" for number in numbers[:2])
    hinges = f"+1 (max(age, {numbers[2]}) - {numbers[2]})\n+1 (min(age, {numbers[3]}) - {numbers[3]})"
    start = RuleEnsemble.parse(f"{steps}\n{hinges}", ["age", "noise"])
    rows = _Rows(data)
    highest, member = rows.fitted(RuleEnsemble(), 1.0).loss, rows.fitted(start, 1.0)
    budget = rows.budget(member, highest)
    while (merged := rows._one_less(member, budget, last=True)) is not None:
        assert merged.loss <= member.loss + budget
        before, after = ((one.ensemble.complexity, len(bends(one.ensemble))) for one in (member, merged))
        assert after < before
        member, budget = merged, rows.budget(merged, highest)
    assert member.ensemble == rows.within_budget(rows.fitted(start, 1.0), highest, last=True).ensemble
