"""Pictures are drawn in memory, and closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def in_memory():
    mpl.use("Agg")
    yield
    plt.close("all")
