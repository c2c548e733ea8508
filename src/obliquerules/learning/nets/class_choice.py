"""Class choice: with many classes, which of them the rules of a hard network speak for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask
from obliquerules.learning.method import patterns_of
from obliquerules.learning.nets.extraction import Draft, HardNetwork, TrainingRows, cleaned

# The prices of a unit of complexity that are tried, in units of log(n) on the scale of -2 log likelihood: that of the Bayesian
# information criterion, and multiples of it. Each makes another model of a network, and the Pareto front of all is kept.
PRICES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# What is added to each diagonal entry of a Hessian, as a share of the weight of all rows, so that it has an inverse.
TINY = 1e-9


def drafts_of(network: HardNetwork, rows: TrainingRows) -> Iterator[Draft]:
    """Yield what is read off a network: one draft and, with many classes, others with fewer and fewer weights."""
    draft = cleaned(network, rows)
    yield draft
    if rows.loss.by_class:
        unit = 0.5 * math.log(float(np.add.reduce(rows.weight)))  # the loss is half of -2 log likelihood
        for price in PRICES:
            draft = speaking_for_fewer(draft, rows, price * unit)
            yield draft


def speaking_for_fewer(draft: Draft, rows: TrainingRows, price: float) -> Draft:
    """Drop the weights that are not worth their price, and the rules that are left without any; refit the others."""
    fires = draft.fires(rows)
    spoken = worth_their_price(draft, fires, rows, price)
    kept = np.logical_or.reduce(spoken, axis=1)
    weights, risk = rows.refit(fires[kept], spoken[kept])
    return Draft(draft.network, tuple(compress(draft.bodies, kept)), weights, risk)


def worth_their_price(draft: Draft, fires: Mask, rows: TrainingRows, price: float) -> Mask:
    """Return which weights to keep, shape (n_rules, n_classes).

    Weights are dropped one at a time, always the one that is least worth its price: the price of the weight and, if it is the
    last of its rule, of the condition. It is worth the rise of the penalised loss without it, to second order, with constants
    and other weights free to follow.
    """
    spoken: Mask = draft.weights[1:] != 0.0
    rule, output = np.nonzero(spoken)
    left, inverse = draft.weights[1:][spoken], _inverse_hessian(draft, fires, rows)
    conditions = np.array(draft.body_complexities, dtype=np.intp)[rule]
    there = np.ones(len(left), dtype=np.bool_)
    while there.any():
        saved = 1 + conditions * (spoken.sum(axis=1) == 1)[rule]
        worth = 0.5 * left * left / np.where(there, inverse.diagonal(), 1.0)
        balance = np.where(there, worth - price * saved, np.inf)
        worst = int(balance.argmin())
        if balance[worst] >= 0.0:
            break
        there[worst] = spoken[rule[worst], output[worst]] = False
        # The other weights take over what they can of this one, and each is then worth more.
        follow = inverse[:, worst] / inverse[worst, worst]
        left = left - follow * left[worst]
        inverse = inverse - follow[:, None] * inverse[worst]
    return spoken


def _inverse_hessian(draft: Draft, fires: Mask, rows: TrainingRows) -> NDArray[np.float64]:
    """Return the part of the inverse Hessian of the penalised loss that belongs to the weights; the constants are free."""
    design, pattern = patterns_of(fires, len(rows.y))
    mass = np.bincount(pattern, rows.weight, len(design))
    means = rows.loss.inverse_link(design @ draft.weights)
    n_classes = means.shape[1]
    column, output = np.nonzero(np.vstack([np.ones((1, n_classes)), draft.weights[1:]]))
    pull = design[:, column] * means[:, output]
    hessian = -np.asarray(pull.T @ (mass[:, None] * pull))
    for one in range(n_classes):
        mine = np.flatnonzero(output == one)
        hessian[np.ix_(mine, mine)] += design[:, column[mine]].T @ (mass[:, None] * pull[:, mine])
    total = np.add.reduce(mass)
    # Nothing changes if all constants change alike: a curvature in that direction changes nothing in the others.
    hessian[:n_classes, :n_classes] += total / n_classes**2
    hessian.flat[:: len(hessian) + 1] += np.where(column > 0, np.asarray(rows.ridge)[output], 0.0) + TINY * total
    return np.asarray(np.linalg.inv(hessian)[n_classes:, n_classes:])
