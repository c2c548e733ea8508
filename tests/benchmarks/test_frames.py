"""The registry of raw frames: two halves of fixed members, without reserved collections."""

from benchmarks import frames as registry

RESERVED = ("car/", "carData/", "AER/", "modeldata/", "wooldridge/")


def test_each_half_has_every_task():
    halves = [registry.frames(half) for half in ("development", "reporting")]
    assert sum(map(len, halves)) == len(registry.FRAMES)
    for frames in halves:
        assert len(frames) >= 20
        assert {frame.task for frame in frames} == {"two classes", "many classes", "number", "count"}


def test_the_half_of_a_frame_is_fixed():
    halves = {name: registry.FRAMES[name].half for name in ("Diamonds", "Frogs", "Senators", "Pima women", "Hawks")}
    assert halves == {
        "Diamonds": "development",
        "Frogs": "reporting",
        "Senators": "reporting",
        "Pima women": "reporting",
        "Hawks": "development",
    }


def test_reserved_collections_are_left_out():
    assert not [frame for frame in registry.FRAMES.values() if frame.source.partition(":")[2].startswith(RESERVED)]
