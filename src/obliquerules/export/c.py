"""C: a model as a C99 header."""

from __future__ import annotations

import functools
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.language import TextLanguage, unscorable
from obliquerules.export.source import Source
from obliquerules.export.table_values import level_values, unseen_level
from obliquerules.export.verification import CannotVerifyError, ExportError
from obliquerules.rules.columns import Column, Level
from obliquerules.rules.membership import Membership

FLAGS = ("-std=c99", "-O2")

HEAD = """\
/* A rule model in C99; link with -lm.
 *
 * Each function takes the values of one row, NAN where a value is missing:
 *
{columns}
 *{codes}
 * {prefix}scorable returns 1 if the row can be scored, and 0 if {unscorable}.
{functions}
 * All numbers are NAN for a row that cannot be scored.
 */
#ifndef {guard}
#define {guard}

#include <float.h>
#include <math.h>{includes}

#if defined(__FAST_MATH__)
#error "This model needs IEEE arithmetic: compile without -ffast-math."
#endif
#if FLT_EVAL_METHOD != 0
#error "This model needs arithmetic in double precision: FLT_EVAL_METHOD must be 0."
#endif

/* A product that is rounded by itself: where it is volatile, no compiler may fuse it with the sum that it is part of. */
static inline double {prefix}product(double weight, double value)
{{
    const volatile double product = weight * value;
    return product;
}}

{coders}static inline int {prefix}scorable(const double *x)
{{
    (void)x;
    return {scorable};
}}

static inline void {prefix}contributions(const double *x, double *contributions)
{{
{declared}\
    if (!{prefix}scorable(x)) {{
        for (int rule = 0; rule < {n_parts}; rule++)
            contributions[rule] = NAN;
        return;
    }}
{contributions}}}
"""

SCORE_FUNCTIONS = """\
 * {prefix}score returns the score, and {prefix}predict the prediction that belongs to it.
 * {prefix}contributions writes what each of the {n_parts} rules adds to the score."""
SCORE = """
static inline double {prefix}score(const double *x)
{{
    double contributions[{size}];
    double total = {prefix}scorable(x) ? {constant} : NAN;
    {prefix}contributions(x, contributions);
    for (int rule = 0; rule < {n_parts}; rule++)
        total += contributions[rule];
    return total;
}}

static inline double {prefix}predict(const double *x)
{{
    const double f = {prefix}score(x);
    return {prediction};
}}

#endif
"""

CLASS_FUNCTIONS = """\
 * {prefix}scores writes the scores of the {n_scores} classes.
 * {prefix}class returns the position of the class with the highest score, of equal ones the first, and -1 for a row that
 * cannot be scored. {prefix}label returns the label of a class, and {prefix}probability the probability of that class.
 * {prefix}contributions writes what rules add to the scores of classes, {n_parts} numbers:
 *
{parts}
 *"""
CLASSES = """
static inline void {prefix}scores(const double *x, double *scores)
{{
    double contributions[{size}];
    if (!{prefix}scorable(x)) {{
        for (int k = 0; k < {n_scores}; k++)
            scores[k] = NAN;
        return;
    }}
    {prefix}contributions(x, contributions);
{scores}}}

static inline int {prefix}class(const double *x)
{{
    double f[{n_scores}];
    double highest;
    if (!{prefix}scorable(x))
        return -1;
    {prefix}scores(x, f);
    highest = {highest};
    return {label};
}}

static inline {label_type}{prefix}label(int position)
{{
    static {array_type}labels[{n_scores}] = {{{labels}}};
    return position < 0 ? {no_label} : labels[position];
}}

static inline double {prefix}probability(const double *x)
{{
    double f[{n_scores}];
    double highest;
    if (!{prefix}scorable(x))
        return NAN;
    {prefix}scores(x, f);
    highest = {highest};
    return {probability};
}}

#endif
"""

CODER = """\
/* The number that stands for a level of {name}: -1 for one that no rule lists, NAN for NULL. */
static inline double {prefix}level_{column}(const char *level)
{{
{tests}    return level == NULL ? NAN : -1.0;
}}

"""
CODES = """
 * Text is turned into numbers by functions that take UTF-8, or NULL where a value is missing:
 *
{columns}
 *"""

FUNCTIONS = {"score": SCORE_FUNCTIONS, "classes": CLASS_FUNCTIONS}
INCLUDES = {"score": "", "classes": "\n#include <stddef.h>", "text": "\n#include <string.h>"}
UNITS = {"date": " (days since 1970-01-01)", "time": " (seconds since 1970-01-01, in universal time)", "duration": " (days)"}
# The types of labels, and what there is in place of one.
LABEL_TYPES = {"text": "const char *", "integer": "long long ", "double": "double "}
NO_LABEL = {"text": "NULL", "integer": "0", "double": "NAN"}

