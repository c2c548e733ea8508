"""Target: a format or language to export to, which writes a product and knows how to run it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.source import Source
from obliquerules.export.verification import CannotVerifyError, Verification, telling_rows, verify
from obliquerules.rules.files.whole_files import write_bytes


@dataclass(frozen=True)
class Export:
    """A model in another language, with the result of its verification.

    Attributes
    ----------
    to : str
        The target.
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


class Target(ABC):
    """A kind of product; its options are the parameters of its class.

    Attributes
    ----------
    name : str
        The name of the target, as `export` takes it.
    """

    name: ClassVar[str]

    @abstractmethod
    def write(self, source: Source) -> Any:
        """Return the product."""

    @abstractmethod
    def engine(self) -> tuple[str, str]:
        """Return the name and version of the engine that runs the product; raise CannotVerifyError if there is none."""

    @abstractmethod
    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Return the outputs of a product for each row of X, in the order of `Source.output_names`."""

    def apart(self, source: Source) -> Target:  # noqa: ARG002  # for targets that put outputs beside columns
        """Return a target that can write all outputs of a source, whatever the names of its columns."""
        return self

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        """Return rows as what the product runs on can hold them, without those on which it need not agree with the model."""
        return source.possible(X)

    def expected(self, source: Source, X: Matrix) -> Matrix:
        """Return what the product must give for each row."""
        return source.outputs(X)

    def export(self, source: Source, X: Matrix) -> Export:
        """Write the product and verify that it computes the same as the model."""
        product = self.write(source)
        return Export(self.name, product, self._verified(source, product, X))

    def _verified(self, source: Source, product: Any, X: Matrix) -> Verification:
        def run(asked: Source, rows: Matrix) -> Matrix:
            if asked == source:
                return self.run(product, asked, rows)
            # An output that was not requested may have the name of a column; it is then verified under another name.
            target = self.apart(asked)
            return target.run(target.write(asked), asked, rows)

        try:
            engine, version = self.engine()
        except CannotVerifyError as error:
            return Verification(reason=str(error))
        rows = self.comparable(source, np.vstack([X, telling_rows(source)]))
        return Verification(engine, version, verify(source, rows, run, self.expected))
