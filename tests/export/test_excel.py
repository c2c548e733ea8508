"""Formulas keep every digit of a number, take empty cells for missing values, and keep within the limits of Excel."""

import re

import pytest
from hypothesis import given

from obliquerules import RuleEnsemble
from obliquerules.export.excel import ExcelLanguage
from obliquerules.export.registry import export
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from ..rules.strategies import any_finite
from .models import EXTREME, ORDINARY

LOSS = LOSSES["squared"]


@given(any_finite.filter(lambda number: number == 0.0 or 1e-300 < abs(number) < 9.9e307))
def test_numbers_are_exact_though_excel_reads_15_digits(number):
    text = ExcelLanguage(2).number(number)
    assert eval(text) == number
    for digits in re.findall(r"[\d.]+(?=E|\b)", re.sub(r"E[+-]\d+", "E", text)):
        assert len(digits.replace(".", "").strip("0")) <= 15


def test_the_formulas_of_a_small_model():
    assert export(Model.of(ORDINARY[:1], LOSSES["poisson"]), "excel", row=5).content == (
        "D5\tscore\t=1.79 + IF(IF(COUNT(A5,B5)>=2,2.81 * A5 + 1.5 * B5 >= -0.28,FALSE),-3.85,0)\n"
        "E5\tprediction\t=EXP(MIN(MAX(D5,-600),600))\n"
    )


def test_a_formula_that_is_too_long_is_refused_and_split_by_contributions():
    long = RuleEnsemble(ORDINARY.rules * 60, 0.0)
    with pytest.raises(ValueError, match="where Excel takes 8192: ask for contributions"):
        export(Model.of(long, LOSS), "excel")
    assert export(Model.of(long, LOSS), "excel", contributions=True).verification.rows > 0


def test_numbers_that_excel_does_not_have_are_refused():
    with pytest.raises(ValueError, match="too small or too large for Excel"):
        export(Model.of(EXTREME, LOSS), "excel")


@pytest.mark.parametrize("row", [0, 2.0, True, 2**20 + 1])
def test_the_row_must_be_on_the_sheet(row):
    with pytest.raises(ValueError, match="row must be a whole number from 1 to 1048576"):
        export(Model.of(ORDINARY, LOSS), "excel", row=row)