# What fills in the outputs of a row that is compared: in place of a class there is its position.
CALLS = {
    "score": "        outputs[0] = {prefix}score(x);\n        outputs[1] = {prefix}predict(x);\n",
    "classes": """\
        {prefix}scores(x, outputs);
        outputs[{place}] = code({prefix}class(x));
        outputs[{next}] = {prefix}probability(x);
""",
}
ADDED_CALL = "        {prefix}contributions(x, outputs + {last});\n"
CODED_TEXT = "        x[{column}] = {prefix}level_{column}(isnan(x[{column}]) ? NULL : texts_{column}[(int)x[{column}]]);\n"

# Reads rows of doubles and writes the outputs of each; text comes as its position among all texts that occur.
PROGRAM = """\
#include <stdio.h>
#include "model.h"
{texts}{code}int main(void)
{{
    double x[{width}], outputs[{size}];
    while (fread(x, sizeof(double), {width}, stdin) == {width}) {{
{coded}\
{outputs}\
        fwrite(outputs, sizeof(double), {size}, stdout);
    }}
    return 0;
}}
"""


# Returns the number of the class that has the label of a position.
CODE = """\
#include <string.h>
static double code(int position)
{{
    static {array_type}labels[] = {{{labels}}};
    for (int k = 0; position >= 0 && k < {n_scores}; k++)
        if ({same})
            return k;
    return position < 0 ? NAN : -1.0;
}}
"""


class CLanguage(TextLanguage):
    """C99 expressions.

    Parameters
    ----------
    prefix : str
        The prefix of function names.
    """

    conjunction = " && "
    choice_form = "{0} ? {1} : {2}"
    # True for NaN.
    within_form = "!(fabs({}) > {})"

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def product(self, weight: float, column: str) -> str:
        plain = super().product(weight, column)
        return plain if abs(weight) == 1.0 else f"{self.prefix}product({self.number(weight)}, {column})"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        return f"x[{column}]"

    def usable(self, source: Source, column: int) -> str:
        """Return a comparison, which is true for NaN."""
        return self.within(self.column(source, column), source.largest_input)

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        return f"{'!' if negated else ''}isnan({self.column(source, column)})"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        value, codes = self.column(source, column), level_codes(source, column)
        if not negated:
            tests = [f"{value} == {self.number(codes[level])}" for level in levels]
            return tests[0] if len(tests) == 1 else self.either(tests)
        others = [f"{value} != {self.number(codes[level])}" for level in levels]
        return self.both([self.missing(source, column, negated=True), *others])

    def either(self, conditions: Sequence[str]) -> str:
        """Join conditions, with brackets around those that are joined themselves."""
        return f"({' || '.join(f'({one})' if ' && ' in one else one for one in conditions)})"

    def bounded(self, value: str, low: float, high: float) -> str:
        """Return the bounded number; not with fmin and fmax, which replace NAN."""
        below = "" if low == -math.inf else f"{value} < {low} ? {low} : "
        above = "" if high == math.inf else f"{value} > {high} ? {high} : "
        return f"({below}{above}{value})"

    def function(self, name: str, *numbers: str) -> str:
        """Return a call; fmax and fmin take two numbers."""
        return super().function(name, *numbers) if name == "exp" else functools.reduce(f"f{name}({{}}, {{}})".format, numbers)

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        """Return the position of the label as a conditional expression, which looks at one score after the other."""
        tests = [f"{score} >= {highest} ? {position} :" for position, score in enumerate(scores)]
        return " ".join([*tests[:-1], str(len(labels) - 1)])


