"""The registry of raw frames: two halves of fixed members, without reserved collections."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "frames.py"
RESERVED = ("car/", "carData/", "AER/", "modeldata/", "wooldridge/")


@pytest.fixture(scope="module")
def registry():
    spec = importlib.util.spec_from_file_location("frames", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the types of their fields
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_each_half_has_every_task(registry):
    halves = [registry.frames(half) for half in ("development", "reporting")]
    assert sum(map(len, halves)) == len(registry.FRAMES)
    for frames in halves:
        assert len(frames) >= 20
        assert {frame.task for frame in frames} == {"two classes", "many classes", "number", "count"}


def test_the_half_of_a_frame_is_fixed(registry):
    halves = {name: registry.FRAMES[name].half for name in ("Diamonds", "Frogs", "Senators", "Pima women", "Hawks")}
    assert halves == {
        "Diamonds": "development",
        "Frogs": "reporting",
        "Senators": "reporting",
        "Pima women": "reporting",
        "Hawks": "development",
    }


def test_reserved_collections_are_left_out(registry):
    assert not [frame for frame in registry.FRAMES.values() if frame.source.partition(":")[2].startswith(RESERVED)]
