"""Decision network: the network of DRNet, a layer of conjunctions and a layer that is their OR, both with gates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.learning.nets.adam import Adam, Floats, NetworkParameters, Phase, train

# beta in the papers: the smaller, the more often a gate is near 0 or 1.
TEMPERATURE = 2.0 / 3.0
# A sigmoid is stretched to [-0.1, 1.1], gamma and zeta in the papers, and cut off at 0 and 1.
LEAST, MOST = -0.1, 1.1
# sigmoid(x) = (1 + tanh(x / 2)) / 2, and tanh neither overflows nor needs a division.
MIDDLE, HALF_WIDTH = 0.5 * (MOST + LEAST), 0.5 * (MOST - LEAST)
NOISE_SCALE = 0.5 / TEMPERATURE
# The log-odds that a gate is not zero are its logit plus this.
SHIFT = -TEMPERATURE * math.log(-LEAST / MOST)
# A conjunction holds where z is 1, up to rounding.
ALMOST_ONE = 0.999999
START_DEVIATION = 0.01
# The noise of this many steps is drawn at once: a call for each step would take longer than drawing the numbers.
STEPS_PER_DRAW = 16
# Training has settled once this many turns of both layers have left the rules unchanged.
PATIENCE = 2

Signs = NDArray[np.int8]
# The noise of the gates, step by step: shape (n_networks, n_rules, n_inputs) and (n_networks, n_rules).
Noise = Iterator[tuple[Floats, Floats]]
# Called with the number of steps done, the loss of each network and the signs of its rules.
RulesCallback = Callable[[int, Floats, Sequence[Signs]], None]


class Gates:
    """Gates min(1, max(0, stretched sigmoid of (logit + noise) / temperature)).

    The arrays that `draw` and `slope` return are overwritten by the next call.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.value = np.empty(shape, dtype)
        self._tanh = np.empty(shape, dtype)
        self._square = np.empty(shape, dtype)
        self._between = np.empty(shape, np.bool_)

    def draw(self, logits: Floats, noise: Floats) -> Floats:
        """Return a draw of the gates, given logistic noise times `NOISE_SCALE`."""
        np.multiply(logits, NOISE_SCALE, out=self._tanh)
        self._tanh += noise
        np.tanh(self._tanh, out=self._tanh)
        np.multiply(self._tanh, HALF_WIDTH, out=self.value)
        self.value += MIDDLE
        np.clip(self.value, 0.0, 1.0, out=self.value)
        return self.value

    def slope(self) -> Floats:
        """Return the derivatives of the last draw in the logits."""
        np.multiply(self._tanh, self._tanh, out=self._square)
        # By symmetry, a gate is cut off at 0 or 1 where the absolute tanh exceeds (1 - MIDDLE) / HALF_WIDTH.
        np.less(self._square, ((1.0 - MIDDLE) / HALF_WIDTH) ** 2, out=self._between)
        np.subtract(1.0, self._square, out=self._square)
        self._square *= HALF_WIDTH * NOISE_SCALE
        self._square *= self._between
        return self._square


