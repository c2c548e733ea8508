"""DRNet's network in PyTorch, as one would write it there: automatic gradients, and own functions for the two steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from obliquerules.nets.drnet import Examples, Schedule

GAMMA, ZETA, BETA = -0.1, 1.1, 2.0 / 3.0


class Fires(torch.autograd.Function):
    """1 where z is 1; the gradient goes to z where z >= 0, unless it would raise a z of 1."""

    @staticmethod
    def forward(ctx: Any, z: torch.Tensor) -> torch.Tensor:
        """Return which conjunctions hold."""
        ctx.save_for_backward(z)
        return (z > 0.999999).float()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        """Let the gradient through."""
        (z,), (gradient,) = ctx.saved_tensors, gradients
        return gradient * ((z >= 0.0) & ~((z >= 1.0) & (gradient < 0.0)))


class Open(torch.autograd.Function):
    """1 where a gate is open; the rules behind it and the gate itself get gradients as if the gate counted by its value."""

    @staticmethod
    def forward(ctx: Any, fires: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        """Return the number of rules that fire and have an open gate."""
        ctx.save_for_backward(fires, gates)
        return fires @ (gates > 0.0).float()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Let the gradient through."""
        (fires, gates), (gradient,) = ctx.saved_tensors, gradients
        return torch.outer(gradient, gates), fires.T @ gradient


def draw(logits: torch.Tensor) -> torch.Tensor:
    """Return hard concrete gates."""
    uniform = torch.rand_like(logits).clamp(1e-7, 1.0 - 1e-7)
    noise = torch.log(uniform) - torch.log1p(-uniform)
    return (torch.sigmoid((logits + noise) / BETA) * (ZETA - GAMMA) + GAMMA).clamp(0.0, 1.0)


def chance(logits: torch.Tensor) -> torch.Tensor:
    """Return the probability that a gate is not zero."""
    return torch.sigmoid(logits - BETA * float(np.log(-GAMMA / ZETA)))


def train_with_torch(examples: Examples, penalty: float, schedule: Schedule) -> None:
    """Train one network in one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.from_numpy(examples.inputs.astype(np.float32))
    y = (torch.arange(len(x)) < examples.n_positive).float()
    share = torch.from_numpy(examples.weight.astype(np.float32))
    shape = schedule.n_rules, x.shape[1]
    weights = ((torch.rand(shape) * 2.0 - 1.0) / shape[1] ** 0.5).requires_grad_()
    logits = (0.01 * torch.randn(shape)).requires_grad_()
    gates = (0.01 * torch.randn(schedule.n_rules)).requires_grad_()
    optimizers = torch.optim.Adam([weights, logits], schedule.step_size), torch.optim.Adam([gates], schedule.step_size)
    for step in range(schedule.n_steps):
        turn = (step // schedule.phase_length) % 2
        u = weights * draw(logits)
        fires = Fires.apply(x @ u.T + 1.0 - u.clamp(min=0.0).sum(1))
        score = Open.apply(fires, draw(gates)) - 0.5
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, y, weight=share, reduction="sum")
        regulariser = ((chance(logits).mean(1) + 1.0) * chance(gates)).mean()
        optimizers[turn].zero_grad()
        (loss + (penalty, schedule.or_penalty)[turn] * regulariser).backward()
        optimizers[turn].step()
