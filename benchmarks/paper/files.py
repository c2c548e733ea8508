"""Files: the report in a directory, as Markdown, CSV, pictures and one page that needs nothing else."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.paper.contenders import Contender
from benchmarks.paper.figures import figures
from benchmarks.paper.measures import MEASURES
from benchmarks.paper.page import documentation_page, page
from benchmarks.paper.report import best_setting, report
from benchmarks.paper.report_table import ReportTable
from benchmarks.paper.trials import Outcome
from obliquerules.rules.files.whole_files import write_bytes, write_text

PICTURES = importlib.util.find_spec("matplotlib") is not None
INTERVAL = ("lower", "median", "upper")
CASE = ("measure", "dataset", "method", "setting", "target")
FIELDS = (*CASE, *INTERVAL, *(f"paper_{end}" for end in INTERVAL), "fits", "failed")


def write_files(
    directory: Path, contenders: Sequence[Contender], outcomes: Sequence[Outcome], found: Sequence[ReportTable], made: str
) -> None:
    """Write each file whole or not at all; pictures only where matplotlib is installed."""
    write_text(directory / "report.md", report(found, made))
    write_text(directory / "tables.csv", table_of_figures(contenders, outcomes))
    drawn = list(figures(contenders, outcomes)) if PICTURES else []
    for figure in drawn:
        write_bytes(directory / f"{figure.name}.png", figure.png)
        write_text(directory / f"{figure.name}.svg", figure.svg)
    write_text(directory / "report.html", page(found, drawn, made))
    write_text(directory / "report.rst", documentation_page(found, drawn, made))


def table_of_figures(contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> str:
    """Return what each method reached, at its best setting, as CSV with exact numbers."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_lines(contenders, outcomes))
    return text.getvalue()


def _lines(contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> Iterator[Mapping[str, object]]:
    own: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        own.setdefault((outcome.trial.method, outcome.trial.dataset), []).append(outcome)
    for measure in MEASURES:
        for dataset, row in measure.paper.items():
            for contender in contenders:
                if done := own.get((contender.name, dataset)):
                    ours, setting = best_setting(measure, done, row.target)
                    paper = row.reached[contender.column] if contender.column else None
                    yield {
                        **dict(zip(CASE, (measure.title, dataset, contender.name, setting, row.target), strict=True)),
                        **{end: getattr(ours, end) for end in INTERVAL},
                        **({f"paper_{end}": getattr(paper, end) for end in INTERVAL} if paper else {}),
                        "fits": len(done),
                        "failed": sum(one.failure is not None for one in done),
                    }
