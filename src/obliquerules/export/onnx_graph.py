"""ONNX: a model as a graph of standard operators in double precision."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.document import model_document
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.language import Language, known_levels
from obliquerules.export.source import Source
from obliquerules.export.verification import CannotVerifyError
from obliquerules.rules.columns import Level
from obliquerules.rules.rule_parts import Membership

# Versions that the runtimes of recent years support.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
INPUT = "X"
# The domain of the operator that looks up text.
ML = "ai.onnx.ml"
BOOLEAN = 9  # TensorProto.BOOL
# In place of a class that is a whole number.
LEAST = -(2**63)


OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    ">": "Greater",
    ">=": "GreaterOrEqual",
    "<=": "LessOrEqual",
    "and": "And",
    "or": "Or",
    "exp": "Exp",
    "max": "Max",
    "min": "Min",
}


class GraphLanguage(Language[str]):
    """A graph under construction; its terms are the names of tensors with one number for each row."""

    def __init__(self, source: Source) -> None:
        # The columns of the input X: all but those of text.
        self.numbers = [column for column in range(source.n_columns) if source.kinds[column] != "text"]
        used = set(source.used)
        self.texts = {column: name for column, name in text_inputs(source).items() if column in used}
        self._taken = set(self.texts.values())
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._constants: dict[tuple[str, str], str] = {}
        self._columns: dict[int, str] = {}

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        name = _name_beside(f"t{len(self.nodes)}", self._taken) if output is None else output
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def array(self, values: Any) -> str:
        """Return the name of a constant array."""
        from onnx import numpy_helper

        array = np.asarray(values)
        key = (str(array.dtype), repr(array.tolist()))
        if key not in self._constants:
            self._constants[key] = _name_beside(f"c{len(self._constants)}", self._taken)
            self.initializers.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def number(self, value: float) -> str:
        return self.array(np.float64(value))

    def constant(self, value: float) -> str:
        """Return a constant, repeated for each row."""
        shape = self.node("Shape", INPUT if self.numbers or not self.texts else next(iter(self.texts.values())), start=0, end=1)
        return self.node("Expand", self.number(value), shape)

    def column(self, source: Source, column: int) -> str:  # noqa: ARG002  # one signature for all languages
        if column not in self._columns:
            self._columns[column] = self.node("Gather", INPUT, self.array(np.int64(self.numbers.index(column))), axis=1)
        return self._columns[column]

    def operation(self, sign: str, left: str, right: str) -> str:
        return self.node(OPERATORS[sign], left, right)

    def function(self, name: str, *numbers: str) -> str:
        return self.node(OPERATORS[name], *numbers)

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is true for NaN."""
        return self.node("Not", self.node("Greater", self.node("Abs", column), self.number(limit)))

    def usable(self, source: Source, column: int) -> str:
        return self.within(self.column(source, column), source.largest_input)

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        """Return whether a number is NaN, or a text the one that stands for a missing value."""
        if column in self.texts:
            return self.looked_up(column, {missing_text(source, column): int(not negated)}, negated)
        absent = self.node("IsNaN", self.column(source, column))
        return self.node("Not", absent) if negated else absent

    def membership(self, source: Source, membership: Membership) -> str:
        """Return whether a membership holds; one on text takes a single node."""
        if membership.column not in self.texts:
            return super().membership(source, membership)
        listed: dict[Level, int] = dict.fromkeys(known_levels(source, membership), int(not membership.negated))
        return self.looked_up(
            membership.column, listed | {missing_text(source, membership.column): int(membership.missing)}, membership.negated
        )

    def looked_up(self, column: int, values: Mapping[Level, int], otherwise: bool) -> str:
        """Return what a mapping has for a text."""
        keys = [str(level) for level in values]
        coded = self.node(
            "LabelEncoder",
            self.texts[column],
            domain=ML,
            keys_strings=keys,
            values_int64s=list(values.values()),
            default_int64=int(otherwise),
        )
        return self.node("Cast", coded, to=BOOLEAN)

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        """Return comparisons of the numbers that booleans and whole numbers are."""
        listed = [self.node("Equal", self.column(source, column), self.number(float(level))) for level in levels]
        found = self.either(listed)
        if not negated:
            return found
        return self.both([self.node("Not", found), self.missing(source, column, negated=True)])

    def only(self, condition: str, amount: str) -> str:
        return self.node("Where", condition, amount, self.number(0.0))

    def logistic(self, score: str) -> str:
        power = self.function("exp", self.node("Neg", score))
        return self.node("Div", self.number(1.0), self.node("Add", self.number(1.0), power))

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        """Return the position of the label, from Where nodes that look at one score after the other."""
        found = self.array(np.int64(len(labels) - 1))
        for position in reversed(range(len(labels) - 1)):
            attains = self.node("GreaterOrEqual", scores[position], highest)
            found = self.node("Where", attains, self.array(np.int64(position)), found)
        return found

    def write_output(self, source: Source, place: int, tensor: str, condition: str | None) -> None:
        """Put a tensor under the name of an output, with what stands for none where the condition does not hold."""
        output = source.output_names()[place]
        if place == source.class_position:
            # The tensor has the position of a label; behind the labels, there is what stands for none.
            labels = np.array([*source.labels, missing_label(source)], dtype=object if source.label_kind == "text" else None)
            if condition is not None:
                tensor = self.node("Where", condition, tensor, self.array(np.int64(len(source.labels))))
            self.node("Gather", self.array(labels), tensor, output=output)
        elif condition is None:
            self.node("Identity", tensor, output=output)
        else:
            self.node("Where", condition, tensor, self.number(math.nan), output=output)


