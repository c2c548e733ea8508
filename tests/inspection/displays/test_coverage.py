"""Coverage: shares of rows and overlaps are those of the sets of rows for which rules fire."""

import math

import numpy as np

from obliquerules.inspection import CoverageDisplay

from ...estimators.fitted import every_kind, fitted
from .looks import clipped, written


@every_kind
def test_shares_and_overlaps_are_those_of_sets(kind):
    model, X, _ = fitted(kind)
    display = CoverageDisplay.from_estimator(model, X)
    covered = [set(np.flatnonzero(rule.condition(X))) for rule in model.ensemble_]
    assert display.coverage.tolist() == [len(rows) / len(X) for rows in covered]
    assert np.allclose(display.coverage, [rule.coverage for rule in model.rule_table(X)][1:])
    for i, one in enumerate(covered):
        for j, other in enumerate(covered):
            assert math.isclose(display.overlap[i, j], len(one & other) / len(one | other))
    assert [bar.get_width() for bar in display.ax_.patches] == display.coverage.tolist()
    assert clipped(display) == []


def test_rules_that_cover_no_row_have_no_overlap():
    model, X, _ = fitted("classifier")
    nothing = X[~model.ensemble_.fires(X).any(axis=1)]
    display = CoverageDisplay.from_estimator(model, nothing)
    assert display.coverage.tolist() == [0.0] * len(model.ensemble_)
    assert np.isnan(display.overlap).all()
    assert clipped(display) == []


def test_one_rule_and_none_are_drawn_too():
    model, X, _ = fitted("classifier")
    one = model.at(model.path_[1].complexity)
    assert str(one.ensemble_[0].describe(one.ensemble_.feature_names)) in written(CoverageDisplay.from_estimator(one, X))
    assert written(CoverageDisplay.from_estimator(model.at(0), X)) == "No rules: the model is a constant."


def test_a_slope_covers_all_rows_and_is_named_with_its_factor():
    model, X, y = fitted("squared")
    display = CoverageDisplay.from_estimator(model.edit(X, y).add("+2 (age - 0.5)").model, X)
    assert (display.rules[-1], display.coverage[-1]) == ("+2 (age - 0.5)", 1.0)
    assert "+2 (age - 0.5)" in written(display)
    assert clipped(display) == []
