"""Workbench: one HTML file to read a model, score cases, and try what happens without a rule."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version

from obliquerules.arrays import Vector
from obliquerules.report.head import Head
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.page import page
from obliquerules.report.payload import payload
from obliquerules.rules import Model
from obliquerules.rules.files.whole_files import write_text


def write_workbench(
    model: Model,
    path: str | os.PathLike[str],
    rows: MeasuredRows | None = None,
    *,
    head: Head | None = None,
    max_sizes: int = 12,
    cv_results: Mapping[str, Vector] | None = None,
) -> None:
    """Write the workbench of a model; see `RuleModel.report`."""
    data = payload(model, Head() if head is None else head, rows, max_sizes, cv_results)
    write_text(path, page(data, version("obliquerules")))