@dataclass(frozen=True)
class CFormat(ExportFormat):
    """A C99 header with the functions score, predict and contributions.

    With many classes they are scores, class, label, probability and contributions. The exposure or the offset, if the model has
    one, comes after the columns of X.

    Parameters
    ----------
    prefix : str, default="model_"
        The prefix of the function names.
    """

    name = "c"
    prefix: str = "model_"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*", self.prefix, flags=re.ASCII):
            raise ValueError(f"prefix must start with a letter and hold letters, digits and _ only; got {self.prefix!r}.")

    def write(self, source: Source) -> str:
        language, texts = CLanguage(self.prefix), text_columns(source)
        classes = source.ensemble.outputs or ()
        parts = [(rule, _safe(classes[output])) for rule, output in source.parts if classes]
        names = {"prefix": self.prefix, "n_parts": len(source.parts), "n_scores": source.n_scores}
        described = [f" *   contributions[{place}]  rule {rule}, class {name}" for place, (rule, name) in enumerate(parts)]
        columns = [f" *   x[{column}]  {_safe(source.names[column])}{_unit(source, column)}" for column in source.used]
        # A test of each number on its own line.
        tests = language.usable_inputs(source) + [language.usable_offset(source, column) for column in source.offsets]
        lines = list(_contributions(language, source))
        head = HEAD.format(
            columns="\n".join(columns),
            codes=_codes(self.prefix, source, texts) if texts else "",
            includes=INCLUDES["text" if texts else source.task],
            coders="".join(_coder(self.prefix, source, column) for column in texts),
            guard=f"{self.prefix.upper()}H",
            unscorable=unscorable(source, language.number),
            functions=FUNCTIONS[source.task].format(parts="\n".join(described), **names),
            scorable="\n        && ".join(tests) or "1",
            declared="    int holds;\n" if any(line.startswith("    holds =") for line in lines) else "",
            contributions="".join(lines),
            **names,
        )
        names["size"] = max(len(source.parts), 1)
        if source.labels:
            return head + _classes(language, source, names)
        return head + SCORE.format(constant=language.starts(source)[0], prediction=language.answers(source, ["f"])[0], **names)

    def engine(self) -> tuple[str, str]:
        compiler = shutil.which("cc")
        if compiler is None:
            raise CannotVerifyError("there is no C compiler called 'cc'.")
        asked = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=False)
        return "cc", asked.stdout.strip() if asked.returncode == 0 else "of unknown version"

    def run(self, product: Any, source: Source, X: Matrix, flags: Sequence[str] = FLAGS) -> Matrix:
        """Compile a program around the header and run it on the rows."""
        size, width = len(source.output_names()), max(source.n_columns, 1)
        texts, rows = text_columns(source), X if source.n_columns else np.zeros((len(X), 1))
        calls = CALLS[source.task] + (ADDED_CALL if source.contributions else "")
        places = {"place": source.n_scores, "next": source.n_scores + 1, "last": source.link_position + 1}
        program = PROGRAM.format(
            width=width,
            size=size,
            outputs=calls.format(prefix=self.prefix, **places),
            texts="".join(_texts(source, column) for column in texts),
            code=_label_codes(self.prefix, source) if source.labels else "",
            coded="".join(CODED_TEXT.format(prefix=self.prefix, column=column) for column in texts),
        )
        rows = rows.copy()
        for index in source.used:
            column = source.columns[index]
            if index in texts:
                # Texts come as their positions in an array, which ends with one never seen.
                rows[:, index] = np.where(X[:, index] < 0.0, len(column.levels or ()), X[:, index])
            elif column.levels is not None:
                values = level_values(column, X[:, index])
                rows[:, index] = [np.nan if level is None else float(level) for level in values]
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            (place / "model.h").write_text(product, encoding="utf-8")
            (place / "program.c").write_text(program, encoding="utf-8")
            _called(["cc", *flags, "-o", "program", "program.c", "-lm"], place)
            computed = _called([str(place / "program")], place, rows.tobytes())
        return np.frombuffer(computed).reshape(len(X), size)


