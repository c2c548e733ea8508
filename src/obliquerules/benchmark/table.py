"""A table of the report, which can be written as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells of text under a title, with a remark below.

    Examples
    --------
    >>> print(Table("Sizes", ("data set", "size"), (("Banknote", "6"),), "Less is better.").markdown())
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


def _one_line(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
