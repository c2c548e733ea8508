"""The command ``python -m benchmarks.paper``: run the paper's protocol, or go on with it, and report."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import obliquerules
from benchmarks.datasets import DATASETS
from benchmarks.paper.contenders import OURS, Contender, lltboost
from benchmarks.paper.files import PICTURES, write_files
from benchmarks.paper.ledger import Ledger, open_ledger
from benchmarks.paper.peers import PEERS
from benchmarks.paper.report import report, tables
from benchmarks.paper.runner import load, run
from benchmarks.paper.trials import SEEDS_APART, plan
from obliquerules.cli.console import prepare_streams, standard_output
from obliquerules.learning.boosting.lltboost import SELECTIONS

CONTENDERS = {**OURS, **PEERS}
RESULTS = "results.jsonl"
COMMAND = "python -m benchmarks.paper"
# Defaults of options that are not given.
FULL = {"datasets": tuple(DATASETS), "repetitions": 10, "jobs": 1, "time_limit": math.inf}
_UNLESS_ASKED = "name it with --methods, or leave out --quick."
SLOW = {
    **dict.fromkeys(("FastSmallTree (imodels)", "EBM (interpret)"), f"A fit takes tens of seconds: {_UNLESS_ASKED}"),
    "FastRiskScore (imodels)": f"Before the first fit on a machine it is compiled, for minutes: {_UNLESS_ASKED}",
}
QUICK = {"datasets": ("diabetes", "friedman", "breast_cancer", "banknote"), "repetitions": 3, "jobs": 2, "time_limit": 30.0}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; raise before the work starts rather than after it."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if not 1 <= options.repetitions <= SEEDS_APART:
        parser.error(f"--repetitions must lie between 1 and {SEEDS_APART}")
    if options.seed < 0:
        parser.error("--seed must not be negative")
    if not options.time_limit > 0.0:
        parser.error("--time-limit must be positive")
    if options.output is not None:
        _check_directory(parser, options.output)
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Run the protocol of the paper.", allow_abbrev=False)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, metavar="NAME", help="default: all")
    parser.add_argument("--repetitions", type=int, help="splits of each data set (default: 10, as in the paper)")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other splits (default: 0)")
    parser.add_argument("--jobs", type=int, help="processes; -1 for one on each processor (default: 1)")
    parser.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="processor time after which a fit is stopped and counts as failed (default: none)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIRECTORY", help="keep every outcome there, go on with what is there, and report"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few minutes: three splits of four data sets, two processes, 30 s for a fit, unless other options say otherwise",
    )
    parser.add_argument(
        "--fetch", action="store_true", help="fetch data sets that are not there from OpenML, where it has them"
    )
    method = parser.add_mutually_exclusive_group()
    method.add_argument("--methods", nargs="+", choices=CONTENDERS, metavar="NAME", help=f"among: {', '.join(CONTENDERS)}")
    method.add_argument("--selection", choices=SELECTIONS, help="short for LLTBoost with this selection (default: all methods)")
    return parser


def _check_directory(parser: argparse.ArgumentParser, directory: Path) -> None:
    if not directory.parent.is_dir():
        parser.error(f"the directory '{directory.parent}' does not exist")
    if directory.exists() and not directory.is_dir():
        parser.error(f"--output must name a directory; '{directory}' is something else")
    if directory.is_dir() and any(directory.iterdir()) and not _begun(directory):
        parser.error(f"'{directory}' is there already and has no {RESULTS}: give a new directory to --output, or that of a run")


def _begun(directory: Path) -> bool:
    """Say whether a run has left something to go on with: a results file, and if that is still empty, nothing beside it."""
    results = directory / RESULTS
    return results.is_file() and (results.stat().st_size > 0 or list(directory.iterdir()) == [results])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, and write if asked to."""
    prepare_streams()
    options = parse(arguments)
    contenders, absent = _choose(options)
    datasets, missing = load(options.datasets, download_if_missing=options.fetch)
    left_out = missing | absent
    trials = plan(datasets, contenders, options.repetitions, options.seed)
    with _memory(options.output) as memory:
        done, keep = (memory.outcomes, memory.add) if memory else (None, None)
        outcomes = run(trials, datasets, contenders, done=done, keep=keep, limit=options.time_limit, jobs=options.jobs)
        found = tables(contenders, outcomes, left_out)
        made = _made(sys.argv[1:] if arguments is None else arguments)
        if options.output is not None:
            write_files(options.output, contenders, outcomes, found, made)
        standard_output().write(report(found, made))
        standard_output().flush()


def _made(arguments: Sequence[str]) -> str:
    command = shlex.join([*COMMAND.split(), *arguments])
    return f"Made on {date.today().isoformat()} with obliquerules {obliquerules.__version__} by `{command}`"


def _choose(options: argparse.Namespace) -> tuple[list[Contender], dict[str, str]]:
    """Return the methods that are meant and can be used, and the reason for everything else that will be missing."""
    names = [lltboost(options.selection).name] if options.selection else options.methods or list(CONTENDERS)
    absent = {name: why for name in names if (why := CONTENDERS[name].absence) is not None}
    if options.quick and not options.methods:
        absent |= {name: why for name, why in SLOW.items() if name in names}
    contenders = [CONTENDERS[name] for name in names if name not in absent]
    if options.output is not None and not PICTURES:
        absent["pictures"] = "They need the package matplotlib: install obliquerules[plots]."
    return contenders, absent


@contextmanager
def _memory(directory: Path | None) -> Iterator[Ledger | None]:
    if directory is None:
        yield None
        return
    directory.mkdir(exist_ok=True)
    with open_ledger(directory / RESULTS) as ledger:
        yield ledger


if __name__ == "__main__":
    main()
