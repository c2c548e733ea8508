"""Columns of a data set, read from its file, which is fetched if it is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.files import find_file
from benchmarks.datasets.openml import ENTRIES, fetch
from obliquerules.cli.io.data_file import read_file
from obliquerules.data.levels import as_labels
from obliquerules.data.reading import read_table


def read_columns(
    name: str, file_name: str, inputs: Sequence[str], target: str, download_if_missing: bool
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the inputs of a data set and its target: text, whole numbers or numbers."""
    content = read_file(_path(name, file_name, download_if_missing))
    return read_table(content.choose(inputs)).matrix, as_labels(*content.column(target))


def _path(name: str, file_name: str, download_if_missing: bool) -> Path:
    try:
        return find_file(name, file_name)
    except FileNotFoundError as missing:
        stem = file_name.removesuffix(".csv")
        if not download_if_missing or stem not in ENTRIES:
            raise
        try:
            return fetch(stem)
        except OSError as error:
            raise FileNotFoundError(f"{missing} {error}") from error
