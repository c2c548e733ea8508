"""C: a model as one header of C99."""

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

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError

# Each operation is to be rounded by itself. GCC does not know the pragma, but it knows the option.
FLAGS = ("-std=c99", "-ffp-contract=off")

TEMPLATE = """\
/* A rule model. Compile with -ffp-contract=off, so that products and sums are rounded one by one, and link with -lm.
 *
 * Each function takes the values of one row, NAN where a value is missing:
 *
{columns}
 *
 * {prefix}contributions writes what each of the {n_rules} rules adds to the score, {prefix}score returns the score, and
 * {prefix}predict the prediction that belongs to it.
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
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

static inline void {prefix}contributions(const double *x, double *contributions)
{{
    (void)x;
    (void)contributions;
{contributions}}}

static inline double {prefix}score(const double *x)
{{
    double contributions[{size}];
    double total = {constant};
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
    """Expressions of C99."""

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return an entry of the row."""
        return f"x[{column}]"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " && ".join(conditions)

    def choice(self, condition: str, weight: float) -> str:
        """Return a conditional expression."""
        return f"{condition} ? {self.number(weight)} : 0.0"

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return a call."""
        return f"fmin(fmax({score}, {low}), {high})"


@dataclass(frozen=True)
class CTarget(Target):
    """A header with the functions score, predict and contributions.

    Parameters
    ----------
    prefix : str, default="model_"
        Stands before the names of the functions.
    """

    name = "c"
    prefix: str = "model_"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*", self.prefix, flags=re.ASCII):
            raise ValueError(f"prefix must start with a letter and hold letters, digits and _ only; got {self.prefix!r}.")

    def write(self, source: Source) -> str:
        """Return the text of the header."""
        language, n_rules = CLanguage(), len(source.ensemble)
        return TEMPLATE.format(
            columns="\n".join(f" *   x[{column}]  {_safe(source.name(column))}" for column in source.columns),
            prefix=self.prefix,
            guard=f"{self.prefix.upper()}H",
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
        """Return the compiler that is called cc."""
        compiler = shutil.which("cc")
        if compiler is None:
            raise CannotVerifyError("there is no C compiler called 'cc'.")
        version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
        return "cc", version

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Compile a program around the header and send the rows through it."""
        size, width = len(source.output_names()), max(source.n_columns, 1)
        call = f"{self.prefix}contributions(x, outputs + 2);" if source.contributions else ""
        program = PROGRAM.format(width=width, size=size, prefix=self.prefix, contributions=call)
        rows = X if source.n_columns else np.zeros((len(X), 1))
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            (place / "model.h").write_text(product, encoding="utf-8")
            (place / "program.c").write_text(program, encoding="utf-8")
            subprocess.run(["cc", *FLAGS, "-o", "program", "program.c", "-lm"], cwd=place, check=True)
            done = subprocess.run([place / "program"], input=rows.tobytes(), capture_output=True, check=True)
        return np.frombuffer(done.stdout).reshape(len(X), size)


def _safe(name: str) -> str:
    """Return a name that can neither end a comment nor mean anything else in it."""
    return ascii(name)[1:-1].replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
