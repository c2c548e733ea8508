"""Sums over rows for rule weights: equal to those by row, with the derivatives that differences show."""

import numpy as np
import pytest

from obliquerules.kernels.losses import FAMILIES, value
from obliquerules.kernels.rule_weights import WeightFinder, term_sums, weighted_products

POWERS = {"tweedie": 1.5}


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "multinomial"])
def test_sums_are_those_of_rows_and_their_differences(family):
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(60), rng.normal(size=(60, 2)), rng.random(60) < 0.5])
    y = (rng.random(60) < 0.4).astype(float) if family == "logistic" else rng.exponential(size=60)
    weight, offset, weights = rng.exponential(size=60), 0.1 * rng.normal(size=60), np.array([0.2, -0.3, 0.1, 0.4])
    power = POWERS.get(family, 0.0)
    finder = WeightFinder(design, y, weight, offset, FAMILIES[family], 5.0, power)

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
    design = np.column_stack([np.ones(50), rng.random((50, 2)) < 0.5]).astype(float)
    finder = WeightFinder(design, rng.normal(size=50), np.ones(50), np.zeros(50), FAMILIES["squared"], 2.0)
    before = finder.run(np.zeros(3))
    finder.sums(np.ones(3))
    after = finder.run(np.zeros(3))
    assert before[0].tolist() == after[0].tolist()
    assert before[1:] == after[1:]


@pytest.mark.parametrize("family", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("n_rows", [3, 511, 1300])
def test_another_last_column_is_another_problem(family, n_rows):
    rng = np.random.default_rng(2)
    first, second = (np.column_stack([np.ones(n_rows), rng.normal(size=(n_rows, 2))]) for _ in range(2))
    second[:, :2] = first[:, :2]
    y, weight, offset = rng.integers(0, 2, n_rows).astype(float), rng.exponential(size=n_rows), 0.1 * rng.normal(size=n_rows)
    finder, other = (WeightFinder(design, y, weight, offset, FAMILIES[family], 2.0) for design in (first, second))
    finder.run(np.zeros(3))
    finder.set_last_column(np.ascontiguousarray(second[:, 2]))
    weights = finder.run(np.zeros(3))[0]
    assert weights.tolist() == other.run(np.zeros(3))[0].tolist()
    assert finder.scores() == pytest.approx(second @ weights + offset, rel=1e-12, abs=1e-12)


def test_a_last_column_of_another_length_is_refused():
    finder = WeightFinder(np.ones((4, 1)), np.ones(4), np.ones(4), np.zeros(4), FAMILIES["squared"], 0.0)
    with pytest.raises(ValueError, match="one value for each of the 4 rows; got 3"):
        finder.set_last_column(np.ones(3))


def test_sums_of_terms_are_products_of_matrices():
    rng = np.random.default_rng(3)
    terms, curvature = rng.normal(size=(5, 40)) * (rng.random((5, 40)) < 0.7), rng.normal(size=(40, 6))
    expected = terms @ curvature
    expected[:, 1] = terms**2 @ curvature[:, 1]
    assert term_sums(terms, curvature) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("shape", [(39, 6), (41, 6), (40, 1)])
def test_sums_of_terms_need_numbers_for_each_row(shape):
    with pytest.raises(ValueError, match="for each row"):
        term_sums(np.ones((2, 40)), np.ones(shape))


def test_products_of_columns_are_those_of_matrices():
    rng = np.random.default_rng(4)
    columns, weight = rng.normal(size=(4, 700)), rng.exponential(size=700)
    assert weighted_products(columns, weight) == pytest.approx((columns * weight) @ columns.T, rel=1e-12, abs=1e-12)
    with pytest.raises(ValueError, match="one weight for each of the 700 rows; got 699"):
        weighted_products(columns, weight[1:])
