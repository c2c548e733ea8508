"""Decoding: the ensemble or the model of a JSON document, or a complaint that names the field at fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliquerules.losses import LOSSES, REGRESSION_LOSSES, Loss, TweedieLoss, class_loss
from obliquerules.rules.columns import Column, Columns, Level, Range
from obliquerules.rules.edits import ACTIONS, EditLog, EditStep
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.files.encoding import BY_MEMBER, LABEL_TYPES, MOST_UNNAMED_COLUMNS, longest_path
from obliquerules.rules.files.fields import Field, ModelFileError
from obliquerules.rules.labels import Labels
from obliquerules.rules.model import OFFSET_KINDS, Model, Offset, Origin
from obliquerules.rules.numbers import ALL_DIGITS, WHOLE_LIMIT
from obliquerules.rules.rule import Conjunction, Rule, Weight
from obliquerules.rules.rule_parts import Factor, Membership, Proposition, Test
from obliquerules.rules.text.style import column_names

# A short file must not demand a large table of scores for each row.
MOST_CLASSES = 10_000


def decode_content(document: Field) -> RuleEnsemble:
    """Return the ensemble of a document whose content is that of `ensemble_content`."""
    names, outputs = document.get("feature_names").names(), document.get("outputs", None).names()
    return decode_ensemble(document.get("ensemble"), None if names is None else _decode_columns(document, names), outputs)


# ---- ensembles


def decode_ensemble(field: Field, columns: Columns | None, outputs: Sequence[str] | None = None) -> RuleEnsemble:
    """Return the ensemble that `encode_ensemble` wrote, with the given names of classes if there are many."""
    n_columns = MOST_UNNAMED_COLUMNS if columns is None else len(columns)
    n_outputs = None if outputs is None else len(outputs)
    rules = [decode_rule(rule, n_columns, n_outputs) for rule in field.get("rules").items()]
    intercept = _decode_weight(field.get("intercept"), n_outputs)
    with np.errstate(over="ignore"):
        sizes = np.abs(np.array([intercept, *(rule.weight for rule in rules)])).sum(axis=0)
    if not np.isfinite(sizes).all():
        raise ModelFileError(f"{field.where} has weights whose sum is too large for a number.")
    with field.named():
        return RuleEnsemble(rules, intercept, columns, outputs)


def _decode_weight(field: Field, n_outputs: int | None) -> Weight:
    """Return a number or, with many classes, one for each of them."""
    if n_outputs is None:
        return field.number()
    weights = field.numbers()
    if len(weights) != n_outputs:
        field.fail(f"a list of {n_outputs} numbers, one for each class")
    return weights


def decode_rule(field: Field, n_columns: int, n_outputs: int | None = None) -> Rule:
    """Return the rule that `encode_rule` wrote, on ``n_columns`` columns, with a weight for each of many classes."""
    weight = _decode_weight(field.get("weight"), n_outputs)
    condition = Conjunction(_decode_test(item, n_columns) for item in field.get("condition").items())
    factor = field.get("factor", None)
    if factor.value is None:
        return Rule(weight, condition)
    column, origin = factor.get("column").index(n_columns), factor.get("origin", 0.0).number()
    limits = {name: limit.number() for name in ("lower", "upper") if (limit := factor.get(name, None)).value is not None}
    with factor.named():
        return Rule(weight, condition, Factor(column, origin, **limits))


def _decode_test(field: Field, n_columns: int) -> Test:
    if "column" in field.entries():
        return _decode_membership(field, n_columns)
    summands = [
        _decode_membership(one, n_columns) if isinstance(one.value, dict) else one.index(n_columns)
        for one in field.get("columns").items()
    ]
    weights, threshold = field.get("weights").numbers(), field.get("threshold").number()
    with field.named():
        return Proposition(summands, weights, threshold, field.get("missing", False).truth())


def _decode_membership(field: Field, n_columns: int) -> Membership:
    column = field.get("column").index(n_columns)
    answers = {name: field.get(name, False).truth() for name in ("negated", "missing", "ordered")}
    with field.named():
        return Membership(column, _decode_levels(field.get("levels")), **answers)


def _decode_levels(field: Field) -> tuple[Level, ...]:
    levels: list[Level] = []
    for level in field.items():
        if not isinstance(level.value, str | int) or (isinstance(level.value, int) and abs(level.value) >= WHOLE_LIMIT):
            level.fail("a level: text, a whole number, true or false")
        levels.append(level.text() if isinstance(level.value, str) else level.value)
    return tuple(levels)


def _decode_columns(document: Field, names: Sequence[str]) -> Columns:
    """Return the columns of these names, with what some of them hold besides plain numbers."""
    columns: list[str | Column] = list(names)
    for field in document.get("columns", []).items():
        position = field.get("position").index(len(names))
        if isinstance(columns[position], Column):
            field.get("position").fail("a position that no other column has")
        levels = field.get("levels", None)
        with field.named():
            columns[position] = Column(
                names[position],
                None if levels.value is None else _decode_levels(levels),
                field.get("ordered", False).truth(),
                field.get("kind", "number").text(),
                field.get("missing", False).truth(),
            )
    return Columns.of(columns)


# ---- models


def decode_model(document: Field) -> Model:
    """Return the model that `encode_model` wrote."""
    names, n_columns = document.get("feature_names").names(), document.get("n_features").index(2**31)
    if n_columns == 0 or (names is None and n_columns > MOST_UNNAMED_COLUMNS):
        document.get("n_features").fail(f"a whole number from 1 to {MOST_UNNAMED_COLUMNS}")
    if names is not None and not len(names) == len(set(names)) == n_columns:
        document.get("feature_names").fail(f"a list of {n_columns} different names")
    labels = None if document.get("classes").value is None else _decode_classes(document)
    field, outputs = document.get("path"), None if labels is None else labels.outputs
    items = list(field.items())
    most = longest_path(n_columns) if names is None else len(items)
    if not 1 <= len(items) <= most:
        field.fail(f"a list of 1 to {most} ensembles" if items else "a list of one or more ensembles")
    columns = _decode_columns(document, column_names(range(n_columns), None) if names is None else names)
    members = tuple(decode_ensemble(item, columns, outputs) for item in items)
    chosen, edits = document.get("chosen"), document.get("edits", None)
    position, log, path = chosen.index(len(members)), None, members
    if edits.value is not None:
        if len(members) < 2 or position != len(members) - 1:
            chosen.fail("the position of the last ensemble of the path, which is the edited one")
        path, position = members[:-1], edits.get("start").index(len(members) - 1)
        log = _decode_edits(edits, path[position], members[-1], n_columns)
    loss = _decode_loss(document.get("parameters"), labels)
    return Model(
        path,
        position,
        loss,
        labels,
        log,
        _decode_origin(document, named=names is not None),
        _decode_ranges(document.get("ranges", []), n_columns),
        decode_offset(document.get("offset", None), loss, members[0]),
        _decode_class_weights(document.get("class_weights", None), labels),
        **_decode_by_member(document, len(path)),
    )


def _decode_classes(document: Field) -> Labels:
    """Return the labels; the second must be the one that the parameter ``positive`` names, or sorts last."""
    field, positive = document.get("classes"), document.get("parameters").get("positive", None)
    labels = decode_labels(field)
    if positive.value is None and not labels.ascending:
        field.get("values").fail("in ascending order, because no parameter names the positive class")
    if positive.value is not None and labels.many:
        positive.fail("null, because there are more than two classes")
    if positive.value is not None and positive.value != labels.values[1]:
        positive.fail(f"the second class, {labels.values[1]!r}")
    return labels


def decode_labels(field: Field) -> Labels:
    """Return the labels that `encode_labels` wrote."""
    name = field.get("type")
    if name.text() not in LABEL_TYPES:
        name.fail(f"one of {', '.join(LABEL_TYPES)}")
    kind, array_kinds = LABEL_TYPES[name.text()]
    values = [item.value for item in field.get("values").items()]
    if 2 <= len(values) <= MOST_CLASSES and all(type(value) is kind for value in values):
        labels = np.array(values)
        # Whole numbers too large for an array, texts that an array cannot tell apart, and infinity fail these.
        different = labels.dtype.kind in array_kinds and len(np.unique(labels)) == len(values)
        if different and (kind is str or np.isfinite(labels).all()):
            return Labels.of_classes(labels)
    field.get("values").fail(f"two or more different labels of type {name.text()}")


def _decode_loss(parameters: Field, labels: Labels | None) -> Loss:
    """Return the logistic loss for classes and, for numbers, the loss that the parameters must name."""
    if labels is not None:
        return class_loss(len(labels))
    loss = parameters.get("loss")
    if loss.text() not in REGRESSION_LOSSES:
        loss.fail(f"one of {', '.join(REGRESSION_LOSSES)}")
    if loss.value != TweedieLoss.name:
        return LOSSES[loss.text()]
    power = parameters.get("tweedie_power")
    if not 1.0 < power.number() < 2.0:
        power.fail("a number above 1 and below 2")
    return TweedieLoss(power.number())


def _decode_origin(document: Field, *, named: bool) -> Origin:
    parameters, by_hand = document.get("parameters"), document.get("names_by_hand", False)
    if not isinstance(by_hand.value, bool) or by_hand.value > named:
        by_hand.fail("true, or false as where there are no names")
    entries, n_iter = tuple(parameters.entries().items()), document.get("n_iter").index(2**31)
    return Origin(document.get("estimator").text(), entries, n_iter, named, by_hand.value)


def _decode_ranges(field: Field, n_columns: int) -> tuple[Range, ...]:
    """Return the ranges of columns, each with its lower end first."""
    ranges = []
    for item in field.items():
        found = Range(item.get("column").index(n_columns), item.get("low").number(), item.get("high").number())
        if found.low > found.high:
            item.get("high").fail(f"at least {found.low:g}")
        ranges.append(found)
    if len({one.column for one in ranges}) < len(ranges):
        field.fail("a list of ranges, one for each column")
    return tuple(ranges)


def decode_offset(field: Field, loss: Loss, ensemble: RuleEnsemble) -> Offset | None:
    """Return what predictions are given besides the inputs; None where the document has null or nothing."""
    if field.value is None:
        return None
    kind, names = field.get("kind"), field.get("columns").names() or []
    if kind.text() not in OFFSET_KINDS or (kind.value == "exposure" and loss.link_name != "exponential"):
        kind.fail("'offset' or, where predictions are exponentials of scores, 'exposure'")
    taken = ensemble.feature_names or ()
    n_wanted = len(ensemble.intercepts) if kind.value == "offset" else 1
    if len(names) != n_wanted or len({*names, *taken}) < len(names) + len(taken):
        field.get("columns").fail("a list of as many names as there are scores, none of them twice or that of an input")
    unit = field.get("unit", 1.0)
    if unit.number() <= 0.0:
        unit.fail("a positive number")
    return Offset(kind.text(), tuple(names), unit.number())


def _decode_class_weights(field: Field, labels: Labels | None) -> tuple[float, ...] | None:
    """Return the weight of each class; None where the document has null or nothing."""
    if field.value is None:
        return None
    weights = field.numbers()
    if labels is None or len(weights) != len(labels) or min(weights) <= 0.0:
        field.fail("a positive number for each class")
    return weights


def _decode_by_member(document: Field, n_members: int) -> dict[str, Any]:
    """Return what is known of each member of the path; nothing where the document has nothing."""
    lists = {name: document.get(name, []).numbers() for name in BY_MEMBER}
    for name, numbers in lists.items():
        if numbers and len(numbers) != n_members:
            document.get(name).fail(f"a list of {n_members} numbers, one for each ensemble of the fit")
        if name != "expected" and min(numbers, default=0.0) < 0.0:
            document.get(name).fail("a list of numbers that are not negative")
    if lists["standard_errors"] and not lists["expected"]:
        document.get("standard_errors").fail("absent, as 'expected' is")
    marks = {name: document.get(name, None) for name in ("selected", "separated")}
    limits = {"selected": n_members, "separated": 2**31}
    return lists | {name: None if mark.value is None else mark.index(limits[name]) for name, mark in marks.items()}


# ---- edits


def _decode_edits(field: Field, start: RuleEnsemble, edited: RuleEnsemble, n_columns: int) -> EditLog:
    """Return the log, once it is known to lead to as many rules as the edited ensemble has."""
    n_rules, steps = len(start), []
    for item in field.get("steps").items():
        steps.append(_decode_step(item, n_rules, n_columns, None if start.outputs is None else len(start.outputs)))
        n_rules += (steps[-1].action == "add") - (steps[-1].action == "drop")
    if not steps or n_rules != len(edited):
        field.get("steps").fail(f"one or more steps that lead to {len(edited)} rules")
    return EditLog(start, tuple(steps), edited)


def _decode_step(field: Field, n_rules: int, n_columns: int, n_outputs: int | None) -> EditStep:
    action = field.get("action")
    if action.text() not in ACTIONS:
        action.fail(f"one of {', '.join(ACTIONS)}")
    named, renewed = ACTIONS[action.text()]
    rule, new = field.get("rule"), field.get("new")
    for one, wanted in ((rule, named), (new, renewed)):
        if not wanted and one.value is not None:
            one.fail("null")
    complexity, loss = list(field.get("complexity").items()), field.get("loss").numbers()
    for name, pair in (("complexity", complexity), ("loss", loss)):
        if len(pair) != 2:
            field.get(name).fail("two numbers, before and after")
    settings: tuple[tuple[str, float | bool], ...] = ()
    if action.text() == "round":
        how = field.get("settings")
        digits, tolerance = how.get("digits").index(ALL_DIGITS + 1), how.get("tolerance").number()
        settings = ("digits", digits), ("tolerance", tolerance), ("integers", how.get("integers").truth())
    return EditStep(
        action.text(),
        rule.index(n_rules) if named else None,
        decode_rule(new, n_columns, n_outputs) if renewed else None,
        field.get("description").text(),
        complexity[0].index(2**31),
        complexity[1].index(2**31),
        loss[0],
        loss[1],
        settings,
    )
