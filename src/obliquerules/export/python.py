"""Python: a model as a module that needs only the standard library."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.language import TextLanguage, unscorable
from obliquerules.export.source import Source
from obliquerules.rules import Rule
from obliquerules.rules.columns import Level

SCORE_TEMPLATE = '''\
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
{offset_before}    total = {constant}
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
    """Return for each rule what it adds to the scores of the classes with a weight, by class."""
{columns}    return [{contributions}]


def scores(row):
    """Return the score of each class: its constant{offset} and what rules add to it, from left to right."""
    added = contributions(row)
    if added is None:
        return None
{offset_before}    totals = {{
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

TEMPLATES = {"score": SCORE_TEMPLATE, "classes": CLASSES_TEMPLATE}
# The functions that give scores and what follows from them, in the order of outputs.
CALLS = {"score": ("score", "predict"), "classes": ("scores", "predict", "probability")}

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


# The functions that read values, by their names, and those for columns without levels by their kind.
FUNCTIONS = {("_value",): NUMBER_READER, ("_level",): LEVEL_READER, ("_days", "_seconds"): DATE_READERS}
READER_OF_KIND = {"date": "_days", "duration": "_days", "time": "_seconds"}


class PythonLanguage(TextLanguage):
    """Python expressions."""

    functions: ClassVar[Mapping[str, str]] = {"exp": "math.exp"}
    choice_form = "{1} if {0} else {2}"
    within_form = "not abs({}) > {}"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        return f"x{column}"

    def usable_inputs(self, source: Source) -> list[str]:
        """Return a test of all numbers at once."""
        inputs = "".join(f"x{column}, " for column in source.summed)
        return [f"all({self.within('value', source.largest_input)} for value in ({inputs.rstrip()}))"] if inputs else []

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        """Return a comparison: NaN differs from itself, and a level that is missing is None."""
        value = self.column(source, column)
        if source.columns[column].levels is not None:
            return f"{value} is not None" if negated else f"{value} is None"
        return f"{value} == {value}" if negated else f"{value} != {value}"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        """Return a comparison; None is among the levels that the value must not be."""
        value, listed = self.column(source, column), ", ".join(map(ascii, levels))
        if len(levels) == 1 and not negated:
            return f"{value} == {listed}"
        return f"{value} not in (None, {listed})" if negated else f"{value} in ({listed})"

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        tests = [f"{label!a} if {score} >= {highest} else" for label, score in zip(labels, scores, strict=True)]
        return " ".join([*tests[:-1], ascii(labels[-1])])


@dataclass(frozen=True)
class PythonFormat(ExportFormat):
    """A module with the functions score, predict and contributions; with many classes scores, predict and probability."""

    name = "python"
    has_moments = True

    def write(self, source: Source) -> str:
        source.check_distinct(source.names)
        language, ensemble = PythonLanguage(), source.ensemble
        readers = {column: READER_OF_KIND.get(source.columns[column].kind, "_value") for column in source.used}
        readers |= {column: "_level" for column in source.with_levels if column in readers}
        read = {column: f"    x{column} = {reader}(row, {source.names[column]!r})\n" for column, reader in readers.items()}
        functions = [text for names, text in FUNCTIONS.items() if set(names) & set(readers.values())]
        scorable = language.scorable(source)
        brackets = "({})" if " and " in str(scorable) else "{}"
        refusal = "" if scorable is None else f"    if not {brackets.format(scorable)}:\n        return None\n"
        rules = [
            _mapping(language, source, rule) if source.labels else language.contributions(source, rule)[0] for rule in ensemble
        ]
        lines = [f"        {text},\n" for text in rules]
        offset = "".join(read[column] for column in source.offsets)
        return TEMPLATES[source.task].format(
            values="levels, dates and numbers" if set(readers.values()) - {"_value"} else "numbers",
            imports="import datetime\nimport math" if DATE_READERS in functions else "import math",
            # In plain ASCII, which is safe inside comments.
            rules="\n# ".join(ascii(line)[1:-1] for line in ensemble.to_text().split("\n")),
            readers="\n".join(functions or [NUMBER_READER]),
            unscorable=unscorable(source, language.number),
            columns="".join(read.values()) + refusal,
            contributions="\n" + "".join(lines) + "    " if lines else "",
            offset="" if source.has_exposure or not offset else ", the offset",
            offset_before="" if source.has_exposure else offset,
            exposure=offset if source.has_exposure else "",
            times=" and the exposure" if source.has_exposure else "",
            **_scores(language, source),
        )

    def engine(self) -> tuple[str, str]:
        return "Python", platform.python_version()

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Execute the module in a namespace of its own and call its functions."""
        functions: dict[str, Any] = {}
        exec(compile(product, "<exported model>", "exec"), functions)
        columns = [source.values(column, X) for column in range(source.n_columns)]
        computed: list[list[Any]] = []
        for values in zip(*columns, strict=True) if columns else [()] * len(X):
            row = dict(zip(source.names, values, strict=True))
            found = {name: functions[name](row) for name in (*CALLS[source.task], "contributions")}
            if all(one is None for one in found.values()):
                computed.append([None] * len(source.output_names()))
                continue
            # With many classes, scores and what a rule adds are mappings from labels.
            added = found.pop("contributions") or []
            each = [*found.values(), *(added if source.contributions else [])]
            computed.append([number for one in each for number in (one.values() if isinstance(one, dict) else [one])])
        return np.array(source.with_codes(computed), dtype=np.float64).reshape(len(X), len(source.output_names()))


def _mapping(language: PythonLanguage, source: Source, rule: Rule) -> str:
    """Return a mapping from the classes for which a rule has a weight to what it adds to their scores."""
    holds = language.condition(source, rule)
    factor = None if rule.factor is None else language.factor(source, rule.factor)
    weights = {source.labels[output]: rule.weights[output] for output in rule.classes_with_weight}
    amounts = [language.number(weight) if factor is None else language.product(weight, factor) for weight in weights.values()]
    mapping, zeros = (
        "{" + ", ".join(f"{label!a}: {text}" for label, text in zip(weights, texts, strict=True)) + "}"
        for texts in (amounts, ["0.0"] * len(weights))
    )
    return mapping if holds is None else f"{mapping} if {holds} else {zeros}"


def _scores(language: PythonLanguage, source: Source) -> dict[str, str]:
    """Return what a module has for one score, or for many classes."""
    if not source.labels:
        return {"constant": language.starts(source)[0], "prediction": language.answers(source, ["f"])[0]}
    label, probability = language.answers(source, [f"f[{output}]" for output in range(source.n_scores)], "highest")
    starts = zip(source.labels, language.starts(source), strict=True)
    constants = "".join(f"        {name!a}: {constant},\n" for name, constant in starts)
    return {"constants": constants, "label": label, "probability": probability}
