"""Rules on indicators come back as rules on levels, with the same scores where no number is missing."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules.learning.method import Task
from obliquerules.learning.nets.indicators import Indicators
from obliquerules.losses import LOSSES
from obliquerules.rules import Conjunction, Proposition, Rule, RuleEnsemble

from ...rules.mixed import rows


def task_of(n_rows, seed, missing):
    """Return a task on mixed columns; numbers are missing only if asked for."""
    block = rows(n_rows, seed)
    block.matrix[block.matrix == -1.0] = 0.0  # every level was seen in fit
    if not missing:
        numbers = [0, 1, 5, 6, 7]
        block.matrix[:, numbers] = np.nan_to_num(block.matrix[:, numbers], nan=1.0)
    return Task(block, np.arange(n_rows) * 1.0, np.ones(n_rows), LOSSES["squared"])


@st.composite
def ensembles_on(draw, n_columns):
    """Draw an ensemble on columns of numbers, of one score or of three classes."""
    columns = st.lists(st.integers(0, n_columns - 1), min_size=1, max_size=4, unique=True)
    weights = st.sampled_from([-2.0, -0.7, 0.5, 1.0, 3.0])

    def test():
        chosen = draw(columns)
        return Proposition(chosen, [draw(weights) for _ in chosen], draw(st.sampled_from([-1.3, -0.4, 0.4, 0.6, 1.7])))

    conditions = [Conjunction([test() for _ in range(draw(st.integers(1, 2)))]) for _ in range(3)]
    if draw(st.booleans()):
        by_class = st.tuples(weights, st.just(0.0), weights)
        return RuleEnsemble([Rule(draw(by_class), condition) for condition in conditions], [0.5, 0.0, -0.5], outputs="abc")
    return RuleEnsemble([Rule(draw(weights), condition) for condition in conditions], 0.5)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(0, 1000))
def test_scores_are_the_same_where_no_number_is_missing(data, seed):
    indicators = Indicators.of(task_of(60, seed, missing=False), dates=True)
    ensemble = data.draw(ensembles_on(len(indicators.summands)))
    restored = indicators.restored(ensemble)
    np.testing.assert_array_equal(restored(indicators.task.X), ensemble(indicators.numbers.X))
    assert restored.outputs == ensemble.outputs
    assert restored.complexity <= sum(rule.complexity for rule in ensemble) + 4 * len(ensemble)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(0, 1000))
def test_rows_that_lack_nothing_keep_their_scores(data, seed):
    indicators = Indicators.of(task_of(60, seed, missing=True), dates=False)
    ensemble = data.draw(ensembles_on(len(indicators.summands)))
    complete = ~np.isnan(indicators.task.X.matrix[:, [0, 1, 5, 6, 7]]).any(axis=1)
    restored = indicators.restored(ensemble)(indicators.task.X)
    np.testing.assert_array_equal(restored[complete], ensemble(indicators.numbers.X)[complete])
