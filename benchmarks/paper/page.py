"""The page: the whole report in one HTML file that loads nothing from anywhere, or as a page of the documentation."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

from benchmarks.paper.figures import Figure
from benchmarks.paper.report import PREFACE
from benchmarks.paper.report_table import ReportTable, rst_title

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;font-size:13px}"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:left;white-space:nowrap}"
    "svg{max-width:100%;height:auto}pre{overflow-x:auto;background:#f5f5f5;padding:.6rem}"
)
# Nothing but the style above is allowed.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(found: Sequence[ReportTable], drawn: Sequence[Figure], made: str) -> str:
    """Return the report as HTML."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>Benchmark of obliquerules</title><style>{STYLE}</style></head><body>",
        f"<h1>Benchmark of obliquerules</h1>\n<p>{html.escape(PREFACE)}</p>\n<p>{html.escape(made.replace('`', ''))}</p>",
        *(table.html() for table in found),
        *map(_section, drawn),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def documentation_page(found: Sequence[ReportTable], drawn: Sequence[Figure], made: str) -> str:
    """Return the report as reStructuredText; the pictures are in SVG files beside it."""
    parts = [rst_title("Measured", "="), PREFACE, made.replace("`", "``"), *(table.rst() for table in found)]
    for figure in drawn:
        picture = f".. image:: {figure.name}.svg\n   :alt: {figure.title}"
        rules = "::\n\n" + textwrap.indent(figure.text, "   ") if figure.text else ""
        parts.extend(filter(None, (rst_title(figure.title, "-"), picture, rules)))
    return "\n\n".join(parts) + "\n"


def _section(figure: Figure) -> str:
    text = f"\n<pre>{html.escape(figure.text)}</pre>" if figure.text else ""
    svg = figure.svg[figure.svg.index("<svg") :]  # without the heading of a file
    title = html.escape(figure.title)
    return f'<h2>{title}</h2>\n<figure role="img" aria-label="{title}">{svg}</figure>{text}'
