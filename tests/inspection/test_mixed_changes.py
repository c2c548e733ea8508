"""Closest change in mixed columns: enumeration finds nothing closer, and no level is proposed that fit has not seen."""

import datetime
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules import LLTBoostRegressor
from obliquerules.inspection.change_request import room_for
from obliquerules.inspection.change_room import Wish
from obliquerules.inspection.closest_change import closest_change
from obliquerules.rules import Block

from .mixed import COLUMNS, VALUES, mixed_ensembles, mixed_rows, model_of

# Each value occurs, so that each column may take each of its values.
ROWS = Block(COLUMNS, np.array(list(itertools.product(*VALUES)))[::7])
UNIT = [values[~np.isnan(values)].std() for values in ROWS.matrix.T]


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def reachable(x, fill):
    """Return what each column may become, with its distance: by the definition, not by the code."""
    found = []
    for column, now in enumerate(x.tolist()):
        known = sorted(value for value in VALUES[column] if value >= 0.0)
        gap = math.isnan(now)
        if COLUMNS[column].levels is not None:
            found.append([(now, 0.0), *((code, 1.0) for code in known if code != now and (fill or not gap))])
        elif gap:
            middle = np.round(np.nanmedian(ROWS.matrix[:, column]))
            ways = [(value, 1.0 + abs(value - middle) / UNIT[column]) for value in known]
            found.append([(now, 0.0), *(ways if fill else [])])
        else:
            found.append([(value, abs(value - now) / UNIT[column]) for value in known])
    return found


def enumerated(ensemble, x, wish, fill):
    """Return the least distance of all rows that have the wanted prediction."""
    ways = list(itertools.product(*reachable(x, fill)))
    rows = np.array([[value for value, _ in way] for way in ways])
    distances = np.array([sum(distance for _, distance in way) for way in ways])
    return distances[wish.met(ensemble(Block(COLUMNS, rows)))].min(initial=math.inf)


def found(ensemble, x, wish, fill=(), **options):
    model, given = (
        model_of(ensemble),
        {"fixed": (), "whole": None, "lower": {}, "upper": {}, "cost": {}, "fill": fill} | options,
    )
    room = room_for(model, x, ROWS, **given)
    return closest_change(model, room, wish, ROWS, tolerance=0.0, max_steps=10_000)


def coded(row):
    """Return a row of values as one of a block."""
    return np.array(
        [
            math.nan
            if value is None
            else float((value - datetime.date(1970, 1, 1)).days)
            if isinstance(value, datetime.date)
            else float(column.levels.index(value) if value in column.levels else -1)
            if column.levels
            else value
            for column, value in zip(COLUMNS, row, strict=True)
        ]
    )


@settings(max_examples=250)
@given(mixed_ensembles(), mixed_rows, st.sampled_from([-1.0, 0.0, 0.5, 1.2]), st.booleans(), st.booleans())
def test_enumeration_finds_nothing_closer(ensemble, x, limit, up, fill):
    wish = Wish(lambda score: score > limit, 1.0, "up") if up else Wish(lambda score: score < limit, -1.0, "down")
    result = found(ensemble, x, wish, COLUMNS.names if fill else ())
    expected = enumerated(ensemble, x, wish, fill)
    assert result.proven
    assert result.distance == pytest.approx(expected, rel=1e-5, abs=1e-5)
    if result.row is None:
        assert result.bound == math.inf
        return
    row = coded(result.row)
    assert wish.met(ensemble(Block(COLUMNS, row[None, :])))[0]
    assert result.distance == pytest.approx(sum(change.distance for change in result))
    for column, (before, after) in enumerate(zip(x, row, strict=True)):
        assert same(before, after) or after in [value for value in VALUES[column] if value >= 0.0]
        assert fill or not math.isnan(before) or math.isnan(after)
