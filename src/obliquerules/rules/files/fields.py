"""Fields: JSON documents read strictly, with complaints that name the field at fault, and written with exact numbers."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from obliquerules.rules.files.whole_files import write_text

FORMAT = "obliquerules"
VERSION = 1
# A model is a page of text, and a path of a few hundred rules takes a few megabytes. A larger file would only fill the memory.
MAX_BYTES = 32_000_000
# The most objects and lists in a document: empty ones take twenty times the memory of their text.
MAX_CONTAINERS = 2_000_000
_REQUIRED: Any = object()


class ModelFileError(ValueError):
    """A model file that cannot be read; the message names the file and the field."""


@dataclass(frozen=True)
class Field:
    """A value in a document together with where it stands, so that every complaint can say so."""

    value: Any
    where: str

    def fail(self, expected: str) -> NoReturn:
        """Raise, saying what the value should be."""
        raise ModelFileError(f"{self.where} should be {expected}; got {_shown(self.value)}.")

    def unknown(self, name: str, expected: str) -> NoReturn:
        """Raise, because an object has a field that it should not have."""
        raise ModelFileError(f"{self.where} has the field {_shown(name)}, which is not {expected}.")

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Name this place in an error of what is made of it."""
        try:
            yield
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(f"{self.where}: {cut(str(error), 300)}") from error

    def get(self, key: str, default: Any = _REQUIRED) -> Field:
        """Return the entry ``key`` of an object."""
        if key not in self.entries() and default is _REQUIRED:
            raise ModelFileError(f"{self.where} has no field '{key}'.")
        return Field(self.value.get(key, default), f"{self.where}.{key}")

    def entries(self) -> dict[str, Any]:
        """Return the entries of an object."""
        return self.value if isinstance(self.value, dict) else self.fail("an object")

    def items(self) -> Iterator[Field]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            self.fail("a list")
        return (Field(value, f"{self.where}[{index}]") for index, value in enumerate(self.value))

    def text(self) -> str:
        """Return a text that can be printed and saved again."""
        if not isinstance(self.value, str):
            self.fail("text")
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError:
            self.fail("text without unpaired surrogates")  # it could be neither printed nor saved again
        return self.value

    def number(self) -> float:
        """Return a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("a finite number")
        return number

    def numbers(self) -> tuple[float, ...]:
        """Return a list of finite numbers."""
        return tuple(item.number() for item in self.items())

    def names(self) -> list[str] | None:
        """Return a list of names, or None where the document has null."""
        return None if self.value is None else [name.text() for name in self.items()]

    def index(self, limit: int) -> int:
        """Return a whole number from 0 up to, not including, ``limit``."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value < limit:
            self.fail(f"a whole number from 0 to {limit - 1}")
        return self.value

    def truth(self) -> bool:
        """Return true or false."""
        return self.value if isinstance(self.value, bool) else self.fail("true or false")


def _shown(value: Any) -> str:
    """Return a value as a message shows it: of a nested one only the kind, because it may be huge."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    return cut(ascii(value), 60)


def cut(text: str, most: int) -> str:
    """Return a text, or its beginning if it has more than ``most`` characters."""
    return text if len(text) <= most else text[:most] + "..."


def write_document(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a document, replacing the file in one step."""
    write_text(path, document_text(content))


def document_text(content: dict[str, Any]) -> str:
    """Return a document as the text of its file."""
    text = json.dumps(header() | content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise ValueError(f"The model takes more than {MAX_BYTES // 10**6} MB, which could not be read back; save fewer rules.")
    return text


def header() -> dict[str, Any]:
    """Return the fields with which every document starts."""
    return {"format": FORMAT, "version": VERSION}


def read_document(path: str | os.PathLike[str]) -> Field:
    """Read a document; nothing in it is ever executed."""
    with open(path, "rb") as file:
        return parse_document(file.read(MAX_BYTES + 1), os.fspath(path))


def parse_document(raw: bytes, where: str) -> Field:
    """Read a document from the bytes of its file, which complaints call ``where``."""
    if len(raw) > MAX_BYTES:
        raise ModelFileError(f"{where} is larger than {MAX_BYTES // 10**6} MB, which no model is.")
    try:
        if raw.count(b"[") + raw.count(b"{") > MAX_CONTAINERS:
            raise ValueError(f"it has more than {MAX_CONTAINERS} objects and lists")
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is not a complete JSON document: {error}") from error
    document = Field(value, where)
    if document.get("format").value != FORMAT:
        document.get("format").fail(f"'{FORMAT}'")
    version = document.get("version")
    if version.index(2**31) > VERSION:
        raise ModelFileError(
            f"{version.where} is {version.value}, but this release reads version {VERSION}: upgrade obliquerules."
        )
    if version.value < VERSION:
        version.fail(f"{VERSION}")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON knows")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if a field stands in it twice, because readers differ in which one they take."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        double, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the field {_shown(double)} twice")
    return entries
