"""Soft rules: the network of LTRNet, rules with sigmoids in place of steps, and its objective and gradients, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.learning.nets.adam import (
    Adam,
    Callback,
    EarlyStopping,
    Floats,
    NetworkParameters,
    Phase,
    train,
)
from obliquerules.losses import Loss

# Memberships start near this, closer to one than to zero: otherwise the W-shaped penalty would begin by emptying the rules.
START_OF_MEMBERSHIP = 0.6
# The standard deviation of memberships around it, so that the propositions of a rule differ; and of rule weights around zero.
SCATTER = 0.05
SMALL_WEIGHT = 0.1
# Standardised inputs and derivatives are clipped at these, so that squared gradients are finite in single precision.
LARGEST_INPUT = 1e4
LARGEST_PULL = 1e12
# The sharpness of propositions, gamma, and that of the paper's. Directions start with unit norm on standardised inputs.
SHARPNESS = 10.0
PLAIN = 1.0
# The step size and the decay rates of Adam.
STEP_SIZE = 0.1
BETAS = (0.9, 0.99)


@dataclass(frozen=True)
class Architecture:
    """The shape of a batch of networks.

    Attributes
    ----------
    n_networks : int
        Number of networks, each of which has a random start of its own.
    n_rules, n_propositions : int
        Number of rules of a network, and of propositions of a rule.
    steepness : float
        alpha, the steepness of the modified sigmoid of a conjunction.
    output_shape : tuple of int
        The shape of what a row is given: empty for one score; with many classes, their number.
    sharpness : float
        gamma, the steepness of the sigmoid of a proposition.
    """

    n_networks: int
    n_rules: int
    n_propositions: int
    steepness: float
    output_shape: tuple[int, ...] = ()
    sharpness: float = SHARPNESS

    def start(self, X: Floats, random: np.random.Generator) -> NetworkParameters:
        """Draw parameters to start from: random unit directions with thresholds at random rows, and small rule weights.

        Parameters are named arrays whose first axis is the network: ``directions`` (networks, rules, propositions, features),
        ``thresholds`` and ``memberships`` (networks, rules, propositions), ``rule_weights`` (networks, rules) and ``constant``
        (networks); with many classes, the last two have one more axis for them.
        """
        shape = (self.n_networks, self.n_rules, self.n_propositions)
        directions = random.standard_normal((*shape, X.shape[1]))
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        rows = X[random.integers(0, len(X), shape)]
        start = {
            "directions": directions,
            "thresholds": np.einsum("srkj,srkj->srk", directions, rows),
            "memberships": START_OF_MEMBERSHIP + SCATTER * random.standard_normal(shape),
            "rule_weights": SMALL_WEIGHT * random.standard_normal((*shape[:2], *self.output_shape)),
            "constant": np.zeros((self.n_networks, *self.output_shape)),
        }
        return {name: values.astype(X.dtype) for name, values in start.items()}


@dataclass(frozen=True)
class Penalties:
    """Penalties: L1 keeps rules few and sparse (on directions and rule weights), the W-shaped one memberships near 0 or 1.

    With many classes, a rule has L1 on its weight for each of them, which makes it speak for few. The same amount added to all
    of its weights changes no probability; by the sum of their sizes, it is best to have their median at zero.
    """

    l1: float
    w_shaped: float

    def value(self, parameters: NetworkParameters) -> Floats:
        """Return l1 (|directions| + |rule weights|) + w_shaped sum min(|w|, |1 - w|) of each network."""
        directions, memberships = parameters["directions"], parameters["memberships"]
        rule_weights = parameters["rule_weights"].reshape(len(memberships), -1)
        sparse = np.abs(directions).sum(axis=(1, 2, 3)) + np.abs(rule_weights).sum(axis=1)
        undecided = np.minimum(np.abs(memberships), np.abs(1.0 - memberships)).sum(axis=(1, 2))
        value: Floats = self.l1 * sparse + self.w_shaped * undecided
        return value

    def proximal(self, parameters: NetworkParameters, reach: Mapping[str, Floats]) -> None:
        """Shrink directions and rule weights towards 0, and move memberships towards the nearer of 0 and 1."""
        shrink(parameters["directions"], self.l1 * reach["directions"])
        shrink(parameters["rule_weights"], self.l1 * reach["rule_weights"])
        memberships = parameters["memberships"]
        memberships += np.copysign(self.w_shaped * reach["memberships"], memberships - 0.5)
        np.clip(memberships, 0.0, 1.0, out=memberships)


def shrink(values: Floats, by: Floats) -> None:
    """Move values towards zero in place, at most to zero."""
    values -= np.clip(values, -by, by)


@dataclass(frozen=True)
class ScoreUnits:
    """The units in which a network computes: scores are measured from the best constant, in typical Newton steps of a row.

    For the squared loss, this standardises the target. For any loss, it gives a penalty the same meaning on every scale of the
    target and, with many classes, for frequent and rare ones.

    Attributes
    ----------
    offset, size : float, or arrays of shape (n_classes,)
        The score of the model is ``offset + size * (score of the network)``.
    of_loss : float
        The loss of the model is ``of_loss`` times the loss of the network.
    """

    offset: Any
    size: Any
    of_loss: float

    @classmethod
    def of(cls, y: Vector, weight: Vector, loss: Loss) -> ScoreUnits:
        """Measure a target by the root mean square Newton step of single rows."""
        offset, curvature = loss.best_constant(y, weight), loss.curvature(y, weight)
        gradient = loss.gradient(y, np.repeat(np.array([offset]), len(y), axis=0))
        # Squares of gradients may be beyond the largest double, those of shares of the largest are not.
        largest = np.maximum(np.abs(gradient).max(axis=0), np.finfo(np.float64).tiny)
        size = largest * np.sqrt(np.average((gradient / largest) ** 2, axis=0, weights=weight)) / curvature
        of_loss = float(np.max(curvature * size**2))
        if not of_loss > np.finfo(np.float64).tiny:  # a constant target has no unit of its own
            return cls(offset, np.ones_like(size), float(np.max(curvature)))
        return cls(offset, size, of_loss)


class SoftRules:
    """The mean loss of a batch of networks on given rows, with its gradients.

    Proposition k of a rule has the value ``p_k = sigmoid(gamma (x.w_k - t_k))``, the rule
    ``q = sigmoid(alpha (2 z + 1))`` with ``z = sum_k v_k p_k - sum_k v_k``, where v are the memberships: with binary v and p,
    -z is the number of propositions that are not met, and the sigmoid changes side between none and one. The score is
    ``b_0 + sum b q``; with many classes, which share the rules, there is one for each, with b_0 and b of its own.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Standardised; all computations have its precision.
    units : ScoreUnits
        The units of all parameters and of the losses returned.
    penalties : Penalties
        Added to the loss returned, but not to the gradients: `Penalties.proximal` takes care of those.
    """

    def __init__(
        self,
        X: Floats,
        y: Vector,
        weight: Vector,
        loss: Loss,
        units: ScoreUnits,
        architecture: Architecture,
        penalties: Penalties,
    ) -> None:
        self.X = np.clip(X, -LARGEST_INPUT, LARGEST_INPUT)
        # A column of -1 makes the threshold one more weight.
        self.rows = np.ascontiguousarray(np.column_stack([self.X, np.full(len(X), -1.0, dtype=X.dtype)]))
        self.columns = np.ascontiguousarray(self.rows.T)
        self.y = y
        self.share = weight / weight.sum()
        self.loss = loss
        self.units = units
        self.architecture = architecture
        self.penalties = penalties
        shape = (architecture.n_networks, architecture.n_rules, architecture.n_propositions, len(X))
        self._propositions = np.empty(shape, dtype=X.dtype)
        self._slopes = np.empty(shape, dtype=X.dtype)

    # Where a sigmoid is zero, the exponential in it overflows to infinity, which is right.
    @np.errstate(over="ignore")
    def __call__(self, parameters: NetworkParameters) -> tuple[Floats, dict[str, Floats]]:
        """Return the penalised loss of each network, and the gradients of the mean loss."""
        directions, thresholds = parameters["directions"], parameters["thresholds"]
        extended = np.concatenate([directions, thresholds[..., None]], axis=-1).reshape(-1, len(self.columns))
        np.matmul(-self.architecture.sharpness * extended, self.columns, out=self._propositions.reshape(-1, len(self.X)))
        propositions = sigmoid_of_negative(self._propositions)
        conjunctions = self._evaluate_conjunctions(propositions, parameters["memberships"])
        score = np.matmul(self._by_output(parameters["rule_weights"]).swapaxes(1, 2), conjunctions).swapaxes(1, 2)
        score = score.reshape(*score.shape[:2], *self.architecture.output_shape) + parameters["constant"][:, None]
        units, dtype = self.units, score.dtype
        score = units.offset + units.size * score.astype(np.float64)
        losses = self.loss.value(self.y, score) @ self.share / units.of_loss
        pull = np.multiply.outer(self.share, units.size / units.of_loss) * self.loss.gradient(self.y, score)
        pull = np.clip(pull, -LARGEST_PULL, LARGEST_PULL).astype(dtype)
        gradients = self._gradients(parameters, propositions, conjunctions, pull)
        return losses + self.penalties.value(parameters), gradients

    def _evaluate_conjunctions(self, propositions: Floats, memberships: Floats) -> Floats:
        """Return q, shape (networks, rules, rows)."""
        alpha = self.architecture.steepness
        negative = np.matmul(-2.0 * alpha * memberships[:, :, None, :], propositions)[:, :, 0]
        negative -= alpha * (1.0 - 2.0 * memberships.sum(axis=-1, keepdims=True))
        return sigmoid_of_negative(negative)

    def _gradients(self, parameters: NetworkParameters, p: Floats, q: Floats, pull: Floats) -> dict[str, Floats]:
        # The derivative in z, b 2 alpha q (1 - q), added up over the classes.
        of_conjunction = q * (1.0 - q)
        weights = self._by_output(2.0 * self.architecture.steepness * parameters["rule_weights"])
        of_conjunction *= np.matmul(weights, self._by_output(pull).swapaxes(1, 2))
        memberships = parameters["memberships"]
        # The derivative in x.w - t: v gamma p (1 - p).
        slopes = np.subtract(1.0, p, out=self._slopes)
        slopes *= p
        slopes *= of_conjunction[:, :, None, :]
        extended = (slopes.reshape(-1, len(self.X)) @ self.rows).reshape(*memberships.shape, -1)
        extended *= self.architecture.sharpness * memberships[..., None]
        return {
            "directions": extended[..., :-1],
            "thresholds": extended[..., -1],
            "memberships": np.matmul(p, of_conjunction[..., None])[..., 0] - of_conjunction.sum(axis=-1, keepdims=True),
            "rule_weights": np.matmul(q, self._by_output(pull)).reshape(parameters["rule_weights"].shape),
            "constant": pull.sum(axis=1),
        }

    @staticmethod
    def _by_output(values: Floats) -> Floats:
        """Return values with an axis for the scores, of length one if there is one score."""
        return values if values.ndim == 3 else values[..., None]


def sigmoid_of_negative(negative: Floats) -> Floats:
    """Replace each number by 1 / (1 + exp(number)), the sigmoid of minus the number, in place."""
    np.exp(negative, out=negative)
    negative += 1.0
    return np.reciprocal(negative, out=negative)


def descend(
    objective: SoftRules,
    random: np.random.Generator,
    max_iter: int,
    *,
    stopping: EarlyStopping | None = None,
    report: Callback | None = None,
) -> tuple[NetworkParameters, int]:
    """Train a batch of networks from random starts with proximal Adam; return their parameters and the number of steps."""
    parameters = objective.architecture.start(objective.X, random)
    optimizer = Adam(tuple(parameters), STEP_SIZE, BETAS)
    phase = Phase(objective, optimizer, max_iter, objective.penalties.proximal, falling=True)
    return parameters, train(parameters, [phase], stopping=stopping, report=report)