@dataclass(frozen=True)
class OnnxFormat(ExportFormat):
    """A graph with the input X, doubles of shape (n, n_features), and outputs of shape (n,).

    Each column of text is an input of its own, strings of shape (n,), called like the column, with an underscore after it if X
    or an output is called so; X then has the other columns, in their order. In X, booleans are 0 and 1, dates the days and
    times the seconds since the beginning of 1970, and durations days. A missing value is NaN, and an empty string in text,
    unless that is a level: the description of each input says it.

    The exposure or the offset, if the model has one, is the last column of X, or with many classes the last columns.

    The outputs are score, prediction and, on request, rule_0, rule_1 and so on; all are NaN for a row in which a number that
    rules use is beyond 1e300. With many classes there are the score of each, such as score_red, the class, which is a string or
    a number as the labels are, its probability and, on request, rule_0_red and so on. The description of the output class says
    what it is for a row that cannot be scored. The metadata has the rules and the link under ``obliquerules``, as the JSON that
    `JsonFormat` writes.
    """

    name = "onnx"

    def write(self, source: Source) -> bytes:
        try:
            import onnx
        except ImportError as error:
            raise ImportError("An export to ONNX needs onnx: pip install 'obliquerules[export]'") from error
        language, names = GraphLanguage(source), source.output_names()
        tensors, scorable = language.outputs(source), language.scorable(source)
        for place, tensor in enumerate(tensors):
            language.write_output(source, place, tensor, scorable)
        kinds, make = onnx.TensorProto, onnx.helper.make_tensor_value_info
        inputs = []
        if language.numbers or not language.texts:
            # The columns of X, if they are not those of the model.
            said = ", ".join(source.names[column] for column in language.numbers) if text_inputs(source) else ""
            inputs = [make(INPUT, kinds.DOUBLE, ["n", len(language.numbers)], said)]
        for column, name in language.texts.items():
            inputs.append(make(name, kinds.STRING, ["n"], f"{missing_text(source, column)!r} is a missing value"))
        outputs = [make(name, kinds.DOUBLE, ["n"]) for name in names]
        if source.labels:
            place = source.n_scores
            kind = {"text": kinds.STRING, "integer": kinds.INT64, "double": kinds.DOUBLE}[source.label_kind]
            outputs[place] = make(names[place], kind, ["n"], f"{missing_label(source)!r} for a row that cannot be scored")
        graph = onnx.helper.make_graph(language.nodes, "obliquerules", inputs, outputs, language.initializers)
        opsets = [onnx.helper.make_opsetid("", OPSET)]
        opsets += [onnx.helper.make_opsetid(ML, ML_OPSET)] if language.texts else []
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="obliquerules")
        onnx.helper.set_model_props(model, {"obliquerules": model_document(source)})
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def engine(self) -> tuple[str, str]:
        try:
            import onnxruntime
        except ImportError as error:
            raise CannotVerifyError("onnxruntime is not installed; 'obliquerules[export]' brings it.") from error
        return "ONNX Runtime", str(onnxruntime.__version__)

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(product, options, providers=["CPUExecutionProvider"])
        given = {value.name for value in session.get_inputs()}
        texts, numbers, feeds = text_inputs(source), X.copy(), {}
        for column in source.with_levels:
            values = source.values(column, X)
            if column in texts:
                missing = missing_text(source, column)
                feeds[texts[column]] = np.array([missing if text is None else text for text in values], dtype=object)
            else:
                numbers[:, column] = [np.nan if level is None else level for level in values]
        feeds[INPUT] = np.ascontiguousarray(numbers[:, [column for column in range(source.n_columns) if column not in texts]])
        outputs = session.run(list(source.output_names()), {name: some for name, some in feeds.items() if name in given})
        if (place := source.class_position) is not None:
            absent = missing_label(source)
            outputs[place] = source.codes(None if label == absent else label for label in outputs[place].tolist())
        return np.column_stack(outputs)


# ---- inputs


def text_inputs(source: Source) -> dict[int, str]:
    """Return the columns of text with names of their inputs.

    These differ from the names of other inputs and outputs.
    """
    taken, inputs = {INPUT, *source.with_contributions().output_names()}, {}
    for column in source.with_levels:
        if source.kinds[column] == "text":
            inputs[column] = _name_beside(source.names[column] or "_", taken)
            taken.add(inputs[column])
    return inputs


def missing_text(source: Source, column: int) -> str:
    """Return the text that stands for a missing value: the empty one, if it is not a level."""
    return _name_beside("", source.columns[column].levels or ())


def _name_beside(name: str, others: Container[Any]) -> str:
    """Return a name, with underscores if it is already taken."""
    while name in others:
        name += "_"
    return name


def missing_label(source: Source) -> Any:
    """Return what stands for the class of a row that cannot be scored: an empty text, the least whole number, or NaN."""
    return {"text": _name_beside("", source.labels), "integer": LEAST}.get(source.label_kind, math.nan)
