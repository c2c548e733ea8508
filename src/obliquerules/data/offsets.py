"""Offsets: exposures, offsets and groups, and targets and weights with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.training_columns import check_size
from obliquerules.data.user_warnings import warn_caller
from obliquerules.losses import Loss
from obliquerules.rules import Labels, Model
from obliquerules.rules.columns import is_nothing
from obliquerules.rules.model import Offset
from obliquerules.rules.numbers import rounded_to

UNIT_DIGITS = 12
# Leaves room for two million copies of a row in a double.
FACTOR_BITS = 32
# A covariance this many standard errors below zero is not due to chance.
CLEARLY = 3.0


@dataclass(frozen=True, eq=False)
class OffsetValues:
    """The exposure or the offset of some rows.

    Attributes
    ----------
    offset : Offset
        What it is, and what its columns are called.
    values : array of shape (n_samples,) or (n_samples, n_classes)
    """

    offset: Offset
    values: Vector

    def in_training(self, inputs: Sequence[str], weight: Vector) -> OffsetValues:
        """Return it with the mean exposure as its unit."""
        for name in self.offset.names:
            if name in inputs:
                raise ValueError(f"The {self.offset.kind} '{name}' has the name of a column of X; drop that column from X.")
        if self.offset.kind != "exposure":
            return self
        return replace(self, offset=replace(self.offset, unit=exposure_unit(float(np.average(self.values, weights=weight)))))


def exposure_unit(mean: float) -> float:
    """Round a mean exposure, so that order does not count."""
    return rounded_to(mean, UNIT_DIGITS)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The targets and weights of rows as a loss takes them.

    An exposure or offset becomes part of targets and weights where the loss allows it; an offset of classes remains.

    Attributes
    ----------
    y, weight : array of shape (n_samples,)
    offset : array of shape (n_samples,) or (n_samples, n_classes), or None
    shift : float
        By how much scores of these targets exceed those of the model: the logarithm of the unit of an exposure.
    frequency : array of shape (n_samples,) or None
        How many observations each row stands for, which is its weight as it was given.
    """

    y: Vector
    weight: Vector
    offset: Vector | None = None
    shift: float = 0.0
    frequency: Vector | None = None

    @classmethod
    def of(
        cls, loss: Loss, y: Vector, weight: Vector, given: OffsetValues | None, class_weights: Sequence[float] | None = None
    ) -> Outcomes:
        """Return targets and weights with which the loss is the same."""
        once = np.ones_like(weight)
        if given is None:
            changed: tuple[Vector, Vector] | None = (y, once)
        elif given.offset.kind == "exposure":
            changed = loss.exposed(y, once, given.values / given.offset.unit)
        else:
            changed = loss.shifted(y, once, given.values)
        if changed is None:
            rows = cls(y, weight, None if given is None else given.values)
        else:
            rows = cls(changed[0], weight * short_factors(changed[1]))
        shift = 0.0 if given is None else math.log(given.offset.unit)
        return replace(rows, shift=shift, frequency=weight).reweighted(class_weights)

    @property
    def total_offset(self) -> Vector | None:
        """The offset with the shift, which scores lack for these targets."""
        return np.full(len(self.y), self.shift) if self.shift != 0.0 else self.offset

    def reweighted(self, class_weights: Sequence[float] | None) -> Outcomes:
        """Return the rows with the weights of classes multiplied."""
        if class_weights is None:
            return self
        return replace(self, weight=self.weight * short_factors(np.asarray(class_weights))[self.y.astype(np.intp)])


def short_factors(factors: Vector) -> Vector:
    """Return factors of few binary digits, so that products add exactly.

    >>> bool(short_factors(np.array([0.3])) * 7.0 == sum([short_factors(np.array([0.3]))] * 7))
    True
    """
    fraction, exponent = np.frexp(factors)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, FACTOR_BITS)), exponent - FACTOR_BITS), dtype=np.float64)


