"""Additive rule ensembles with sparse oblique conditions, for people who must read their models."""

import importlib
import typing

if typing.TYPE_CHECKING:
    __version__: str
    from obliquerules.estimators.lltboost import (
        LLTBoostClassifier,
        LLTBoostClassifierCV,
        LLTBoostRegressor,
        LLTBoostRegressorCV,
    )
    from obliquerules.estimators.loading import load_model
    from obliquerules.estimators.networks import DRNetClassifier, LTRNetClassifier, LTRNetRegressor
    from obliquerules.estimators.tgb import TGBClassifier, TGBClassifierCV, TGBRegressor, TGBRegressorCV
    from obliquerules.learning.l1_logistic import L1Level, L1Path, l1_logistic_path
    from obliquerules.rules import Column, Conjunction, Factor, Membership, Model, Proposition, Rounding, Rule, RuleEnsemble
    from obliquerules.rules.files.fields import ModelFileError
    from obliquerules.versions import show_versions

__all__ = [
    "Column",
    "Conjunction",
    "DRNetClassifier",
    "Factor",
    "L1Level",
    "L1Path",
    "LLTBoostClassifier",
    "LLTBoostClassifierCV",
    "LLTBoostRegressor",
    "LLTBoostRegressorCV",
    "LTRNetClassifier",
    "LTRNetRegressor",
    "Membership",
    "Model",
    "ModelFileError",
    "Proposition",
    "Rounding",
    "Rule",
    "RuleEnsemble",
    "TGBClassifier",
    "TGBClassifierCV",
    "TGBRegressor",
    "TGBRegressorCV",
    "l1_logistic_path",
    "load_model",
    "show_versions",
]

# The module that each name is imported from when it is first used: scikit-learn takes a second or two to load, and the
# command line must be able to say what is wrong before that.
_HOMES = {
    "estimators.lltboost": ("LLTBoostClassifier", "LLTBoostClassifierCV", "LLTBoostRegressor", "LLTBoostRegressorCV"),
    "estimators.networks": ("DRNetClassifier", "LTRNetClassifier", "LTRNetRegressor"),
    "estimators.loading": ("load_model",),
    "estimators.tgb": ("TGBClassifier", "TGBClassifierCV", "TGBRegressor", "TGBRegressorCV"),
    "rules": ("Column", "Conjunction", "Factor", "Membership", "Model", "Proposition", "Rounding", "Rule", "RuleEnsemble"),
    "rules.files.fields": ("ModelFileError",),
    "learning.l1_logistic": ("L1Level", "L1Path", "l1_logistic_path"),
    "versions": ("show_versions",),
}

if not typing.TYPE_CHECKING:

    def __getattr__(name):
        """Import a public name, or look up the version, which is written in meson.build alone."""
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version(__name__)
        for home, names in _HOMES.items():
            if name in names:
                return getattr(importlib.import_module(f"{__name__}.{home}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        """Return what can be imported."""
        return sorted({*globals(), *__all__, "__version__"})
