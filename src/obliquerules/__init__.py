"""Additive rule ensembles with sparse oblique conditions, for people who must read their models."""

from obliquerules.estimators.cross_validated import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.estimators.drnet import DRNetClassifier
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.ltrnet import LTRNetClassifier, LTRNetRegressor
from obliquerules.estimators.persistence import load_model
from obliquerules.rules import Conjunction, Proposition, Rounding, Rule, RuleEnsemble
from obliquerules.rules.document import ModelFileError
from obliquerules.solvers.l1_logistic import L1Level, L1Path, l1_logistic_path

__all__ = [
    "Conjunction",
    "DRNetClassifier",
    "L1Level",
    "L1Path",
    "LLTBoostClassifier",
    "LLTBoostClassifierCV",
    "LLTBoostRegressor",
    "LLTBoostRegressorCV",
    "LTRNetClassifier",
    "LTRNetRegressor",
    "ModelFileError",
    "Proposition",
    "Rounding",
    "Rule",
    "RuleEnsemble",
    "l1_logistic_path",
    "load_model",
]
__version__ = "0.1.0"
