"""Models as JSON documents: strict reading that names the field at fault, and exact numbers."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.ensemble import Rule, RuleEnsemble
from obliquerules.rules.proposition import Proposition
from obliquerules.rules.whole_files import write_text

FORMAT = "obliquerules"
VERSION = (1, 1)
# A model is a page of text, its path of some hundred rules a few megabytes. What is larger would only fill the memory.
MAX_BYTES = 32_000_000
# Objects and lists of a model; empty ones would take twenty times the memory of their text.
MAX_CONTAINERS = 2_000_000
# A model on columns without names may speak of any column: a short file must not ask for rows that fill the memory.
MOST_UNNAMED_COLUMNS = 10**6
_REQUIRED: Any = object()


class ModelFileError(ValueError):
    """A model file that cannot be read; the message names the file and the field."""


@dataclass(frozen=True)
class Field:
    """A value in a document together with where it stands, so that every complaint can say so."""

    value: Any
    where: str

    def fail(self, expected: str) -> NoReturn:
        raise ModelFileError(f"{self.where} should be {expected}; got {_shown(self.value)}.")

    def unknown(self, name: str, expected: str) -> NoReturn:
        raise ModelFileError(f"{self.where} has the field {_shown(name)}, which is not {expected}.")

    def get(self, key: str, default: Any = _REQUIRED) -> Field:
        """Return the entry ``key`` of an object."""
        if not isinstance(self.value, dict):
            self.fail("an object")
        if key not in self.value and default is _REQUIRED:
            raise ModelFileError(f"{self.where} has no field '{key}'.")
        return Field(self.value.get(key, default), f"{self.where}.{key}")

    def names(self) -> list[str]:
        if not isinstance(self.value, dict):
            self.fail("an object")
        return list(self.value)

    def items(self) -> Iterator[Field]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            self.fail("a list")
        return (Field(value, f"{self.where}[{index}]") for index, value in enumerate(self.value))

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail("text")
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError:
            self.fail("text without halves of characters")  # it could be neither printed nor saved again
        return self.value

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("a finite number")
        return number

    def index(self, limit: int) -> int:
        """Return a whole number from 0 up to, not including, ``limit``."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value < limit:
            self.fail(f"a whole number from 0 to {limit - 1}")
        return self.value


def _shown(value: Any) -> str:
    """Return a value as a message shows it: what is nested is named only, because it may be endless."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return _cut(ascii(value), 60)


def _cut(text: str, most: int) -> str:
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
    return {"format": FORMAT, "version": f"{VERSION[0]}.{VERSION[1]}"}


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
    _check_version(document)
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


def _check_version(document: Field) -> None:
    if document.get("format").value != FORMAT:
        document.get("format").fail(f"'{FORMAT}'")
    field = document.get("version")
    parts = field.text().split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        field.fail("a version such as '1.0'")
    if int(parts[0]) > VERSION[0]:
        raise ModelFileError(
            f"{field.where} is {field.text()}, but this release reads versions up to {VERSION[0]}.x: upgrade obliquerules."
        )
    if int(parts[0]) < 1:
        field.fail("a version of 1.0 or later")


def ensemble_content(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the content of the document of an ensemble by itself."""
    names = None if ensemble.feature_names is None else list(ensemble.feature_names)
    if names is None and any(rule.condition.n_columns > MOST_UNNAMED_COLUMNS for rule in ensemble):
        raise ValueError(
            f"Rules on columns beyond the first {MOST_UNNAMED_COLUMNS} can only be saved if the columns have names."
        )
    return {"kind": "ensemble", "feature_names": names, "ensemble": encode_ensemble(ensemble)}


def decode_content(document: Field) -> RuleEnsemble:
    """Return the ensemble whose document has `ensemble_content`."""
    return decode_ensemble(document.get("ensemble"), decode_names(document.get("feature_names")))


def encode_ensemble(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the rules of an ensemble as plain objects; the names are left to the caller."""
    return {"intercept": ensemble.intercept, "rules": [encode_rule(rule) for rule in ensemble.rules]}


def encode_rule(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain objects."""
    return {
        "weight": rule.weight,
        "condition": [
            {
                "columns": list(proposition.columns),
                "weights": list(proposition.weights),
                "threshold": proposition.threshold,
            }
            for proposition in rule.condition
        ],
    }


def decode_ensemble(field: Field, feature_names: Sequence[str] | None) -> RuleEnsemble:
    """Return the ensemble that `encode_ensemble` wrote."""
    n_columns = MOST_UNNAMED_COLUMNS if feature_names is None else len(feature_names)
    rules = [decode_rule(rule, n_columns) for rule in field.get("rules").items()]
    intercept = field.get("intercept").number()
    if not math.isfinite(sum((abs(rule.weight) for rule in rules), abs(intercept))):
        raise ModelFileError(f"{field.where} has weights whose sum is too large for a number.")
    return RuleEnsemble(rules, intercept, feature_names)


def decode_rule(field: Field, n_columns: int) -> Rule:
    """Return the rule that `encode_rule` wrote, on so many columns."""
    weight = field.get("weight").number()
    return Rule(weight, Conjunction(_decode_proposition(item, n_columns) for item in field.get("condition").items()))


def _decode_proposition(field: Field, n_columns: int) -> Proposition:
    columns = [column.index(n_columns) for column in field.get("columns").items()]
    weights = [weight.number() for weight in field.get("weights").items()]
    threshold = field.get("threshold").number()
    try:
        return Proposition(columns, weights, threshold)
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {_cut(str(error), 300)}") from error


def decode_names(field: Field) -> list[str] | None:
    """Return a list of names, or None where the document has null."""
    return None if field.value is None else [name.text() for name in field.items()]
