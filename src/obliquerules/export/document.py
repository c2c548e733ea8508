"""Documents: a model as JSON for programs, and as LaTeX for people."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.source import Source
from obliquerules.export.verification import CannotVerifyError
from obliquerules.losses import LOSS_OF_LINK, class_loss
from obliquerules.rules import Model
from obliquerules.rules.files.decoding import decode_content, decode_labels, decode_offset
from obliquerules.rules.files.encoding import encode_labels, encode_offset, ensemble_content
from obliquerules.rules.files.fields import Field, document_text, parse_document
from obliquerules.rules.text.formats import LATEX


def model_document(source: Source) -> str:
    """Return a JSON document with the rules and the link and, if there are any, the labels of many classes and the offset."""
    model = source.model
    content = ensemble_content(source.ensemble) | {"link": source.link}
    if model.labels is not None and source.labels:
        content["classes"] = encode_labels(model.labels)
    return document_text(content | encode_offset(model.offset))


def document_model(document: Field) -> Model:
    """Return the model that such a document describes."""
    ensemble, link, classes = decode_content(document), document.get("link").text(), document.get("classes", None)
    loss = class_loss(len(ensemble.outputs)) if ensemble.outputs is not None else LOSS_OF_LINK[link]
    labels = None if classes.value is None else decode_labels(classes)
    return replace(Model.of(ensemble, loss, labels), offset=decode_offset(document.get("offset", None), loss, ensemble))


@dataclass(frozen=True)
class JsonFormat(ExportFormat):
    """The rules as `RuleEnsemble.save` writes them, and the link; `load_model` reads the rules back."""

    name = "json"

    def write(self, source: Source) -> str:
        return model_document(source)

    def engine(self) -> tuple[str, str]:
        """Return this library, which reads the document again."""
        return "obliquerules", version("obliquerules")

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        document = parse_document(product.encode("utf-8"), "the export")
        found = Source(document_model(document), source.contributions)
        outputs = found.outputs(X)
        if (place := source.class_position) is not None:
            codes = outputs[:, place].tolist()
            outputs[:, place] = source.codes(None if math.isnan(code) else found.labels[int(code)] for code in codes)
        return outputs


@dataclass(frozen=True)
class LatexFormat(ExportFormat):
    """The rules as a LaTeX tabular.

    Parameters
    ----------
    exact : bool, default=False
        Write every number in full.
    """

    name = "latex"
    exact: bool = False

    def write(self, source: Source) -> str:
        table = source.ensemble.to_text("latex", exact=self.exact) + "\n"
        # The last lines say what a prediction takes besides the rules.
        notes = ["    \\hline\n"] if source.offsets else []
        for output, column in enumerate(source.offsets):
            name, word = LATEX.name(source.names[column]), source.ensemble.output_name(output)
            score = "the score" if word is None else f"the score of {LATEX.output(word)}"
            said = f"{name} multiplies the prediction" if source.has_exposure else f"{name} is added to {score}"
            notes.append(f"    \\multicolumn{{{source.n_scores + 2}}}{{l}}{{{said}}} \\\\\n")
        return table.replace("\\end{tabular}", "".join(notes) + "\\end{tabular}")

    def engine(self) -> tuple[str, str]:
        raise CannotVerifyError("a table in LaTeX is read by people.")

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:  # noqa: ARG002  # one signature for all formats
        raise CannotVerifyError("a table in LaTeX is read by people.")
