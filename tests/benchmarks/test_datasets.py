"""The loaders: shapes and fields as documented, and a sentence that helps where a file is missing."""

import os

import numpy as np
import pytest

from benchmarks.datasets import BUNDLED, DATASETS
from benchmarks.datasets.columns import read_columns
from benchmarks.datasets.files import VARIABLE

SHAPES = {
    "housing": (20640, 8),
    "red_wine": (1599, 11),
    "diabetes": (442, 10),
    "friedman": (2000, 10),
    "used_cars": (1770, 4),
    "breast_cancer": (569, 30),
    "banknote": (1372, 4),
    "voice": (3168, 20),
    "magic": (19020, 10),
    "liver": (345, 6),
}
POSITIVE = {"breast_cancer": 1, "banknote": 1, "voice": "male", "magic": "h", "liver": 2}


def loaded(name):
    if name not in BUNDLED and not os.environ.get(VARIABLE):
        pytest.skip(f"needs {name}.csv: {VARIABLE} is not set")
    return DATASETS[name]()


@pytest.mark.parametrize("name", DATASETS)
def test_has_the_size_and_the_fields_that_are_documented(name):
    data = loaded(name)
    assert data.data.shape == SHAPES[name]
    assert data.data.dtype == np.float64
    assert len(data.feature_names) == data.data.shape[1]
    assert len(data.target) == len(data.data)
    assert np.isfinite(data.data).all()
    assert data.task == ("classification" if name in POSITIVE else "regression")
    assert data.name
    assert len(data.DESCR.split(". ")) in (2, 3)


@pytest.mark.parametrize("name", DATASETS)
def test_the_target_suits_the_task(name):
    data = loaded(name)
    if data.task == "regression":
        assert data.target.dtype == np.float64
        assert len(data.target_names) == 1
    else:
        assert data.positive == POSITIVE[name]
        assert len(np.unique(data.target)) == len(data.target_names) == 2
        assert 0 < np.count_nonzero(data.target == data.positive) < len(data.target)


def test_liver_and_used_cars_say_what_is_odd_about_them():
    assert "train/test" in loaded("liver").DESCR
    assert "leak" in loaded("used_cars").DESCR


def test_friedman_is_the_function_it_says():
    data = DATASETS["friedman"]()
    x = data.data.T
    expected = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    assert np.std(data.target - expected) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("name", [name for name in DATASETS if name not in BUNDLED])
def test_a_missing_file_is_named_with_its_place_and_variable(name, monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match=rf"{name}\.csv: put it into a directory and set .* {VARIABLE}"):
        DATASETS[name](download_if_missing=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(FileNotFoundError, match=rf"{name}\.csv, which is not in .*: put it there, or set .* {VARIABLE}"):
        DATASETS[name](download_if_missing=False)


def test_columns_are_read_by_name_and_a_missing_one_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "cars.csv").write_text("minPrice,km,avgPrice\n1,2,3\n4,5,6\n", encoding="utf-8")
    data, target = read_columns("Cars", "cars.csv", ["km"], "avgPrice", False)
    assert data.tolist() == [[2.0], [5.0]]
    assert target.tolist() == [3, 6]
    with pytest.raises(ValueError, match=r"cars\.csv' has no column 'year'; it has 'minPrice', 'km', 'avgPrice'"):
        read_columns("Cars", "cars.csv", ["km", "year"], "avgPrice", False)
