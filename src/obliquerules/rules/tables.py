"""Tables: lines of cells between sentences, as aligned plain text and as HTML, which notebooks show."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Lines of cells; columns are aligned to the right, the last, which may be long, to the left.

    Attributes
    ----------
    lines : sequence of sequences of str
    headed : bool
        Whether the first line is a heading.
    indent : str
        What each line of plain text begins with.
    """

    lines: Sequence[Sequence[str]]
    headed: bool = True
    indent: str = ""

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)][:-1]
        texts = ("  ".join([*map(str.rjust, line, widths), line[-1]]) for line in self.lines)
        return "\n".join(f"{self.indent}{text}".rstrip() for text in texts)

    def _repr_html_(self) -> str:
        heading, *lines = [[html.escape(cell) for cell in line] for line in self.lines]
        return html_table(heading, lines) if self.headed else html_table(None, [heading, *lines])


class Shown:
    """What is shown as sentences and tables: as plain text and, in a notebook, as HTML."""

    def _parts(self) -> Iterable[str | Table]:
        """Return sentences and tables from top to bottom; an empty sentence is a gap."""
        raise AttributeError(f"{type(self).__name__} does not say what is shown of it.")

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        return "\n".join(html_part(part) for part in self._parts() if part)


def html_part(part: str | Table) -> str:
    """Return a sentence or a table as HTML."""
    return f"<p>{html.escape(part)}</p>" if isinstance(part, str) else part._repr_html_()


def html_table(heading: Sequence[str] | None, lines: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML; its cells are HTML already."""
    head = [] if heading is None else [f"<thead>{_html_row(heading, 'th')}</thead>"]
    return "\n".join(["<table>", *head, "<tbody>", *(_html_row(line, "td") for line in lines), "</tbody>", "</table>"])


def _html_row(cells: Sequence[str], tag: str) -> str:
    sides = (*("right" for _ in cells[:-1]), "left")
    return f"<tr>{''.join(_html_cell(*cell, tag) for cell in zip(cells, sides, strict=True))}</tr>"


def _html_cell(text: str, side: str, tag: str) -> str:
    return f'<{tag} style="text-align: {side}">{text}</{tag}>'
