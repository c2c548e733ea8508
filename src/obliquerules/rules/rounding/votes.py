"""Votes: sums of 0/1 inputs, brought to the smallest whole weights that say the same of every case."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules.columns import Block
from obliquerules.rules.rule_parts import Membership, Proposition, Summand, Test

# Sums of more inputs stay as they are: there are 2^k cases, and 7^k weights to try. Whole weights of at most six are enough for
# every sum of six inputs or fewer.
MOST_INPUTS = 6
LARGEST_WEIGHT = 6

Cases = NDArray[np.float64]


def is_binary(summand: Summand, block: Block) -> bool:
    """Say whether an input of a sum is always 0 or 1."""
    return summand in block.flags if isinstance(summand, int) else True


def in_whole_numbers(proposition: Proposition, block: Block) -> Test:
    """Return a sum of 0/1 inputs with the smallest whole weights that cover the same cases, or as it is if it is another sum.

    Inputs that decide nothing are left out. Levels of one column exclude each other, so that not all cases can occur; those
    with the same weight are listed together. A sum of levels of a single column becomes a membership.
    """
    summands = proposition.columns
    if len(summands) > MOST_INPUTS or not all(is_binary(summand, block) for summand in summands):
        return proposition
    cases = _cases(summands)
    total = proposition.weights[0] * cases[:, 0]  # added as in the model
    for column, weight in zip(cases.T[1:], proposition.weights[1:], strict=True):
        total = total + weight * column
    holds = total >= proposition.threshold
    if holds.all() or not holds.any():
        return proposition
    # Where a flag is missing, the sum does not hold: such a flag has to stay.
    needed = tuple(isinstance(summand, int) and summand in block.incomplete for summand in summands)
    found = _smallest(tuple(np.sign(proposition.weights).tolist()), needed, cases.tobytes(), holds.tobytes())
    if found is None:
        return proposition
    made = _made(summands, *found, proposition.missing, block)
    return made if isinstance(made, Membership) else _upright(made, block)


@lru_cache(maxsize=4096)
def _smallest(
    signs: tuple[float, ...], needed: tuple[bool, ...], cases: bytes, holds: bytes
) -> tuple[tuple[float, ...], float] | None:
    """Return the smallest whole weights of these signs, and the threshold, with which just these cases hold."""
    all_cases = np.frombuffer(cases).reshape(-1, len(signs))
    held = np.frombuffer(holds, dtype=np.bool_)
    weights = _by_size(len(signs)) * np.array(signs)
    sums = all_cases @ weights.T
    least, most = sums[held].min(axis=0), sums[~held].max(axis=0)
    fitting = np.flatnonzero((most < least) & (weights[:, list(needed)] != 0.0).all(axis=1))
    if len(fitting) == 0:
        return None
    return tuple(weights[fitting[0]].tolist()), float(least[fitting[0]])


def _cases(summands: tuple[Summand, ...]) -> Cases:
    """Return the cases that can occur: no column has two levels at once."""
    cases = np.array(list(itertools.product((0.0, 1.0), repeat=len(summands))))
    for (i, one), (j, other) in itertools.combinations(enumerate(summands), 2):
        if isinstance(one, Membership) and isinstance(other, Membership) and _exclusive(one, other):
            cases = cases[(cases[:, i] == 0.0) | (cases[:, j] == 0.0)]
    return cases


def _exclusive(one: Membership, other: Membership) -> bool:
    plain = not (one.negated or other.negated or (one.missing and other.missing))
    return plain and one.column == other.column and not set(one.levels) & set(other.levels)


@lru_cache(maxsize=MOST_INPUTS)
def _by_size(n: int) -> NDArray[np.float64]:
    """Return all sizes of weights: those of fewer inputs first, then those with the smaller sum, then the smaller largest."""
    found = itertools.product(range(min(n, LARGEST_WEIGHT) + 1), repeat=n)
    ordered = sorted(found, key=lambda sizes: (n - sizes.count(0), sum(sizes), max(sizes)))
    return np.array(ordered[1:], dtype=np.float64)


def _made(summands: tuple[Summand, ...], weights: tuple[float, ...], threshold: float, missing: bool, block: Block) -> Test:
    """Return the sum with whole weights, its levels of one column together where they weigh the same."""
    kept: dict[Summand, float] = {}
    for summand, weight in zip(summands, weights, strict=True):
        if weight == 0.0:
            continue
        joined = ((other, _joined(other, summand, block)) for other in kept if kept[other] == weight)
        same, both = next(((other, both) for other, both in joined if both is not None), (None, None))
        if same is None or both is None:
            kept[summand] = weight
        else:
            kept = {both if other == same else other: size for other, size in kept.items()}
    divisor = math.gcd(*(int(weight) for weight in kept.values()))
    whole = [weight / divisor for weight in kept.values()]
    made = Proposition(list(kept), whole, math.ceil(threshold / divisor), missing)
    return as_membership(made)


def _upright(proposition: Proposition, block: Block) -> Proposition:
    """Return a sum in which levels count for what they are not, instead of counting against it, where none is missing.

    ``a - (smoker = yes) >= 1`` says the same as ``a + (smoker != yes) >= 2``, and reads better: ``all of {a, smoker != yes}``.
    """
    summands, weights, threshold = list(proposition.columns), list(proposition.weights), proposition.threshold
    for place, (summand, weight) in enumerate(zip(summands, weights, strict=True)):
        if isinstance(summand, Membership) and weight < 0.0 and summand.column not in block.incomplete:
            turned = summand.opposite()
            turned = turned.with_missing(False) if turned.levels else turned
            if turned not in summands:
                summands[place], weights[place] = turned, -weight
                threshold -= weight
    return Proposition(summands, weights, threshold, proposition.missing)


def _joined(one: Summand, other: Summand, block: Block) -> Membership | None:
    """Return both listed together, in the order of the column, in which they are printed too; None if they cannot be."""
    if not (isinstance(one, Membership) and isinstance(other, Membership)) or one.ordered or other.ordered:
        return None
    if not (one.levels and other.levels and _exclusive(one, other)):
        return None
    order = block.column(one.column).levels or ()
    return Membership(one.column, sorted((*one.levels, *other.levels), key=order.index), missing=one.missing or other.missing)


def as_membership(proposition: Proposition) -> Test:
    """Return a sum of nothing but one membership as that membership or its opposite."""
    summand = proposition.columns[0]
    if len(proposition.columns) > 1 or not isinstance(summand, Membership):
        return proposition
    weight, threshold = proposition.weights[0], proposition.threshold
    if weight > 0.0 and 0.0 < threshold <= weight:
        return summand
    return summand.opposite() if weight < threshold <= 0.0 else proposition
