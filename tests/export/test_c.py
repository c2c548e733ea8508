"""Headers compile without a warning, and compute the same whatever the compiler is asked to do about speed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from obliquerules.export.export_formats import find_format
from obliquerules.export.source import Source
from obliquerules.export.verification import ExportError, compare, telling_rows
from obliquerules.rules import Model

from .models import MODELS

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler called 'cc'")
PROCESSOR = Path("/proc/cpuinfo")
FUSES = PROCESSOR.is_file() and re.search(r"\bfma\b", PROCESSOR.read_text(encoding="utf-8")) is not None
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
FAST = ["-O3", "-ffp-contract=fast", *(["-mfma"] if FUSES else [])]
PROGRAM = """\
#include "first_model.h"
#include "first_model.h"
#include "second_model.h"
int main(void) { double x[3] = {0, 0, 0}; return first_score(x) != second_score(x); }
"""


@pytest.mark.parametrize("flags", [STRICT, FAST], ids=["strict", "fast"])
@pytest.mark.parametrize("model", ["ordinary", "hostile names", "constant", "large rates", "slopes", "extreme slopes"])
def test_the_options_of_the_compiler_do_not_matter(model, flags):
    target, source = find_format("c"), Source(Model.of(*MODELS[model]), contributions=True)
    rows = telling_rows(source)
    compare(source, rows, target.run(target.write(source), source, rows, flags))


def test_arithmetic_that_is_not_ieee_is_refused_by_the_header():
    target, source = find_format("c"), Source(Model.of(*MODELS["ordinary"]))
    with pytest.raises(ExportError, match="compile without -ffast-math"):
        target.run(target.write(source), source, telling_rows(source), ["-ffast-math"])


def test_two_models_go_into_one_program(tmp_path):
    for prefix in ("first_", "second_"):
        header = find_format("c", prefix=prefix).write(Source(Model.of(*MODELS["ordinary"])))
        (tmp_path / f"{prefix}model.h").write_text(header, encoding="utf-8")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["cc", "-std=c99", "-o", "program", "program.c", "-lm"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)
