"""Workbooks keep every digit of a number, say where a row cannot be scored, and keep within the limits of Excel."""

import re
import zipfile
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.export.excel import ExcelLanguage, _far_from_thresholds
from obliquerules.export.export_formats import export, find_format
from obliquerules.export.source import Source
from obliquerules.export.verification import ExportError
from obliquerules.export.workbook import read_cells
from obliquerules.losses import LOSSES
from obliquerules.rules import Column, Labels, Membership, Model

from ..rules.strategies import any_finite
from .models import EXTREME, HOSTILE, NAMED, ORDINARY

LOSS = LOSSES["squared"]
NAMES = ["age", "bmi", "weight"]
SMALL = RuleEnsemble.parse("+1.79 if True\n-3.85 if age - 1.5 weight >= 0.28 & weight >= 4", NAMES)


def workbook(model, **options):
    return export(model, "excel", office=False, **options).content


def row_of(content, row, sheet=1):
    return [cell for place, cell in read_cells(content, sheet).items() if re.fullmatch(rf"[A-Z]+{row}", place)]


@given(any_finite.filter(lambda number: number == 0.0 or 1e-300 < abs(number) < 9.9e307))
def test_numbers_are_exact_though_formulas_have_15_digits(number):
    language = ExcelLanguage(Source(Model.of(SMALL, LOSS)))
    text = language.number(number)
    assert float(text) == number if not language.long else (language.long, text) == ([number], "Rules!$B$5")
    assert len(re.sub(r"E.*|[.-]", "", text).strip("0")) <= 15 or text.startswith("Rules!")


def test_the_workbook_of_a_small_model():
    model = Model.of(SMALL, LOSSES["logistic"], Labels.of(["no", "yes"]))
    content = workbook(model, rows=[[5.0, np.nan, 3.0], [9.0, 0.0, 5.0], [np.nan, 1.0, 2.0], [2e300, 1.0, 2.0]])
    assert [cell.value for cell in row_of(content, 1)] == [
        *("age", "weight", "given of 2", "rule_0", "score", "probability of 'yes'", "class")
    ]
    assert [cell.formula for cell in row_of(content, 3)] == [
        *(None, None),
        'IF(COUNTIFS($A3:$B3,">=-1E+300",$A3:$B3,"<=1E+300")=COUNTA($A3:$B3),COUNTA($A3:$B3),0)',
        'IF($C3>0,IF(AND(AND(COUNT(A3,B3)=2,A3 - 1.5 * B3 >= 0.28),AND(COUNT(B3)=1,B3 >= 4)),Rules!$B$3,0),"")',
        'IF($C3>0,Rules!$B$2+D3,IF(COUNTA($A3:$B3)=0,"","cannot score"))',
        "IF($C3>0,1 / (1 + EXP(-E3)),E3)",
        "IF($C3>0,IF(E3>0,Rules!$B$6,Rules!$B$5),E3)",
    ]
    values = [[cell.value for cell in row_of(content, row)] for row in (2, 3, 4, 5, 6)]
    assert values[0][:5] + values[0][6:] == [5.0, 3.0, 2.0, 0.0, 1.79, "yes"]
    assert values[1][:5] + values[1][6:] == [9.0, 5.0, 2.0, -3.85, 1.79 - 3.85, "no"]
    assert values[2][:5] + values[2][6:] == [None, 2.0, 1.0, 0.0, 1.79, "yes"]
    assert values[3] == [2e300, 2.0, 0.0, "", "cannot score", "cannot score", "cannot score"]
    assert values[4] == [None, None, 0.0, "", "", "", ""]
    rules = [[cell.value for cell in row_of(content, row, 2)] for row in range(2, 7)]
    assert rules[:2] == [["constant", 1.79, "always"], ["rule_0", -3.85, "age - 1.5 weight >= 0.28 & weight >= 4"]]
    assert rules[3:] == [["class", "no", "if the score is not above 0"], ["class", "yes", "if the score is above 0"]]


def test_the_workbook_of_a_slope():
    text = "+1 if True\n+0.3 (max(age, 20) - 50)\n-2 weight if age >= 40\n-1 if age >= 3"
    content = workbook(Model.of(RuleEnsemble.parse(text, NAMES), LOSS), rows=[[60.0, 0.0, 3.0], [10.0, 0.0, np.nan]])
    assert [cell.formula for cell in row_of(content, 3)][3:6] == [
        'IF($C3>0,IF(NOT(ISBLANK(A3)),Rules!$B$3 * (MAX(A3,20) - 50),0),"")',
        'IF($C3>0,IF(AND(AND(COUNT(A3)=1,A3 >= 40),NOT(ISBLANK(B3))),Rules!$B$4 * B3,0),"")',
        'IF($C3>0,IF(AND(COUNT(A3)=1,A3 >= 3),Rules!$B$5,0),"")',
    ]
    assert [[cell.value for cell in row_of(content, row)][3:] for row in (2, 3)] == [
        [0.3 * 10.0, -6.0, -1.0, 1.0 + 0.3 * 10.0 - 6.0 - 1.0, 1.0 + 0.3 * 10.0 - 6.0 - 1.0],
        [0.3 * -30.0, 0.0, -1.0, 1.0 + 0.3 * -30.0 - 1.0, 1.0 + 0.3 * -30.0 - 1.0],
    ]
    assert [[cell.value for cell in row_of(content, row, 2)] for row in range(1, 6)] == [
        ["rule", "weight", "times", "condition"],
        ["constant", 1.0, None, "always"],
        ["rule_0", 0.3, "(max(age, 20) - 50)", "True"],
        ["rule_1", -2.0, "weight", "age >= 40"],
        ["rule_2", -1.0, None, "age >= 3"],
    ]
    assert any("take their difference for 0" in cell.value for cell in read_cells(content, 3).values())


