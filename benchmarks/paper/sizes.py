"""Sizes: the complexity of other people's models, counted in the paper's currency.

A rule costs one unit, each of its conditions one, and each variable in a condition one; constants are free. So a rule with k
conditions on single variables costs 1 + 2k. What is not made of rules is counted as what would give the same score:

- a linear term, a weight times a variable, costs two: it is a rule of one variable without a condition;
- a leaf of a tree is a rule whose conditions are those on its path; trees of an ensemble add up;
- a step function of one variable is a sum of rules ``if x >= t``, one for each place where it changes; a table of two variables
  is a sum of such rules for either and of rules ``if x >= s and z >= t``, one for each cell that these do not explain;
- a range of a variable, from s to t, is two conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

LINEAR_TERM = 2


def rule_size(conditions: int, variables: int | None = None) -> int:
    """Return what a rule costs; one variable in each condition if nothing else is said.

    >>> rule_size(0), rule_size(1), rule_size(1, variables=2)
    (0, 3, 4)
    """
    return 1 + conditions + (conditions if variables is None else variables) if conditions else 0


def linear_size(model: Any) -> int:
    """Return the size of a linear model of scikit-learn."""
    return LINEAR_TERM * int(np.count_nonzero(model.coef_))


def tree_size(model: Any) -> int:
    """Return the size of a decision tree of scikit-learn."""
    left, right = model.tree_.children_left, model.tree_.children_right
    depth = np.zeros(len(left), dtype=np.int64)
    for node in np.flatnonzero(left != right):  # parents come before their children
        depth[left[node]] = depth[right[node]] = depth[node] + 1
    return sum(rule_size(int(conditions)) for conditions in depth[left == right])


def forest_size(model: Any) -> int:
    """Return the size of an ensemble of scikit-learn's decision trees."""
    return sum(tree_size(tree) for tree in np.ravel(model.estimators_))


def histogram_boosting_size(model: Any) -> int:
    """Return the size of scikit-learn's histogram gradient boosting, whose trees are private."""
    trees = (tree.nodes for stage in model._predictors for tree in stage)
    return sum(rule_size(int(leaf["depth"])) for nodes in trees for leaf in nodes[nodes["is_leaf"] == 1])


def rulefit_size(model: Any) -> int:
    """Return the size of imodels' RuleFit: linear terms and rules."""
    weights = np.asarray(model.coef)
    linear, rules = weights[: model.n_features_], weights[model.n_features_ :]
    terms = LINEAR_TERM * int(np.count_nonzero(linear))
    return terms + sum(rule_size(len(str(rule).split(" and "))) for rule, w in zip(model.rules_, rules, strict=True) if w)


def figs_size(model: Any) -> int:
    """Return the size of imodels' FIGS, a sum of trees."""
    return sum(_figs_leaves(tree, 0) for tree in model.trees_)


def _figs_leaves(node: Any, depth: int) -> int:
    if node.left is None:
        return rule_size(depth)
    return _figs_leaves(node.left, depth + 1) + _figs_leaves(node.right, depth + 1)


def risk_score_size(model: Any) -> int:
    """Return the size of imodels' risk score: each threshold that has points is a rule of one condition."""
    return rule_size(1) * int(np.count_nonzero(model.coef_))


def small_tree_size(model: Any) -> int:
    """Return the size of imodels' small tree, which holds a decision tree of scikit-learn."""
    return tree_size(model.estimator_)


def gp_gam_size(model: Any) -> int:
    """Return the size of imodels' additive model of Gaussian processes: curves are counted as if they changed in steps from bin
    to bin, though they run straight from the middle of one to that of the next, and tables of two variables as tables.
    """
    curves = np.split(model.main_values_, model.main_offsets_[1:-1])
    pairs = zip(model.pairs_, model.pair_values_, strict=True)
    tables = [np.reshape(values, (pair["na"], pair["nb"])) for pair, values in pairs]
    return sum(map(_table_size, [*curves, *tables]))


def ebm_size(model: Any) -> int:
    """Return the size of interpret's explainable boosting machine: step functions, and tables of two variables."""
    # The first and the last bin are those of missing and of unknown values.
    return sum(_table_size(np.asarray(scores)[(slice(1, -1),) * np.ndim(scores)]) for scores in model.term_scores_)


def _table_size(table: Any) -> int:
    steps = sum(_changes(np.diff(np.take(table, 0, axis=1 - axis) if table.ndim == 2 else table)) for axis in range(table.ndim))
    corners = _changes(np.diff(np.diff(table, axis=0), axis=1)) if table.ndim == 2 else 0
    return steps * rule_size(1) + corners * rule_size(2)


def _changes(differences: Any) -> int:
    """Return how many differences are more than rounding."""
    return int(np.count_nonzero(np.abs(differences) > 1e-12))


def ruleopt_size(model: Any) -> int:
    """Return the size of ruleopt's rules, whose conditions are ranges of a variable or weigh several."""
    return sum(_ruleopt_rule(rule.to_dict().values()) for rule in model.decision_rules_.values())


def _ruleopt_rule(clauses: Iterable[Any]) -> int:
    weighed = [np.count_nonzero(c["weights"]) if "weights" in c else np.isfinite([c["lb"], c["ub"]]).sum() for c in clauses]
    oblique = ["weights" in clause for clause in clauses]
    conditions = sum(1 if slanted else int(ends) for slanted, ends in zip(oblique, weighed, strict=True))
    return rule_size(conditions, int(sum(weighed)))


def ripper_size(model: Any) -> int:
    """Return the size of wittgenstein's rule set, whose conditions are ranges with one end or two."""
    return sum(rule_size(sum(map(_thresholds, rule.conds))) for rule in model.ruleset_.rules)


def _thresholds(condition: Any) -> int:
    return 1 if str(condition.val)[:1] in "<>" else 2
