"""Networks by hand against the same networks in PyTorch: the processor time of a fit, in one thread, from the same start.

PyTorch is there for this comparison only: ``pip install torch==2.13.0`` in the environment that runs the script.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.stopwatch import mean_seconds
from obliquerules import DRNetClassifier, LTRNetClassifier
from obliquerules.learning.nets.adam import Adam, NetworkParameters, Phase, train
from obliquerules.learning.nets.boxes import binarise
from obliquerules.learning.nets.decision_network import DecisionRulesNetworks, Examples, Schedule, draw_noise, train_layers
from obliquerules.learning.nets.decision_network import start as start_of_drnet
from obliquerules.learning.nets.soft_rules import BETAS, SHARPNESS, STEP_SIZE, Architecture, Penalties, ScoreUnits, SoftRules
from obliquerules.losses import LOSSES

try:
    import torch

    from benchmarks.torch_drnet import TorchNetwork
except ImportError:
    sys.exit("This comparison needs PyTorch: pip install torch==2.13.0")

ROWS, COLUMNS = 500, 10


@dataclass(frozen=True)
class Comparison:
    """What became of one network: seconds of ours and of PyTorch's, and how far the losses of both lie apart in the end."""

    name: str
    ours: float
    torch: float
    loss: float
    difference: float


def problem() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw labels that depend on six of the inputs, in part through products and corners."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    score = X[:, 0] + 0.5 * X[:, 1] * (X[:, 2] > 0.0) + X[:, 3] - X[:, 4] * X[:, 5]
    return X, (score + 0.5 * rng.logistic(size=ROWS) > 0.0).astype(np.float64)


# LTRNet

RESTARTS, RULES, PROPOSITIONS, STEEPNESS, STEPS = 6, 10, 5, 2.0, 250
PENALTY, W_PENALTY = 0.01, 0.01


def ltrnet() -> Comparison:
    """Compare a whole fit at one penalty, rules and all, with the training alone in PyTorch, all restarts as one batch."""
    X, y = problem()
    model = LTRNetClassifier(
        max_rules=RULES,
        max_propositions=PROPOSITIONS,
        n_restarts=RESTARTS,
        max_iter=STEPS,
        n_iter_no_change=STEPS,
        max_penalty=PENALTY,
        n_penalties=1,
        w_penalty=W_PENALTY,
        steepness=STEEPNESS,
        random_state=0,
    )
    start = Architecture(RESTARTS, RULES, PROPOSITIONS, STEEPNESS).start(X, np.random.default_rng(0))
    single = {name: values.astype(np.float32) for name, values in start.items()}
    # Losses are compared in double precision: in single precision, rounding alone would part the two on the way.
    ours, theirs = trained_by_hand(X, y, start), trained_by_torch(X, y, start)
    return Comparison(
        "LTRNet",
        mean_seconds(partial(model.fit, X, y), 5.0),
        mean_seconds(partial(trained_by_torch, X.astype(np.float32), y, single), 5.0),
        float(ours.min()),
        float(np.abs(ours - theirs).max()),
    )


def trained_by_hand(X: NDArray[Any], y: NDArray[np.float64], start: NetworkParameters) -> NDArray[np.float64]:
    """Return the losses of the networks after training from a start."""
    loss, weight, penalties = LOSSES["logistic"], np.ones(len(y)), Penalties(PENALTY, W_PENALTY)
    architecture = Architecture(RESTARTS, RULES, PROPOSITIONS, STEEPNESS)
    objective = SoftRules(X, y, weight, loss, ScoreUnits.of(y, weight, loss), architecture, penalties)
    parameters = {name: values.copy() for name, values in start.items()}
    optimizer = Adam(tuple(parameters), STEP_SIZE, BETAS)
    train(parameters, [Phase(objective, optimizer, STEPS, penalties.proximal, falling=True)])
    return np.asarray(objective(parameters)[0])


def trained_by_torch(X: NDArray[Any], y: NDArray[np.float64], start: NetworkParameters) -> NDArray[np.float64]:
    """Return the same by automatic differentiation and PyTorch's own Adam."""
    parameters = {name: torch.tensor(values, requires_grad=True) for name, values in start.items()}
    optimizer = torch.optim.Adam(list(parameters.values()), lr=STEP_SIZE, betas=BETAS)
    units = ScoreUnits.of(y, np.ones(len(y)), LOSSES["logistic"])
    columns, target = torch.tensor(X.T.copy()), torch.tensor(y.astype(X.dtype))
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = STEP_SIZE * (1.0 - step / STEPS)
        optimizer.zero_grad()
        soft_losses(parameters, columns, target, units).sum().backward()
        optimizer.step()
        with torch.no_grad():
            proximal_step(parameters, optimizer, step + 1)
    with torch.no_grad():
        values = soft_losses(parameters, columns, target, units) + penalty(parameters)
    return values.numpy().astype(np.float64)


