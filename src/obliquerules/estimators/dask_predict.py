"""Lazily: methods that predict take Dask DataFrames and arrays, too, and then return what Dask computes when it is asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from obliquerules.data.dask_tables import by_partition, is_dask, is_dask_array
from obliquerules.rules import Block

Predict = TypeVar("Predict", bound=Callable[..., NDArray[Any]])


def dask_predict(predict: Predict) -> Predict:
    """Make a method that predicts return a Dask Series or array if X is a Dask DataFrame or array."""

    @functools.wraps(predict)
    def predict_any(self: Any, X: Any, **given: Any) -> Any:
        if not is_dask(X):
            return predict(self, X, **given)
        check_is_fitted(self)
        present = {name: values for name, values in given.items() if values is not None}
        _check_given(present, in_arrays=is_dask_array(X))
        # Before anything is computed: one row complains of what is given, and shows what a prediction is.
        row = Block(self.model_.columns, np.zeros((1, len(self.model_.columns))))
        like = predict(self, row, **{name: np.ones((1, *values.shape[1:])) for name, values in present.items()})
        if not self.model_.named_by_hand:
            self._check_names(X if is_dask_array(X) else X._meta)
        return by_partition(getattr(self, predict.__name__), X, present, like)

    return cast(Predict, predict_any)


def _check_given(given: Mapping[str, Any], *, in_arrays: bool) -> None:
    for name, values in given.items():
        if not is_dask(values) or is_dask_array(values) != in_arrays:
            wanted = "a Dask array" if in_arrays else "a Dask Series with the partitions of X"
            raise ValueError(f"{name} must be {wanted}, as X is one of Dask; got {type(values).__name__}.")