def logistic_noise(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return logistic noise, scaled as `Gates.draw` takes it."""
    uniform = random.random(shape, dtype=np.float32)
    np.clip(uniform, 2.0**-24, 1.0 - 2.0**-24, out=uniform)
    noise = 1.0 - uniform
    np.divide(uniform, noise, out=noise)
    np.log(noise, out=noise)
    noise *= NOISE_SCALE
    return noise


def open_probability(logits: Floats) -> Floats:
    """Return the probability that a gate is not zero."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * (logits + SHIFT)))


def open_probability_slope(logits: Floats) -> Floats:
    """Return the derivative of `open_probability`."""
    slope: Floats = np.tanh(0.5 * (logits + SHIFT))
    slope *= slope
    np.subtract(1.0, slope, out=slope)
    slope *= 0.25
    return slope


def without_noise(logits: Floats) -> Floats:
    """Return the gates as they are after training: without noise and without temperature."""
    return np.asarray(np.clip(MIDDLE + HALF_WIDTH * np.tanh(0.5 * logits), 0.0, 1.0))


@dataclass(frozen=True)
class Schedule:
    """How networks are trained.

    Attributes
    ----------
    n_rules : int
        The number of rules that each network starts with.
    or_penalty : float
        lambda_2, the penalty while the OR layer is trained.
    n_steps, phase_length : int
        The number of steps in all, and that after which the other layer has its turn.
    step_size : float
        The step size of Adam.
    early_stopping : bool
        Whether to stop once the rules of all networks have settled.
    """

    n_rules: int = 10
    or_penalty: float = 1e-5
    n_steps: int = 10_000
    phase_length: int = 1000
    step_size: float = 1e-2
    early_stopping: bool = True


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct rows of binary inputs, the positive ones first, with their shares of weight."""

    inputs: Mask
    n_positive: int
    weight: Vector

    @classmethod
    def of(cls, inputs: Mask, positive: Mask, weight: Vector) -> Examples:
        """Merge rows with the same inputs and the same class."""
        packed = np.packbits(np.column_stack([~positive, inputs]), axis=1)
        _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        total = np.bincount(group.ravel(), weight)
        return cls(inputs[first], int(np.count_nonzero(positive[first])), total / total.sum())


class DecisionRulesNetworks:
    """Networks of the same shape, trained together on the same rows, each with its own penalty.

    The weights u of a rule are its parameters times their gates. With z = x.u + 1 - (sum of positive u), the rule fires if
    z = 1: inputs with positive u must be 1, those with negative u must be 0, and each that is not lowers z by the size of its
    u. The score of a row is the number of rules that fire and whose own gate is open, minus 1/2.

    Both steps have straight-through gradients: a rule has the gradient of z where z >= 0, unless that would raise a z of 1, and
    a gate counts by its value instead of as open or shut.

    The parameters are ``"rules"``, the weights and the logits of their gates, shape (2, n_networks, n_rules, n_inputs), and
    ``"gates"``, the logits of the gates of the OR layer, shape (n_networks, n_rules).

    Parameters
    ----------
    penalties : array of shape (n_networks,)
        lambda_1 of each network.
    or_penalty : float
        lambda_2, the same for all.
    """

    def __init__(
        self,
        examples: Examples,
        penalties: Vector,
        or_penalty: float,
        n_rules: int,
        noise: Noise,
        dtype: Any = np.float32,
    ) -> None:
        dtype = np.dtype(dtype)
        self.penalties = penalties.astype(dtype)
        self.or_penalty = or_penalty
        self.noise = noise
        self.n_positive = examples.n_positive
        n_rows, n_inputs = examples.inputs.shape
        # The last input is always 1, for the constant of each rule.
        self._rows = np.column_stack([examples.inputs, np.ones(n_rows)]).astype(dtype)
        self._columns = np.ascontiguousarray(self._rows.T)
        self._weight = examples.weight.astype(dtype)
        self._target = (np.arange(n_rows) < self.n_positive).astype(dtype)
        # The score is a number of rules minus 1/2, so the loss and its gradient take few values, which are tabulated.
        score = np.arange(n_rules + 1) - 0.5
        self._softplus = np.logaddexp(0.0, score).astype(dtype)
        self._sigmoid = (1.0 / (1.0 + np.exp(-score))).astype(dtype)
        # Every step reuses these arrays.
        n_networks, shape = len(penalties), (len(penalties), n_rules, n_inputs)
        self._condition_gates, self._rule_gates = Gates(shape, dtype), Gates(shape[:2], dtype)
        self._signed, self._product = (np.empty((n_networks * n_rules, n_inputs + 1), dtype) for _ in range(2))
        self._positive, self._gradient = np.empty(shape, dtype), np.empty((2, *shape), dtype)
        self._is_positive = np.empty(shape, np.bool_)
        self._z, self._fires, self._through = (np.empty((n_networks, n_rules, n_rows), dtype) for _ in range(3))
        self._passes = np.empty(self._z.shape, np.bool_)

    def rules_objective(self, parameters: NetworkParameters) -> tuple[Floats, Mapping[str, Floats]]:
        """Return the losses without penalty, and the gradient of the rules layer with it."""
        losses, pull = self._forward(parameters)
        np.greater_equal(self._z, 0.0, out=self._passes)
        # The gradient is negative for rows that should be covered and positive for all others, whatever their score.
        self._passes[..., : self.n_positive] &= self._z[..., : self.n_positive] < 1.0
        np.multiply(self._passes, pull[:, np.newaxis], out=self._through)
        np.matmul(self._through.reshape(len(self._signed), -1), self._rows, out=self._product)
        of_inputs, of_constant = self._inputs_of(self._product), self._product[:, -1].reshape(*self._z.shape[:2], 1)
        np.greater(self._positive, 0.0, out=self._is_positive)
        pull_on_signed = np.multiply(self._is_positive, of_constant, out=self._positive)
        np.subtract(of_inputs, pull_on_signed, out=pull_on_signed)
        pull_on_signed *= self._rule_gates.value[..., np.newaxis]
        weights, _ = parameters["rules"]
        gradient_of_weights, gradient_of_logits = self._gradient
        np.multiply(pull_on_signed, self._condition_gates.value, out=gradient_of_weights)
        np.multiply(pull_on_signed, weights, out=gradient_of_logits)
        gradient_of_logits *= self._condition_gates.slope()
        gradient_of_logits += rules_penalty_gradient(parameters, self.penalties)
        return losses, {"rules": self._gradient}

    def or_objective(self, parameters: NetworkParameters) -> tuple[Floats, Mapping[str, Floats]]:
        """Return the losses without penalty, and the gradient of the OR layer with it."""
        losses, pull = self._forward(parameters)
        gradient = np.matmul(self._fires, pull[..., np.newaxis])[..., 0]
        gradient *= self._rule_gates.slope()
        gradient += or_penalty_gradient(parameters, self.or_penalty)
        return losses, {"gates": gradient}

    def _forward(self, parameters: NetworkParameters) -> tuple[Floats, Floats]:
        """Return the losses and their gradients in the score of each row, shape (n_networks, n_rows)."""
        condition_noise, rule_noise = next(self.noise)
        weights, logits = parameters["rules"]
        signed = self._inputs_of(self._signed)
        np.multiply(weights, self._condition_gates.draw(logits, condition_noise), out=signed)
        np.maximum(signed, 0.0, out=self._positive)
        np.subtract(1.0, self._positive.sum(axis=-1).ravel(), out=self._signed[:, -1])
        np.matmul(self._signed, self._columns, out=self._z.reshape(len(self._signed), -1))
        np.greater(self._z, ALMOST_ONE, out=self._passes)
        self._fires[...] = self._passes
        is_open = self._rule_gates.draw(parameters["gates"], rule_noise) > 0.0
        n_firing = np.matmul(is_open.astype(self._z.dtype)[:, np.newaxis], self._fires)[:, 0].astype(np.intp)
        pull = self._sigmoid.take(n_firing)
        pull -= self._target
        pull *= self._weight
        losses = self._softplus.take(n_firing) @ self._weight
        losses -= (n_firing[:, : self.n_positive] - 0.5) @ self._weight[: self.n_positive]
        return losses, pull

    def _inputs_of(self, flat: Floats) -> Floats:
        """Return a view without the constant input, by network and rule."""
        return flat.reshape(*self._z.shape[:2], -1)[..., :-1]


def regulariser(parameters: NetworkParameters) -> Floats:
    """Return the mean over rules of (expected share of inputs used + 1) P(gate open)."""
    asked = open_probability(parameters["rules"][1]).mean(axis=-1)
    return np.asarray(((asked + 1.0) * open_probability(parameters["gates"])).mean(axis=-1))


def rules_penalty_gradient(parameters: NetworkParameters, penalties: Floats) -> Floats:
    """Return the gradient of the penalties in the logits of the rules layer."""
    _, logits = parameters["rules"]
    gradient = open_probability_slope(logits)
    size = logits.shape[-1] * logits.shape[-2]
    gradient *= ((penalties / size)[:, np.newaxis] * open_probability(parameters["gates"]))[..., np.newaxis]
    return gradient


def or_penalty_gradient(parameters: NetworkParameters, penalty: float) -> Floats:
    """Return the gradient of the penalties in the logits of the OR layer."""
    asked = open_probability(parameters["rules"][1]).mean(axis=-1)
    gradient = open_probability_slope(parameters["gates"])
    gradient *= asked + 1.0
    gradient *= penalty / gradient.shape[-1]
    return gradient


def start(shape: tuple[int, int, int], random: np.random.Generator) -> NetworkParameters:
    """Draw parameters to start from, given the numbers of networks, rules and inputs."""
    bound = 1.0 / np.sqrt(shape[-1])
    weights = random.uniform(-bound, bound, shape)
    logits = random.normal(0.0, START_DEVIATION, shape)
    gates = random.normal(0.0, START_DEVIATION, shape[:2])
    return {"rules": np.stack([weights, logits]).astype(np.float32), "gates": gates.astype(np.float32)}


def draw_noise(shape: tuple[int, int, int], random: np.random.Generator) -> Noise:
    """Yield the noise of each step."""
    n_gates, n_rules = int(np.prod(shape)), int(np.prod(shape[:2]))
    while True:
        for drawn in logistic_noise(random, (STEPS_PER_DRAW, n_gates + n_rules)):
            yield drawn[:n_gates].reshape(shape), drawn[n_gates:].reshape(shape[:2])


def signs(parameters: NetworkParameters) -> list[Signs]:
    """Return the rules of each hard network, shape (n_rules, n_inputs): 1 where an input must be 1, -1 where it must be 0.

    Gates have no noise, and rules whose own gate is shut are left out.
    """
    weights, logits = parameters["rules"]
    asked = np.sign(weights * without_noise(logits)).astype(np.int8)
    is_open = without_noise(parameters["gates"]) > 0.0
    return [rules[kept] for rules, kept in zip(asked, is_open, strict=True)]


def train_networks(
    examples: Examples,
    penalties: Vector,
    schedule: Schedule,
    random: np.random.Generator,
    progress: RulesCallback | None = None,
) -> tuple[list[Signs], int]:
    """Train a network for each penalty lambda_1; return the signs of their rules and the number of steps."""
    shape = len(penalties), schedule.n_rules, examples.inputs.shape[1]
    parameters = start(shape, random)
    noise = draw_noise(shape, random)
    networks = DecisionRulesNetworks(examples, penalties, schedule.or_penalty, schedule.n_rules, noise)
    return train_layers(networks, parameters, schedule, progress)


def train_layers(
    networks: DecisionRulesNetworks, parameters: NetworkParameters, schedule: Schedule, progress: RulesCallback | None = None
) -> tuple[list[Signs], int]:
    """Train parameters in place, the layers in turns; return the signs of the rules and the number of steps."""
    layers = (
        (networks.rules_objective, Adam(["rules"], schedule.step_size)),
        (networks.or_objective, Adam(["gates"], schedule.step_size)),
    )
    done, unchanged, rules = 0, 0, signs(parameters)

    def report(n_steps: int, losses: Floats, trained: NetworkParameters) -> None:
        if progress is not None:
            progress(done + n_steps, losses, signs(trained))

    while done < schedule.n_steps and not (schedule.early_stopping and unchanged == PATIENCE):
        for objective, optimizer in layers:
            n_steps = min(schedule.phase_length, schedule.n_steps - done)
            done += train(parameters, [Phase(objective, optimizer, n_steps)], report=report, report_every=schedule.phase_length)
        before, rules = rules, signs(parameters)
        unchanged = unchanged + 1 if all(map(np.array_equal, rules, before)) else 0
    return rules, done
