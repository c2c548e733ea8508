"""Golden models: every estimator learns, from the same data, the model that it has always learned from them."""

import json
import math
import os

import numpy as np
import pytest

from obliquerules import load_model

from .golden_models import CASES, DIRECTORY, save


def assert_same(found, expected, where="the model", tolerance=1e-6):
    """The same fields, texts, whole numbers and lists; doubles may differ in last digits, which depend on the processor."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name, value in expected.items():
            assert_same(found[name], value, f"{where}.{name}", tolerance)
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, value in enumerate(expected):
            assert_same(found[index], value, f"{where}[{index}]", tolerance)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=tolerance, abs=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_the_golden_one(name, tmp_path):
    golden, made = DIRECTORY / f"{name}.json", tmp_path / "model.json"
    save(name, made)
    # What a network is trained to is in single precision.
    tolerance = 1e-4 if "ltrnet" in name else 1e-6
    found, expected = (json.loads(file.read_text(encoding="utf-8")) for file in (made, golden))
    assert_same(found, expected, tolerance=tolerance)
    if os.environ.get("OBLIQUERULES_GOLDEN") == "bytes":
        assert made.read_bytes() == golden.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_a_golden_file_loads_to_the_model_that_it_was_saved_from(name, tmp_path):
    golden, made = DIRECTORY / f"{name}.json", tmp_path / "model.json"
    model = load_model(golden)
    model.save(made)
    assert made.read_bytes() == golden.read_bytes()
    X, *_ = CASES[name][1]()
    fields = json.loads(golden.read_text(encoding="utf-8"))
    chosen = fields["path"][fields["chosen"]]
    assert model.ensemble_(X).tolist() == [score_of(chosen, row) for row in np.asarray(X).tolist()]


def score_of(ensemble, row):
    """The arithmetic that files promise, on the plain fields of a file."""
    if isinstance(ensemble["intercept"], list):
        return [score_of(of_class(ensemble, code), row) for code in range(len(ensemble["intercept"]))]
    score = ensemble["intercept"]
    for rule in ensemble["rules"]:
        if all(projection_of(one, row) >= one["threshold"] for one in rule["condition"]):
            score += rule["weight"] * factor_of(rule["factor"], row) if "factor" in rule else rule["weight"]
    return score


def factor_of(factor, row):
    """What a weight is multiplied by, of rows without missing values."""
    value = max(factor.get("lower", -math.inf), min(factor.get("upper", math.inf), row[factor["column"]]))
    return value - factor.get("origin", 0.0)


def of_class(ensemble, code):
    """The fields of one of many classes."""
    rules = [rule | {"weight": rule["weight"][code]} for rule in ensemble["rules"]]
    return {"intercept": ensemble["intercept"][code], "rules": rules}


def projection_of(proposition, row):
    total, *others = [
        weight * row[column] for weight, column in zip(proposition["weights"], proposition["columns"], strict=True)
    ]
    for product in others:
        total += product
    return total


def test_there_is_no_golden_file_that_nothing_is_compared_with():
    assert {path.stem for path in DIRECTORY.glob("*.json")} == set(CASES)
