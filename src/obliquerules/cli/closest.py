"""The command ``obliquerules closest``: the closest change of one row that gives another prediction."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obliquerules.cli.data import add_data, inputs, read_data, remark_on_missing
from obliquerules.cli.explain import check_row
from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.speech import add_at, add_json, command_parser, write_json, write_result
from obliquerules.inspection.change_request import room_for, wish_for
from obliquerules.inspection.closest_change import ClosestChange, closest_change
from obliquerules.parameters import check_real, check_whole
from obliquerules.rows.levels import number_in


class Bound(argparse.Action):
    """An option that gives a number to a variable, as NAME=VALUE; it may be repeated."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Keep the number."""
        name, text = str(values).rpartition("=")[::2]
        number = number_in(text)
        if not name or number is None:
            parser.error(f"argument --{self.dest}: it must be followed by NAME=VALUE; got {values!r}")
        setattr(namespace, self.dest, getattr(namespace, self.dest) | {name: number})


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser(
        "closest",
        "Find the closest change of one row that gives the other class, or a prediction above or below a value, and prove that "
        "none is closer. Distances are in standard deviations of the variables in DATA.",
    )
    add_model(reader)
    add_data(reader)
    reader.add_argument("--row", type=int, required=True, metavar="N", help="the row; the first one below the header is row 0")
    wanted = reader.add_mutually_exclusive_group()
    wanted.add_argument("--above", type=float, metavar="V", help="the prediction, or probability, must be greater than V")
    wanted.add_argument("--below", type=float, metavar="V", help="the prediction, or probability, must be less than V")
    reader.add_argument("--fixed", action="append", default=[], metavar="NAME", help="a variable that must not change")
    reader.add_argument("--whole", action="append", default=[], metavar="NAME", help="a variable that takes whole numbers only")
    for name, what in (("lower", "the least value"), ("upper", "the greatest value"), ("cost", "the cost of a change")):
        reader.add_argument(f"--{name}", action=Bound, default={}, metavar="NAME=V", help=f"{what} of a variable")
    reader.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="D",
        help="by how much the distance may exceed the least, for rounder numbers",
    )
    reader.add_argument("--max-steps", type=int, default=2000, metavar="N", help="the most linear programs (default: 2000)")
    add_at(reader)
    add_json(reader, "the change")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_real("tolerance", options.tolerance, 0.0)
    check_whole("max_steps", options.max_steps, 1)
    found = _found(options)
    if options.json:
        write_json(_summary(found))
    else:
        write_result(f"{found}\n")


def _found(options: argparse.Namespace) -> ClosestChange:
    model = read_model(options.model, options.at)
    data = read_data(options, model)
    check_row(options.row, data)
    rows = inputs(model, data)
    remark_on_missing(model, rows.rows([options.row]))
    x = rows[options.row]
    wish = wish_for(model, x[None, :], options.above, options.below)
    bounds = {name: getattr(options, name) for name in ("fixed", "whole", "lower", "upper", "cost")}
    room = room_for(model, x, rows, **bounds)
    return closest_change(model, room, wish, rows, tolerance=options.tolerance, max_steps=options.max_steps)


def _summary(found: ClosestChange) -> dict[str, Any]:
    return {
        "before": found.before,
        "wanted": found.wanted,
        "found": found.row is not None,
        "after": None if found.row is None else found.after,
        "distance": None if found.row is None else found.distance,
        "proven": found.proven,
        "changes": found.to_dicts(),
    }
