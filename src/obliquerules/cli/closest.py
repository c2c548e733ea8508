"""The command ``closest``: the closest change of one row that gives another prediction."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from obliquerules.cli.console import add_at, add_json, write_json, write_result
from obliquerules.cli.input_table import add_data, check_row, inputs, note_new_values, read_data, unseen_levels
from obliquerules.cli.io.text_columns import same_level
from obliquerules.cli.model_file import add_model, class_of, read_model
from obliquerules.cli.roles import given_values
from obliquerules.data.levels import number_in
from obliquerules.inspection.closest.closest_change import closest_change
from obliquerules.inspection.closest.feasible import feasible_region, goal_for
from obliquerules.parameters import check_real, check_whole
from obliquerules.rules import Model
from obliquerules.rules.columns import Column


def named_value(text: str) -> tuple[str, str]:
    """Return a name and a value, still as text."""
    name, _, value = text.rpartition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"it must be followed by NAME=VALUE; got {text!r}")
    return name, value


def closest_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``closest``."""
    parser.description = (
        "Find the closest change of one row that gives another class, or a prediction above or below a value, and prove that "
        "none is closer. Distances are in standard deviations of the variables in DATA."
    )
    add_model(parser)
    add_data(parser)
    parser.add_argument("--row", type=int, required=True, metavar="N", help="the row; the first one below the header is row 0")
    parser.add_argument("--to", metavar="CLASS", help="the class that must be predicted (default: any other than now)")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--above", type=float, metavar="V", help="the prediction, or probability, must be greater than V")
    wanted.add_argument("--below", type=float, metavar="V", help="the prediction, or probability, must be less than V")
    for name, what in (
        ("fixed", "a variable that must not change"),
        ("whole", "a variable that takes whole numbers only (default: those of small whole numbers)"),
        ("fill", "a variable that may become known where it is missing"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], metavar="NAME", help=what)
    for name, what in (
        ("lower", "the least value of a variable: a number, a date, or a level that has an order"),
        ("upper", "the greatest value of a variable"),
        ("cost", "the cost of a change of a variable"),
    ):
        parser.add_argument(f"--{name}", action="append", type=named_value, default=[], metavar="NAME=V", help=what)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="D",
        help="by how much the distance may exceed the least, for rounder numbers",
    )
    parser.add_argument("--max-steps", type=int, default=2000, metavar="N", help="the most linear programs (default: 2000)")
    add_at(parser)
    add_json(parser, "the change")


def run_closest(options: argparse.Namespace) -> None:
    """Print the closest change."""
    check_real("tolerance", options.tolerance, 0.0)
    check_whole("max_steps", options.max_steps, 1)
    model = read_model(options)
    data = read_data(options, model)
    check_row(options.row, data)
    rows = inputs(model, data)
    x, given = rows.rows([options.row]), given_values(model, data, [options.row])
    note_new_values(model, x)
    goal = goal_for(model, x, options.above, options.below, class_of(model, options.to, "--to"), given)
    region = feasible_region(
        model,
        x.matrix[0],
        rows,
        fixed=options.fixed,
        whole=options.whole or None,
        cost={name: _number("cost", name, text) for name, text in options.cost},
        fill=options.fill,
        lower=_values(model, "lower", options.lower),
        upper=_values(model, "upper", options.upper),
    )
    words = {column: word for (_, column), word in unseen_levels(model, data, x, options.row).items()}
    limits: dict[str, Any] = {"tolerance": options.tolerance, "max_steps": options.max_steps}
    found = closest_change(model, region, goal, rows, words=words, given=given, **limits)
    if options.json:
        record = {
            "before": found.before,
            "wanted": found.wanted,
            "found": found.row is not None,
            "after": None if found.row is None else found.after,
            "distance": None if found.row is None else found.distance,
            "proven": found.proven,
            "changes": found.to_dicts(),
        }
        write_json(record)
    else:
        write_result(f"{found}\n")


def _values(model: Model, option: str, given: Iterable[tuple[str, str]]) -> dict[str | int, Any]:
    """Return values as numbers, dates as text, or levels."""
    columns = {column.name: column for _, column in model.columns.special}
    values: dict[str | int, Any] = {}
    for name, text in given:
        column, values[name] = columns.get(name, Column(name)), text
        if column.levels and not column.is_truth:
            level = same_level(text, type(column.levels[0]))
            values[name] = text if level is None else level
        elif column.levels is None and column.kind not in ("date", "time"):
            values[name] = _number(option, name, text)
    return values


def _number(option: str, name: str, text: str) -> float:
    number = number_in(text)
    if number is None:
        raise ValueError(f"--{option} {name}={text}: the value must be a number.")
    return number
