"""Python: a model as a module that needs only the standard library."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliquerules.export.language import UNSCORABLE, TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.rules.columns import Level

TEMPLATE = '''\
"""A rule model: score(row), predict(row) and contributions(row) take a mapping from column names to {values}.

A value that is missing is None or NaN. Each returns None for a row that cannot be scored, because {unscorable}.
"""

{imports}

# {rules}

{readers}

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


NUMBER_READER = '''
def _value(row, name):
    """Return a value as a number; NaN if it is missing."""
    return math.nan if row[name] is None else float(row[name])
'''
LEVEL_READER = '''
def _level(row, name):
    """Return a level; None if it is missing."""
    return row[name] if row[name] == row[name] else None
'''
DATE_READERS = '''
def _seconds(row, name):
    """Return the seconds since the beginning of 1970, or of a duration; a time without a zone is in universal time."""
    value = row[name]
    if value is None or value != value:
        return math.nan
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if not isinstance(value, datetime.datetime):
        return float(value.toordinal() - 719163) * 86400.0
    return (value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)).timestamp()


def _days(row, name):
    """Return the same in days."""
    return _seconds(row, name) / 86400.0
'''


def literal(level: Level) -> str:
    """Return a level in plain ASCII."""
    return ascii(level)


class PythonLanguage(TextLanguage):
    """Python expressions."""

    exp = "math.exp"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return the variable that holds the value."""
        return f"x{column}"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is true for NaN."""
        return f"not abs({column}) > {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return a test of all numbers at once."""
        inputs = "".join(f"{self.column(source, column)}, " for column in source.summed)
        return f"all({self.within('value', source.largest_input)} for value in ({inputs.rstrip()}))" if inputs else None

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        """Return a comparison: NaN differs from itself, and a level that is missing is None."""
        value = self.column(source, column)
        if source.column(column).levels is not None:
            return f"{value} is not None" if negated else f"{value} is None"
        return f"{value} == {value}" if negated else f"{value} != {value}"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        """Return a comparison; None is among the levels that the value must not be."""
        value = self.column(source, column)
        if len(levels) == 1 and not negated:
            return f"{value} == {literal(levels[0])}"
        listed = ", ".join(map(literal, levels))
        return f"{value} not in (None, {listed})" if negated else f"{value} in ({listed})"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " and ".join(conditions)

    def either(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return f"({' or '.join(conditions)})"

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
        given = _readers(source)
        temporal = bool({"_days", "_seconds"} & set(given.values()))
        return TEMPLATE.format(
            values="levels, dates and numbers" if set(given.values()) - {"_value"} else "numbers",
            imports="import datetime\nimport math" if temporal else "import math",
            rules="\n# ".join(comment_lines(source)),
            readers="\n".join(_functions(set(given.values()))),
            unscorable=UNSCORABLE.format(limit=language.number(source.largest_input)),
            columns="".join(f"    x{column} = {reader}(row, {source.name(column)!r})\n" for column, reader in given.items())
            + refusal,
            contributions="\n" + "".join(lines) + "    " if lines else "",
            constant=language.number(source.ensemble.intercept),
            prediction=language.prediction(source, "f"),
        )

    def engine(self) -> tuple[str, str]:
        """Return the running Python."""
        return "Python", platform.python_version()

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        """Return rows with each value as Python has it."""
        return replace(source, kinds={}).held(X)

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Execute the module in a namespace of its own and call its functions."""
        functions: dict[str, Any] = {}
        exec(compile(product, "<exported model>", "exec"), functions)
        computed, names = [], source.names
        columns = [replace(source, kinds={}).values(column, X) for column in range(source.n_columns)]
        for values in zip(*columns, strict=True) if columns else [()] * len(X):
            row = dict(zip(names, values, strict=True))
            outputs = [functions["score"](row), functions["predict"](row)]
            if source.contributions:
                outputs += functions["contributions"](row) or [None] * len(source.ensemble)
            computed.append(outputs)
        return np.array(computed, dtype=np.float64).reshape(len(X), len(source.output_names()))


def _readers(source: Source) -> dict[int, str]:
    """Return the function that reads each column that rules use."""
    by_kind = {"date": "_days", "duration": "_days", "time": "_seconds"}
    return {
        index: by_kind.get(column.kind, "_value") if (column := source.column(index)).levels is None else "_level"
        for index in source.columns
    }


def _functions(used: set[str]) -> Iterator[str]:
    """Yield the texts of the functions that read values, as far as they are used."""
    if "_value" in used or not used:
        yield NUMBER_READER
    if "_level" in used:
        yield LEVEL_READER
    if used & {"_days", "_seconds"}:
        yield DATE_READERS


def comment_lines(source: Source) -> list[str]:
    """Return the printed rules in plain ASCII, safe inside comments."""
    return [ascii(line)[1:-1] for line in source.ensemble.to_text().split("\n")]
