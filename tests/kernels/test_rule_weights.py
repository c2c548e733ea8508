"""Sums over rows for rule weights: equal to those by row, with the derivatives that differences show."""

import numpy as np
import pytest

from obliquerules.kernels.losses import FAMILIES, value
from obliquerules.kernels.rule_weights import WeightFinder, loss_of_each, term_sums, weighted_products

POWERS = {"tweedie": 1.5}


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "multinomial"])
def test_sums_are_those_of_rows_and_their_differences(family):
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(60), rng.normal(size=(60, 2)), rng.random(60) < 0.5])
    y = (rng.random(60) < 0.4).astype(float) if family == "logistic" else rng.exponential(size=60)
    weight, offset, weights = rng.exponential(size=60), 0.1 * rng.normal(size=60), np.array([0.2, -0.3, 0.1, 0.4])
    power = POWERS.get(family, 0.0)
    finder = WeightFinder(np.ascontiguousarray(design.T), y, weight, offset, FAMILIES[family], 5.0, power)

    def total(at):
        return float(weight @ value(FAMILIES[family], y, design @ at + offset, power=power))

    found, gradient, hessian = finder.sums(weights)
    assert found == pytest.approx(total(weights), rel=1e-12)  # the ridge is no part of it
    step = 1e-5 * np.eye(4)
    assert gradient == pytest.approx([(total(weights + one) - total(weights - one)) / 2e-5 for one in step], rel=1e-6, abs=1e-6)
    differences = [(finder.sums(weights + one)[1] - finder.sums(weights - one)[1]) / 2e-5 for one in step]
    assert hessian == pytest.approx(np.array(differences), rel=1e-5, abs=1e-5)
    assert (hessian == hessian.T).all()


def test_sums_leave_the_search_for_weights_as_it_was():
    rng = np.random.default_rng(1)
    columns = np.vstack([np.ones(50), rng.random((2, 50)) < 0.5])
    finder = WeightFinder(columns, rng.normal(size=50), np.ones(50), np.zeros(50), FAMILIES["squared"], 2.0)
    before = finder.run(np.zeros(3))
    finder.sums(np.ones(3))
    after = finder.run(np.zeros(3))
    assert before[0].tolist() == after[0].tolist()
    assert before[1:] == after[1:]


@pytest.mark.parametrize("family", ["squared", "logistic", "poisson", "tweedie"])
@pytest.mark.parametrize("n_rows", [3, 256, 511, 1300])
def test_each_last_column_is_a_problem_of_its_own(family, n_rows):
    rng = np.random.default_rng(2)
    common, last = np.vstack([np.ones(n_rows), rng.normal(size=n_rows)]), rng.normal(size=(3, n_rows))
    y, weight, offset = rng.integers(0, 2, n_rows).astype(float), rng.exponential(size=n_rows), 0.1 * rng.normal(size=n_rows)
    numbers = FAMILIES[family], 2.0, POWERS.get(family, 0.0)
    first, *others = (WeightFinder(np.vstack([common, one]), y, weight, offset, *numbers) for one in (last[0], *last))
    weights, losses = first.run_each(last, np.zeros(3))
    assert weights.tolist() == [finder.run(np.zeros(3))[0].tolist() for finder in others]
    scores = [own @ np.vstack([common, one]) + offset for own, one in zip(weights, last, strict=True)]
    expected = [float(weight @ value(numbers[0], y, score, power=numbers[2])) for score in scores]
    assert losses == pytest.approx(expected, rel=1e-12)
    each = loss_of_each(common[1:], last, weights, y, weight, offset, numbers[0], numbers[2])
    assert each == pytest.approx(expected, rel=1e-12)


def test_a_last_column_of_another_length_is_refused():
    finder = WeightFinder(np.ones((1, 4)), np.ones(4), np.ones(4), np.zeros(4), FAMILIES["squared"], 0.0)
    with pytest.raises(ValueError, match="one value for each of the 4 rows; got 3"):
        finder.run_each(np.ones((2, 3)), np.zeros(1))


@pytest.mark.parametrize(("rows", "n_weights", "match"), [(3, 3, "number of rows"), (4, 2, "line of weights")])
def test_losses_of_ensembles_need_arrays_that_fit(rows, n_weights, match):
    targets = (np.ones(4), np.ones(4), np.zeros(rows))
    with pytest.raises(ValueError, match=match):
        loss_of_each(np.ones((1, 4)), np.ones((2, 4)), np.ones((2, n_weights)), *targets, FAMILIES["squared"], 0.0)


def test_sums_of_terms_are_products_of_matrices():
    rng = np.random.default_rng(3)
    terms, curvature = rng.normal(size=(5, 400)) * (rng.random((5, 400)) < 0.7), rng.normal(size=(6, 400))
    expected = terms @ curvature.T
    expected[:, 1] = terms**2 @ curvature[1]
    assert term_sums(terms, curvature) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("shape", [(6, 39), (6, 41), (1, 40)])
def test_sums_of_terms_need_numbers_for_each_row(shape):
    with pytest.raises(ValueError, match="for each row"):
        term_sums(np.ones((2, 40)), np.ones(shape))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 9])
def test_products_of_columns_are_those_of_matrices(n_columns):
    rng = np.random.default_rng(4)
    columns, weight = rng.normal(size=(n_columns, 700)), rng.exponential(size=700)
    assert weighted_products(columns, weight) == pytest.approx((columns * weight) @ columns.T, rel=1e-12, abs=1e-12)
    with pytest.raises(ValueError, match="one weight for each of the 700 rows; got 699"):
        weighted_products(columns, weight[1:])
