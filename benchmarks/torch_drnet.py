"""DRNet's network in PyTorch, as one would write it there: automatic gradients, and own functions for the two steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from obliquerules.learning.nets.adam import NetworkParameters
from obliquerules.learning.nets.decision_network import LEAST, MOST, NOISE_SCALE, SHIFT, TEMPERATURE, Examples, Noise, Schedule


class Fires(torch.autograd.Function):
    """1 where z is 1; the gradient goes to z where z >= 0, unless it would raise a z of 1."""

    @staticmethod
    def forward(ctx: Any, z: torch.Tensor) -> torch.Tensor:
        """Return which conjunctions hold."""
        ctx.save_for_backward(z)
        return (z > 0.999999).to(z.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        """Let the gradient through."""
        (z,), (gradient,) = ctx.saved_tensors, gradients
        return gradient * ((z >= 0.0) & ~((z >= 1.0) & (gradient < 0.0)))


class Count(torch.autograd.Function):
    """The number of rules that fire behind open gates; its gradients are those of a sum in which gates count by their value."""

    @staticmethod
    def forward(ctx: Any, fires: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        """Return the number for each row."""
        ctx.save_for_backward(fires, gates)
        return fires @ (gates > 0.0).to(fires.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Let the gradient through."""
        (fires, gates), (gradient,) = ctx.saved_tensors, gradients
        return torch.outer(gradient, gates), fires.T @ gradient


class TorchNetwork:
    """One network on the rows of the examples; noise is drawn by PyTorch unless it is given."""

    def __init__(self, examples: Examples, start: NetworkParameters, noise: Noise | None = None) -> None:
        dtype = start["rules"].dtype
        self.noise = noise
        self.rows = torch.tensor(examples.inputs.astype(dtype))
        self.target = torch.tensor((np.arange(len(examples.inputs)) < examples.n_positive).astype(dtype))
        self.share = torch.tensor(examples.weight.astype(dtype))
        weights, logits = start["rules"][:, 0]
        self.weights, self.logits, self.gates = (
            torch.tensor(values, requires_grad=True) for values in (weights, logits, start["gates"][0])
        )

    def losses(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss of a draw of the gates, and the regulariser."""
        noises = (None, None) if self.noise is None else [torch.tensor(one[0] / NOISE_SCALE) for one in next(self.noise)]
        u = self.weights * draw(self.logits, noises[0])
        fires = Fires.apply(self.rows @ u.T + 1.0 - u.clamp(min=0.0).sum(1))
        score = Count.apply(fires, draw(self.gates, noises[1])) - 0.5
        loss = (self.share * (torch.nn.functional.softplus(score) - self.target * score)).sum()
        return loss, ((chance(self.logits).mean(1) + 1.0) * chance(self.gates)).mean()

    def train(self, penalty: float, schedule: Schedule) -> None:
        """Take all steps, the layers in turns."""
        size = schedule.step_size
        optimizers = torch.optim.Adam([self.weights, self.logits], size), torch.optim.Adam([self.gates], size)
        for step in range(schedule.n_steps):
            turn = (step // schedule.phase_length) % 2
            loss, regulariser = self.losses()
            optimizers[turn].zero_grad()
            (loss + (penalty, schedule.or_penalty)[turn] * regulariser).backward()
            optimizers[turn].step()


def draw(logits: torch.Tensor, noise: torch.Tensor | None) -> torch.Tensor:
    """Return hard concrete gates."""
    if noise is None:
        uniform = torch.rand_like(logits).clamp(1e-7, 1.0 - 1e-7)
        noise = torch.log(uniform) - torch.log1p(-uniform)
    return (torch.sigmoid((logits + noise) / TEMPERATURE) * (MOST - LEAST) + LEAST).clamp(0.0, 1.0)


def chance(logits: torch.Tensor) -> torch.Tensor:
    """Return the probability that a gate is not zero."""
    return torch.sigmoid(logits + SHIFT)
