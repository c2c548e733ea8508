"""Golden models: every estimator learns, from the same data, the model that it has always learned from them."""

import json
import os

import pytest

from .golden_models import CASES, DIRECTORY, save


def assert_same(found, expected, where="the model"):
    """The same fields, texts, whole numbers and lists; doubles may differ in last digits, which depend on the processor."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name, value in expected.items():
            assert_same(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, value in enumerate(expected):
            assert_same(found[index], value, f"{where}[{index}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_the_golden_one(name, tmp_path):
    golden, made = DIRECTORY / f"{name}.json", tmp_path / "model.json"
    save(name, made)
    assert_same(json.loads(made.read_text(encoding="utf-8")), json.loads(golden.read_text(encoding="utf-8")))
    if os.environ.get("OBLIQUERULES_GOLDEN") == "bytes":
        assert made.read_bytes() == golden.read_bytes()


def test_there_is_no_golden_file_that_nothing_is_compared_with():
    assert {path.stem for path in DIRECTORY.glob("*.json")} == set(CASES)
