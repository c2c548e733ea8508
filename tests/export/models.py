"""Models that the tests of exports share: hostile names, extreme numbers, rules without conditions, no rules at all."""

import math

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Factor

HOSTILE = ['a"; DROP TABLE data; --', "it's `b` [c]", "\\x */ ??/ é\t{0} %s"]

ORDINARY = RuleEnsemble(
    [
        Rule(-3.85, Conjunction([Proposition([0, 1], [2.81, 1.5], -0.28)])),
        Rule(0.1 + 0.2, Conjunction([Proposition([2, 0], [-1.0, 0.1], 0.3), Proposition([1], [1.0], 4.0)])),
        Rule(1e-17, Conjunction([Proposition([1, 2, 0], [0.1, 0.2, 0.3], 0.6)])),
    ],
    1.79,
    ["variance", "skewness", "kurtosis"],
)
NAMED = RuleEnsemble(ORDINARY.rules, ORDINARY.intercept, HOSTILE)
EXTREME = RuleEnsemble(
    [
        Rule(5e-324, Conjunction([Proposition([0, 1], [1e300, -1e-300], 5e-324)])),
        Rule(-1e300, Conjunction([Proposition([1, 0, 2], [1.7e308, 1e10, 5e-324], -0.0)])),
        Rule(1.7e307, Conjunction([Proposition([2, 1], [-0.5, 1.0 / 3.0], -1.7976931348623157e308)])),
        Rule(6.30310744900672e-309, Conjunction([Proposition([2], [1.7288731020073786e-304], 7.4131931241005465e-292)])),
    ],
    -math.pi,
)
UNCONDITIONAL = RuleEnsemble([Rule(0.1), Rule(0.2), Rule(-700.0, Conjunction([Proposition([0], [-1.0], 0.0)]))], 0.3)
CONSTANT = RuleEnsemble([], -0.25)
FIRST = ORDINARY.rules[0].condition
SLOPES = RuleEnsemble(
    [
        Rule(0.31, factor=0),
        Rule(-0.1, factor=Factor(1, 50.0, 20.0, 80.0)),
        Rule(0.1 + 0.2, FIRST, Factor(0, -0.3, upper=7.1)),
        Rule(1.0, factor=2),
        Rule(-1.0, FIRST, Factor(2, 1.0 / 3.0)),
        Rule(-3.85, FIRST),
        Rule(1.0, factor=Factor(1, 0.1, lower=-0.7)),
        Rule(0.7, factor=Factor(0, 0.3, lower=0.3)),
        Rule(-0.2, FIRST, Factor(1, 50.0, 20.0, 50.0)),
    ],
    1.79,
    HOSTILE,
)
EXTREME_SLOPES = RuleEnsemble(
    [
        Rule(1e300, FIRST, Factor(0)),
        Rule(-1e-300, factor=Factor(0, 1e-3)),
        Rule(1e-10, factor=Factor(1, -1e305, lower=-1e305)),
        Rule(3e7, factor=Factor(2, 5e299, -1e299, 1e301)),
        Rule(1e-290, factor=Factor(2, 0.0, 1e-17, 1e300)),
    ],
    0.1,
)
LARGE_SCORES = RuleEnsemble([Rule(2000.0, ORDINARY.rules[0].condition)], -1000.0)

MODELS = {
    "ordinary": (ORDINARY, LOSSES["logistic"]),
    "hostile names": (NAMED, LOSSES["squared"]),
    "extreme": (EXTREME, LOSSES["squared"]),
    "slopes": (SLOPES, LOSSES["logistic"]),
    "slopes of rates": (SLOPES, LOSSES["poisson"]),
    "extreme slopes": (EXTREME_SLOPES, LOSSES["squared"]),
    "unconditional": (UNCONDITIONAL, LOSSES["poisson"]),
    "constant": (CONSTANT, LOSSES["logistic"]),
    "large scores": (LARGE_SCORES, LOSSES["logistic"]),
    "large rates": (LARGE_SCORES, LOSSES["poisson"]),
    "large amounts": (LARGE_SCORES, LOSSES["gamma"]),
}
