"""Extraction: trained networks made hard, freed of what is redundant, refitted, and read off as rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.data.scaling import Scaling
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.nets.adam import NetworkParameters
from obliquerules.learning.nets.soft_rules import ScoreUnits
from obliquerules.learning.refit import TINY, loss_sums, refit
from obliquerules.losses import Loss
from obliquerules.rules import Columns, Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.rules.path_table import pareto
from obliquerules.rules.redundancy import needed_tests, shortest_alike
from obliquerules.rules.rounding.thresholds import Projections, middle_half

# A proposition belongs to a rule if its membership is at least this.
MEMBER = 0.5
# In the paper, weights of a direction below this share of its largest become zero.
NEGLIGIBLE = 0.1
# The shares tried by ``"refit"``: each makes another model of a network, and the Pareto front of all is kept.
NEGLIGIBLE_SHARES = (0.1, 0.25, 0.5)
# The prices of a unit of complexity that are tried, in units of log(n) on the scale of -2 log likelihood: that of the Bayesian
# information criterion, and multiples of it. Each makes another model of a network, and the Pareto front of all is kept.
PRICES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True, eq=False)
class HardNetwork:
    """A network with steps for sigmoids: a sum of rules on standardised inputs.

    Attributes
    ----------
    directions : array of shape (n_rules, n_propositions, n_features)
    thresholds : array of shape (n_rules, n_propositions)
    members : array of shape (n_rules, n_propositions)
        Which propositions a rule is made of.
    rule_weights : array of shape (n_rules,) or, with many classes, (n_rules, n_classes)
    constant : float or array of shape (n_classes,)
    """

    directions: Matrix
    thresholds: Matrix
    members: Mask
    rule_weights: Vector
    constant: Any

    @classmethod
    def of(cls, parameters: NetworkParameters, index: int, negligible: float = NEGLIGIBLE) -> HardNetwork:
        """Make a network hard: round memberships, and drop small weights within directions."""
        directions = parameters["directions"][index].astype(np.float64)
        size = np.abs(directions)
        directions[size < negligible * size.max(axis=-1, keepdims=True)] = 0.0
        return cls(
            directions,
            parameters["thresholds"][index].astype(np.float64),
            parameters["memberships"][index] >= MEMBER,
            parameters["rule_weights"][index].astype(np.float64),
            parameters["constant"][index].astype(np.float64),
        )

    def holds(self, X: Matrix) -> Mask:
        """Return where each proposition holds, shape (n_rules, n_propositions, n_samples)."""
        projections = self.directions.reshape(-1, X.shape[1]) @ X.T
        return projections.reshape(*self.thresholds.shape, len(X)) >= self.thresholds[..., None]

    def fires(self, X: Matrix) -> Mask:
        """Return where each rule fires, shape (n_rules, n_samples)."""
        unmet = self.members[..., None] & ~self.holds(X)
        fires: Mask = -unmet.sum(axis=1) > -0.5
        return fires

    def score(self, X: Matrix) -> Vector:
        """Return the output of the network, in its own units, shape (n_samples,) or (n_samples, n_classes)."""
        added: Vector = np.einsum("r...,rn->n...", self.rule_weights, self.fires(X).astype(np.float64))
        return np.asarray(self.constant + added)

    @cached_property
    def has_weight(self) -> Mask:
        """Which rules have a weight other than zero, shape (n_rules,)."""
        return np.asarray(np.any(self.rule_weights != 0.0, axis=tuple(range(1, self.rule_weights.ndim))))

    @cached_property
    def complexities(self) -> Positions:
        """The complexity of each proposition, shape (n_rules, n_propositions)."""
        return 1 + np.asarray(np.count_nonzero(self.directions, axis=-1), dtype=np.intp)

    @property
    def complexity(self) -> int:
        """The complexity of the rules with weights, as far as they depend on inputs."""
        looks = self.members & self.directions.any(axis=-1)
        counted = self.has_weight & looks.any(axis=-1)
        return int(np.count_nonzero(self.rule_weights[counted]) + (self.complexities * looks)[counted].sum())


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training rows, in original units and standardised, with loss and ridge.

    With many classes, the ridge has a number for each, and ``outputs`` are their names.
    """

    X: Matrix
    y: Vector
    weight: Vector
    loss: Loss
    ridge: Any
    outputs: tuple[str, ...] | None = None

    @cached_property
    def scaling(self) -> Scaling:
        """The units of the columns."""
        return Scaling.of(self.X, self.weight)

    @cached_property
    def standardised(self) -> Vector:
        """The columns at mean zero and unit variance."""
        return self.scaling.transform(self.X)

    @cached_property
    def inputs(self) -> Matrix:
        """The standardised columns that a network is trained on: with outliers brought in."""
        return self.scaling.fenced(self.X)

    def risk(self, score: Vector) -> float:
        """Return the weighted sum of the losses of scores."""
        return float(np.add.reduce(self.weight * self.loss.value(self.y, score)))

    def refit(self, fires: Mask, weighted: Mask) -> tuple[Vector, float]:
        """Return the best constant and weights of rules that fire on these rows, shape (n_rules, n_samples), and their risk.

        A rule, or a rule and class, has a weight only where ``weighted`` says so.
        """
        constant = np.array([self.loss.best_constant(self.y, self.weight)])
        start, free = np.concatenate([constant, np.zeros(weighted.shape)]), np.concatenate([constant == constant, weighted])
        patterns = FiringPatterns.of(fires, len(self.y))
        weights = refit(patterns, self.y, self.weight, self.loss, self.ridge, start, free=free)
        return weights, self.risk(patterns.scores(weights))


