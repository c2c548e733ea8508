"""Adam: the one training loop of all networks, on named arrays with an optional proximal step, in phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.data.blocks import ON_ONE_PROCESSOR

Floats = NDArray[np.floating[Any]]
NetworkParameters = dict[str, Floats]
# Takes the parameters; returns the loss of each network of a batch (an array of any shape) and the gradients by name. The next
# call may overwrite what it returned.
Objective = Callable[[NetworkParameters], tuple[Floats, Mapping[str, Floats]]]
# Changes the parameters in place after a step; it is also given, by name, how far a unit of gradient moves each entry.
Proximal = Callable[[NetworkParameters, Mapping[str, Floats]], None]
# Called with the number of steps done, the losses and the parameters.
Callback = Callable[[int, Floats, NetworkParameters], None]


class Adam:
    """Adam on the named parameters, in place; phases share its moments.

    An entry moves by ``size * mean / (sqrt(square) + epsilon)``, mean and square being the averages of its gradient and of its
    squared gradient, which decay by ``betas``, each corrected for the bias of starting at zero.
    """

    def __init__(
        self, names: Sequence[str], size: float, betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8
    ) -> None:
        self.names = tuple(names)
        self.size = size
        self.betas = betas
        self.epsilon = epsilon
        self.n_steps = 0
        self._arrays: dict[str, Floats] = {}

    def step(self, parameters: NetworkParameters, gradients: Mapping[str, Floats], factor: float = 1.0) -> dict[str, Floats]:
        """Move the parameters; return by name how far a unit of averaged gradient moves each entry.

        The next step overwrites what is returned.
        """
        self.n_steps += 1
        keep_mean, keep_square = self.betas
        reaches: dict[str, Floats] = {}
        for name in self.names:
            values, gradient = parameters[name], gradients[name]
            if name not in self._arrays:
                self._arrays[name] = np.zeros((4, *values.shape), dtype=values.dtype)
            mean, square, reach, change = self._arrays[name]
            # Every result goes into an existing array: in small networks, most of the time would go into allocating new ones.
            np.subtract(gradient, mean, out=change)
            change *= 1.0 - keep_mean
            mean += change
            np.multiply(gradient, gradient, out=change)
            change -= square
            change *= 1.0 - keep_square
            square += change
            np.divide(square, 1.0 - keep_square**self.n_steps, out=reach)
            np.sqrt(reach, out=reach)
            reach += self.epsilon
            np.divide(factor * self.size, reach, out=reach)
            np.multiply(reach, mean, out=change)
            change /= 1.0 - keep_mean**self.n_steps
            values -= change
            reaches[name] = reach
        return reaches


@dataclass(frozen=True, eq=False)
class Phase:
    """A stretch of training in which one optimiser moves its parameters down one objective.

    Attributes
    ----------
    objective : callable
        Returns losses and gradients at given parameters; anything random in it comes from a generator of its own.
    optimizer : Adam
        Phases may share one, which then keeps its averages.
    n_steps : int
    proximal : callable, optional
        Applied to the parameters after each step, such as soft thresholding or clipping.
    falling : bool
        Whether the step size falls linearly to zero.
    """

    objective: Objective
    optimizer: Adam
    n_steps: int
    proximal: Proximal | None = None
    falling: bool = False


class EarlyStopping:
    """Ends training once no network has lowered its loss for as many steps as its patience.

    A loss counts as lower if it is below the lowest so far by more than the tolerance, a share of it.
    """

    def __init__(self, patience: int, tolerance: float) -> None:
        self.patience = patience
        self.tolerance = tolerance
        self._lowest: Floats | None = None
        self._waited = 0

    def is_due(self, losses: Floats) -> bool:
        """Record the losses of a step, and say whether it is the last."""
        if self._lowest is None:
            self._lowest = losses.copy()
            return False
        lower = losses < self._lowest - self.tolerance * np.abs(self._lowest)
        self._waited = 0 if lower.any() else self._waited + 1
        self._lowest = np.where(lower, losses, self._lowest)
        return self._waited >= self.patience


def train(
    parameters: NetworkParameters,
    phases: Sequence[Phase],
    *,
    stopping: EarlyStopping | None = None,
    report: Callback | None = None,
    report_every: int = 50,
) -> int:
    """Train in place, phase after phase; return the number of steps."""
    done = 0
    with ON_ONE_PROCESSOR:
        for phase in phases:
            for index in range(phase.n_steps):
                losses, gradients = phase.objective(parameters)
                if report is not None and done % report_every == 0:
                    report(done, losses, parameters)
                if stopping is not None and stopping.is_due(losses):
                    return done
                factor = 1.0 - index / phase.n_steps if phase.falling else 1.0
                reach = phase.optimizer.step(parameters, gradients, factor)
                if phase.proximal is not None:
                    phase.proximal(parameters, reach)
                done += 1
    return done
