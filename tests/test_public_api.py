"""The public names are those of `__all__`, all of them and no others."""

import subprocess
import sys
import types

import pytest

import obliquerules


def test_the_public_names_are_sorted_and_different():
    assert obliquerules.__all__ == sorted(set(obliquerules.__all__))


@pytest.mark.parametrize("name", obliquerules.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    assert getattr(obliquerules, name).__doc__


def test_nothing_public_is_missing():
    homes = sorted(name for names in obliquerules._HOMES.values() for name in names)
    public = [
        name for name, value in vars(obliquerules).items() if not (name.startswith("_") or isinstance(value, types.ModuleType))
    ]
    assert sorted({*homes, *public}) == homes == obliquerules.__all__


def test_the_public_names_are_listed():
    assert set(obliquerules.__all__) <= set(dir(obliquerules))


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'LLTBost'"):
        obliquerules.LLTBost  # noqa: B018


def test_the_package_alone_loads_nothing_heavy():
    code = "import sys, obliquerules; sys.exit(any(name in sys.modules for name in ('numpy', 'sklearn', 'narwhals')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_star_import_gives_the_public_names():
    names = {}
    exec("from obliquerules import *", names)
    assert set(names) - {"__builtins__"} == set(obliquerules.__all__)