@dataclass(frozen=True, eq=False)
class Draft:
    """A selection of the rules of a hard network and of their propositions, with weights.

    Attributes
    ----------
    bodies : tuple of (int, tuple of int)
        The index of each rule in the network, and the indices of its propositions.
    weights : array of shape (1 + n_rules,) or, with many classes, (1 + n_rules, n_classes)
        The constant and the rule weights.
    risk : float
        The loss on the training rows.
    """

    network: HardNetwork
    bodies: tuple[tuple[int, tuple[int, ...]], ...]
    weights: Vector
    risk: float

    @property
    def complexity(self) -> int:
        """The complexity of the ensemble that the draft becomes."""
        n_weights = int(np.count_nonzero(self.weights[1:])) if self.weights.ndim > 1 else len(self.bodies)
        return n_weights + sum(self.body_complexities)

    @property
    def body_complexities(self) -> list[int]:
        """The complexity of the condition of each rule."""
        return [int(self.network.complexities[rule, list(kept)].sum()) for rule, kept in self.bodies]

    def fires(self, rows: TrainingRows) -> Mask:
        """Return where each rule fires, shape (n_rules, n_samples)."""
        holds = self.network.holds(rows.standardised)
        fires = [np.logical_and.reduce(holds[rule, list(kept)], axis=0) for rule, kept in self.bodies]
        return np.array(fires, dtype=np.bool_).reshape(-1, len(rows.y))

    def ensemble(self, rows: TrainingRows, columns: Columns | None) -> RuleEnsemble:
        """Return the rules in original units, with each threshold in the middle of its gap."""
        holds = self.network.holds(rows.standardised)
        rules = []
        for weight, (rule, kept) in zip(self.weights[1:], self.bodies, strict=True):
            condition = []
            for at in ((rule, index) for index in kept):
                one = rows.scaling.restore(self.network.directions[at], float(self.network.thresholds[at]))
                gap = middle_half(Projections.of(one.project(rows.X), one.summands(rows.X), one.weights), holds[at])
                condition.append(one if gap is None else Proposition(one.columns, one.weights, 0.5 * (gap[0] + gap[1])))
            rules.append(Rule(weight, Conjunction(condition)))
        return RuleEnsemble(rules, self.weights[0], columns, rows.outputs)


def as_trained(network: HardNetwork, rows: TrainingRows, units: ScoreUnits) -> Draft:
    """Keep all propositions of the rules, and the weights from training.

    A proposition that depends on no input always holds or never does: either it is dropped, or its rule is.
    """
    looks = network.directions.any(axis=-1)
    never = (network.members & ~looks & (network.thresholds > 0.0)).any(axis=-1)
    members = network.members & looks
    constant = network.constant + network.rule_weights[~never & ~members.any(axis=-1)].sum(axis=0)
    counted = np.flatnonzero(network.has_weight & ~never & members.any(axis=-1))
    bodies = tuple((int(rule), tuple(np.flatnonzero(members[rule]).tolist())) for rule in counted)
    weights = units.size * np.array([constant, *network.rule_weights[counted]])
    weights[0] += units.offset
    weights[0] = rows.loss.centred(weights[0])
    risk = rows.risk(units.offset + units.size * network.score(rows.standardised))
    return Draft(network, bodies, weights, risk)


def without_rules(rows: TrainingRows) -> Draft:
    """Return the draft of the best constant."""
    constant = rows.loss.best_constant(rows.y, rows.weight)
    nothing = HardNetwork(np.zeros((0, 0, rows.X.shape[1])), np.zeros((0, 0)), np.zeros((0, 0), np.bool_), np.zeros(0), 0.0)
    weights = np.array([constant])
    return Draft(nothing, (), weights, rows.risk(np.repeat(weights, len(rows.y), axis=0)))


