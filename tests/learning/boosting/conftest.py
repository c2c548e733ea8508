"""What tests of boosting share: time that stands still."""

import pytest

from obliquerules.status_line import Stopwatch


@pytest.fixture
def still(monkeypatch):
    """Return a stopwatch that stays at zero, which is also that of every estimator."""
    stopwatch = Stopwatch(lambda: 0.0)
    monkeypatch.setattr("obliquerules.estimators.fitting.Stopwatch", lambda: stopwatch)
    return stopwatch
