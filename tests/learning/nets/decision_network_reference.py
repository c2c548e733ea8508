"""A decision rules network by the book: one network, double precision, one formula after the other, nothing reused."""

from dataclasses import dataclass

import numpy as np

GAMMA, ZETA, BETA = -0.1, 1.1, 2.0 / 3.0


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def stretched(logits, noise):
    return sigmoid((logits + noise) / BETA) * (ZETA - GAMMA) + GAMMA


def gate(logits, noise):
    return np.clip(stretched(logits, noise), 0.0, 1.0)


def gate_slope(logits, noise):
    s, inside = sigmoid((logits + noise) / BETA), stretched(logits, noise)
    return np.where((inside > 0.0) & (inside < 1.0), s * (1.0 - s) * (ZETA - GAMMA) / BETA, 0.0)


def chance(logits):
    return sigmoid(logits - BETA * np.log(-GAMMA / ZETA))


def conjunctions(x, u):
    return x @ u.T + 1.0 - np.where(u > 0.0, u, 0.0).sum(axis=1)


@dataclass
class State:
    """All that training changes: weights and logits of the rules layer, logits of the OR layer, and the moments of Adam."""

    weights: np.ndarray
    logits: np.ndarray
    gates: np.ndarray
    moments: dict
    steps: dict

    @classmethod
    def at(cls, weights, logits, gates):
        return cls(weights.copy(), logits.copy(), gates.copy(), {}, {"rules": 0, "or": 0})


def forward(state, x, noise):
    """Return u, the gates of the rules, z, which rules fire, and the score."""
    u = state.weights * gate(state.logits, noise[0])
    m = gate(state.gates, noise[1])
    z = conjunctions(x, u)
    fires = (z > 0.999999).astype(float)
    return u, m, z, fires, fires @ (m > 0.0).astype(float) - 0.5


def straight_through(state, x, y, c, noise):
    """Return the gradient in the score, and that in z."""
    _, m, z, _, score = forward(state, x, noise)
    pull = c * (sigmoid(score) - y)
    through = np.outer(pull, m)
    kept = np.where(z < 0.0, 0.0, through)
    return pull, np.where((z >= 1.0) & (through < 0.0), 0.0, kept)


def rules_gradients(state, x, y, c, noise, penalty):
    """Return the gradients of weights and logits of the rules layer."""
    u = forward(state, x, noise)[0]
    _, through = straight_through(state, x, y, c, noise)
    of_u = through.T @ x - through.sum(axis=0)[:, None] * (u > 0.0)
    p = chance(state.logits)
    of_penalty = penalty * p * (1.0 - p) * chance(state.gates)[:, None] / state.logits.size
    of_logits = of_u * state.weights * gate_slope(state.logits, noise[0]) + of_penalty
    return of_u * gate(state.logits, noise[0]), of_logits


def or_gradient(state, x, y, c, noise, penalty):
    """Return the gradient of the logits of the OR layer."""
    fires = forward(state, x, noise)[3]
    pull, _ = straight_through(state, x, y, c, noise)
    p = chance(state.gates)
    of_penalty = penalty * (chance(state.logits).mean(axis=1) + 1.0) * p * (1.0 - p) / len(state.gates)
    return fires.T @ pull * gate_slope(state.gates, noise[1]) + of_penalty


def adam(state, layer, name, values, gradient, size=1e-2):
    mean, square = state.moments.get(name, (np.zeros_like(values), np.zeros_like(values)))
    mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
    state.moments[name] = mean, square
    step = state.steps[layer]
    return values - size * (mean / (1.0 - 0.9**step)) / (np.sqrt(square / (1.0 - 0.999**step)) + 1e-8)


def train(state, x, y, c, noises, penalties, phase_length):
    """Train the layers in turns, one step for each noise."""
    for index, noise in enumerate(noises):
        if (index // phase_length) % 2 == 0:
            of_weights, of_logits = rules_gradients(state, x, y, c, noise, penalties[0])
            state.steps["rules"] += 1
            state.weights = adam(state, "rules", "weights", state.weights, of_weights)
            state.logits = adam(state, "rules", "logits", state.logits, of_logits)
        else:
            of_gates = or_gradient(state, x, y, c, noise, penalties[1])
            state.steps["or"] += 1
            state.gates = adam(state, "or", "gates", state.gates, of_gates)
