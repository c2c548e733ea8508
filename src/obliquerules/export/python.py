"""Python: a model as a module that needs only the standard library."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target

TEMPLATE = '''\
"""A rule model: score(row), predict(row) and contributions(row) take a mapping from column names to numbers."""

import math

# {rules}


def _value(row, name):
    """Return a value as a number; None is missing, and no condition on it holds."""
    return math.nan if row[name] is None else float(row[name])


def contributions(row):
    """Return what each rule adds to the score."""
{columns}    return [{contributions}]


def score(row):
    """Return the constant and what rules add to it, from left to right."""
    total = {constant}
    for contribution in contributions(row):
        total += contribution
    return total


def predict(row):
    """Return the prediction that belongs to the score."""
    f = score(row)
    return {prediction}
'''


class PythonLanguage(TextLanguage):
    """Python expressions."""

    exp = "math.exp"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return the variable that holds the value."""
        return f"x{column}"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " and ".join(conditions)

    def choice(self, condition: str, weight: float) -> str:
        """Return a conditional expression."""
        return f"{self.number(weight)} if {condition} else 0.0"

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score, by min and max."""
        return f"min(max({score}, {low}), {high})"


@dataclass(frozen=True)
class PythonTarget(Target):
    """A module with the functions score, predict and contributions."""

    name = "python"

    def write(self, source: Source) -> str:
        """Return the text of the module."""
        source.check_distinct(source.names)
        language = PythonLanguage()
        lines = [f"        {language.contribution(source, rule)},\n" for rule in source.ensemble]
        return TEMPLATE.format(
            rules="\n# ".join(comment_lines(source)),
            columns="".join(f"    x{column} = _value(row, {source.name(column)!r})\n" for column in source.columns),
            contributions="\n" + "".join(lines) + "    " if lines else "",
            constant=language.number(source.ensemble.intercept),
            prediction=language.prediction(source, "f"),
        )

    def engine(self) -> tuple[str, str]:
        """Return the running Python."""
        return "Python", platform.python_version()

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Execute the module in a namespace of its own and call its functions."""
        functions: dict[str, Any] = {}
        exec(compile(product, "<exported model>", "exec"), functions)
        computed, names = [], source.names
        for values in X.tolist():
            row = dict(zip(names, values, strict=True))
            contributions = functions["contributions"](row) if source.contributions else []
            computed.append([functions["score"](row), functions["predict"](row), *contributions])
        return np.array(computed).reshape(len(X), len(source.output_names()))


def comment_lines(source: Source) -> list[str]:
    """Return the printed rules in plain ASCII, safe inside comments."""
    return [ascii(line)[1:-1] for line in source.ensemble.to_text().split("\n")]
