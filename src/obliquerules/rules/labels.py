"""Labels: the classes of a target as numbers and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Labels:
    """The two classes of a target, in ascending order: the codec between their labels and the numbers 0 and 1.

    Attributes
    ----------
    values : tuple
        The labels as Python objects.
    dtype : numpy.dtype
        The type of arrays of labels.

    Examples
    --------
    >>> labels = Labels.of(["no", "yes", "no"])
    >>> labels.encode(["yes", "no"]).tolist(), labels.decode([0, 1]).tolist(), labels.word(1)
    ([1.0, 0.0], ['no', 'yes'], "'yes'")
    """

    values: tuple[Any, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, y: ArrayLike) -> Labels:
        """Return the labels that occur in y."""
        return cls.of_classes(np.unique(y))

    @classmethod
    def of_classes(cls, classes: NDArray[Any]) -> Labels:
        """Return the labels of an array that holds each of them once, in ascending order."""
        return cls(tuple(classes.tolist()), classes.dtype)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        return np.array(self.values, dtype=self.dtype)

    def encode(self, y: ArrayLike) -> NDArray[np.float64]:
        """Return 1.0 for rows of the second class and 0.0 for those of the first; raise if there is any other label."""
        given = np.asarray(y)
        if not np.isin(given, self.classes).all():
            raise ValueError(f"y must hold the labels that the model was fitted to, {list(self.values)}.")
        return np.asarray(given == self.classes[1], dtype=np.float64)

    def decode(self, codes: ArrayLike) -> NDArray[Any]:
        """Return the labels of the given codes."""
        return self.classes[np.asarray(codes, dtype=np.intp)]

    def word(self, code: int = 1) -> str:
        """Return a class in words: text in quotes, anything else after the word class."""
        label = self.values[code]
        return repr(label) if isinstance(label, str) else f"class {label!r}"

    def check_both(self, codes: NDArray[np.float64]) -> None:
        """Raise unless both classes occur among the codes of rows: nothing can be learned from one alone."""
        if len(np.unique(codes)) < 2:
            only = self.values[int(codes[0])]
            raise ValueError(
                f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes."
            )
