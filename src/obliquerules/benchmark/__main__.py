"""The command ``python -m obliquerules.benchmark``: run the paper's protocol and print the comparison."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from obliquerules.benchmark.methods import METHODS, lltboost
from obliquerules.benchmark.report import report
from obliquerules.benchmark.runner import SEEDS_APART, run
from obliquerules.datasets import DATASETS
from obliquerules.estimators.boosted import SELECTIONS
from obliquerules.rules.document import write_text


def parse(arguments: Sequence[str] | None = None, prog: str = "python -m obliquerules.benchmark") -> argparse.Namespace:
    """Read the command line, and complain before the work starts rather than after it."""
    parser = argparse.ArgumentParser(prog=prog, description="Run the protocol of the paper.")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS), metavar="NAME", help="default: all")
    parser.add_argument("--repetitions", type=int, default=10, help="splits of each data set (default: 10, as in the paper)")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other splits (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for one on each processor (default: 1)")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to this file")
    parser.add_argument("--force", action="store_true", help="overwrite that file if it is there")
    method = parser.add_mutually_exclusive_group()
    method.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME", help=f"among: {', '.join(METHODS)}")
    method.add_argument("--selection", choices=SELECTIONS, help="short for LLTBoost with this selection (default: all methods)")
    options = parser.parse_args(arguments)
    if not 1 <= options.repetitions <= SEEDS_APART:
        parser.error(f"--repetitions must lie between 1 and {SEEDS_APART}")
    if options.seed < 0:
        parser.error("--seed must not be negative")
    if options.output is not None and not options.output.parent.is_dir():
        parser.error(f"the directory '{options.output.parent}' does not exist")
    if options.output is not None and options.output.exists() and not options.force:
        parser.error(f"'{options.output}' is there already: give another name to --output, or --force to overwrite it")
    return options


def main(arguments: Sequence[str] | None = None, prog: str = "python -m obliquerules.benchmark") -> None:
    """Run, print, and write if asked to."""
    options = parse(arguments, prog)
    names = [lltboost(options.selection).name] if options.selection else options.methods or METHODS
    methods = [METHODS[name] for name in names]
    text = report(run(methods, options.datasets, options.repetitions, options.seed, options.jobs))
    print(text, end="", flush=True)
    if options.output is not None:
        write_text(options.output, text)


if __name__ == "__main__":
    main()
