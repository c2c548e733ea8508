"""Model files: reading them for a command, at the size that was asked for."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obliquerules.cli.table import Table
    from obliquerules.estimators.rule_model import RuleModel
    from obliquerules.rules import Block


def add_model(parser: argparse.ArgumentParser) -> None:
    """Let a command read a model."""
    parser.add_argument("model", metavar="MODEL", help="a model file, as 'fit' writes it")


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Tell which file it was that could not be read."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror}.") from error


def read_model(path: str, at: int | None = None) -> Any:
    """Read an estimator, or an ensemble that was saved by itself; raise ValueError if the file cannot be read."""
    from obliquerules.estimators.loading import load_model
    from obliquerules.rules import RuleEnsemble

    with reading(path):
        model = load_model(path)
    if at is None:
        return model
    if isinstance(model, RuleEnsemble):
        raise ValueError(f"--at cannot be used: '{path}' holds one ensemble, and no path of smaller ones.")
    return model.at(at)


def read_estimator(path: str, at: int | None = None) -> RuleModel:
    """Read a model that can predict."""
    from obliquerules.estimators.rule_model import RuleModel

    model = read_model(path, at)
    if not isinstance(model, RuleModel):
        raise ValueError(f"'{path}' holds rules alone, without what their score means: they can be shown, but not predict.")
    return model


def inputs(model: RuleModel, table: Table, rows: Any = slice(None)) -> Block:
    """Return the columns of a table that a model takes; other columns do not matter."""
    from obliquerules.rules import Block

    names = model.ensemble_.feature_names or ()
    return Block.of_matrix(table.matrix(names)[rows], names)
