"""Sums over rows for rule weights: equal to those by row, with the derivatives that differences show."""

import numpy as np
import pytest

from obliquerules.kernels.losses import FAMILIES, value
from obliquerules.kernels.rule_weights import WeightFinder

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
