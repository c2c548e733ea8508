"""Documents: a model as JSON for programs, and as LaTeX for people."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError
from obliquerules.rules.document import decode_content, document_text, ensemble_content, parse_document


@dataclass(frozen=True)
class JsonTarget(Target):
    """The rules as `RuleEnsemble.save` writes them; `load_model` reads them back."""

    name = "json"

    def write(self, source: Source) -> str:
        """Return the text of the document."""
        return document_text(ensemble_content(source.ensemble))

    def engine(self) -> tuple[str, str]:
        """Return this library, which reads the document again."""
        return "obliquerules", version("obliquerules")

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Read the document and evaluate it."""
        ensemble = decode_content(parse_document(product.encode("utf-8"), "the export"))
        return Source(ensemble, source.loss, source.contributions).outputs(X)


@dataclass(frozen=True)
class LatexTarget(Target):
    """The rules as a tabular.

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
