"""Model files: reading them for a command, at the size that was asked for."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from obliquerules.cli.target_column import class_written
from obliquerules.parameters import check_whole
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.files.decoding import decode_content, decode_model
from obliquerules.rules.files.fields import Field, read_document

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel


def add_model(parser: argparse.ArgumentParser) -> None:
    """Let a command read a model."""
    parser.add_argument("model", metavar="MODEL", help="a model file, as 'fit' writes it")


def read_model(path: str, at: int | str | None = None) -> Model:
    """Read a model that can predict; the estimator that learned it would bring scikit-learn, which takes seconds to load."""
    model = read_rules(path, at)
    if isinstance(model, RuleEnsemble):
        raise ValueError(_rules_alone(path))
    return model


def read_rules(path: str, at: int | str | None = None) -> Model | RuleEnsemble:
    """Read a model, or an ensemble that was saved by itself; raise ValueError if the file cannot be read."""
    with _readable(path):
        document = read_document(path)
    model = _decode(document)
    if at is None:
        return model
    if isinstance(model, RuleEnsemble):
        raise ValueError(f"--at cannot be used: '{path}' holds one ensemble, and no path of smaller ones.")
    if not isinstance(at, str):
        check_whole("complexity", at, 0)
    return model.at(at)


def read_estimator(path: str, at: int | str | None = None) -> RuleModel:
    """Read a model together with the estimator that learned it."""
    from obliquerules.estimators.loading import load_model

    with _readable(path):
        estimator = load_model(path)
    if isinstance(estimator, RuleEnsemble):
        raise ValueError(_rules_alone(path))
    model: RuleModel = estimator if at is None else estimator.at(at)
    return model


@contextlib.contextmanager
def _readable(path: str) -> Iterator[None]:
    """Name the file that could not be read."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror}.") from error


def _decode(document: Field) -> Model | RuleEnsemble:
    kind = document.get("kind")
    if kind.value == "ensemble":
        return decode_content(document)
    if kind.value == "estimator":
        return decode_model(document)
    kind.fail("'estimator' or 'ensemble'")


def class_of(model: Model, text: str, option: str) -> Any:
    """Return the class of a model that the user wrote after an option; raise if there is none."""
    if model.labels is None:
        raise ValueError(f"{option} cannot be used: the model predicts numbers, not classes.")
    return class_written(text, model.labels.values, option)


def _rules_alone(path: str) -> str:
    return f"'{path}' holds rules alone, without what their score means: they can be shown, but not predict."
