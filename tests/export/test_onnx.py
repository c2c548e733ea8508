"""Graphs are of standard operators in doubles, are the same every time, and hold the rules as JSON."""

import json

import onnx
import pytest

from obliquerules import load_model
from obliquerules.export.registry import export
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from .models import MODELS, NAMED, ORDINARY

LOSS = LOSSES["logistic"]


def test_operators_are_few_and_no_product_of_matrices():
    graph = onnx.load_from_string(export(Model.of(ORDINARY, LOSS), "onnx").content).graph
    operators = {node.op_type for node in graph.node}
    few = "Shape Expand Gather Mul Add GreaterOrEqual Greater Not Abs And Where Neg Exp Div"
    assert operators == set(few.split())
    assert {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)} == {onnx.TensorProto.DOUBLE}


@pytest.mark.parametrize("model", MODELS)
def test_the_rules_can_be_read_back(model, tmp_path):
    ensemble, loss = MODELS[model]
    graph = onnx.load_from_string(export(Model.of(ensemble, loss), "onnx").content)
    properties = {entry.key: entry.value for entry in graph.metadata_props}
    (tmp_path / "rules.json").write_text(properties["obliquerules"], encoding="utf-8")
    assert load_model(tmp_path / "rules.json") == ensemble
    assert json.loads(properties["obliquerules"])["format"] == "obliquerules"


def test_the_same_model_gives_the_same_bytes():
    assert export(Model.of(NAMED, LOSS), "onnx").content == export(Model.of(NAMED, LOSS), "onnx").content
