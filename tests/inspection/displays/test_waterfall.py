"""Waterfall: its bars are what the rules add, and they end at the score."""

import numpy as np
import pytest

from obliquerules.inspection import WaterfallDisplay
from obliquerules.inspection.displays.waterfall import landmarks
from obliquerules.losses import LOSSES
from obliquerules.rules.numbers import readable

from ...estimators.fitted import every_kind, fitted
from .looks import clipped, written


def bars(display):
    return [(bar.get_x(), bar.get_width()) for bar in display.ax_.patches]


@every_kind
@pytest.mark.parametrize("all_rules", [True, False])
def test_bars_add_up_to_the_score(kind, all_rules):
    model, X, _ = fitted(kind)
    for row in (0, 7, -1):
        display = WaterfallDisplay.from_estimator(model, X, row, all_rules=all_rules)
        assert display.explanation == model.explain(X)[row]
        score = float(model.ensemble_(X)[row])
        assert display.ends[-1] == score
        *parts, total = bars(display)
        assert total == (0.0, score)
        assert parts[0] == (0.0, model.ensemble_.intercept)
        assert np.isclose(sum(width for _, width in parts), score)
        assert np.allclose([start for start, _ in parts[1:]], [start + width for start, width in parts[:-1]])
        assert clipped(display) == []
        axes = display.ax_.get_window_extent()
        assert all(axes.x0 <= (box := text.get_window_extent()).x0 and box.x1 <= axes.x1 for text in display.ax_.texts)


def test_the_prediction_is_told_in_words_and_on_a_scale():
    model, X, _ = fitted("classifier")
    shown = written(WaterfallDisplay.from_estimator(model, X, 3))
    assert model.explain(X)[3].headline in shown
    assert "log-odds of 'yes'" in shown
    assert "probability of 'yes'" in shown


def test_rules_that_do_not_fire_are_counted_or_listed():
    model, X, _ = fitted("classifier")
    missed = [sum(not rule.fires for rule in row.rules) for row in model.explain(X)]
    row = missed.index(1)
    assert "1 other rule does not apply" in written(WaterfallDisplay.from_estimator(model, X, row))
    listed = WaterfallDisplay.from_estimator(model, X, row, all_rules=True)
    assert "not apply" not in written(listed)
    assert len(bars(listed)) == len(model.ensemble_) + 2


def test_a_slope_is_a_bar_of_weight_times_value():
    model, X, y = fitted("squared")
    tilted = model.edit(X, y).add("+2 (age - 0.5)").add("-1 age if age >= 1000").model
    age = float(X["age"].iloc[3])
    display = WaterfallDisplay.from_estimator(tilted, X, 3, all_rules=True)
    assert display.changes[-2:].tolist() == [2.0 * (age - 0.5), 0.0]
    assert display.ends[-1] == tilted.ensemble_(X)[3]
    assert bars(display)[-3] == (display.ends[-3], display.changes[-2])
    shown = written(display)
    assert f"age is {readable(age)}: +2 x ({readable(age)} - 0.5)" in shown
    assert "age >= 1000 (it is " in shown
    assert ": -1 age" in shown
    assert clipped(display) == []


def test_an_explanation_is_enough():
    model, X, _ = fitted("poisson")
    display = WaterfallDisplay(model.explain(X)[4]).plot()
    assert display.ends[-1] == model.ensemble_(X)[4]
    assert len(display.figure_.axes) == 1


def test_the_constant_is_drawn_too():
    model, X, _ = fitted("classifier")
    display = WaterfallDisplay.from_estimator(model.at(0), X)
    assert display.changes.tolist() == [model.at(0).ensemble_.intercept]
    assert clipped(display) == []


def test_a_row_that_is_not_there_is_refused():
    model, X, _ = fitted("classifier")
    with pytest.raises(ValueError, match="row must be the position of one of the 3 rows of X; got 3"):
        WaterfallDisplay.from_estimator(model, X[:3], 3)


@pytest.mark.parametrize("name", ["logistic", "poisson"])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-8.0, 12.0), (-700.0, 700.0), (2.0, 2.5)])
def test_landmarks_are_inside_in_order_and_apart(name, low, high):
    loss = LOSSES[name]
    scores = [loss.link(mean) for mean in landmarks(loss, low, high)]
    assert scores
    assert low <= min(scores) <= max(scores) <= high
    assert (np.diff(scores) > 0.1 * (high - low)).all()
