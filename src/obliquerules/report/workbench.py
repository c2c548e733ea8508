"""Workbench: one HTML file to read a model, score cases, and try what happens without a rule."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from obliquerules.arrays import Vector
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head, payload
from obliquerules.rules import Model
from obliquerules.rules.files.whole_files import write_text

# In the order in which they stand in the page, as one script.
SCRIPTS = (
    "data",
    "arithmetic",
    "classes",
    "measures",
    "words",
    "elements",
    "chart",
    "calibration",
    "decision",
    "confusion",
    "figures",
    "bands",
    "rules",
    "fields",
    "offsets",
    "case",
    "probabilities",
    "model_file",
    "page",
)
POLICY = "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'"


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


def page(payload: dict[str, Any], version: str) -> str:
    """Return the text of the file."""
    style = _part("page.css")
    script = "\n".join(['"use strict";', *(_part(f"{name}.js") for name in SCRIPTS)])
    data = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    values = {
        "policy": POLICY.format(script=_digest(script), style=_digest(style)),
        "title": html.escape(payload["title"]),
        "version": html.escape(version),
        "style": style,
        "script": script,
        # Without the character that begins a tag, so that the data cannot end their element.
        "payload": data.replace("<", "\\u003c"),
    }
    # In one pass, so that no value is searched for placeholders.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], _part("page.html"))


def _part(name: str) -> str:
    return importlib.resources.files("obliquerules.report").joinpath("parts", name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return the hash by which the security policy allows a script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"
