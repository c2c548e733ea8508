"""The public names are those of `__all__`, all of them and no others."""

import types

import pytest

import obliquerules


def test_the_public_names_are_sorted_and_different():
    assert obliquerules.__all__ == sorted(set(obliquerules.__all__))


@pytest.mark.parametrize("name", obliquerules.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    assert getattr(obliquerules, name).__doc__


def test_nothing_public_is_missing():
    public = {
        name
        for name, value in vars(obliquerules).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(obliquerules.__all__)


def test_a_star_import_gives_the_public_names():
    names = {}
    exec("from obliquerules import *", names)
    assert set(names) - {"__builtins__"} == set(obliquerules.__all__)
