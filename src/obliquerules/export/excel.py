"""Excel: a model as formulas for one row of a sheet."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.rules.proposition import Proposition

# The limits of Excel.
MOST_CHARACTERS = 8192
DIGITS = 15
SMALLEST_NUMBER, LARGEST_NUMBER = 2.2251e-308, 9.99999999999999e307
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14


class ExcelLanguage(TextLanguage):
    """Formulas with English function names and commas between arguments.

    Parameters
    ----------
    row : int
        The row of the sheet that formulas refer to.
    """

    exp = "EXP"

    def __init__(self, row: int) -> None:
        self.row = row

    def number(self, value: float) -> str:
        """Return a decimal, or the sum of two, because Excel reads only 15 digits of a number."""
        if value and not SMALLEST_NUMBER <= abs(value) <= LARGEST_NUMBER:
            raise ValueError(f"The model has the number {value!r}, which is too small or too large for Excel.")
        text = f"{value:.{DIGITS}G}"
        rest = value - float(text)
        return f"({text}{rest:+.{DIGITS}G})" if rest else text

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return a cell."""
        return f"{letters(column)}{self.row}"

    def proposition(self, source: Source, proposition: Proposition) -> str:
        """Return whether a proposition holds; without COUNT, empty cells would count as 0."""
        cells = [self.column(source, column) for column in proposition.columns]
        return f"IF(COUNT({','.join(cells)})>={len(cells)},{super().proposition(source, proposition)},FALSE)"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return conditions[0] if len(conditions) == 1 else f"AND({','.join(conditions)})"

    def choice(self, condition: str, weight: float) -> str:
        """Return a call of IF."""
        return f"IF({condition},{self.number(weight)},0)"

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score, by MIN and MAX."""
        return f"MIN(MAX({score},{self.number(low)}),{self.number(high)})"


@dataclass(frozen=True)
class ExcelTarget(Target):
    """Lines of cell, name and formula, separated by tabs, for a sheet whose first columns are the inputs of the model.

    Excel rounds sums to 15 digits before it compares them, so a row closer than that to a threshold may fall on the other side.
    The verification therefore evaluates the formulas in Python, with exact comparisons.

    Parameters
    ----------
    row : int, default=2
        The row of the sheet that the formulas belong to.
    """

    name = "excel"
    row: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.row, bool) or not isinstance(self.row, int) or not 1 <= self.row <= MOST_ROWS:
            raise ValueError(f"row must be a whole number from 1 to {MOST_ROWS}; got {self.row!r}.")

    def write(self, source: Source) -> str:
        """Return the formulas."""
        language, names = ExcelLanguage(self.row), source.output_names()
        if source.n_columns + len(names) > MOST_COLUMNS:
            raise ValueError(f"A sheet has {MOST_COLUMNS} columns, which are too few for this model.")
        cells = [f"{letters(source.n_columns + index)}{self.row}" for index in range(len(names))]
        contributions = [language.contribution(source, rule) for rule in source.ensemble]
        score = language.score(source.ensemble.intercept, cells[2:] if source.contributions else contributions)
        formulas = [score, language.prediction(source, cells[0]), *(contributions if source.contributions else [])]
        longest = max(map(len, formulas)) + 1
        if longest > MOST_CHARACTERS:
            raise ValueError(
                f"A formula of {longest} characters is needed, where Excel takes {MOST_CHARACTERS}: ask for contributions, "
                "which gives each rule a formula of its own, or for a smaller model."
            )
        return "".join(f"{cell}\t{name}\t={formula}\n" for cell, name, formula in zip(cells, names, formulas, strict=True))

    def engine(self) -> tuple[str, str]:
        """Return the running Python, which evaluates the formulas in place of Excel."""
        return "Python", f"{platform.python_version()} in place of Excel"

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:  # noqa: ARG002  # one signature for all targets
        """Evaluate the formulas, which are also Python expressions; those of rules first, because the others use them."""
        lines = [line.split("\t") for line in product.splitlines()]
        formulas = [(cell, compile(formula[1:], name, "eval")) for cell, name, formula in [*lines[2:], *lines[:2]]]
        computed = np.empty((len(X), len(lines)))
        for position, row in enumerate(X.tolist()):
            cells: dict[str, Any] = {f"{letters(column)}{self.row}": value for column, value in enumerate(row)}
            for cell, formula in formulas:
                cells[cell] = eval(formula, FUNCTIONS | cells)
            computed[position] = [cells[cell] for cell, _, _ in lines]
        return computed


FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "AND": lambda *conditions: all(conditions),
    "COUNT": lambda *values: sum(not math.isnan(value) for value in values),
    "EXP": math.exp,
    "FALSE": False,
    "IF": lambda condition, yes, no: yes if condition else no,
    "MAX": max,
    "MIN": min,
}


def letters(column: int) -> str:
    """Return the letters of a column of a sheet.

    >>> letters(0), letters(25), letters(26), letters(701), letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    return (letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)
