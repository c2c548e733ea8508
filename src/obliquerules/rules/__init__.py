"""The model: propositions, conjunctions, rules and ensembles as immutable values that need nothing but NumPy."""

from obliquerules.rules.columns import Block, Column, Columns
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.labels import Labels
from obliquerules.rules.model import Model
from obliquerules.rules.redundancy import simplify
from obliquerules.rules.rounding.rounded import Rounding
from obliquerules.rules.rounding.shortening import Shortening
from obliquerules.rules.rule import Conjunction, Rule, Slope, Term
from obliquerules.rules.rule_parts import Factor, Membership, Proposition, Test
from obliquerules.rules.text.bands import BandTable

__all__ = [
    "BandTable",
    "Block",
    "Column",
    "Columns",
    "Conjunction",
    "Factor",
    "Labels",
    "Membership",
    "Model",
    "Proposition",
    "Rounding",
    "Rule",
    "RuleEnsemble",
    "Shortening",
    "Slope",
    "Term",
    "Test",
    "simplify",
]
