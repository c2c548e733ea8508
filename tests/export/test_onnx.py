"""Graphs are of standard operators in doubles, are the same every time, and hold the rules as JSON."""

import json

import onnx
import pytest

from obliquerules import Column, Conjunction, Membership, Proposition, Rule, RuleEnsemble, load_model
from obliquerules.export.export_formats import export
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


def test_inputs_of_text_are_called_like_their_columns():
    names = ["c1", "t0", "rule_7", "a"]
    columns = [*(Column(name, ("x", "y")) for name in [*names, "X", "score"]), Column("age")]
    tests = [Membership(column, ("x",)) for column in range(6)]
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([test, Proposition([6], [1.0], 2.0)])) for test in tests], 0.5, columns)
    exported = export(Model.of(ensemble, LOSSES["squared"]), "onnx")
    assert exported.verification.rows > 0
    inputs = [one.name for one in onnx.load_from_string(exported.content).graph.input]
    assert inputs == ["X", *names, "X_", "score_"]
