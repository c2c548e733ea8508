"""The command ``obliquerules``: calls the command that is named, and turns errors into a sentence and an exit code."""

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

# Each is a module of this package with a function ``main``. It is imported when it is called, so that the others cost nothing.
COMMANDS = {
    "fit": "learn rules from a table and write them to a model file",
    "show": "print the rules of a model",
    "predict": "predict the target of each row of a table",
    "explain": "say which rules made the prediction of each row",
    "closest": "find the closest change of a row that gives another prediction",
    "stability": "say how often each rule comes back in refits to bootstrap samples",
    "edit": "drop, add, replace and lock rules, and fit their weights anew",
    "round": "write all numbers of a model in fewer digits, and certify what that changes",
    "export": "write a model in another language, once it is known to compute the same",
    "report": "write the workbench of a model, one HTML file",
    "demo": "learn a few rules from data that ship with scikit-learn, and explain a prediction",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 if it is done, 1 if it failed, 2 if what it was given is wrong."""
    prepare_streams()
    try:
        _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        complain("interrupted; no file is left half-written.")
        return 128 + signal.SIGINT
    except (WorkFailedError, OutputClosedError) as error:
        return _failed(str(error), FAILED)
    except ValueError as error:
        return _failed(str(error), REFUSED)
    except OSError as error:
        return _failed(_description(error), FAILED)
    except (ImportError, MemoryError) as error:
        return _failed(str(error) or "there is not enough memory.", FAILED)
    return DONE


def _run(arguments: list[str]) -> None:
    try:
        if not arguments:
            _parser().print_help(sys.stderr)
            raise ValueError("the following arguments are required: COMMAND")
        command = _parser().parse_args(arguments[:1]).command
        importlib.import_module(f"obliquerules.cli.{command}").main(arguments[1:])
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a closed pipe or a full disk can still be reported


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="obliquerules",
        description="Additive rule ensembles with sparse oblique conditions: small models that people can read.",
        epilog="commands:\n"
        + "\n".join(f"  {name:{width}}  {what}" for name, what in COMMANDS.items())
        + "\n\n'obliquerules COMMAND --help' says more about a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"obliquerules {obliquerules.__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of the commands below, and its arguments")
    return parser


def _description(error: OSError) -> str:
    """Say what could not be written or read; standard output, if it was that, is closed so that Python does not try again."""
    if error.filename is not None:
        return f"'{error.filename}': {error.strerror}."
    silence(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return "whoever reads standard output closed it before everything was written."
    return f"standard output: {error.strerror}."


def _failed(message: str, code: int) -> int:
    complain(message)
    return code