def soft_losses(parameters: dict[str, Any], columns: Any, target: Any, units: ScoreUnits) -> Any:
    """Return the mean loss of each network."""
    propositions = torch.sigmoid(SHARPNESS * (parameters["directions"] @ columns - parameters["thresholds"][..., None]))
    memberships = parameters["memberships"]
    unmet = (memberships[:, :, None, :] @ propositions)[:, :, 0] - memberships.sum(-1, keepdim=True)
    conjunctions = torch.sigmoid(STEEPNESS * (2.0 * unmet + 1.0))
    score = (parameters["rule_weights"][:, None, :] @ conjunctions)[:, 0] + parameters["constant"][:, None]
    score = units.offset + units.size * score
    return (torch.nn.functional.softplus(score) - target * score).mean(-1) / units.of_loss


def penalty(parameters: dict[str, Any]) -> Any:
    """Return the penalties of each network."""
    memberships = parameters["memberships"]
    sparse = parameters["directions"].abs().sum((1, 2, 3)) + parameters["rule_weights"].abs().sum(1)
    return PENALTY * sparse + W_PENALTY * torch.minimum(memberships.abs(), (1.0 - memberships).abs()).sum((1, 2))


def proximal_step(parameters: dict[str, Any], optimizer: Any, step: int) -> None:
    """Shrink what is penalised, by as much as the optimiser moves each entry for a unit of gradient."""
    size, correction = optimizer.param_groups[0]["lr"], 1.0 - BETAS[1] ** step
    for name in ("directions", "rule_weights", "memberships"):
        values = parameters[name]
        reach = size / ((optimizer.state[values]["exp_avg_sq"] / correction).sqrt() + 1e-8)
        if name == "memberships":
            values.add_(torch.copysign(W_PENALTY * reach, values - 0.5)).clamp_(0.0, 1.0)
        else:
            values.sub_(torch.clamp(values, -PENALTY * reach, PENALTY * reach))


# DRNet

# Some turns of both layers; the default of 10 000 steps would take PyTorch minutes, and a step takes as long at any time.
TURNS = Schedule(n_steps=800, phase_length=200, early_stopping=False)
DRNET_PENALTY = 0.01


def drnet() -> Comparison:
    """Compare a fit with one network, rules and all, with the training of that network in PyTorch."""
    X, y = problem()
    model = DRNetClassifier(
        n_penalties=1,
        max_penalty=DRNET_PENALTY,
        min_penalty=DRNET_PENALTY,
        describe=1.0,
        max_iter=TURNS.n_steps,
        phase_length=TURNS.phase_length,
        early_stopping=False,
        random_state=0,
    )
    examples = Examples.of(binarise(X, np.ones(ROWS), 9)(X), y == 1.0, np.ones(ROWS))
    start = start_of_drnet((1, TURNS.n_rules, examples.inputs.shape[1]), np.random.default_rng(0))
    double = {name: values.astype(np.float64) for name, values in start.items()}
    ours, theirs = (loss_after_training(examples, double) for loss_after_training in (drnet_by_hand, drnet_by_torch))
    return Comparison(
        "DRNet",
        mean_seconds(partial(model.fit, X, y), 5.0),
        mean_seconds(lambda: TorchNetwork(examples, start).train(DRNET_PENALTY, TURNS), 5.0),
        ours,
        abs(ours - theirs),
    )


def drnet_by_hand(examples: Examples, start: NetworkParameters) -> float:
    """Return the loss of a draw after training from a start, with noise that depends on nothing else."""
    parameters = {name: values.copy() for name, values in start.items()}
    noise = draw_noise(start["rules"].shape[1:], np.random.default_rng(1))
    penalties = np.array([DRNET_PENALTY])
    networks = DecisionRulesNetworks(examples, penalties, TURNS.or_penalty, TURNS.n_rules, noise, np.float64)
    train_layers(networks, parameters, TURNS)
    return float(networks.or_objective(parameters)[0][0])


def drnet_by_torch(examples: Examples, start: NetworkParameters) -> float:
    """Return the same by automatic differentiation and PyTorch's own Adam."""
    network = TorchNetwork(examples, start, draw_noise(start["rules"].shape[1:], np.random.default_rng(1)))
    network.train(DRNET_PENALTY, TURNS)
    return float(network.losses()[0].detach())


NETS: tuple[Callable[[], Comparison], ...] = (ltrnet, drnet)


def main() -> None:
    """Compare each network and print a line for it; fail if one is slower than in PyTorch."""
    torch.set_num_threads(1)
    print(f"{'network':>8} {'ours, s':>9} {'PyTorch, s':>11} {'ratio':>6} {'loss':>9} {'difference':>11}")
    comparisons = []
    for compare in NETS:
        one = compare()
        comparisons.append(one)
        ratio = one.torch / one.ours
        print(
            f"{one.name:>8} {one.ours:9.3f} {one.torch:11.3f} {ratio:6.2f} {one.loss:9.6f} {one.difference:11.1e}", flush=True
        )
    slower = [one.name for one in comparisons if one.ours > one.torch]
    if slower:
        sys.exit(f"Slower than PyTorch: {', '.join(slower)}.")


if __name__ == "__main__":
    main()