def read_offset(
    exposure: Any, offset: Any, n_rows: int, outputs: tuple[str, ...] | None, counted: NDArray[np.intp] | None = None
) -> OffsetValues | None:
    """Return the exposure or offset of rows; None if neither is given.

    Parameters
    ----------
    exposure, offset : array, series or None
    n_rows : int
    outputs : tuple of str or None
        The names of the scores; None if there is only one.
    counted : array of int, optional
        The rows that are wanted: nothing is asked of the others.
    """
    if exposure is not None and offset is not None:
        raise ValueError("exposure and offset cannot be given together: add log(exposure) to the offset instead.")
    if exposure is not None:
        values = _numbers("exposure", exposure, (n_rows,), counted)
        if not (values > 0.0).all():
            first = int(np.flatnonzero(~(values > 0.0))[0])
            raise ValueError(f"exposure must be positive; row {first if counted is None else counted[first]} is not.")
        return OffsetValues(Offset("exposure", _names("exposure", exposure, None)), values)
    if offset is not None:
        values = _numbers("offset", offset, (n_rows,) if outputs is None else (n_rows, len(outputs)), counted)
        return OffsetValues(Offset("offset", _names("offset", offset, outputs)), values)
    return None


def read_model_offset(model: Model, exposure: Any, offset: Any, n_rows: int) -> Vector | None:
    """Return the exposure or offset of rows for a fitted model.

    Without an exposure, predictions are rates: those of an exposure of 1. An offset cannot be left out.
    """
    fitted = model.offset
    if exposure is None and offset is None and (fitted is None or fitted.kind == "exposure"):
        return None if fitted is None else np.ones(n_rows)
    found = read_offset(exposure, offset, n_rows, model.path[0].outputs)
    if found is None or fitted is None or found.offset.kind != fitted.kind:
        was = "without exposure and offset" if fitted is None else f"with an {fitted.kind}"
        now = "needs it here, too" if found is None else f"takes no {found.offset.kind}"
        raise ValueError(f"The model was fitted {was} and {now}.")
    return found.values


def model_offset(model: Model, given: Any, n_rows: int) -> Vector | None:
    """Return the exposure or offset of rows, whichever the model has."""
    is_exposure = model.offset is not None and model.offset.kind == "exposure"
    return read_model_offset(model, given if is_exposure else None, None if is_exposure else given, n_rows)


def warn_of_other_class(rows: Outcomes, labels: Labels) -> None:
    """Warn of an offset that falls where the positive class prevails."""
    if rows.offset is None:
        return
    centred = [values - np.average(values, weights=rows.weight) for values in (rows.offset, rows.y)]
    terms = rows.weight * centred[0] * centred[1]
    if np.add.reduce(terms) < -CLEARLY * math.sqrt(np.add.reduce(terms**2)):
        warn_caller(
            f"offset is lower where y is {labels.word()}. It must be log-odds of {labels.word()}, the positive class, as "
            f"score_samples returns them; decision_function returns those of {labels.word(0)}, with the opposite sign."
        )


def read_groups(groups: Any, weight: Vector) -> NDArray[np.intp]:
    """Return the group of each row as a number."""
    given = np.asarray(groups)
    if given.shape != weight.shape:
        raise ValueError(f"groups must have one entry for each of the {len(weight)} rows of X; got shape {given.shape}.")
    # A missing value differs from itself, unless it is an object.
    missing = np.array([is_nothing(one) for one in given]) if given.dtype == object else given != given
    if (missing & (weight > 0.0)).any():
        row = int(np.flatnonzero(missing & (weight > 0.0))[0])
        raise ValueError(f"groups must name the group of each row; that of row {row} is missing.")
    number = np.full(len(given), -1, dtype=np.intp)
    try:
        number[~missing] = np.unique(given[~missing], return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(
            "groups holds labels of different types, such as text and numbers; all must be of one type."
        ) from error
    return number


def _numbers(name: str, given: Any, shape: tuple[int, ...], counted: NDArray[np.intp] | None) -> Vector:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}") from error
    if values.shape != shape:
        wanted = f"one number for each of the {shape[0]} rows of X" + ("" if len(shape) == 1 else f" and {shape[1]} classes")
        raise ValueError(f"{name} must have {wanted}; got shape {values.shape}.")
    values = values if counted is None else values[counted]
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has missing or infinite entries.")
    check_size(values, name)
    return values


def _names(kind: str, given: Any, outputs: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names of a series or frame, else the kind."""
    columns = getattr(given, "columns", None)
    if outputs is not None and columns is not None and all(isinstance(name, str) for name in columns):
        return tuple(columns)
    if outputs is not None:
        return tuple(f"{kind}_{output}" for output in outputs)
    name = getattr(given, "name", None)
    return (name if isinstance(name, str) and name else kind,)
