"""Formulas: those of an exported sheet, evaluated by Python in place of Excel, with exact comparisons."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

# The row of a sheet below the headings.
FIRST_ROW = 2


def moved(formula: str, row: int) -> str:
    """Return a formula of the first row for another row; what it takes from other sheets stays.

    >>> moved("IF($D2,A2 + 7 * AB2 >= 1E+20,Rules!$B$2)", 10)
    'IF($D10,A10 + 7 * AB10 >= 1E+20,Rules!$B$2)'
    """
    return re.sub(rf"(\$?[A-Z]+){FIRST_ROW}\b", rf"\g<1>{row}", formula)


def compiled(formula: str) -> CodeType:
    """Return a formula of the first row as a Python expression."""
    text = re.sub(r"(\w+)!\$([A-Z]+)\$(\d+)", r"\1_\2\3", formula)
    text = re.sub(rf"\$[A-Z]+{FIRST_ROW}:\$[A-Z]+{FIRST_ROW}", "INPUTS", text).replace("$", "")
    tree = _LazyChoices().visit(ast.parse(re.sub(r"(?<![<>])=", "==", text), mode="eval"))
    return compile(ast.fix_missing_locations(tree), formula, "eval")


class _LazyChoices(ast.NodeTransformer):
    """Turns calls of IF into conditional expressions, which evaluate one side only, as IF does."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Turn one call."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "IF":
            return ast.IfExp(*node.args)
        return node


def evaluated(formulas: Mapping[str, CodeType], inputs: Sequence[float], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each column with a formula, from left to right, given the first columns and cells of other sheets."""
    cells: dict[str, Any] = {**FUNCTIONS, **known, "INPUTS": inputs}
    for letter, formula in formulas.items():
        cells[f"{letter}{FIRST_ROW}"] = eval(formula, cells)
    return {letter: cells[f"{letter}{FIRST_ROW}"] for letter in formulas}


def _count_between(values: Sequence[float], low: str, _: Sequence[float], high: str) -> int:
    """Return how many values meet the criteria ``">=..."`` and ``"<=..."``."""
    return sum(float(low[2:]) <= value <= float(high[2:]) for value in values)


FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "AND": lambda *conditions: all(conditions),
    "COUNTA": lambda values: sum(not math.isnan(value) for value in values),
    "COUNTIFS": _count_between,
    "EXP": math.exp,
    "MAX": max,
    "MIN": min,
    "TRUE": True,
}
