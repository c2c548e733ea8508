"""Exports say what they cannot do before they start."""

import sys

import pytest

from obliquerules import Rule, RuleEnsemble
from obliquerules.export.export_formats import export, find_format
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from .models import CONSTANT, ORDINARY

LOSS = LOSSES["squared"]


def test_an_unknown_target_is_named():
    with pytest.raises(ValueError, match=r"to must be one of 'python', 'c'.*; got 'cobol'"):
        export(Model.of(ORDINARY, LOSS), "cobol")


def test_an_unknown_option_is_named():
    with pytest.raises(ValueError, match=r"An export to 'c' has no option 'dialect'; it may have prefix\."):
        find_format("c", dialect="duckdb")
    with pytest.raises(ValueError, match=r"An export to 'python' has no option 'prefix'; it has no options\."):
        find_format("python", prefix="a")


def test_names_that_cannot_be_told_apart_are_refused():
    twice = RuleEnsemble(ORDINARY.rules, 0.0, ["age", "age", "bmi"])
    with pytest.raises(ValueError, match="columns 'age' and 'age' have the same name"):
        export(Model.of(twice, LOSS), "python")


def test_weights_that_add_up_to_infinity_are_refused():
    with pytest.raises(ValueError, match="sum is too large"):
        export(Model.of(RuleEnsemble([Rule(1.7e308), Rule(1.7e308)]), LOSS), "python")


def test_the_prefix_of_c_functions_is_checked():
    with pytest.raises(ValueError, match="prefix must start with a letter"):
        find_format("c", prefix="0; int main")


def test_a_product_is_written_to_a_file(tmp_path):
    exported = export(Model.of(CONSTANT, LOSS), "python")
    exported.save(tmp_path / "model.py")
    assert (tmp_path / "model.py").read_text(encoding="utf-8") == exported.content == str(exported)


@pytest.mark.parametrize(("to", "package"), [("sql", "duckdb"), ("onnx", "onnxruntime")])
def test_without_an_engine_the_export_says_what_to_install(to, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # what an import finds that is not installed
    verification = export(Model.of(ORDINARY, LOSS), to).verification
    assert verification.engine is None
    assert verification.rows == 0
    assert verification.reason.endswith("is not installed; 'obliquerules[export]' brings it.")


def test_without_onnx_there_is_no_graph(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs onnx: pip install 'obliquerules\[export\]'"):
        export(Model.of(ORDINARY, LOSS), "onnx")
