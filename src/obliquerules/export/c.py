"""C: a model as a C99 header."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obliquerules.export.language import UNSCORABLE, TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError, ExportError

FLAGS = ("-std=c99", "-O2")

TEMPLATE = """\
/* A rule model in C99; link with -lm.
 *
 * Each function takes the values of one row, NAN where a value is missing:
 *
{columns}
 *
 * {prefix}scorable returns 1 if the row can be scored, and 0 if {unscorable}.
 * {prefix}score returns the score, and {prefix}predict the prediction that belongs to it.
 * {prefix}contributions writes what each of the {n_rules} rules adds to the score.
 * All numbers are NAN for a row that cannot be scored.
 */
#ifndef {guard}
#define {guard}

#include <float.h>
#include <math.h>

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

static inline int {prefix}scorable(const double *x)
{{
    (void)x;
    return {scorable};
}}

static inline void {prefix}contributions(const double *x, double *contributions)
{{
    if (!{prefix}scorable(x)) {{
        for (int rule = 0; rule < {n_rules}; rule++)
            contributions[rule] = NAN;
        return;
    }}
{contributions}}}

static inline double {prefix}score(const double *x)
{{
    double contributions[{size}];
    double total = {prefix}scorable(x) ? {constant} : NAN;
    {prefix}contributions(x, contributions);
    for (int rule = 0; rule < {n_rules}; rule++)
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

# Reads rows of doubles and writes the outputs of each.
PROGRAM = """\
#include <stdio.h>
#include "model.h"
int main(void)
{{
    double x[{width}], outputs[{size}];
    while (fread(x, sizeof(double), {width}, stdin) == {width}) {{
        outputs[0] = {prefix}score(x);
        outputs[1] = {prefix}predict(x);
        {contributions}
        fwrite(outputs, sizeof(double), {size}, stdout);
    }}
    return 0;
}}
"""


class CLanguage(TextLanguage):
    """C99 expressions.

    Parameters
    ----------
    prefix : str
        The prefix of function names.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def product(self, weight: float, column: str) -> str:
        """Return a call of the product function."""
        plain = super().product(weight, column)
        return plain if abs(weight) == 1.0 else f"{self.prefix}product({self.number(weight)}, {column})"

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return an entry of the row."""
        return f"x[{column}]"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is false for NaN."""
        return f"fabs({column}) <= {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return a test with each input on its own line."""
        tests = [self.within(self.column(source, column), source.largest_input) for column in source.columns]
        return "\n        && ".join(tests) or None

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " && ".join(conditions)

    def choice(self, condition: str, weight: float) -> str:
        """Return a conditional expression."""
        return f"{condition} ? {self.number(weight)} : 0.0"

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score; not with fmin and fmax, which replace NAN."""
        return f"({score} < {low} ? {low} : {score} > {high} ? {high} : {score})"


@dataclass(frozen=True)
class CTarget(Target):
    """A C99 header with the functions score, predict and contributions.

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
        """Return the text of the header."""
        language, n_rules = CLanguage(self.prefix), len(source.ensemble)
        return TEMPLATE.format(
            columns="\n".join(f" *   x[{column}]  {_safe(source.name(column))}" for column in source.columns),
            prefix=self.prefix,
            guard=f"{self.prefix.upper()}H",
            unscorable=UNSCORABLE.format(limit=language.number(source.largest_input)),
            scorable=language.scorable(source) or "1",
            contributions="".join(
                f"    contributions[{index}] = {language.contribution(source, rule)};\n"
                for index, rule in enumerate(source.ensemble)
            ),
            constant=language.number(source.ensemble.intercept),
            n_rules=n_rules,
            size=max(n_rules, 1),
            prediction=language.prediction(source, "f"),
        )

    def engine(self) -> tuple[str, str]:
        """Return the compiler called cc, and its version."""
        compiler = shutil.which("cc")
        if compiler is None:
            raise CannotVerifyError("there is no C compiler called 'cc'.")
        asked = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=False)
        return "cc", asked.stdout.strip() if asked.returncode == 0 else "of unknown version"

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Compile a program around the header and run it on the rows."""
        return self.run_with(FLAGS, product, source, X)

    def run_with(self, flags: Sequence[str], product: str, source: Source, X: Matrix) -> Matrix:
        """Do the same with other compiler options."""
        size, width = len(source.output_names()), max(source.n_columns, 1)
        call = f"{self.prefix}contributions(x, outputs + 2);" if source.contributions else ""
        program = PROGRAM.format(width=width, size=size, prefix=self.prefix, contributions=call)
        rows = X if source.n_columns else np.zeros((len(X), 1))
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


def _safe(name: str) -> str:
    """Return a name that is safe inside a C comment."""
    return ascii(name)[1:-1].replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
