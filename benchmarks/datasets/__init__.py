"""Data sets: the ten of the paper, one loader each, all returning the same fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.datasets.classification import load_banknote, load_breast_cancer, load_liver, load_magic, load_voice
from benchmarks.datasets.openml import ChangedError, fetch
from benchmarks.datasets.regression import load_diabetes, load_friedman, load_housing, load_red_wine, load_used_cars

__all__ = [
    "BUNDLED",
    "DATASETS",
    "ChangedError",
    "fetch",
    "load_banknote",
    "load_breast_cancer",
    "load_diabetes",
    "load_friedman",
    "load_housing",
    "load_liver",
    "load_magic",
    "load_red_wine",
    "load_used_cars",
    "load_voice",
]

# Those that come with scikit-learn; the others are files, which may have to be fetched.
BUNDLED = ("diabetes", "friedman", "breast_cancer")
# In the order of the paper's tables.
DATASETS: dict[str, Callable[..., Any]] = {
    "housing": load_housing,
    "red_wine": load_red_wine,
    "diabetes": load_diabetes,
    "friedman": load_friedman,
    "used_cars": load_used_cars,
    "breast_cancer": load_breast_cancer,
    "banknote": load_banknote,
    "voice": load_voice,
    "magic": load_magic,
    "liver": load_liver,
}
