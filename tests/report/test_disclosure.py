"""Every figure in a file is as true if a row has the values of another row of its group."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obliquerules.data.model_rows import read_rows
from obliquerules.report.disclosure import Exchange, Extent
from obliquerules.report.figures import figures
from obliquerules.report.groups import conditions_of, grouped_rows
from obliquerules.report.measured_rows import MeasuredRows

from .reading import says
from .test_classes import iris
from .test_figures import KINDS, fitted

numbers = st.floats(-1e307, 1e307)


@given(numbers, numbers, st.floats(0.0, 1.0))
@example(5e-324, 1.5e-323, 0.5)
@example(5e-324, 5e-324, 0.0)
@example(-1e307, 1e307, 0.5)
def test_what_is_published_encloses_the_extent(first, second, share):
    low, high = sorted((first, second))
    value = min(max(low + share * (high - low), low), high)
    number, within = Extent(low, value, high).published()
    tolerance = 1e-9 * max(abs(low), abs(high))
    if low < high:
        assert number - within <= low + tolerance
        assert high <= number + within + tolerance
    else:
        assert within == 0.0
        assert number == pytest.approx(value, rel=1e-3)


def test_a_figure_without_end_is_not_published():
    assert Extent(0.0, 1.0, np.inf).published() is None


@pytest.mark.parametrize("kind", [*KINDS, "classes"])
@pytest.mark.parametrize("least", [2, 5, 20])
def test_a_row_with_the_values_of_another_changes_no_figure(kind, least):
    model, X, y = iris() if kind == "classes" else fitted(kind)
    told, X, y = model.model_, X.to_numpy(), read_rows(model.model_, X, warned=False).target(y)
    rows = MeasuredRows(told.ensemble.block(X), y, np.random.default_rng(0).uniform(0.5, 2.0, len(y)), "rows", least)
    sizes = range(len(told.ensembles))
    labels = grouped_rows(told.ensembles, sizes, told.present, rows.X, least).labels
    published = figures(told, rows, sizes, conditions_of(told.ensembles))
    rng = np.random.default_rng(1)
    for row in rng.integers(len(y), size=20):
        exchanged = X.copy()
        exchanged[row] = X[rng.choice(np.flatnonzero(labels == labels[row]))]
        check(published, told, exchanged, y, rows.weight, labels)


def check(published, model, X, y, weight, labels):
    """Check the figures of a file on other rows."""
    block, told = model.ensemble.block(X), len(published["groups"]["patterns"])
    for index, condition in enumerate(conditions_of(model.ensembles)):
        share, within = published["coverage"][str(index)]
        assert abs(share - np.average(condition(block), weights=weight)) <= max(within, 0.0005) + 1e-9
    for size, ensemble in enumerate(model.ensembles):
        score = ensemble(block)
        assert says(published["measures"][size], model.loss.measures(y, score, weight))
        mean = model.loss.inverse_link(score)
        groups = [labels == group for group in range(told if published["exact"][size] else 0, labels.max() + 1)]
        found = [np.average(mean[group], axis=0, weights=weight[group]) for group in groups]
        assert not found or says(published["predicted"][size], found)
    for column, figure in published["typical"].items():
        assert says(figure, np.median(X[:, int(column)]), digits=3)


def test_without_protection_figures_are_exact():
    exchange = Exchange(np.zeros(4, dtype=np.intp), np.ones(4), allowed=False)
    assert exchange.share(np.array([True, False, False, False])).published() == (0.25, 0.0)
