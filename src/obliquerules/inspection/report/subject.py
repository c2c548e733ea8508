"""Subject: what a workbench is about: the ensembles, what their score means, and the model file that they came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.losses import Loss
from obliquerules.rules import RuleEnsemble

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model as the workbench sees it.

    Attributes
    ----------
    title : str
    ensembles : tuple of RuleEnsemble
        The path; behind it, if the model was edited, the edited ensemble.
    present : int
        The position of the ensemble that predicts.
    loss : Loss
    words : dict
        What things are called: ``score`` (and whether that is ``plural``), ``mean``, ``target``, ``labels`` of classes or None.
    file : dict
        The content of the model file but for the ensembles and edits.
    edits : dict or None
        The edits as they stand in the model file.
    cross_validated : dict or None
        ``mean`` and ``error``, the risk of each member of the path and its standard error, if the size was chosen by it.
    """

    title: str
    ensembles: tuple[RuleEnsemble, ...]
    present: int
    loss: Loss
    words: dict[str, Any]
    file: dict[str, Any]
    edits: dict[str, Any] | None
    cross_validated: dict[str, Vector] | None


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that figures are about, with targets as the numbers that the loss takes.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    y, weight : array of shape (n_samples,)
    name : str
        What they are called, such as ``"test rows"``.
    least : int
        No group of fewer rows is written to the file.
    """

    X: NDArray[np.float64]
    y: Vector
    weight: Vector
    name: str
    least: int
