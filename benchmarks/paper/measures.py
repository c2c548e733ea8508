"""Measures: the four things that the paper reads off every path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.paper.protocol import loss_within, smallest_complexity
from benchmarks.paper.published import (
    COMPLEXITY_AT_RISK,
    COMPLEXITY_AT_ZERO_ONE_LOSS,
    RISK_AT_COMPLEXITY,
    ZERO_ONE_LOSS_AT_COMPLEXITY,
    Row,
)


@dataclass(frozen=True)
class Measure:
    """A number read off a path at a target, with the paper's rows for it.

    Attributes
    ----------
    title : str
    loss : str
        Which of a repetition's losses it looks at.
    of : callable
        From complexities, losses and the target to the number; less is better.
    tenths : int
        Which order statistics bound the median; see `order_interval`.
    decimals : int
        The number of decimals to which our median is rounded before it is compared: two for a risk, as the paper prints it;
        one for a complexity, whose median may end in a half.
    paper : mapping from str to Row
        By name of data set.
    """

    title: str
    loss: str
    of: Callable[[Sequence[int], Sequence[float], float], float]
    tenths: int
    decimals: int
    paper: Mapping[str, Row]


MEASURES = (
    Measure("Complexity at the risk target", "risk", smallest_complexity, 4, 1, COMPLEXITY_AT_RISK),
    Measure("Risk at the complexity target", "risk", loss_within, 3, 2, RISK_AT_COMPLEXITY),
    Measure("0/1 loss at the complexity target", "0/1 loss", loss_within, 3, 2, ZERO_ONE_LOSS_AT_COMPLEXITY),
    Measure("Complexity at the 0/1 loss target", "0/1 loss", smallest_complexity, 4, 1, COMPLEXITY_AT_ZERO_ONE_LOSS),
)
