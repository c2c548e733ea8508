"""The command ``obliquerules``: runs the named command, and reports errors."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence

import obliquerules
from obliquerules.cli.console import (
    DONE,
    FAILED,
    REFUSED,
    OutputClosedError,
    WorkFailedError,
    complain,
    prepare_streams,
    silence,
)

# Each command with its file, which is imported when the command is run, and what it does. The file has a function that
# declares the options, such as ``fit_options``, and one that does the work, such as ``run_fit``.
COMMANDS = {
    "fit": ("fit", "learn rules from a table and write them to a model file"),
    "show": ("show_predict_explain", "print the rules of a model"),
    "predict": ("show_predict_explain", "predict the target of each row of a table"),
    "explain": ("show_predict_explain", "say which rules made the prediction of each row"),
    "closest": ("closest", "find the closest change of a row that gives another prediction"),
    "stability": ("edit_round_stability", "say how often each rule comes back in refits to bootstrap samples"),
    "edit": ("edit_round_stability", "drop, add, replace and lock rules, and fit their weights anew"),
    "round": ("edit_round_stability", "write all numbers of a model in fewer digits, and certify what that changes"),
    "export": ("export_report", "write a model in another language, once it is known to compute the same"),
    "report": ("export_report", "write the workbench of a model, one HTML file"),
    "demo": ("fit", "learn a few rules from data that ship with scikit-learn, and explain a prediction"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 if it is done, 1 if it failed, 2 if its input is wrong."""
    prepare_streams()
    try:
        _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        complain("interrupted; no file is left half-written.")
        return 128 + signal.SIGINT
    except (WorkFailedError, OutputClosedError, ValueError) as error:
        complain(str(error))
        return REFUSED if isinstance(error, ValueError) else FAILED
    except OSError as error:
        if error.filename is not None:
            complain(f"'{error.filename}': {error.strerror}.")
            return FAILED
        silence(sys.stdout)  # Python must not try to write again
        closed = "whoever reads standard output closed it before everything was written."
        complain(closed if isinstance(error, BrokenPipeError) else f"standard output: {error.strerror}.")
        return FAILED
    except (ImportError, MemoryError) as error:
        complain(str(error) or "there is not enough memory.")
        return FAILED
    return DONE


def _run(arguments: list[str]) -> None:
    width = max(map(len, COMMANDS))
    lines = [f"  {command:{width}}  {what}" for command, (_, what) in COMMANDS.items()]
    parser = argparse.ArgumentParser(
        prog="obliquerules",
        description="Additive rule ensembles with sparse oblique conditions: small models that people can read.",
        epilog="\n".join(["commands:", *lines, "", "'obliquerules COMMAND --help' says more about a command."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"obliquerules {obliquerules.__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of the commands below, and its arguments")
    try:
        if not arguments:
            parser.print_help(sys.stderr)
            raise ValueError("the following arguments are required: COMMAND")
        command = parser.parse_args(arguments[:1]).command
        file = importlib.import_module(f"obliquerules.cli.{COMMANDS[command][0]}")
        reader = argparse.ArgumentParser(prog=f"obliquerules {command}", allow_abbrev=False)
        getattr(file, f"{command}_options")(reader)
        getattr(file, f"run_{command}")(reader.parse_args(arguments[1:]))
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a closed pipe or a full disk can still be reported
