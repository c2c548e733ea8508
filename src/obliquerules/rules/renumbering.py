"""Renumbering: the same rules on a table in which their columns stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from obliquerules.rules.columns import Column
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.membership import Membership
from obliquerules.rules.proposition import Summand, Test
from obliquerules.rules.rule import Rule


def renumbered(ensemble: RuleEnsemble, place: Mapping[int, int], columns: Iterable[str | Column] | None) -> RuleEnsemble:
    """Return the ensemble on other columns.

    Parameters
    ----------
    ensemble : RuleEnsemble
    place : mapping of int to int
        The new position of each column that rules use.
    columns : iterable of str or Column, or None
        The new columns.

    Examples
    --------
    >>> from obliquerules import RuleEnsemble
    >>> print(renumbered(RuleEnsemble.parse("+1 if x0 - x1 >= 3"), {0: 7, 1: 9}, None))
    +0 if True
    +1 if x7 - x9 >= 3
    """
    return RuleEnsemble([_rule(rule, place) for rule in ensemble], ensemble.intercept, columns, ensemble.outputs)


def _rule(rule: Rule, place: Mapping[int, int]) -> Rule:
    condition = Conjunction(_test(test, place) for test in rule.condition)
    factor = None if rule.factor is None else replace(rule.factor, column=place[rule.factor.column])
    return Rule(rule.weight, condition, factor)


def _test(test: Test, place: Mapping[int, int]) -> Test:
    if isinstance(test, Membership):
        return replace(test, column=place[test.column])
    return replace(test, columns=tuple(_summand(summand, place) for summand in test.columns))


def _summand(summand: Summand, place: Mapping[int, int]) -> Summand:
    return place[summand] if isinstance(summand, int) else replace(summand, column=place[summand.column])
