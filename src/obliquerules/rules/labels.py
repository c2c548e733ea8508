"""Labels: the classes of a target as numbers and back."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Labels:
    """The classes of a target: the codec between their labels and the numbers 0, 1, and so on.

    Attributes
    ----------
    values : tuple
        The labels as Python objects. If there are two, scores are about the last, the positive class.
    dtype : numpy.dtype
        The type of arrays of labels.
    many : bool
        Whether there are more than two classes, and so a score for each of them.
    ascending : bool
        Whether the labels are sorted, so that of two the positive class is the last.

    Examples
    --------
    >>> labels = Labels.of(["no", "yes", "no"])
    >>> labels.encode(["yes", "no"]).tolist(), labels.decode([0, 1]).tolist(), labels.word(1)
    ([1.0, 0.0], ['no', 'yes'], "'yes'")
    """

    values: tuple[Any, ...]
    dtype: np.dtype[Any]
    many: bool = field(init=False, repr=False, compare=False)
    ascending: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "many", len(self.values) > 2)
        object.__setattr__(self, "ascending", all(one < other for one, other in itertools.pairwise(self.values)))

    @classmethod
    def of(cls, y: ArrayLike) -> Labels:
        """Return the labels that occur in y, in ascending order."""
        return cls.of_classes(np.unique(y))

    @classmethod
    def of_classes(cls, classes: NDArray[Any]) -> Labels:
        """Return the labels of an array that holds each of them once, the positive class last."""
        return cls(tuple(classes.tolist()), classes.dtype)

    def about(self, positive: Any) -> Labels:
        """Return the same two labels with the given one as the positive class; raise if it is none of them."""
        if self.many:
            raise ValueError(f"positive is for two classes; y has {len(self)}, each with its own score.")
        if positive not in self.values:
            known = " and ".join(map(repr, self.values))
            raise ValueError(f"positive must be one of the classes of y, which are {known}; got {positive!r}.")
        return self if positive == self.values[1] else Labels(self.values[::-1], self.dtype)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels as text."""
        return tuple(map(str, self.values))

    @property
    def outputs(self) -> tuple[str, ...] | None:
        """The names of the scores: of more than two classes, one for each; None for a single score."""
        return self.names if self.many else None

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        return np.array(self.values, dtype=self.dtype)

    def encode(self, y: ArrayLike) -> NDArray[np.float64]:
        """Return the number of the class of each row; raise if there is any other label.

        Of two classes, the positive one has the number 1.
        """
        given, classes = np.asarray(y), self.classes
        if not np.isin(given, classes).all():
            raise ValueError(f"y must hold the labels that the model was fitted to, {list(self.values)}.")
        order = np.argsort(classes, kind="stable")
        return order[np.searchsorted(classes[order], given)].astype(np.float64)

    def decode(self, codes: ArrayLike) -> NDArray[Any]:
        """Return the labels of the given codes."""
        return self.classes[np.asarray(codes, dtype=np.intp)]

    def word(self, code: int = 1) -> str:
        """Return a class in words: text in quotes, anything else after the word class."""
        label = self.values[code]
        return repr(label) if isinstance(label, str) else f"class {label!r}"

    def check_both(self, codes: NDArray[np.float64]) -> None:
        """Raise unless two classes occur among the codes of rows: nothing can be learned from one alone."""
        if len(np.unique(codes)) < 2:
            only = self.values[int(codes[0])]
            raise ValueError(
                f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes."
            )
