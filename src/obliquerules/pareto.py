"""The Pareto front of complexity and loss: the models for which no simpler one has as low a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def pareto(items: Iterable[Item], cost: Callable[[Item], tuple[float, float]]) -> list[Item]:
    """Return the items whose loss is lower than that of all simpler ones, in order of complexity.

    Of items with the same complexity and loss, the first is kept. A front can be grown item by item: the front of a front and
    further items is the front of all items.

    Parameters
    ----------
    items : iterable
    cost : callable
        Returns the complexity and the loss of an item.

    Examples
    --------
    >>> pareto([(3, 0.5), (0, 1.0), (2, 0.5), (2, 0.7), (5, 0.1)], cost=lambda item: item)
    [(0, 1.0), (2, 0.5), (5, 0.1)]
    """
    front: list[Item] = []
    for item in sorted(items, key=cost):
        if not front or cost(item)[1] < cost(front[-1])[1]:
            front.append(item)
    return front
