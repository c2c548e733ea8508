"""Renumbering: rules say of columns elsewhere what they said of the columns that they were learned from."""

import numpy as np
import pytest

from obliquerules.losses import LOSSES
from obliquerules.rules import Column, Columns, Conjunction, Factor, Membership, Model, Proposition, Rule, RuleEnsemble
from obliquerules.rules.columns import Block, Range
from obliquerules.rules.ensemble import renumbered

COLOUR = Column("colour", ("red", "blue"))
PLACE = {0: 4, 1: 2, 2: 5}
WIDE = ["a", "b", COLOUR, "c", "age", "weight"]


def ensemble():
    both = Conjunction([Proposition([0, Membership(1, ["red"]), 2], [1.0, 2.0, -0.5], 0.1, missing=True)])
    rules = [
        Rule(1.0, both),
        Rule(2.0, Conjunction([Membership(1, ["blue"], negated=True, missing=True)])),
        Rule(0.3, Conjunction([Proposition([2], [-1.0], 0.5)]), Factor(0, 1.0, -2.0, 2.0)),
    ]
    return RuleEnsemble(rules, 0.7, ["age", COLOUR, "weight"])


def rows(n=50):
    rng = np.random.default_rng(0)
    narrow = np.column_stack([rng.normal(size=n), rng.integers(2, size=n), rng.normal(size=n)])
    narrow[rng.random((n, 3)) < 0.1] = np.nan
    wide = rng.normal(size=(n, len(WIDE)))
    for before, after in PLACE.items():
        wide[:, after] = narrow[:, before]
    return narrow, wide


def test_scores_are_the_same_to_the_last_bit():
    narrow, wide = rows()
    moved = renumbered(ensemble(), PLACE, WIDE)
    found = moved(Block(Columns.of(WIDE), wide))
    assert found.tolist() == ensemble()(Block(ensemble().columns, narrow)).tolist()
    assert moved.used_columns == (2, 4, 5)
    assert str(moved) == str(ensemble())


def test_there_and_back_is_the_identity():
    moved = renumbered(ensemble(), PLACE, WIDE)
    back = {after: before for before, after in PLACE.items()}
    assert renumbered(moved, back, ensemble().columns) == ensemble()


def test_many_classes_keep_their_names_and_weights():
    many = RuleEnsemble([Rule([1.0, 0.0, -1.0], Conjunction([Proposition([0], [1.0], 0.0)]))], [0.1, 0.2, 0.3], outputs="abc")
    moved = renumbered(many, {0: 3}, None)
    assert moved.outputs == many.outputs
    assert moved.weight_table.tolist() == many.weight_table.tolist()
    assert moved.used_columns == (3,)


def test_a_column_without_a_new_place_is_an_error():
    with pytest.raises(KeyError):
        renumbered(ensemble(), {0: 4}, WIDE)


def test_the_ranges_of_a_model_move_with_its_columns():
    model = Model((ensemble()[:0], ensemble()), 1, LOSSES["squared"], ranges=(Range(0, -2.0, 2.0), Range(2, -1.0, 1.0)))
    moved = model.renumbered(PLACE, Columns.of(WIDE))
    assert moved.ranges == (Range(4, -2.0, 2.0), Range(5, -1.0, 1.0))
    assert moved.path == tuple(renumbered(one, PLACE, WIDE) for one in model.path)
    assert moved.alone().path == (moved.path[1],)
