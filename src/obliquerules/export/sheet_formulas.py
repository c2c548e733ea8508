"""Formulas: those of an exported sheet, evaluated by Python in place of Excel, and by LibreOffice where it is installed."""

from __future__ import annotations

import ast
import datetime
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from obliquerules.export.verification import ExportError
from obliquerules.export.workbook import letters, position

# LibreOffice takes seconds for a workbook of some thousand rows.
TIME_LIMIT = 600
# The row of a sheet below the headings.
FIRST_ROW = 2
# Dates are counted from the end of 1899, with a 29 February 1900.
ORDINAL_OF_0 = datetime.date(1899, 12, 30).toordinal()


def moved(formula: str, row: int) -> str:
    """Return a formula of the first row for another row; what it takes from other sheets stays, and so does text.

    >>> moved('IF($D2,A2 + 7 * AB2 >= 1E+20,EXACT(B2,"A2"),Rules!$B$2)', 10)
    'IF($D10,A10 + 7 * AB10 >= 1E+20,EXACT(B10,"A2"),Rules!$B$2)'
    """
    return _outside_text(formula, lambda part: re.sub(rf"(\$?[A-Z]+){FIRST_ROW}\b", rf"\g<1>{row}", part))


def _outside_text(formula: str, change: Callable[[str], str], text: Callable[[str], str] = str) -> str:
    """Return a formula with what stands outside of quotes changed and, by another function, the texts in quotes."""
    parts = re.split(r'("(?:[^"]|"")*")', formula)
    return "".join(text(part) if number % 2 else change(part) for number, part in enumerate(parts))


def compiled(formula: str) -> CodeType:
    """Return a formula of the first row as a Python expression."""
    text = _outside_text(formula, _as_python, lambda quoted: repr(quoted[1:-1].replace('""', '"')))
    tree = _LazyChoices().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(tree), formula, "eval")


def _as_python(part: str) -> str:
    """Return a part of a formula without texts as Python.

    The only sums by ``&`` are those of texts.

    >>> _as_python("IF(Rules!$B$2=1,SUM($Y2:$AA2),D2 >= 3)")
    'IF(Rules_B2==1,SUM((Y2,Z2,AA2)),D2 >= 3)'
    """
    text = re.sub(r"(\w+)!\$([A-Z]+)\$(\d+):\$\2\$(\d+)", lambda found: _cells_below(*found.groups()), part)
    text = re.sub(r"(\w+)!\$([A-Z]+)\$(\d+)", r"\1_\2\3", text)
    text = re.sub(rf"\$([A-Z]+){FIRST_ROW}:\$([A-Z]+){FIRST_ROW}", lambda found: _cells(*found.groups()), text)
    return re.sub(r"(?<![<>])=", "==", text.replace("$", "")).replace("<>", "!=").replace("&", "+")


def _cells(first: str, last: str) -> str:
    """Return the cells of a range of the first row."""
    inside = "".join(f"{letters(column)}{FIRST_ROW}," for column in range(position(first), position(last) + 1))
    return f"({inside.rstrip(',') if first != last else inside})"


def _cells_below(sheet: str, column: str, first: str, last: str) -> str:
    """Return the cells of a range within a column of another sheet."""
    return f"({','.join(f'{sheet}_{column}{row}' for row in range(int(first), int(last) + 1))})"


class _LazyChoices(ast.NodeTransformer):
    """Turns calls of IF into conditional expressions, which evaluate one side only, as IF does."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Turn one call."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "IF":
            return ast.IfExp(*node.args)
        return node


def evaluated(formulas: Mapping[str, CodeType], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each column with a formula, from left to right, given other cells."""
    cells: dict[str, Any] = {**FUNCTIONS, **known}
    for letter, formula in formulas.items():
        cells[f"{letter}{FIRST_ROW}"] = eval(formula, cells)
    return {letter: cells[f"{letter}{FIRST_ROW}"] for letter in formulas}


class Blank(float):
    """An empty cell, which counts as 0 in sums."""


EMPTY = Blank(0.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, (bool, Blank))


def _count_between(values: Sequence[Any], low: str, _: Sequence[Any], high: str) -> int:
    """Return how many values meet the criteria ``">=..."`` or ``">..."``, and ``"<=..."``."""
    least, inclusive = float(low.lstrip(">=")), low.startswith(">=")
    return sum(
        _is_number(value) and (least < value or (inclusive and least == value)) and value <= float(high[2:]) for value in values
    )


def _text(value: Any) -> str:
    """Return a value as text, as EXACT compares it."""
    if isinstance(value, bool):
        return str(value).upper()
    return "" if isinstance(value, Blank) else value if isinstance(value, str) else f"{value:.15g}"


FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "AND": lambda *conditions: all(conditions),
    "CHAR": chr,
    "COUNT": lambda *values: sum(map(_is_number, values)),
    "COUNTA": lambda values: sum(not isinstance(value, Blank) for value in values),
    "COUNTIFS": _count_between,
    "DATE": lambda *day: float(datetime.date(*day).toordinal() - ORDINAL_OF_0),
    "EXACT": lambda left, right: _text(left) == _text(right),
    "EXP": math.exp,
    "FALSE": False,
    "INDEX": lambda values, number: values[number - 1],
    "ISBLANK": lambda value: isinstance(value, Blank),
    "MATCH": lambda value, values, _: 1 + values.index(value),
    "MAX": max,
    "MIN": min,
    "NOT": lambda condition: not condition,
    "OR": lambda *conditions: any(conditions),
    "ROUND": round,
    "TRUE": True,
}


# ---- LibreOffice ----


def find_office() -> str | None:
    """Return the path of LibreOffice; None if it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def office_version(program: str) -> str:
    """Return the version of LibreOffice."""
    asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", asked.stdout)
    return found[0] if found else "of unknown version"


def recalculated(program: str, workbook: bytes) -> bytes:
    """Return a workbook with values in the cells whose formulas had none."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "given.xlsx").write_bytes(workbook)
        # With a profile of its own, it neither reads nor waits for the one of a user who has it open.
        command = [program, "--headless", f"-env:UserInstallation={(place / 'profile').as_uri()}"]
        command += ["--convert-to", "xlsx", "--outdir", str(place / "made"), str(place / "given.xlsx")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=TIME_LIMIT)
        made = place / "made" / "given.xlsx"
        if done.returncode != 0 or not made.is_file():
            raise ExportError(f"LibreOffice failed on the export with exit code {done.returncode}: {done.stderr.strip()}")
        return made.read_bytes()
