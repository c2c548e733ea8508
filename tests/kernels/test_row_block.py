"""The loops over rows give the same bits on processors with and without a fused multiply-add, and in plain C11."""

import shutil
import subprocess
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "src" / "obliquerules" / "kernels"
COMPILER = shutil.which("cc")
FLAGS = ["-std=c11", "-O3", "-fopenmp-simd", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
# Numbers of a few, many or all sizes, a fourth of them with few digits, in which ties are common.
NUMBERS = """
static uint64_t state = 88172645463325252u;
static uint64_t bits(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static double number(int sizes) {
    uint64_t digits = bits() >> 12;
    if (bits() % 4 == 0) digits &= ~((UINT64_C(1) << bits() % 52) - 1);
    const uint64_t pattern = bits() << 63 | (uint64_t)(1023 - sizes + (int)(bits() % (2 * sizes + 1))) << 52 | digits;
    double x;
    memcpy(&x, &pattern, sizeof x);
    return x;
}
"""
# The addend is unrelated to the product, or cancels it wholly, nearly or not at all.
EMULATION = """
#include <stdio.h>
#include "exact_fma.h"
%s
int main(void) {
    const int sizes[] = {0, 1, 5, 60, 300, 1000};
    for (int i = 0; i < 600000; i++) {
        const double a = number(sizes[i %% 6]), b = number(sizes[i %% 6]);
        const double addends[] = {number(sizes[i %% 6]), -(a * b), -(a * b) * (1.0 + 0x1p-52), a * b * number(60), 0.0};
        const double c = addends[bits() %% 5], found = exact_fma(a, b, c), right = fma(a, b, c);
        if (found != right && !(isnan(found) && isnan(right))) return printf("%%a %%a %%a: %%a", a, b, c, found);
    }
    return 0;
}
"""
LOOPS = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef OLD_PROCESSOR
#undef __x86_64__
#endif
#include "row_block.h"
%s
int main(void) {
    find_instructions();
    static double eta[256], y[256], c[256], r[256], h[256], U[8 * ROWS_PER_BLOCK], x[2 * 256], x2[2 * 256], out[8], out2[8];
    static double scores[3 * ROWS_PER_BLOCK], shares[3 * ROWS_PER_BLOCK], slopes[3 * ROWS_PER_BLOCK];
    for (int rows = 0; rows <= 256; rows++) {
        for (int i = 0; i < rows; i++) eta[i] = number(12), y[i] = i %% 2, c[i] = fabs(number(3));
        for (int i = 0; i < rows; i++) x[i] = number(5), x2[i] = number(5);
        for (int i = 0; i < 8 * ROWS_PER_BLOCK; i++) U[i] = number(5);
        add_scaled(eta, x, 0.1, rows);
        logistic_derivatives(eta, y, c, r, h, rows);
        multiply(U, h, x2, rows);
        add_products(out, out2, x, x2, U, 8, rows);
        printf("%%a %%a %%a", sum_of(r, rows), sum_of(h, rows), sum_of_products(r, h, rows));
        for (int i = 0; i < 3 * ROWS_PER_BLOCK; i++) scores[i] = number(10), shares[i] = i %% 2;
        class_odds(scores, shares, r, h, 3, rows);
        class_slopes(scores, shares, c, r, slopes, 3, rows);
        for (int k = 0; k < 3; k++) printf(" %%a %%a", sum_of(scores + k * 256, rows), sum_of(slopes + k * 256, rows));
        printf(" %%a %%a", sum_of(r, rows), sum_of(h, rows));
        for (int v = 0; v < 8; v++) printf(" %%a %%a", out[v], out2[v]);
        printf("\\n");
    }
    return 0;
}
"""

pytestmark = pytest.mark.skipif(COMPILER is None, reason="There is no C compiler.")


def printed(source, folder, *flags, compiler=(COMPILER,)):
    program = folder / "program"
    (folder / "program.c").write_text(source % NUMBERS, encoding="utf-8")
    subprocess.run([*compiler, *FLAGS, *flags, f"-I{KERNELS}", folder / "program.c", "-o", program, "-lm"], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def test_the_emulation_is_the_fused_multiply_add(tmp_path):
    assert printed(EMULATION, tmp_path) == ""


def test_every_instruction_set_gives_the_same_bits(tmp_path):
    chosen = printed(LOOPS, tmp_path)
    assert len(set(chosen.split())) > 1000
    assert printed(LOOPS, tmp_path, "-DOLD_PROCESSOR") == chosen
    assert printed(LOOPS, tmp_path, "-DPLAIN_C", "-pedantic-errors", "-Wall", "-Wextra", "-Werror") == chosen