def test_rows_in_which_15_digits_cancel_are_not_for_libreoffice():
    source = Source(Model.of(RuleEnsemble.parse("+1e6 if True\n+2e4 (age - 50)", ["age"]), LOSS))
    ages = {50.0: True, np.nextafter(50.0, 51.0): False, 51.0: True, 0.0: True, 1e-14: False, np.nan: True, np.inf: True}
    assert _far_from_thresholds(source, np.array([*ages])[:, None]).tolist() == [*ages.values()]


def test_no_row_is_in_the_file_unless_it_is_given():
    X = np.array([[123.25, 0.0, 77.5]])
    content = export(Model.of(SMALL, LOSS), "excel", X, office=False).content
    assert not {123.25, 77.5} & {cell.value for cell in read_cells(content, 1).values()}


def test_the_same_model_gives_the_same_bytes_and_no_tiny_terms():
    first, second = (workbook(Model.of(ORDINARY, LOSS)) for _ in range(2))
    assert first == second
    assert not any(re.search(r"E-\d", cell.formula or "") for cell in read_cells(first, 1).values())


def test_names_and_labels_stay_what_they_are(tmp_path):
    labels = Labels.of(['<a & "b">', "_x0041_\u2028\x07"])
    exported = export(Model.of(NAMED, LOSSES["logistic"], labels), "excel", office=False)
    exported.save(tmp_path / "model.xlsx")
    content = (tmp_path / "model.xlsx").read_bytes()
    assert [cell.value for cell in row_of(content, 1)][:3] == HOSTILE
    assert [row_of(content, row, 2)[1].value for row in (7, 8)] == list(labels.values)
    assert zipfile.ZipFile(BytesIO(content)).testzip() is None


def test_levels_of_control_characters_are_compared_as_they_are():
    levels = ("\x1f", "_x001F_", "a")
    ensemble = RuleEnsemble([Rule(1.5, Conjunction([Membership(0, levels[:1])]))], 0.5, [Column("l", levels), "age"])
    assert export(Model.of(ensemble, LOSS), "excel", office=False).verification.rows > 0


@pytest.mark.parametrize("text", ["a\r\nb", "a\n\rb", "a\x00b", "\ufffe", "\ud800"])
def test_texts_that_programs_change_are_refused(text):
    ensemble = RuleEnsemble([Rule(1.5, Conjunction([Membership(0, ("a",))]))], 0.5, [Column("town", ("a", text)), "age"])
    with pytest.raises(ValueError, match="of column 'town': a carriage return must not stand beside a newline"):
        export(Model.of(ensemble, LOSS), "excel", office=False)
    with pytest.raises(ValueError, match=r"cannot hold the class .*: a carriage return must not stand beside a newline"):
        export(Model.of(SMALL, LOSSES["logistic"], Labels.of(["a", text])), "excel", office=False)


def test_formulas_have_nothing_that_a_program_may_decode():
    ensemble = RuleEnsemble(
        [Rule(1.5, Conjunction([Membership(0, ("a\tb\n", "_x0041_"))]))], 0.5, [Column("l", ("a\tb\n", "_x0041_"))]
    )
    formulas = [cell.formula for cell in read_cells(workbook(Model.of(ensemble, LOSS)), 1).values() if cell.formula]
    assert any('OR(EXACT(A2,"a"&CHAR(9)&"b"&CHAR(10)),EXACT(A2,"_"&"x0041_"))' in formula for formula in formulas)
    assert not any(re.search(r"[\x00-\x1f]|_x[0-9A-F]{4}_", formula) for formula in formulas)


def test_a_class_that_does_not_belong_to_the_score_is_refused():
    target = find_format("excel", office=False)
    sources = [Source(Model.of(SMALL, LOSSES["logistic"], Labels.of(pair)), True) for pair in (["a", "b"], ["a", "c"])]
    with pytest.raises(ExportError, match="its score is nan instead of"):
        target.verified(sources[0], target.write(sources[1]), np.empty((0, 3)))


def test_a_formula_that_is_too_long_is_refused():
    long = RuleEnsemble([Rule(1.0, Conjunction([Proposition(range(700), [1.5] * 700, 0.5)]))], 0.0)
    with pytest.raises(ValueError, match="where Excel takes 8192: export a smaller model"):
        export(Model.of(long, LOSS), "excel")


def test_numbers_that_excel_does_not_have_are_refused():
    with pytest.raises(ValueError, match="too small or too large for Excel"):
        export(Model.of(EXTREME, LOSS), "excel")


def test_without_libreoffice_python_stands_in():
    assert str(export(Model.of(SMALL, LOSS), "excel", office=False).verification).startswith("verified with Python 3")
    assert "in place of Excel" in str(export(Model.of(SMALL, LOSS), "excel", office=False).verification)