def _called(command: list[str], place: Path, given: bytes | None = None) -> bytes:
    """Return the output of a program; raise if it fails."""
    done = subprocess.run(command, cwd=place, input=given, capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise ExportError(f"{Path(command[0]).name} failed on the export with exit code {done.returncode}: {said}")
    return done.stdout


# ---- levels: booleans and whole numbers stand for themselves, text is numbered in the order of the levels that rules list ----


def text_columns(source: Source) -> tuple[int, ...]:
    """Return the columns of text that rules use."""
    return tuple(column for column in source.used if source.kinds[column] == "text")


def level_codes(source: Source, column: int) -> dict[Level, float]:
    """Return the numbers that stand for levels; for text, those of the levels that a rule lists."""
    levels = source.columns[column].levels or ()
    if source.kinds[column] != "text":
        return {level: float(level) for level in levels}
    tests = [test for rule in source.ensemble for test in rule.condition]
    terms = [term for test in tests for term in ((test,) if isinstance(test, Membership) else test.columns)]
    listed = {level for one in terms if isinstance(one, Membership) and one.column == column for level in one.levels}
    return {level: float(code) for code, level in enumerate(level for level in levels if level in listed)}


def _coder(prefix: str, source: Source, column: int) -> str:
    """Return the function that turns the levels of a column into numbers."""
    tests = "".join(
        f"    if (level != NULL && strcmp(level, {literal(level)}) == 0)\n        return {code!r};\n"
        for level, code in level_codes(source, column).items()
    )
    return CODER.format(name=_safe(source.names[column]), prefix=prefix, column=column, tests=tests)


def _codes(prefix: str, source: Source, texts: Sequence[int]) -> str:
    """Return how the functions of columns of text are called, for the comment at the top."""
    examples = {column: [*map(literal, level_codes(source, column)), "NULL"][0] for column in texts}
    lines = [f" *   x[{column}] = {prefix}level_{column}({_safe(level)});" for column, level in examples.items()]
    return CODES.format(columns="\n".join(lines))


def literal(level: Level) -> str:
    r"""Return text in UTF-8 as a string of C.

    >>> print(literal('it\'s "é"?'))
    "it's \"\303\251\"\?"
    """
    if "\0" in str(level):
        raise ValueError(f"The level {level!r} has the character NUL, which no string of C can hold.")
    plain = {byte: chr(byte) for byte in range(32, 127) if chr(byte) not in '"\\?'} | {63: "\\?", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(plain.get(byte, f"\\{byte:03o}") for byte in str(level).encode("utf-8")) + '"'


def _unit(source: Source, column: int) -> str:
    """Return what the numbers of a column mean, where its name does not say it."""
    if column in source.offsets:
        what = f" of class {_safe(source.ensemble.outputs[column - source.n_features])}" if source.ensemble.outputs else ""
        return " (multiplies the prediction)" if source.has_exposure else f" (added to the score{what})"
    if source.columns[column].is_truth:
        return " (0 or 1)"
    return " (a level, as below)" if source.kinds[column] == "text" else UNITS.get(source.columns[column].kind, "")


# ---- what rules add, and scores ----


def _contributions(language: CLanguage, source: Source) -> Iterator[str]:
    """Yield what computes the contributions of each rule."""
    place = 0
    for rule in source.ensemble:
        if any(source.columns[column] != Column(source.names[column]) for column in rule.used_columns):
            # A comment says what the code does not show.
            said = rule.condition if rule.factor is None else rule
            yield f"    /* {_safe(said.describe(source.ensemble.columns))} */\n"
        name = None
        if len(rule.classes_with_weight) > 1 and not rule.is_constant:
            name = "holds"
            yield f"    holds = {language.condition(source, rule)};\n"
        for term in language.contributions(source, rule, name):
            yield f"    contributions[{place}] = {term};\n"
            place += 1


def _classes(language: CLanguage, source: Source, names: dict[str, Any]) -> str:
    """Return the functions of a model of many classes."""
    scores = language.scores(source, [f"contributions[{place}]" for place in range(len(source.parts))])
    named = [f"f[{output}]" for output in range(source.n_scores)]
    label, probability = language.answers(source, named, "highest")
    return CLASSES.format(
        scores="".join(f"    scores[{output}] = {score};\n" for output, score in enumerate(scores)),
        highest=language.function("max", *named),
        label=label,
        no_label=NO_LABEL[source.label_kind],
        probability=probability,
        **_labels(source),
        **names,
    )


def _labels(source: Source) -> dict[str, str]:
    """Return what declares an array of labels."""
    kind = source.label_kind
    labels = [literal(one) if kind == "text" else f"{one}LL" if kind == "integer" else repr(one) for one in source.labels]
    array_type = "const char *const " if kind == "text" else f"const {LABEL_TYPES[kind]}"
    return {"label_type": LABEL_TYPES[kind], "array_type": array_type, "labels": ", ".join(labels)}


def _label_codes(prefix: str, source: Source) -> str:
    """Return the function that looks up labels, for the program that compares."""
    label = f"{prefix}label(position)"
    same = f"strcmp({label}, labels[k]) == 0" if source.label_kind == "text" else f"{label} == labels[k]"
    return CODE.format(same=same, n_scores=source.n_scores, **_labels(source))


def _texts(source: Source, column: int) -> str:
    """Return the array of all texts of a column: its levels, and one that it does not have."""
    known = source.columns[column]
    texts = ", ".join(literal(level) for level in (*(known.levels or ()), str(unseen_level(known))))
    return f"static const char *const texts_{column}[] = {{{texts}}};\n"


def _safe(name: str) -> str:
    """Return a name that is safe inside a C comment."""
    return ascii(name)[1:-1].replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
