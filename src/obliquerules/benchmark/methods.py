"""Methods: what is measured, each as a name and a function that makes an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from obliquerules.estimators.boosted import SELECTIONS
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor


@dataclass(frozen=True)
class Method:
    """A way to learn rules.

    Attributes
    ----------
    name : str
    column : str
        The column of the paper's tables that it is set beside.
    make : callable
        From the task (``"regression"`` or ``"classification"``) and a seed to an estimator that has a ``path_`` once fitted.
    """

    name: str
    column: str
    make: Callable[[str, int], Any]


def lltboost(selection: str) -> Method:
    """LLTBoost with the sizes that the paper sets: up to ten rules, five propositions, five variables."""

    def make(task: str, seed: int) -> Any:
        kind = LLTBoostRegressor if task == "regression" else LLTBoostClassifier
        return kind(max_rules=10, max_propositions=5, max_variables=5, selection=selection, random_state=seed)

    return Method(f"LLTBoost ({'paper' if selection == 'validation' else selection})", "LLTB", make)


METHODS: dict[str, Method] = {method.name: method for method in map(lltboost, SELECTIONS)}
