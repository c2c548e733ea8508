"""Pieces: the text of conditions and factors in pieces, so that the page can set names and levels apart from words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from obliquerules.rules import Columns, Factor, RuleEnsemble
from obliquerules.rules.columns import Column, Level
from obliquerules.rules.ensemble import used_columns
from obliquerules.rules.proposition import Test
from obliquerules.rules.text.style import Style, plain_level

# A word between two operators and numbers, a column by its number, and a level as it is printed.
Piece = str | int | list[str]

# Stands on either side of a column or level in the text of a condition, where nothing else of what users write is.
MARK = "\ue000"
PLACE = re.compile(f"{MARK}([cl])([0-9]+){MARK}")


class Texts:
    """What writes conditions and factors in pieces.

    Parameters
    ----------
    ensembles : iterable of RuleEnsemble
        Those whose conditions and factors are to be written.
    columns : Columns
    """

    def __init__(self, ensembles: Iterable[RuleEnsemble], columns: Columns) -> None:
        self.levels: list[str] = []
        self.style = Style(name=str, level=self._level)
        names, special = [""] * len(columns), dict(columns.special)
        for index in used_columns(ensembles):
            names[index] = f"{MARK}c{index}{MARK}"
            special[index] = replace(columns[index], name=names[index])
        kept = ((index, column) for index, column in special.items() if column != Column(column.name))
        self.columns = Columns(tuple(names), tuple(sorted(kept, key=lambda one: one[0])))

    def _level(self, level: Level) -> str:
        self.levels.append(plain_level(level))
        return f"{MARK}l{len(self.levels) - 1}{MARK}"

    def pieces(self, part: Test | Factor) -> list[Piece]:
        """Return the text of a condition or a factor in pieces."""
        parts = PLACE.split(part.describe(self.columns, self.style))
        found: list[Piece] = [parts[0]]
        for kind, number, words in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            found += [int(number) if kind == "c" else [self.levels[int(number)]], words]
        return [piece for piece in found if piece != ""]
