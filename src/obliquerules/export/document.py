"""Documents: a model as JSON for programs, and as LaTeX for people."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError
from obliquerules.losses import LOSS_OF_LINK
from obliquerules.rules import Model
from obliquerules.rules.decoding import decode_content
from obliquerules.rules.documents.encoding import ensemble_content
from obliquerules.rules.documents.fields import document_text, parse_document


def model_document(source: Source) -> str:
    """Return a JSON document with the rules and the link."""
    return document_text(ensemble_content(source.ensemble) | {"link": source.link})


@dataclass(frozen=True)
class JsonTarget(Target):
    """The rules as `RuleEnsemble.save` writes them, and the link; `load_model` reads the rules back."""

    name = "json"

    def write(self, source: Source) -> str:
        """Return the text of the document."""
        return model_document(source)

    def engine(self) -> tuple[str, str]:
        """Return this library, which reads the document again."""
        return "obliquerules", version("obliquerules")

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Read the document and evaluate it."""
        document = parse_document(product.encode("utf-8"), "the export")
        loss = LOSS_OF_LINK[document.get("link").text()]
        return Source(Model.of(decode_content(document), loss), source.contributions).outputs(X)


@dataclass(frozen=True)
class LatexTarget(Target):
    """The rules as a LaTeX tabular.

    Parameters
    ----------
    exact : bool, default=False
        Write every number in full.
    """

    name = "latex"
    exact: bool = False

    def write(self, source: Source) -> str:
        """Return the tabular."""
        return source.ensemble.to_text("latex", exact=self.exact) + "\n"

    def engine(self) -> tuple[str, str]:
        """Raise, because LaTeX computes nothing."""
        raise CannotVerifyError("a table in LaTeX is read by people.")

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:  # noqa: ARG002  # one signature for all targets
        """Raise, because LaTeX computes nothing."""
        raise CannotVerifyError("a table in LaTeX is read by people.")
