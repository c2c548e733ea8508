"""No combination of the figures in a file tells about a set of fewer rows than a group must have."""

import numpy as np
import pytest

from obliquerules import TGBClassifier

from .attack import Attack
from .reading import payload


def attacked(seed, place, least=5):
    """Attack a report on 60 to 300 rows, which may be those that the rules were learned from."""
    rng = np.random.default_rng(seed)
    n_rows, learned = int(rng.integers(60, 301)), bool(rng.integers(2))
    X = rng.normal(size=(2 * n_rows, 2)).round(1)
    y = X[:, 0] + (X[:, 1] > 0.8) + rng.normal(size=2 * n_rows) > 0.5
    model = TGBClassifier(max_rules=4, complexity_penalty=0.5, linear_terms=False).fit(X[:n_rows], y[:n_rows])
    rows = slice(n_rows) if learned else slice(n_rows, None)
    model.report(place / "model.html", X[rows], y[rows], min_count=least)
    return Attack(payload(place / "model.html"), learned)


@pytest.mark.parametrize("seed", range(4))
def test_no_combination_of_figures_tells_about_a_few_rows(seed, tmp_path):
    assert not attacked(seed, tmp_path).found_out(5)


@pytest.mark.disclosure
@pytest.mark.parametrize("seed", range(4, 40))
def test_nor_does_it_in_any_of_forty_reports(seed, tmp_path):
    assert not attacked(seed, tmp_path).found_out(5)


def test_the_attack_finds_what_is_not_protected(tmp_path):
    assert attacked(0, tmp_path, least=1).found_out(5)
