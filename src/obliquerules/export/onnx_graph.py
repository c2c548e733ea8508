"""ONNX: a model as a graph of standard operators in double precision."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.export.document import model_document
from obliquerules.export.language import Language
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError

# Versions that the runtimes of recent years support.
OPSET, IR_VERSION = 17, 8
INPUT = "X"


class GraphLanguage(Language[str]):
    """A graph under construction; its terms are the names of tensors with one number for each row."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._constants: dict[tuple[str, str], str] = {}
        self._columns: dict[int, str] = {}

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        name = f"t{len(self.nodes)}" if output is None else output
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def array(self, values: Any) -> str:
        """Return the name of a constant array."""
        from onnx import numpy_helper

        array = np.asarray(values)
        key = (str(array.dtype), repr(array.tolist()))
        if key not in self._constants:
            self._constants[key] = f"c{len(self._constants)}"
            self.initializers.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def number(self, value: float) -> str:
        """Return a constant."""
        return self.array(np.float64(value))

    def constant(self, value: float) -> str:
        """Return a constant, repeated for each row."""
        shape = self.node("Shape", INPUT, start=0, end=1)
        return self.node("Expand", self.number(value), shape)

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        """Return a column of the input."""
        if column not in self._columns:
            self._columns[column] = self.node("Gather", INPUT, self.array(np.int64(column)), axis=1)
        return self._columns[column]

    def product(self, weight: float, column: str) -> str:
        """Return the product."""
        return self.node("Mul", self.number(weight), column)

    def total(self, left: str, right: str) -> str:
        """Return the sum."""
        return self.node("Add", left, right)

    def reaches(self, total: str, threshold: float) -> str:
        """Return a comparison."""
        return self.node("GreaterOrEqual", total, self.number(threshold))

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is false for NaN."""
        return self.node("LessOrEqual", self.node("Abs", column), self.number(limit))

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        joined = conditions[0]
        for condition in conditions[1:]:
            joined = self.node("And", joined, condition)
        return joined

    def choice(self, condition: str, weight: float) -> str:
        """Return a Where node."""
        return self.node("Where", condition, self.number(weight), self.number(0.0))

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score, by Min and Max."""
        return self.node("Min", self.node("Max", score, self.number(low)), self.number(high))

    def logistic(self, score: str) -> str:
        """Return the link."""
        power = self.exponential(self.node("Neg", score))
        return self.node("Div", self.number(1.0), self.node("Add", self.number(1.0), power))

    def exponential(self, score: str) -> str:
        """Return the link."""
        return self.node("Exp", score)

    def only_where(self, condition: str | None, term: str, output: str) -> str:
        """Return a term under the name of an output, with NaN where the condition does not hold."""
        if condition is None:
            return self.node("Identity", term, output=output)
        return self.node("Where", condition, term, self.number(math.nan), output=output)


@dataclass(frozen=True)
class OnnxTarget(Target):
    """A graph with the input X, doubles of shape (n, n_features), and outputs of shape (n,).

    The outputs are score, prediction and, on request, rule_0, rule_1 and so on; all are NaN for a row in which an input that
    rules use is NaN or not finite. The metadata has the rules and the link under
    ``obliquerules``, as the JSON that `JsonTarget` writes.
    """

    name = "onnx"

    def write(self, source: Source) -> bytes:
        """Return the serialised model."""
        onnx = _imported("onnx")
        language = GraphLanguage()
        contributions = [language.contribution(source, rule) for rule in source.ensemble]
        score = language.score(source.ensemble.intercept, contributions)
        tensors = [score, language.prediction(source, score), *(contributions if source.contributions else [])]
        scorable = language.scorable(source)
        for tensor, name in zip(tensors, source.output_names(), strict=True):
            language.only_where(scorable, tensor, name)
        double = onnx.TensorProto.DOUBLE
        graph = onnx.helper.make_graph(
            language.nodes,
            "obliquerules",
            [onnx.helper.make_tensor_value_info(INPUT, double, ["n", source.n_columns])],
            [onnx.helper.make_tensor_value_info(name, double, ["n"]) for name in source.output_names()],
            language.initializers,
        )
        opset = onnx.helper.make_opsetid("", OPSET)
        model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="obliquerules")
        onnx.helper.set_model_props(model, {"obliquerules": model_document(source)})
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def engine(self) -> tuple[str, str]:
        """Return ONNX Runtime."""
        try:
            import onnxruntime
        except ImportError as error:
            raise CannotVerifyError("onnxruntime is not installed; 'obliquerules[export]' brings it.") from error
        return "ONNX Runtime", str(onnxruntime.__version__)

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Run the graph."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(product, options, providers=["CPUExecutionProvider"])
        return np.column_stack(session.run(list(source.output_names()), {INPUT: X}))


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"An export to ONNX needs {name}: pip install 'obliquerules[export]'") from error
