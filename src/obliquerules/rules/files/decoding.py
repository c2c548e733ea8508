"""Decoding: the ensemble or the model that a JSON document describes, or a complaint that names the field at fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliquerules.losses import LOSSES, REGRESSION_LOSSES, Loss, class_loss
from obliquerules.rules.columns import Column, Columns, Level, Range
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.edits import ACTIONS, EditLog, EditStep, Settings
from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.factor import Factor
from obliquerules.rules.files.encoding import BY_MEMBER, LABEL_TYPES, MOST_UNNAMED_COLUMNS, longest_path
from obliquerules.rules.files.fields import Field, ModelFileError, cut
from obliquerules.rules.labels import Labels
from obliquerules.rules.membership import Membership
from obliquerules.rules.model import OFFSET_KINDS, Model, Offset, Origin
from obliquerules.rules.numbers import ALL_DIGITS, WHOLE_LIMIT
from obliquerules.rules.proposition import Proposition, Summand, Test
from obliquerules.rules.rule import Rule, Weight
from obliquerules.rules.text.style import column_names

# A short file must not demand a large table of scores for each row.
MOST_CLASSES = 10_000


def decode_content(document: Field) -> RuleEnsemble:
    """Return the ensemble of a document whose content is that of `ensemble_content`."""
    names = decode_names(document.get("feature_names"))
    outputs = decode_names(document.get("outputs", None))
    return decode_ensemble(document.get("ensemble"), None if names is None else _decode_special(document, names), outputs)


def decode_ensemble(field: Field, columns: Columns | None, outputs: Sequence[str] | None = None) -> RuleEnsemble:
    """Return the ensemble that `encode_ensemble` wrote, with the given names of classes if there are many."""
    n_columns = MOST_UNNAMED_COLUMNS if columns is None else len(columns)
    n_outputs = None if outputs is None else len(outputs)
    rules = [decode_rule(rule, n_columns, n_outputs) for rule in field.get("rules").items()]
    intercept = _decode_weight(field.get("intercept"), n_outputs)
    sizes = np.abs(np.array([intercept, *(rule.weight for rule in rules)]))
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(sizes.sum(axis=0)).all()
    if not is_finite:
        raise ModelFileError(f"{field.where} has weights whose sum is too large for a number.")
    try:
        return RuleEnsemble(rules, intercept, columns, outputs)
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error


def _decode_weight(field: Field, n_outputs: int | None) -> Weight:
    """Return a number or, with many classes, one for each of them."""
    if n_outputs is None:
        return field.number()
    weights = [item.number() for item in field.items()]
    if len(weights) != n_outputs:
        field.fail(f"a list of {n_outputs} numbers, one for each class")
    return tuple(weights)


def decode_rule(field: Field, n_columns: int, n_outputs: int | None = None) -> Rule:
    """Return the rule that `encode_rule` wrote, on ``n_columns`` columns, with a weight for each of many classes."""
    weight = _decode_weight(field.get("weight"), n_outputs)
    condition = Conjunction(_decode_test(item, n_columns) for item in field.get("condition").items())
    factor = field.get("factor", None)
    return Rule(weight, condition, None if factor.value is None else _decode_factor(factor, n_columns))


def _decode_factor(field: Field, n_columns: int) -> Factor:
    column, origin = field.get("column").index(n_columns), field.get("origin", 0.0).number()
    limits = {name: limit.number() for name in ("lower", "upper") if (limit := field.get(name, None)).value is not None}
    try:
        return Factor(column, origin, **limits)
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error


def _decode_test(field: Field, n_columns: int) -> Test:
    if "column" in field.entries():
        return _decode_membership(field, n_columns)
    columns = [_decode_summand(column, n_columns) for column in field.get("columns").items()]
    weights = [weight.number() for weight in field.get("weights").items()]
    threshold = field.get("threshold").number()
    try:
        return Proposition(columns, weights, threshold, field.get("missing", False).truth())
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error


def _decode_summand(field: Field, n_columns: int) -> Summand:
    return _decode_membership(field, n_columns) if isinstance(field.value, dict) else field.index(n_columns)


def _decode_membership(field: Field, n_columns: int) -> Membership:
    column = field.get("column").index(n_columns)
    answers = {name: field.get(name, False).truth() for name in ("negated", "missing", "ordered")}
    try:
        return Membership(column, _decode_levels(field.get("levels")), **answers)
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error


def _decode_levels(field: Field) -> list[Level]:
    return [_decode_level(level) for level in field.items()]


def _decode_level(field: Field) -> Level:
    if isinstance(field.value, str):
        return field.text()
    if not isinstance(field.value, int) or abs(field.value) >= WHOLE_LIMIT:
        field.fail("a level: text, a whole number, true or false")
    return field.value


def _decode_special(document: Field, names: Sequence[str]) -> Columns:
    """Return the columns of these names, with what some of them hold besides plain numbers."""
    columns: list[str | Column] = list(names)
    for field in document.get("columns", []).items():
        position = field.get("position").index(len(names))
        if isinstance(columns[position], Column):
            field.get("position").fail("a position that no other column has")
        levels = field.get("levels", None)
        try:
            columns[position] = Column(
                names[position],
                None if levels.value is None else tuple(_decode_levels(levels)),
                field.get("ordered", False).truth(),
                field.get("kind", "number").text(),
                field.get("missing", False).truth(),
            )
        except ValueError as error:
            raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error
    return Columns.of(columns)


def decode_names(field: Field) -> list[str] | None:
    """Return a list of names, or None where the document has null."""
    return None if field.value is None else [name.text() for name in field.items()]


def decode_model(document: Field) -> Model:
    """Return the model that `encode_model` wrote."""
    n_columns, given = _decode_columns(document)
    labels = None if document.get("classes").value is None else _decode_classes(document)
    members = _decode_members(document, n_columns, given, None if labels is None else labels.outputs)
    chosen = document.get("chosen")
    position = chosen.index(len(members))
    loss = _decode_loss(document.get("parameters"), labels)
    origin = _decode_origin(document, given is not None)
    ranges = _decode_ranges(document.get("ranges", []), n_columns)
    beside: dict[str, Any] = {
        "offset": decode_offset(document.get("offset", None), loss, members[0]),
        "class_weights": _decode_class_weights(document.get("class_weights", None), labels),
    }
    edits = document.get("edits", None)
    beside |= _decode_by_member(document, members if edits.value is None else members[:-1])
    if edits.value is None:
        return Model(members, position, loss, labels, None, origin, ranges, **beside)
    if len(members) < 2 or position != len(members) - 1:
        chosen.fail("the position of the last ensemble of the path, which is the edited one")
    path, start = members[:-1], edits.get("start").index(len(members) - 1)
    log = _decode_edits(edits, path[start], members[-1], n_columns)
    return Model(path, start, loss, labels, log, origin, ranges, **beside)


def _decode_by_member(document: Field, path: Sequence[RuleEnsemble]) -> dict[str, Any]:
    """Return what is known of each member of the path; nothing where the document has nothing."""
    lists = {name: _decode_numbers(document.get(name, []), len(path)) for name in BY_MEMBER}
    for name in ("ridges", "standard_errors"):
        if min(lists[name], default=0.0) < 0.0:
            document.get(name).fail("a list of numbers that are not negative")
    if lists["standard_errors"] and not lists["expected"]:
        document.get("standard_errors").fail("absent, as 'expected' is")
    selected, separated = document.get("selected", None), document.get("separated", None)
    return lists | {
        "selected": None if selected.value is None else selected.index(len(path)),
        "separated": None if separated.value is None else separated.index(2**31),
    }


def _decode_numbers(field: Field, n_members: int) -> tuple[float, ...]:
    """Return a number for each ensemble of the fit; nothing where the document has nothing."""
    numbers = tuple(item.number() for item in field.items())
    if numbers and len(numbers) != n_members:
        field.fail(f"a list of {n_members} numbers, one for each ensemble of the fit")
    return numbers


def _decode_class_weights(field: Field, labels: Labels | None) -> tuple[float, ...] | None:
    """Return the weight of each class; None where the document has null or nothing."""
    if field.value is None:
        return None
    weights = tuple(item.number() for item in field.items())
    if labels is None or len(weights) != len(labels) or min(weights) <= 0.0:
        field.fail("a positive number for each class")
    return weights


def decode_offset(field: Field, loss: Loss, ensemble: RuleEnsemble) -> Offset | None:
    """Return what predictions are given besides the inputs; None where the document has null or nothing."""
    if field.value is None:
        return None
    kind, names = field.get("kind"), decode_names(field.get("columns")) or []
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


def _decode_origin(document: Field, named: bool) -> Origin:
    parameters, n_iter = document.get("parameters"), document.get("n_iter")
    by_hand = document.get("names_by_hand", False)
    if not isinstance(by_hand.value, bool) or by_hand.value > named:
        by_hand.fail("true, or false as where there are no names")
    estimator, entries = document.get("estimator").text(), tuple(parameters.entries().items())
    return Origin(estimator, entries, n_iter.index(2**31), named, by_hand.value)


def _decode_ranges(field: Field, n_columns: int) -> tuple[Range, ...]:
    """Return the ranges of columns, each with its lower end first."""
    ranges = tuple(_decode_range(item, n_columns) for item in field.items())
    if len({one.column for one in ranges}) < len(ranges):
        field.fail("a list of ranges, one for each column")
    return ranges


def _decode_range(field: Field, n_columns: int) -> Range:
    found = Range(field.get("column").index(n_columns), field.get("low").number(), field.get("high").number())
    if found.low > found.high:
        field.get("high").fail(f"at least {found.low:g}")
    return found


def _decode_loss(parameters: Field, labels: Labels | None) -> Loss:
    """Return the logistic loss for classes and, for numbers, the loss that the parameters must name."""
    if labels is not None:
        return class_loss(len(labels))
    loss = parameters.get("loss")
    if loss.text() not in REGRESSION_LOSSES:
        loss.fail(f"one of {', '.join(REGRESSION_LOSSES)}")
    named = LOSSES[loss.text()]
    return named.with_power(_decode_power(parameters)) if named.takes_power else named


def _decode_power(parameters: Field) -> float:
    """Return the power of the Tweedie loss, without which the loss is not known."""
    field = parameters.get("tweedie_power")
    if not 1.0 < field.number() < 2.0:
        field.fail("a number above 1 and below 2")
    return field.number()


def _decode_members(
    document: Field, n_columns: int, given: tuple[str, ...] | None, outputs: tuple[str, ...] | None
) -> tuple[RuleEnsemble, ...]:
    """Return the ensembles of the path, followed by the edited one if there is one."""
    field = document.get("path")
    members = list(field.items())
    most = longest_path(n_columns) if given is None else len(members)
    if not 1 <= len(members) <= most:
        field.fail(f"a list of 1 to {most} ensembles" if members else "a list of one or more ensembles")
    columns = _decode_special(document, column_names(range(n_columns), None) if given is None else given)
    return tuple(decode_ensemble(member, columns, outputs) for member in members)


def _decode_columns(document: Field) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of columns and their names."""
    field = document.get("n_features")
    names = decode_names(document.get("feature_names"))
    n_features = field.index(2**31)
    if n_features == 0 or (names is None and n_features > MOST_UNNAMED_COLUMNS):
        field.fail(f"a whole number from 1 to {MOST_UNNAMED_COLUMNS}")
    if names is None:
        return n_features, None
    if len(names) != n_features or len(set(names)) != len(names):
        document.get("feature_names").fail(f"a list of {n_features} different names")
    return n_features, tuple(names)


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
    if not named and rule.value is not None:
        rule.fail("null")
    if not renewed and new.value is not None:
        new.fail("null")
    complexity, loss = _pair(field.get("complexity")), _pair(field.get("loss"))
    return EditStep(
        action.text(),
        rule.index(n_rules) if named else None,
        decode_rule(new, n_columns, n_outputs) if renewed else None,
        field.get("description").text(),
        complexity[0].index(2**31),
        complexity[1].index(2**31),
        loss[0].number(),
        loss[1].number(),
        _decode_settings(field.get("settings")) if action.text() == "round" else (),
    )


def _decode_settings(field: Field) -> Settings:
    """Return how rules were rounded."""
    integers = field.get("integers")
    if not isinstance(integers.value, bool):
        integers.fail("true or false")
    digits, tolerance = field.get("digits").index(ALL_DIGITS + 1), field.get("tolerance").number()
    return ("digits", digits), ("tolerance", tolerance), ("integers", integers.value)


def _pair(field: Field) -> tuple[Field, Field]:
    items = list(field.items())
    if len(items) != 2:
        field.fail("two numbers, before and after")
    return items[0], items[1]


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
        if (
            labels.dtype.kind in array_kinds
            and len(np.unique(labels)) == len(values)
            and (kind is str or np.isfinite(labels).all())
        ):
            return Labels.of_classes(labels)
    field.get("values").fail(f"two or more different labels of type {name.text()}")
