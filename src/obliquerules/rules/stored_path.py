"""Stored paths: the ensembles of a model file and which of them predicts, read without the estimator that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obliquerules.rules.document import MOST_UNNAMED_COLUMNS, Field, decode_ensemble, decode_names
from obliquerules.rules.ensemble import RuleEnsemble, shared_names

# Columns without names take nothing in a file: a short one must not ask for a long path of wide models.
MOST_UNNAMED_ON_PATH = 10**8


@dataclass(frozen=True)
class StoredPath:
    """What a model file says about rules.

    Attributes
    ----------
    n_features : int
    feature_names : tuple of str or None
        The names of the columns, if they were given to fit.
    path : tuple of RuleEnsemble
        The ensembles of the fit.
    chosen : RuleEnsemble
        The one that predicts: a member of the path, or what an edit has made of one.
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    path: tuple[RuleEnsemble, ...]
    chosen: RuleEnsemble


def decode_path(document: Field) -> StoredPath:
    """Read the path of an estimator."""
    n_features, given = _decode_columns(document)
    field, chosen = document.get("path"), document.get("chosen")
    members = list(field.items())
    most = longest_path(n_features) if given is None else len(members)
    if not 1 <= len(members) <= most:
        field.fail(f"a list of 1 to {most} ensembles" if members else "a list of one or more ensembles")
    names = shared_names(default_names(n_features) if given is None else given)
    path = tuple(decode_ensemble(member, names) for member in members)
    ensemble = path[chosen.index(len(path))]
    if document.get("edits", None).value is not None:
        if len(path) < 2 or chosen.value != len(path) - 1:
            chosen.fail("the position of the last ensemble of the path, which is the edited one")
        path = path[:-1]
    return StoredPath(n_features, given, path, ensemble)


def _decode_columns(document: Field) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of columns and their names."""
    field = document.get("n_features")
    names = decode_names(document.get("feature_names"))
    n_features = field.index(2**31)
    if n_features == 0 or (names is None and n_features > MOST_UNNAMED_COLUMNS):
        field.fail(f"a whole number from 1 to {MOST_UNNAMED_COLUMNS}")
    if names is None:
        return n_features, None
    if len(names) != n_features or len(set(names)) != len(names):
        document.get("feature_names").fail(f"a list of {n_features} different names")
    return n_features, tuple(names)


def longest_path(n_features: int) -> int:
    """Return how many ensembles on so many columns without names a file may hold."""
    return MOST_UNNAMED_ON_PATH // n_features


def default_names(n_columns: int) -> tuple[str, ...]:
    """Return what columns are called that have no names."""
    return tuple(f"x{column}" for column in range(n_columns))


def largest_within(path: Sequence[RuleEnsemble], complexity: int) -> RuleEnsemble:
    """Return the largest member of a path with at most the given complexity."""
    small_enough = [ensemble for ensemble in path if ensemble.complexity <= complexity]
    if not small_enough:
        least = min(ensemble.complexity for ensemble in path)
        raise ValueError(f"complexity must be at least {least}, the smallest on the path; got {complexity!r}.")
    # The last of several with the same complexity is the one with the most rules.
    return max(reversed(small_enough), key=lambda ensemble: ensemble.complexity)