def cleaned(network: HardNetwork, rows: TrainingRows) -> Draft:
    """Drop what is redundant on the training rows, and refit the weights of what is left.

    A proposition is redundant if the others of its rule imply it. A rule is redundant if its weight is zero, if it fires always
    or never, or if it fires on the same rows as another rule or as its complement. With many classes, the one that stays has
    weights for the classes of all of these.
    """
    holds, weighted, bodies = network.holds(rows.standardised), np.flatnonzero(network.has_weight), []
    for rule in weighted.tolist():
        members = np.flatnonzero(network.members[rule])
        left = needed_tests(holds[rule, members], network.complexities[rule, members])
        bodies.append((rule, tuple(members[left].tolist())))
    fires = [np.logical_and.reduce(holds[rule, list(body)], axis=0) for rule, body in bodies]
    alike = np.array(shortest_alike(fires, [int(network.complexities[rule, list(body)].sum()) for rule, body in bodies]))
    kept = [place for place in dict.fromkeys(alike.tolist()) if place is not None]
    covered = np.array([fires[place] for place in kept], dtype=np.bool_).reshape(-1, len(rows.y))
    of_all = [(network.rule_weights[weighted[alike == place]] != 0.0).any(axis=0) for place in kept]
    found = rows.refit(covered, np.array(of_all, dtype=np.bool_).reshape(-1, *rows.loss.output_shape))
    return Draft(network, tuple(bodies[place] for place in kept), *found)


def frontier(drafts: Iterable[Draft]) -> list[Draft]:
    """Return the Pareto front of drafts by complexity and risk."""
    return pareto(drafts, lambda draft: (draft.complexity, draft.risk))


def one_of_each_size(drafts: Iterable[Draft]) -> list[Draft]:
    """Return drafts by complexity, the best of each."""
    ordered = sorted(drafts, key=lambda draft: (draft.complexity, -draft.risk))
    return list({draft.complexity: draft for draft in ordered}.values())


def drafts_of(network: HardNetwork, rows: TrainingRows) -> Iterator[Draft]:
    """Yield one draft of a network and, with many classes, others of fewer weights."""
    draft = cleaned(network, rows)
    yield draft
    unit = 0.5 * math.log(float(np.add.reduce(rows.weight)))  # the loss is half of -2 log likelihood
    for price in PRICES if rows.loss.output_shape else ():
        draft = with_fewer_weights(draft, rows, price * unit)
        yield draft


def with_fewer_weights(draft: Draft, rows: TrainingRows, price: float) -> Draft:
    """Drop the weights that are not worth their price, and the rules without any; refit the others."""
    fires = draft.fires(rows)
    weighted = worth_their_price(draft, fires, rows, price)
    kept = np.logical_or.reduce(weighted, axis=1)
    return Draft(draft.network, tuple(compress(draft.bodies, kept)), *rows.refit(fires[kept], weighted[kept]))


def worth_their_price(draft: Draft, fires: Mask, rows: TrainingRows, price: float) -> Mask:
    """Return which weights to keep, shape (n_rules, n_classes).

    Weights are dropped one at a time, always the one that is least worth its price: the price of the weight and, if it is the
    last of its rule, of the condition. It is worth the rise of the penalised loss without it, to second order, with constants
    and other weights free to follow.
    """
    weighted: Mask = draft.weights[1:] != 0.0
    rule, output = np.nonzero(weighted)
    left, inverse = draft.weights[1:][weighted], _inverse_hessian(draft, fires, rows)
    conditions = np.array(draft.body_complexities, dtype=np.intp)[rule]
    there = np.ones(len(left), dtype=np.bool_)
    while there.any():
        saved = 1 + conditions * (weighted.sum(axis=1) == 1)[rule]
        worth = 0.5 * left * left / np.where(there, inverse.diagonal(), 1.0)
        balance = np.where(there, worth - price * saved, np.inf)
        worst = int(balance.argmin())
        if balance[worst] >= 0.0:
            break
        there[worst] = weighted[rule[worst], output[worst]] = False
        # The other weights take over what they can of this one, and each is then worth more.
        follow = inverse[:, worst] / inverse[worst, worst]
        left = left - follow * left[worst]
        inverse = inverse - follow[:, None] * inverse[worst]
    return weighted


def _inverse_hessian(draft: Draft, fires: Mask, rows: TrainingRows) -> Vector:
    """Return the inverse Hessian of the penalised loss in the weights, with free constants."""
    patterns, n_classes = FiringPatterns.of(fires, len(rows.y)), draft.weights.shape[1]
    free = np.vstack([np.ones((1, n_classes), dtype=np.bool_), draft.weights[1:] != 0.0])
    column, output = np.nonzero(free)
    mass, total = patterns.sums(rows.weight), np.add.reduce(rows.weight)
    anything = np.zeros((len(mass), n_classes))  # the Hessian does not depend on targets
    hessian = loss_sums(patterns.lines, free, draft.weights[free], anything, mass, anything, rows.loss)[2]
    # Nothing changes if all constants change alike: a curvature in that direction changes nothing in the others.
    hessian[:n_classes, :n_classes] += total / n_classes**2
    hessian.flat[:: len(hessian) + 1] += np.where(column > 0, np.asarray(rows.ridge)[output], 0.0) + TINY * total
    return np.asarray(np.linalg.inv(hessian)[n_classes:, n_classes:])
