"""Formats: what a model can be exported to, and the export, which is compared with the model first."""

from __future__ import annotations

import importlib
import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from obliquerules.arrays import Matrix
from obliquerules.export.source import Source
from obliquerules.export.verification import CannotVerifyError, Verification, compare, drawn_offsets, telling_rows
from obliquerules.rules import Block, Model
from obliquerules.rules.files.whole_files import write_bytes

# The number of rows that an export is run on at once.
MOST_ROWS_AT_A_TIME = 100_000
# For each target, its module in this package and its class, imported on demand.
EXPORT_FORMATS: dict[str, str] = {
    "python": "python.PythonFormat",
    "c": "c.CFormat",
    "sql": "sql.SqlFormat",
    "frame": "frame.FrameFormat",
    "onnx": "onnx_graph.OnnxFormat",
    "excel": "excel.ExcelFormat",
    "json": "document.JsonFormat",
    "latex": "document.LatexFormat",
}


@dataclass(frozen=True)
class Export:
    """A model in another language, with the result of its verification.

    Attributes
    ----------
    to : str
        The format.
    content : str, bytes or FrameScorer
        The product.
    verification : Verification
        What ran the product, and on how many rows it was compared with the model.
    """

    to: str
    content: Any = field(repr=False)
    verification: Verification

    def __str__(self) -> str:
        return self.content if isinstance(self.content, str) else repr(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the product to a file, in one step."""
        if not isinstance(self.content, (str, bytes)):
            raise TypeError(f"A {type(self.content).__name__} is used in Python and is not written to a file.")
        write_bytes(path, self.content.encode("utf-8") if isinstance(self.content, str) else self.content)


class ExportFormat(ABC):
    """A kind of product; its options are the parameters of its class.

    Attributes
    ----------
    name : str
        The name of the format, as `export` takes it.
    has_typed_columns : bool
        Whether the product depends on what the columns of the user's tables hold.
    has_moments : bool
        Whether the engine takes dates, times and durations as such, and not as numbers.
    """

    name: ClassVar[str]
    has_typed_columns: ClassVar[bool] = False
    has_moments: ClassVar[bool] = False

    @abstractmethod
    def write(self, source: Source) -> Any:
        """Return the product."""

    @abstractmethod
    def engine(self) -> tuple[str, str]:
        """Return the name and version of the engine that runs the product; raise CannotVerifyError if there is none."""

    @abstractmethod
    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Return the outputs of a product for each row of X, in the order of `Source.output_names`."""

    def with_free_names(self, source: Source) -> ExportFormat:  # noqa: ARG002  # for outputs beside columns
        """Return a format that can write all outputs of a source, whatever the names of its columns."""
        return self

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        """Return rows as the engine can hold them, without those on which the product need not agree with the model."""
        return source.held(X) if self.has_moments else source.possible(X)

    def expected(self, source: Source, X: Matrix) -> Matrix:
        """Return what the product must give for each row."""
        return source.outputs(X)

    def export(self, source: Source, X: Matrix) -> Export:
        """Write the product and verify that it computes the same as the model."""
        product = self.write(source)
        return Export(self.name, product, self.verified(source, product, X))

    def verified(self, source: Source, product: Any, X: Matrix) -> Verification:
        """Run a product on rows and generated ones, and compare it with the model, contributions included."""
        try:
            engine, version = self.engine()
        except CannotVerifyError as error:
            return Verification(reason=str(error))
        rows = self.comparable(source, np.vstack([X, telling_rows(source)]))
        tried: list[tuple[ExportFormat, Source, Any]] = [(self, source, product)]
        if not source.contributions:
            # An output that was not requested may have the name of a column; it is then verified under another name.
            full = Source(source.model, True, source.types)
            other = self.with_free_names(full)
            tried.append((other, full, other.write(full)))
        for form, asked, written in tried:
            for first in range(0, len(rows), MOST_ROWS_AT_A_TIME):
                block = rows[first : first + MOST_ROWS_AT_A_TIME]
                compare(asked, block, form.run(written, asked, block), first, self.expected(asked, block))
        return Verification(engine, version, len(rows))


def find_format(to: str, **options: Any) -> ExportFormat:
    """Return a format with its options."""
    if to not in EXPORT_FORMATS:
        raise ValueError(f"to must be one of {', '.join(map(repr, EXPORT_FORMATS))}; got {to!r}.")
    module, name = EXPORT_FORMATS[to].split(".")
    kind = getattr(importlib.import_module(f"obliquerules.export.{module}"), name)
    known = list(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            offered = f"may have {', '.join(known)}" if known else "has no options"
            raise ValueError(f"An export to {to!r} has no option {option!r}; it {offered}.")
    found: ExportFormat = kind(**options)
    return found


def export(
    model: Model,
    to: str,
    X: ArrayLike | Block | None = None,
    *,
    contributions: bool = False,
    kinds: Mapping[str, str] | None = None,
    offset: ArrayLike | None = None,
    **options: Any,
) -> Export:
    r"""Return a model in another language, after verifying that it computes the same.

    Parameters
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    to : str
        One of `EXPORT_FORMATS`.
    X : array or data frame of shape (n_samples, n_features), optional
        Rows on which to compare the export with the model, besides generated ones.
    contributions : bool, default=False
        Also output the contribution of each rule to the score.
    kinds : mapping from str to str, optional
        What columns hold in the data that X was read from: ``"boolean"``, ``"integer"``, ``"decimal"``, ``"double"``,
        ``"text"``, ``"date"``, ``"time"`` or ``"duration"``.
    offset : array of shape (n_samples,) or (n_samples, n_classes), optional
        The exposure or offset of each row of X, if the model has one. Without it, there are generated ones.
    **options
        The options of the format.

    Raises
    ------
    ExportError
        If the export does not compute the same as the model; the message names the first row that differs.

    Examples
    --------
    >>> from obliquerules import Model, RuleEnsemble
    >>> from obliquerules.losses import LOSSES
    >>> ensemble = RuleEnsemble.parse("+1.5 if True\n-2 if age >= 50", ["age", "bmi"])
    >>> exported = export(Model.of(ensemble, LOSSES["logistic"]), "python")
    >>> print(exported.verification)  # doctest: +ELLIPSIS
    verified with Python 3... on ... rows, no mismatch
    """
    found = find_format(to, **options)
    source = Source(model, contributions, kinds if found.has_typed_columns else None)
    if offset is not None and (X is None or not source.offsets):
        raise ValueError("offset goes with the rows of X, and with a model that has an exposure or an offset; leave it out.")
    rows = np.empty((0, source.n_columns))
    if X is not None:
        inputs = source.ensemble.block(X).matrix[:, : source.n_features]
        shape = len(inputs), len(source.offsets)
        values = drawn_offsets(source, len(inputs), np.random.default_rng(0)) if offset is None else np.asarray(offset, float)
        if values.size != shape[0] * shape[1] or len(values) != shape[0]:
            raise ValueError(f"offset must have shape {shape}, as the rows of X and the model have it; got {values.shape}.")
        rows = np.hstack([inputs, values.reshape(shape)])
    return found.export(source, rows)
