"""Arrays: a weight counts as that many equal rows."""

import numpy as np

from obliquerules.arrays import weighted_quantiles


def test_quantiles_count_rows_by_weight():
    values, weight = np.array([3.0, 1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0, 4.0])
    doubled = np.repeat(values, weight.astype(int))
    shares = (0.0, 0.25, 0.5, 0.6, 1.0)
    assert weighted_quantiles(values, weight, shares).tolist() == [1.0, 1.0, 3.0, 9.0, 9.0]
    assert weighted_quantiles(doubled, np.ones(8), shares).tolist() == [1.0, 1.0, 3.0, 9.0, 9.0]
    assert weighted_quantiles(values, weight, shares, "right").tolist() == [1.0, 2.0, 9.0, 9.0, 9.0]
