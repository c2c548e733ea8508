"""Contenders: the methods that are measured, each a name and a function that makes estimators."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.networks import DRNetClassifier, LTRNetClassifier, LTRNetRegressor
from obliquerules.estimators.tgb import TGBClassifier, TGBRegressor
from obliquerules.learning.boosting.lltboost import SELECTIONS

# The paper's regularisation strengths for TGB: of half the squared rule weights, against the sum of the losses.
RIDGE_STRENGTHS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
# What a row counts for at most, in the curvature of its loss: our ridge is measured in rows, the paper's in losses.
CURVATURE = {"regression": 1.0, "classification": 0.25}
# Settings of LTRNet, of which the best is kept, as the paper keeps the best of five W-shaped penalties: its defaults, and more
# of both penalties for noisy data.
LTRNET_SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "W penalty 0.1, ridge 40": {"w_penalty": 0.1, "ridge": 40.0},
}
# The paper's: five L1 penalties at each of five W-shaped ones. It gives no steepness; of 4, 8 and 16, the last is nearest to
# its figures, on splits of seed 0.
LTRNET_AS_IN_THE_PAPER: dict[str, dict[str, Any]] = {
    f"W penalty {w_penalty:g}": {
        "discretization": "paper",
        "w_penalty": w_penalty,
        "max_penalty": 1.0,
        "min_penalty": 1e-4,
        "n_penalties": 5,
        "steepness": 16.0,
    }
    for w_penalty in (1e-4, 1e-3, 1e-2, 0.1, 1.0)
}


@dataclass(frozen=True)
class Contender:
    """A method in the benchmark.

    Attributes
    ----------
    name : str
    column : str or None
        The column of the paper's tables that it is set beside; None for a method that is not in the paper.
    make : callable
        From the task (``"regression"`` or ``"classification"``) and a seed to estimators that have a ``path_`` once fitted, by
        the names of their settings. Where the paper tries several settings and keeps the best, there are several. None at all
        if the method is not made for the task.
    needs : str or None
        The package that the method comes from, if it is none that obliquerules depends on.
    rules : bool
        Whether what it learns is a set of rules, a tree included.
    """

    name: str
    column: str | None
    make: Callable[[str, int], Mapping[str, Any]]
    needs: str | None = None
    rules: bool = True

    @property
    def absence(self) -> str | None:
        """Why the method cannot be used, in a sentence; None if it can."""
        if self.needs is None or importlib.util.find_spec(self.needs) is not None:
            return None
        return f"{self.name} comes from the package {self.needs}, which is not installed: install obliquerules[bench]."


def lltboost(selection: str) -> Contender:
    """LLTBoost with the sizes that the paper sets: up to ten rules, five propositions, five variables, and no slopes."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        kind = LLTBoostRegressor if task == "regression" else LLTBoostClassifier
        sizes: dict[str, Any] = {"max_rules": 10, "max_propositions": 5, "max_variables": 5}
        return {"default": kind(**sizes, selection=selection, linear_terms=False, random_state=seed)}

    return Contender(f"LLTBoost ({'paper' if selection == 'validation' else selection})", "LLTB", make)


def lltboost_with_slopes() -> Contender:
    """LLTBoost with as many rules or slopes; not in the paper, whose models are made of rules alone."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        kind = LLTBoostRegressor if task == "regression" else LLTBoostClassifier
        return {"default": kind(max_rules=10, linear_terms=True, random_state=seed)}

    return Contender("LLTBoost (slopes)", None, make, rules=False)


def tgb(name: str, **parameters: Any) -> Contender:
    """TGB with up to ten rules of five propositions, at each of the paper's strengths of the ridge."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        kind = TGBRegressor if task == "regression" else TGBClassifier
        common: dict[str, Any] = {"max_rules": 10, "max_propositions": 5, "random_state": seed, **parameters}
        return {f"ridge {strength:g}": kind(ridge=strength / CURVATURE[task], **common) for strength in RIDGE_STRENGTHS}

    return Contender(f"TGB ({name})", "TGB", make)


def ltrnet(name: str, settings: Mapping[str, dict[str, Any]]) -> Contender:
    """LTRNet with the sizes that the paper sets, ten rules of five propositions, six restarts and 250 iterations."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        kind = LTRNetRegressor if task == "regression" else LTRNetClassifier
        sizes: dict[str, Any] = {"max_rules": 10, "max_propositions": 5, "n_restarts": 6, "max_iter": 250}
        return {key: kind(**sizes, **setting, random_state=seed) for key, setting in settings.items()}

    return Contender(name, "LTRNet", make)


def drnet() -> Contender:
    """DRNet with ten rules and the penalties that the paper sets, which are its defaults; for classes only."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        return {"default": DRNetClassifier(random_state=seed)} if task == "classification" else {}

    return Contender("DRNet", "DRNet", make)


OURS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        *map(lltboost, SELECTIONS),
        lltboost_with_slopes(),
        tgb("default"),
        tgb("paper", objective="gradient", selection="objective", objective_tolerance=0.0),
        ltrnet("LTRNet", LTRNET_SETTINGS),
        ltrnet("LTRNet (paper)", LTRNET_AS_IN_THE_PAPER),
        drnet(),
    )
}
