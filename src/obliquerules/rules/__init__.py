"""The model: propositions, conjunctions, rules and ensembles as immutable values that need nothing but NumPy."""

from obliquerules.rules.columns import Block, Column, Columns
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.factor import Factor
from obliquerules.rules.labels import Labels
from obliquerules.rules.membership import Membership
from obliquerules.rules.model import Model
from obliquerules.rules.proposition import Proposition, Test
from obliquerules.rules.redundancy import simplify
from obliquerules.rules.rounding.rounded import Rounding
from obliquerules.rules.rounding.shortening import Shortening
from obliquerules.rules.rule import Rule, Slope, Term
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
