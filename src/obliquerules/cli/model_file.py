"""Model files, read at the size that was asked for."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from obliquerules.cli.target_column import class_written
from obliquerules.parameters import check_whole
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.files.decoding import decode_content, decode_model
from obliquerules.rules.files.fields import read_document

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel


def add_model(parser: argparse.ArgumentParser) -> None:
    """Let a command read a model."""
    parser.add_argument("model", metavar="MODEL", help="a model file, as 'fit' writes it")


def read_rules(options: argparse.Namespace) -> Model | RuleEnsemble:
    """Read a model, or an ensemble that was saved by itself."""
    path, at = options.model, options.at
    with _named(path):
        document = read_document(path)
    kind = document.get("kind")
    if kind.value not in ("ensemble", "estimator"):
        kind.fail("'estimator' or 'ensemble'")
    model = decode_content(document) if kind.value == "ensemble" else decode_model(document)
    if at is None:
        return model
    if isinstance(model, RuleEnsemble):
        raise ValueError(f"--at cannot be used: '{path}' holds one ensemble, and no path of smaller ones.")
    if not isinstance(at, str):
        check_whole("complexity", at, 0)
    return model.at(at)


def read_model(options: argparse.Namespace) -> Model:
    """Read a model that can predict, without slow scikit-learn."""
    model = read_rules(options)
    if isinstance(model, RuleEnsemble):
        raise ValueError(_rules_alone(options.model))
    return model


def read_estimator(options: argparse.Namespace) -> RuleModel:
    """Read a model together with the estimator that learned it."""
    from obliquerules.estimators.loading import load_model

    with _named(options.model):
        estimator = load_model(options.model)
    if isinstance(estimator, RuleEnsemble):
        raise ValueError(_rules_alone(options.model))
    model: RuleModel = estimator if options.at is None else estimator.at(options.at)
    return model


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Name the file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror}.") from error


def _rules_alone(path: str) -> str:
    return f"'{path}' holds rules alone, without what their score means: they can be shown, but not predict."


def class_of(model: Model, text: str | None, option: str) -> Any:
    """Return the class that an option names, if any."""
    if text is None:
        return None
    if model.labels is None:
        raise ValueError(f"{option} cannot be used: the model predicts numbers, not classes.")
    return class_written(text, model.labels.values, option)
