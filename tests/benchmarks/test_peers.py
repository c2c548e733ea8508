"""Peers: their sizes are counted as the rules that they amount to, and they run under the protocol."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Lasso
from sklearn.tree import DecisionTreeRegressor

from benchmarks.datasets import load_breast_cancer, load_diabetes
from benchmarks.paper import sizes
from benchmarks.paper.attempt import attempt
from benchmarks.paper.contenders import Contender
from benchmarks.paper.peers import PEERS, Member
from benchmarks.paper.trials import Trial
from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
STAIRS = np.round(X[:, 0]) + (X[:, 1] > 0.0)
QUICK = ("Linear model (L1)", "Decision tree", "FIGS (imodels)", "BoostedRules (imodels)", "GPGam (imodels)")


def test_the_currency_is_that_of_our_own_rules():
    for columns in ((0,), (0, 2)):
        condition = Conjunction([Proposition(columns, [1.0] * len(columns), 0.5)])
        assert sizes.rule_size(1, len(columns)) == RuleEnsemble([Rule(1.0, condition)]).complexity


def test_linear_models_pay_for_each_weight_that_is_not_zero():
    model = Lasso(alpha=0.05).fit(X, X[:, 0] + 2.0 * X[:, 2])
    assert np.count_nonzero(model.coef_) == 2
    assert sizes.linear_size(model) == 4


def test_trees_pay_for_each_leaf_with_its_path():
    stump, four = (DecisionTreeRegressor(max_depth=depth).fit(X, STAIRS) for depth in (1, 2))
    assert sizes.tree_size(stump) == 2 * 3
    assert sizes.tree_size(four) == 4 * 5
    assert sizes.tree_size(DecisionTreeRegressor().fit(X, np.zeros(200))) == 0
    forest = RandomForestRegressor(3, max_depth=1, random_state=0).fit(X, STAIRS)
    assert sizes.forest_size(forest) == 3 * 6
    assert sizes.histogram_boosting_size(HistGradientBoostingRegressor(max_iter=2, max_depth=1).fit(X, STAIRS)) == 2 * 6


def test_figs_pays_like_a_tree():
    leaf = SimpleNamespace(left=None, right=None)
    split = SimpleNamespace(left=leaf, right=leaf)
    assert sizes.figs_size(SimpleNamespace(trees_=[split, SimpleNamespace(left=split, right=leaf)])) == 6 + 5 + 5 + 3


def test_rulefit_pays_for_terms_and_rules_with_a_weight():
    model = SimpleNamespace(coef=[0.0, 2.0, 0.0, 1.0], n_features_=2, rules_=["a > 1", "a > 1 and b <= 2"])
    assert sizes.rulefit_size(model) == 2 + 5


def test_risk_scores_pay_for_each_threshold_that_has_points():
    assert sizes.risk_score_size(SimpleNamespace(coef_=np.array([0, 3, 0, -1]))) == 2 * 3


def test_small_trees_pay_like_trees():
    tree = DecisionTreeRegressor(max_depth=2).fit(X, STAIRS)
    assert sizes.small_tree_size(SimpleNamespace(estimator_=tree)) == sizes.tree_size(tree)


def test_curves_of_gaussian_processes_pay_for_each_bin_that_differs_from_the_one_before():
    curves = np.array([0.0, 0.0, 1.0, 2.0, 5.0, 5.0])
    model = SimpleNamespace(main_values_=curves, main_offsets_=np.array([0, 4, 6]), pairs_=[], pair_values_=[])
    assert sizes.gp_gam_size(model) == 2 * 3
    model.pairs_, model.pair_values_ = [{"na": 2, "nb": 3}], [np.array([0.0, 1.0, 1.0, 0.0, 1.0, 2.0])]
    assert sizes.gp_gam_size(model) == 2 * 3 + 3 + 5


def test_curves_pay_for_each_step_and_tables_for_what_steps_leave_over():
    curve = np.array([9.0, 0.0, 0.0, 1.0, 2.0, 2.0, 9.0])
    assert sizes.ebm_size(SimpleNamespace(term_scores_=[curve])) == 2 * 3
    table = np.add.outer([0.0, 1.0, 1.0], [0.0, 0.0, 2.0])
    bordered = np.pad(table, 1, constant_values=9.0)
    assert sizes.ebm_size(SimpleNamespace(term_scores_=[bordered])) == 3 + 3
    bordered[3, 3] += 1.0  # a corner
    assert sizes.ebm_size(SimpleNamespace(term_scores_=[bordered])) == 3 + 3 + 5


def test_ranges_pay_for_both_ends_and_slanted_clauses_for_each_variable():
    clauses = {4: {"lb": 1.0, "ub": np.inf}, 2: {"lb": 0.0, "ub": 1.0}, (1, 5): {"weights": [0.2, 1.0]}}
    rule = SimpleNamespace(to_dict=lambda: clauses)
    assert sizes.ruleopt_size(SimpleNamespace(decision_rules_={0: rule})) == 1 + 2 + 4 + 3
    ranges = [SimpleNamespace(val=val) for val in ("<-1.13", "-0.74--0.52", ">2")]
    ruleset = SimpleNamespace(rules=[SimpleNamespace(conds=ranges), SimpleNamespace(conds=ranges[:1])])
    assert sizes.ripper_size(SimpleNamespace(ruleset_=ruleset)) == (1 + 2 + 4 + 2) + 3


def test_certain_probabilities_are_half_a_row_from_the_edge():
    certain = SimpleNamespace(predict_proba=lambda X: np.column_stack([1.0 - X[:, 0], X[:, 0]]))
    score = Member(certain, "classification", 3, n_rows=50)(np.array([[0.0], [0.5], [1.0]]))
    np.testing.assert_allclose(score, [-np.log(99.0), 0.0, np.log(99.0)])


def test_log_odds_that_no_exponential_can_hold_are_certain():
    steep = SimpleNamespace(predict_proba=lambda X: 1.0 / (1.0 + np.exp(np.column_stack([X, -X]))))
    score = Member(steep, "classification", 3, n_rows=50)(np.array([[-1e3], [1e3]]))
    np.testing.assert_allclose(score, [-np.log(99.0), np.log(99.0)])


@pytest.mark.parametrize("data", [load_diabetes(), load_breast_cancer()], ids=lambda data: data.name)
@pytest.mark.parametrize("name", QUICK)
def test_peers_run_under_the_protocol(name, data):
    method = PEERS[name]
    if method.absence:
        pytest.skip(method.absence)
    if not method.make(data.task, 0):
        pytest.skip(f"{name} is not made for {data.task}.")
    outcome = attempt(data, method, Trial(data.name, name, "all sizes", 0))
    assert outcome.failure is None
    assert list(outcome.complexities) == sorted(outcome.complexities)
    assert min(outcome.losses["risk"]) < (0.7 if data.task == "regression" else 0.45)


def test_peers_that_are_not_installed_say_so():
    absent = Contender("Any", None, dict, "no_such_package")
    assert absent.absence == (
        "Any comes from the package no_such_package, which is not installed: install obliquerules[bench]."
    )
    assert PEERS["Decision tree"].absence is None


def test_peers_for_classes_leave_numbers_out():
    assert PEERS["RIPPER (wittgenstein)"].make("regression", 0) == {}


def test_peers_for_numbers_leave_classes_out():
    assert PEERS["GPGam (imodels)"].make("classification", 0) == {}
