"""Python: a model as a module that needs only the standard library."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.export.language import UNSCORABLE, TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target

TEMPLATE = '''\
"""A rule model: score(row), predict(row) and contributions(row) take a mapping from column names to numbers.

Each returns None for a row that cannot be scored, because {unscorable}.
"""

import math

# {rules}


def _value(row, name):
    """Return a value as a number; NaN if it is missing."""
    return math.nan if row[name] is None else float(row[name])


def contributions(row):
    """Return what each rule adds to the score."""
{columns}    return [{contributions}]


def score(row):
    """Return the constant and what rules add to it, from left to right."""
    added = contributions(row)
    if added is None:
        return None
    total = {constant}
    for contribution in added:
        total += contribution
    return total


def predict(row):
    """Return the prediction that belongs to the score."""
    f = score(row)
    return None if f is None else {prediction}
'''


class PythonLanguage(TextLanguage):
    """Python expressions."""

    exp = "math.exp"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return the variable that holds the value."""
        return f"x{column}"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is false for NaN."""
        return f"abs({column}) <= {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return a test of all inputs at once."""
        inputs = "".join(f"{self.column(source, column)}, " for column in source.columns)
        return f"all({self.within('value', source.largest_input)} for value in ({inputs.rstrip()}))" if inputs else None

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
        scorable = language.scorable(source)
        refusal = "" if scorable is None else f"    if not {scorable}:\n        return None\n"
        lines = [f"        {language.contribution(source, rule)},\n" for rule in source.ensemble]
        return TEMPLATE.format(
            rules="\n# ".join(comment_lines(source)),
            unscorable=UNSCORABLE.format(limit=language.number(source.largest_input)),
            columns="".join(f"    x{column} = _value(row, {source.name(column)!r})\n" for column in source.columns) + refusal,
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
            outputs = [functions["score"](row), functions["predict"](row)]
            if source.contributions:
                outputs += functions["contributions"](row) or [None] * len(source.ensemble)
            computed.append(outputs)
        return np.array(computed, dtype=np.float64).reshape(len(X), len(source.output_names()))


def comment_lines(source: Source) -> list[str]:
    """Return the printed rules in plain ASCII, safe inside comments."""
    return [ascii(line)[1:-1] for line in source.ensemble.to_text().split("\n")]
