"""Declared estimators: the signature and documentation of an estimator, made from the declarations of its method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from obliquerules.parameters import Parameter, documentation

Declarations = Mapping[str, tuple[Any, Parameter]]


def make_init(declarations: Declarations) -> Callable[..., None]:
    """Return an ``__init__`` that takes the declared parameters by keyword, stores them, and does nothing else."""
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, (default, _) in declarations.items()
    ]
    signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])

    def init(self: Any, *args: Any, **given: Any) -> None:
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for name in declarations:
            setattr(self, name, bound.arguments[name])

    # scikit-learn takes the names of parameters from the signature.
    init.__name__, init.__signature__ = "__init__", signature  # type: ignore[attr-defined]
    return init


def with_parameters(docstring: str, declarations: Declarations) -> str:
    """Return the docstring of an estimator with a parameter section before the attributes."""
    text = inspect.cleandoc(docstring)
    start, heading, rest = text.partition("Attributes\n----------\n")
    return f"{start}Parameters\n----------\n{documentation(declarations)}\n\n{heading}{rest}"
