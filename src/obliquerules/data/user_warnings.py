"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

PACKAGE = __name__.partition(".")[0]


def warn_caller(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package."""
    # The first level is this function.
    level, frame = 1, sys._getframe()
    while _is_ours(frame) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE
