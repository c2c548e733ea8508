"""Cached values: computed when first asked for, and kept until the cache is cleared."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")

# The names of the kept values of each class.
_NAMES: dict[type, tuple[str, ...]] = {}


class cached(Generic[T]):  # noqa: N801  # used like property
    """A property that is computed once, as `functools.cached_property` is, and that threads compute side by side.

    Before Python 3.12, that one has a lock for all objects of a class: threads would wait for each other. Two threads that ask
    the same object at once both compute the value, which is the same.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> T | Self:
        if instance is None:
            return self
        # No data descriptor: once the value is there, it is found before this is asked.
        return vars(instance).setdefault(self.name, self.compute(instance))  # type: ignore[no-any-return]


class RecentCache(Generic[T]):
    """A least-recently-used cache.

    Unlike `functools.lru_cache` on a method, it does not keep its owner alive.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.values: dict[Hashable, T] = {}
        self.lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key, computing it if needed."""
        with self.lock:
            found = self.values.pop(key, None)
        value = make() if found is None else found
        with self.lock:
            self.values[key] = value
            if len(self.values) > self.most:
                del self.values[next(iter(self.values))]
        return value


def clear_cache(instance: object) -> None:
    """Forget the cached values of an object that are larger than a number."""
    values, owner = vars(instance), type(instance)
    if owner not in _NAMES:
        _NAMES[owner] = tuple(name for name in dir(owner) if isinstance(getattr(owner, name, None), cached))
    for name in _NAMES[owner]:
        if name in values and not isinstance(values[name], int | float):
            values.pop(name, None)
