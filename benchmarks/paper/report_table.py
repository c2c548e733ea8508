"""A table of the report, which can be written as Markdown, as HTML and as reStructuredText."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ReportTable:
    """Cells of text under a title, with a remark below.

    Examples
    --------
    >>> print(ReportTable("Sizes", ("data set", "size"), (("Banknote", "6"),), "Less is better.").markdown())
    ## Sizes
    <BLANKLINE>
    | data set | size |
    | -------- | ---- |
    | Banknote | 6    |
    <BLANKLINE>
    Less is better.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [[_one_line(cell) for cell in line] for line in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        drawn = "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
        return "\n\n".join(filter(None, (f"## {self.title}", drawn, self.remark)))

    def html(self) -> str:
        """Return the table as HTML; what cells say is text, never markup."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.header)
        body = "\n".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        drawn = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        remark = f"\n<p>{html.escape(self.remark)}</p>" if self.remark else ""
        return f"<h2>{html.escape(self.title)}</h2>\n{drawn}{remark}"

    def rst(self) -> str:
        """Return the table as a section of a page of the documentation."""
        lines = [[_plain(cell) for cell in line] for line in (self.header, *self.rows)]
        body = "\n".join("   * - " + "\n     - ".join(line) for line in lines)
        drawn = f".. list-table::\n   :header-rows: 1\n\n{body}"
        return "\n\n".join(filter(None, (rst_title(self.title, "-"), drawn, _plain(self.remark))))


def rst_title(title: str, line: str) -> str:
    """Return a title of reStructuredText, underlined."""
    return f"{_plain(title)}\n{line * len(_plain(title))}"


def _plain(text: str) -> str:
    """Return text in which reStructuredText sees no markup."""
    return re.sub(r"([\\*`|_]|^-)", r"\\\1", " ".join(text.split()))


def _one_line(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
