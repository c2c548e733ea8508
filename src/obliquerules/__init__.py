"""Additive rule ensembles with sparse oblique conditions, for people who must read their models."""

from obliquerules.estimators.cross_validated import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.persistence import load_model
from obliquerules.estimators.tgb import TGBClassifier, TGBRegressor
from obliquerules.rules import Conjunction, Proposition, Rounding, Rule, RuleEnsemble
from obliquerules.rules.document import ModelFileError
from obliquerules.solvers.l1_logistic import L1Level, L1Path, l1_logistic_path

__all__ = [
    "Conjunction",
    "L1Level",
    "L1Path",
    "LLTBoostClassifier",
    "LLTBoostClassifierCV",
    "LLTBoostRegressor",
    "LLTBoostRegressorCV",
    "ModelFileError",
    "Proposition",
    "Rounding",
    "Rule",
    "RuleEnsemble",
    "TGBClassifier",
    "TGBRegressor",
    "l1_logistic_path",
    "load_model",
]
__version__ = "0.1.0"
