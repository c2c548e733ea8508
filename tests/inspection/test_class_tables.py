"""Tables of many classes: the figures are those of plain loops over rows and classes."""

import itertools

import numpy as np
import pytest
from hypothesis import given

from obliquerules.inspection.importance import size_of, variable_importance
from obliquerules.inspection.rule_table import rule_table

from ..rules.strategies import few, matrices
from .many import class_ensembles, class_model, irises, ten


@pytest.mark.parametrize("fitted", [irises, ten])
def test_rule_table_is_what_a_loop_gives(fitted):
    model, X, y = fitted()
    weight = np.random.default_rng(1).exponential(size=len(X))
    constant, *rules = model.rule_table(X, y, weight)
    assert (constant.rule, constant.weight, constant.coverage) == (None, model.ensemble_.intercept, 1.0)
    assert constant.purity == pytest.approx([np.average(y == label, weights=weight) for label in model.classes_])
    for index, (rule, row) in enumerate(zip(model.ensemble_, rules, strict=True)):
        covered = rule.condition(X)
        assert (row.rule, row.weight, row.complexity) == (index, rule.weight, rule.complexity)
        assert row.coverage == pytest.approx(weight[covered].sum() / weight.sum())
        assert row.mean_contribution == pytest.approx(np.average(rule(X), weights=weight, axis=0))
        assert row.purity == pytest.approx([np.average(y[covered] == k, weights=weight[covered]) for k in model.classes_])


def test_printed_rule_table_has_a_column_for_each_class_and_the_most_frequent_one():
    model, X, y = irises()
    heading, constant, *lines = str(model.rule_table(X, y)).split("\n")
    assert heading.split()[:4] == ["rule", "setosa", "versicolor", "virginica"]
    assert constant.split()[:3] == [f"{weight:+.3g}" for weight in model.ensemble_.intercept]
    for line, rule in zip(lines, model.ensemble_, strict=True):
        covered = y[rule.condition(X)]
        names, counts = np.unique(covered, return_counts=True)
        assert f"{names[counts.argmax()]} {100 * counts.max() / len(covered):.1f} %" in line
        for output, name in enumerate(model.classes_):
            end = heading.index(name) + len(name)
            blank = line[end - len(name) : end].strip() == ""
            assert blank == (output not in rule.classes_with_weight)
    assert "most frequent" not in str(model.rule_table(X))


def test_frames_have_every_class():
    model, X, y = irises()
    frame = model.rule_table(X, y).to_pandas()
    for output, name in enumerate(model.classes_):
        assert frame[f"weight of {name}"].tolist() == model.ensemble_.weight_table[:, output].tolist()
        assert frame[f"mean_contribution of {name}"][0] == model.ensemble_.intercept[output]
    shares = frame[[f"share of {name}" for name in model.classes_]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert model.rule_table(X, y).to_polars().columns == list(frame.columns)
    assert model.rule_table(X).to_pandas()["share of setosa"].isna().all()


def test_a_rule_that_covers_nothing_has_no_shares():
    model, X, y = irises()
    rows = model.rule_table(X * 0.0 - 1e6, y)
    assert {row.coverage for row in rows} == {0.0, 1.0}
    assert all((row.purity is None) == (row.coverage == 0.0) for row in rows)
    assert "  -  " in str(rows)


@few
@given(class_ensembles(), matrices())
def test_a_table_without_targets_has_all_weights(ensemble, X):
    table = rule_table(class_model(ensemble), X, None, np.ones(len(X)))
    assert [row.weight for row in table] == [ensemble.intercept, *(rule.weight for rule in ensemble)]
    assert str(table)


# Importance


def moved_apart(before, after):
    """The definition: the mean over all pairs of classes of the absolute change of the difference of their scores."""
    pairs = itertools.combinations(range(len(before)), 2)
    return np.mean([abs((after[i] - after[j]) - (before[i] - before[j])) for i, j in pairs])


def mean_change(ensemble, X, weight, column):
    total, before = 0.0, ensemble(X)
    for value, share in zip(X[:, column], weight / weight.sum(), strict=True):
        changed = X.copy()
        changed[:, column] = value
        sizes = [moved_apart(*scores) for scores in zip(before, ensemble(changed), strict=True)]
        total += share * np.average(sizes, weights=weight)
    return total


@few
@given(class_ensembles(), matrices())
def test_importance_is_the_mean_over_all_pairs_of_rows_and_classes(ensemble, X):
    weight = np.arange(1.0, 1.0 + len(X))
    found = {row.variable: row.importance for row in variable_importance(class_model(ensemble), X, weight)}
    for column in range(X.shape[1]):
        assert found[f"x{column}"] == pytest.approx(mean_change(ensemble, X, weight, column), rel=1e-9, abs=1e-6)


def test_importance_does_not_depend_on_what_is_added_to_all_scores():
    model, X, _ = irises()
    shifted = model.ensemble_.with_rules(type(rule)(np.array(rule.weight) + 0.5, rule.condition) for rule in model.ensemble_)
    expected = variable_importance(model.model_, X.to_numpy(), np.ones(len(X)))
    found = variable_importance(class_model(shifted), X.to_numpy(), np.ones(len(X)))
    for one, other in zip(found, expected, strict=True):
        assert (one.variable, one.n_rules) == (other.variable, other.n_rules)
        assert one.importance == pytest.approx(other.importance, rel=1e-9)


def test_of_two_classes_the_size_is_that_of_the_log_odds():
    change = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(size_of(change), np.abs(change[:, 1] - change[:, 0]))
