"""Registry: the export targets, and the function that exports a model to one of them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.export.source import Source
from obliquerules.export.target import Export, Target
from obliquerules.export.verification import drawn_given
from obliquerules.rules import Block, Model

# For each target, its module in this package and its class, imported on demand.
TARGETS: dict[str, str] = {
    "python": "python.PythonTarget",
    "c": "c.CTarget",
    "sql": "sql.SqlTarget",
    "frame": "frame.FrameTarget",
    "onnx": "onnx_graph.OnnxTarget",
    "excel": "excel.ExcelTarget",
    "json": "document.JsonTarget",
    "latex": "document.LatexTarget",
}


def find_target(to: str, **options: Any) -> Target:
    """Return a target with its options."""
    if to not in TARGETS:
        raise ValueError(f"to must be one of {', '.join(map(repr, TARGETS))}; got {to!r}.")
    module, name = TARGETS[to].split(".")
    kind = getattr(importlib.import_module(f"obliquerules.export.{module}"), name)
    known = list(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            offered = f"may have {', '.join(known)}" if known else "has no options"
            raise ValueError(f"An export to {to!r} has no option {option!r}; it {offered}.")
    target: Target = kind(**options)
    return target


def export(
    model: Model,
    to: str,
    X: ArrayLike | Block | None = None,
    *,
    contributions: bool = False,
    kinds: Mapping[str, str] | None = None,
    given: ArrayLike | None = None,
    **options: Any,
) -> Export:
    r"""Return a model in another language, after verifying that it computes the same.

    Parameters
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    to : str
        One of `TARGETS`.
    X : array or data frame of shape (n_samples, n_features), optional
        Rows on which to compare the export with the model, besides generated ones.
    contributions : bool, default=False
        Also output the contribution of each rule to the score.
    kinds : mapping from str to str, optional
        What columns hold in the data that X was read from: ``"boolean"``, ``"integer"``, ``"decimal"``, ``"double"``,
        ``"text"``, ``"date"``, ``"time"`` or ``"duration"``.
    given : array of shape (n_samples,) or (n_samples, n_classes), optional
        The exposure or the offset of each row of X, if the model has one. Without it, there are generated ones.
    **options
        The options of the target.

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
    target = find_target(to, **options)
    source = Source(model, contributions, kinds or {})
    return target.export(source, _rows(source, X, given))


def _rows(source: Source, X: ArrayLike | Block | None, given: ArrayLike | None) -> NDArray[np.float64]:
    """Return the rows of X, followed by what they are given besides."""
    if given is not None and (X is None or not source.given):
        raise ValueError("given goes with the rows of X, and with a model that has an exposure or an offset; leave it out.")
    if X is None:
        return np.empty((0, source.n_columns))
    inputs = source.ensemble.block(X).matrix[:, : source.n_features]
    if given is None:
        return np.hstack([inputs, drawn_given(source, len(inputs), np.random.default_rng(0))]) if source.given else inputs
    wanted = len(inputs), len(source.given)
    values = np.asarray(given, dtype=np.float64)
    if values.size != wanted[0] * wanted[1] or len(values) != wanted[0]:
        raise ValueError(f"given must have shape {wanted}, as the rows of X and the model have it; got {values.shape}.")
    return np.hstack([inputs, values.reshape(wanted)])
