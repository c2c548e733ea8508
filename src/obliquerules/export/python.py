"""Python: a model as a module that needs only the standard library."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.language import TextLanguage, unscorable
from obliquerules.export.source import Source
from obliquerules.rules import Rule
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
    """Return the constant{offset} and what rules add to it, from left to right."""
    added = contributions(row)
    if added is None:
        return None
{added_before}    total = {constant}
    for contribution in added:
        total += contribution
    return total


def predict(row):
    """Return the prediction that belongs to the score{times}."""
    f = score(row)
{exposure}    return None if f is None else {prediction}
'''

CLASSES_TEMPLATE = '''\
"""A rule model of many classes: scores(row), predict(row), probability(row) and contributions(row).

Each takes a mapping from column names to {values}. A value that is missing is None or NaN.
Each returns None for a row that cannot be scored, because {unscorable}.
"""

{imports}

# {rules}

{readers}

def contributions(row):
    """Return for each rule what it adds to the scores of the classes that it speaks for, by class."""
{columns}    return [{contributions}]


def scores(row):
    """Return the score of each class: its constant{offset} and what rules add to it, from left to right."""
    added = contributions(row)
    if added is None:
        return None
{added_before}    totals = {{
{constants}    }}
    for contribution in added:
        for label, weight in contribution.items():
            totals[label] += weight
    return totals


def predict(row):
    """Return the class with the highest score, of equal ones the first."""
    totals = scores(row)
    if totals is None:
        return None
    f = list(totals.values())
    highest = max(f)
    return {label}


def probability(row):
    """Return the probability of the class that is predicted."""
    totals = scores(row)
    if totals is None:
        return None
    f = list(totals.values())
    highest = max(f)
    return {probability}
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
        tests = [f"all({self.within('value', source.largest_input)} for value in ({inputs.rstrip()}))"] if inputs else []
        tests += [self.usable_given(source, column) for column in source.given]
        return self.both(tests) if tests else None

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

    def only(self, condition: str, amount: str) -> str:
        """Return a conditional expression."""
        return f"{amount} if {condition} else 0.0"

    def bounded(self, value: str, low: float, high: float) -> str:
        """Return the bounded number, by min and max."""
        least = value if low == -math.inf else f"max({value}, {low})"
        return least if high == math.inf else f"min({least}, {high})"

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        """Return a conditional expression, which looks at one score after the other."""
        tests = [f"{literal(label)} if {score} >= {highest} else" for label, score in zip(labels, scores, strict=True)]
        return " ".join([*tests[:-1], literal(labels[-1])])


@dataclass(frozen=True)
class PythonFormat(ExportFormat):
    """A module with the functions score, predict and contributions; with many classes scores, predict and probability."""

    name = "python"

    def write(self, source: Source) -> str:
        """Return the text of the module."""
        source.check_distinct(source.names)
        language, given = PythonLanguage(), _readers(source)
        scorable = language.scorable(source)
        refusal = "" if scorable is None else f"    if not {_in_brackets(scorable)}:\n        return None\n"
        read = {column: f"    x{column} = {reader}(row, {source.name(column)!r})\n" for column, reader in given.items()}
        besides = "".join(read[column] for column in source.given)
        lines = [f"        {_contribution(language, source, rule)},\n" for rule in source.ensemble]
        temporal = bool({"_days", "_seconds"} & set(given.values()))
        adds = bool(source.given) and not source.has_exposure
        template = CLASSES_TEMPLATE if source.has_many_classes else TEMPLATE
        return template.format(
            values="levels, dates and numbers" if set(given.values()) - {"_value"} else "numbers",
            imports="import datetime\nimport math" if temporal else "import math",
            rules="\n# ".join(comment_lines(source)),
            readers="\n".join(_functions(set(given.values()))),
            unscorable=unscorable(source, language.number),
            columns="".join(read.values()) + refusal,
            contributions="\n" + "".join(lines) + "    " if lines else "",
            offset=", the offset" if adds else "",
            added_before=besides if adds else "",
            **(_of_classes(language, source) if source.has_many_classes else _of_score(language, source, besides)),
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
            computed.append(
                _class_outputs(functions, source, row) if source.has_many_classes else _outputs(functions, source, row)
            )
        return np.array(computed, dtype=np.float64).reshape(len(X), len(source.output_names()))


def _in_brackets(condition: str) -> str:
    """Return a condition that can be negated."""
    return f"({condition})" if " and " in condition else condition


def _contribution(language: PythonLanguage, source: Source, rule: Rule) -> str:
    """Return what a rule adds to the score or, with many classes, a mapping from those that it speaks for."""
    if not source.has_many_classes:
        return language.contributions(source, rule)[0]
    holds = language.condition(source, rule)
    numbers = {source.labels[output]: rule.weights[output] for output in rule.classes_with_weight}
    if rule.factor is None:
        amounts = {label: language.number(weight) for label, weight in numbers.items()}
    else:
        factor = language.factor(source, rule.factor)
        amounts = {label: language.product(weight, factor) for label, weight in numbers.items()}
    mapping, zeros = (
        "{" + ", ".join(f"{literal(label)}: {text}" for label, text in one.items()) + "}"
        for one in (amounts, dict.fromkeys(amounts, language.number(0.0)))
    )
    return mapping if holds is None else f"{mapping} if {holds} else {zeros}"


def _of_score(language: PythonLanguage, source: Source, besides: str) -> dict[str, str]:
    """Return what a module of one score has."""
    return {
        "constant": language.starts(source)[0],
        "exposure": besides if source.has_exposure else "",
        "times": " and the exposure" if source.has_exposure else "",
        "prediction": language.prediction(source, "f"),
    }


def _of_classes(language: PythonLanguage, source: Source) -> dict[str, str]:
    """Return what a module of many classes has."""
    scores = [f"f[{output}]" for output in range(source.n_scores)]
    pairs = zip(map(literal, source.labels), language.starts(source), strict=True)
    return {
        "constants": "".join(f"        {label}: {constant},\n" for label, constant in pairs),
        "label": language.first_label(source.labels, scores, "highest"),
        "probability": language.probability(source, scores, "highest"),
    }


def _outputs(functions: dict[str, Any], source: Source, row: dict[str, Any]) -> list[Any]:
    outputs = [functions["score"](row), functions["predict"](row)]
    return outputs + (functions["contributions"](row) or [None] * len(source.ensemble)) if source.contributions else outputs


def _class_outputs(functions: dict[str, Any], source: Source, row: dict[str, Any]) -> list[Any]:
    scores, added = functions["scores"](row), functions["contributions"](row)
    if scores is None:
        return [None] * len(source.output_names())
    outputs = [*scores.values(), *source.codes([functions["predict"](row)]).tolist(), functions["probability"](row)]
    return outputs + [amount for rule in added if source.contributions for amount in rule.values()]


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
