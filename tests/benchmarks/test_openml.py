"""OpenML: what arrives is kept only if it holds what it must, and is read back from the cache; nothing is downloaded here."""

import csv
import dataclasses
import os

import numpy as np
import pytest

from benchmarks.datasets import DATASETS, fetch
from benchmarks.datasets.files import VARIABLE, find_file
from benchmarks.datasets.openml import ENTRIES, digest, keep

NAMES = ("variance", "skewness", "curtosis", "entropy")
COLUMNS = {f"V{j + 1}": np.array([0.1, -1.0 / 3.0]) + j for j in range(4)}


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "obliquerules"


def entry():
    expected = digest(np.column_stack(list(COLUMNS.values())), ["0", "1"])
    return dataclasses.replace(ENTRIES["banknote"], sha256=expected)


def test_what_is_kept_is_what_the_loader_reads(cache):
    path = keep("banknote", COLUMNS, ["1", "2"], entry())
    assert path == cache / "banknote.csv"
    data = DATASETS["banknote"]()
    assert data.feature_names == list(NAMES)
    np.testing.assert_array_equal(data.data, np.column_stack(list(COLUMNS.values())))
    assert data.target.tolist() == [0, 1]


def test_what_is_not_what_it_was_is_not_kept(cache):
    changed = COLUMNS | {"V1": np.array([0.1, np.nextafter(-1.0 / 3.0, 0.0)])}
    with pytest.raises(ValueError, match="banknote, number 1462 on OpenML, is not what it was; it was not kept"):
        keep("banknote", changed, ["1", "2"], entry())
    assert not cache.exists()


def test_the_named_directory_comes_before_the_cache(cache, monkeypatch, tmp_path):
    kept = keep("banknote", COLUMNS, ["1", "2"], entry())
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert find_file("Banknote", "banknote.csv") == kept
    (tmp_path / "banknote.csv").write_text("mine", encoding="utf-8")
    assert find_file("Banknote", "banknote.csv") == tmp_path / "banknote.csv"


def test_what_nobody_serves_is_said_to_be(cache):
    with pytest.raises(ValueError, match=r"voice cannot be fetched\. .* on Kaggle"):
        fetch("voice")
    with pytest.raises(ValueError, match=r"diabetes cannot be fetched\. It needs no file\."):
        fetch("diabetes")
    with pytest.raises(FileNotFoundError, match="neither OpenML nor UCI has"):
        DATASETS["used_cars"]()
    with pytest.raises(FileNotFoundError, match=r"fetch it with benchmarks\.datasets\.fetch\('liver'\)"):
        DATASETS["liver"](download_if_missing=False)


def test_without_a_network_a_loader_says_what_it_looked_for_and_that_fetching_failed(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    expected = r"liver\.csv: put it into a directory .* number 8, could not be fetched from OpenML"
    with pytest.warns(UserWarning, match="network error"), pytest.raises(FileNotFoundError, match=expected):
        DATASETS["liver"]()
    assert not cache.exists()


def test_averages_are_made_of_totals():
    totals = dict.fromkeys(("medianIncome", "housingMedianAge", "latitude", "longitude"), np.array([1.0]))
    totals |= {"totalRooms": np.array([880.0]), "totalBedrooms": np.array([129.0]), "population": np.array([322.0])}
    inputs = ENTRIES["housing"].inputs({**totals, "households": np.array([126.0])})
    assert (inputs["AveRooms"][0], inputs["AveBedrms"][0]) == (6.984126984126984, 1.0238095238095237)
    assert inputs["AveOccup"][0] == 2.5555555555555554
    assert ENTRIES["housing"].label("452600.0") == "4.526"


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"needs the files of the data sets: {VARIABLE} is not set")
def test_the_files_at_hand_hold_what_is_expected(name):
    known = ENTRIES[name]
    with open(find_file(name, f"{name}.csv"), newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header[-1] == known.target_here
    assert digest(np.array([row[:-1] for row in rows], dtype=np.float64), [row[-1] for row in rows]) == known.sha256
