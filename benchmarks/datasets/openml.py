"""OpenML: five of the paper's data sets, fetched by number into the cache, and only on request.

What was fetched is written in the form that the loaders read, and kept only if its numbers are, to the last bit, those that
the benchmark was run with.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from benchmarks.datasets.files import ELSEWHERE, cache_directory
from obliquerules.rules.files.whole_files import write_text

Columns = Mapping[str, NDArray[np.float64]]


class ChangedError(ValueError):
    """What was fetched differs from the data that the benchmark was run with."""


@dataclass(frozen=True)
class OpenMLEntry:
    """Where a data set is on OpenML, what its target is called there and here, and what it must hold."""

    number: int
    target: str
    target_here: str
    sha256: str
    inputs: Callable[[Columns], Columns] = dict
    label: Callable[[str], str] = str


def _housing(given: Columns) -> Columns:
    """Return the averages that scikit-learn's copy of the data has in place of the totals."""
    homes = given["households"]
    return {
        "MedInc": given["medianIncome"],
        "HouseAge": given["housingMedianAge"],
        "AveRooms": given["totalRooms"] / homes,
        "AveBedrms": given["totalBedrooms"] / homes,
        "Population": given["population"],
        "AveOccup": given["population"] / homes,
        "Latitude": given["latitude"],
        "Longitude": given["longitude"],
    }


def _banknote(given: Columns) -> Columns:
    return dict(zip(("variance", "skewness", "curtosis", "entropy"), given.values(), strict=True))


def _without_colons(given: Columns) -> Columns:
    return {name.rstrip(":"): values for name, values in given.items()}


ENTRIES = {
    "housing": OpenMLEntry(
        44977,
        "medianHouseValue",
        "MedHouseVal",
        "a977a431da4d4e75ddd936ba2f959b33edab226726e59f1920baaab73796eea1",
        _housing,
        lambda dollars: repr(float(dollars) / 1e5),
    ),
    "red_wine": OpenMLEntry(44972, "quality", "quality", "fe91d5da8c4d3807635d46207b6f0e0de5f3c279b0f757178da470eacef73da6"),
    "banknote": OpenMLEntry(
        1462,
        "Class",
        "class",
        "9961b410be58ac7c0df6520114008a4f352e004d2e5957d5d0e4d400fcdc790f",
        _banknote,
        lambda label: str(int(label) - 1),
    ),
    "magic": OpenMLEntry(
        1120, "class:", "class", "b3ebd38094f722e610a6c379b46a94aa50118ef0d82aa9bf19c6897399ddacef", _without_colons
    ),
    "liver": OpenMLEntry(8, "selector", "selector", "9b166e16f633141337a4d4d8e89b23730aec1706542d1150360c1440aeaf0c58"),
}


def fetch(name: str) -> Path:
    """Fetch a data set into the cache and return where it is; one that is there already is fetched anew.

    Parameters
    ----------
    name : str
        As in ``DATASETS``.
    """
    if name not in ENTRIES:
        raise ValueError(f"The data set {name} cannot be fetched. {ELSEWHERE.get(name, 'It needs no file')}.")
    entry = ENTRIES[name]
    try:
        given = fetch_openml(data_id=entry.number, target_column=entry.target, as_frame=False, parser="liac-arff")
    except OSError as error:
        raise OSError(f"The data set {name}, number {entry.number}, could not be fetched from OpenML: {error}") from error
    columns = dict(zip(given.feature_names, np.asarray(given.data, dtype=np.float64).T, strict=True))
    return keep(name, columns, [str(label) for label in given.target], entry)


def keep(name: str, columns: Columns, target: Sequence[str], entry: OpenMLEntry) -> Path:
    """Bring columns into the form that the loaders read, check them, and write them to the cache."""
    inputs = entry.inputs(columns)
    data, labels = np.column_stack(list(inputs.values())), [entry.label(label) for label in target]
    if digest(data, labels) != entry.sha256:
        raise ChangedError(f"The data set {name}, number {entry.number} on OpenML, is not what it was; it was not kept.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*inputs, entry.target_here])
    writer.writerows([*map(repr, row), label] for row, label in zip(data.tolist(), labels, strict=True))
    cache_directory().mkdir(parents=True, exist_ok=True)
    path = cache_directory() / f"{name}.csv"
    write_text(path, text.getvalue())
    return path


def digest(data: NDArray[np.float64], target: Sequence[str]) -> str:
    """Return the SHA-256 of the inputs in double precision, row by row, and of the targets as shortest text."""
    labels = "\n".join(map(_shortest, target))
    return hashlib.sha256(np.ascontiguousarray(data, dtype="<f8").tobytes() + labels.encode()).hexdigest()


def _shortest(label: str) -> str:
    try:
        return repr(float(label))
    except ValueError:
        return label
