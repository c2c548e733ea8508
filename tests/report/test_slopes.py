"""The data of the page about rules with factors: all of them, and no figure that pretends conditions determine scores."""

import json

import numpy as np
import pytest

from obliquerules import Rule, RuleEnsemble
from obliquerules.report.groups import grouped_rows
from obliquerules.report.payload import PieceWriter
from obliquerules.rules import Factor
from obliquerules.rules.files.decoding import decode_rule
from obliquerules.rules.files.fields import Field

from .reading import payload, says
from .slopes import sloped
from .test_payload import joined


@pytest.fixture
def report(tmp_path):
    model, X, y = sloped()
    model.report(tmp_path / "model.html", X, y)
    return payload(tmp_path / "model.html")


def test_factors_are_those_of_a_file(report):
    ensemble = sloped()[0].ensemble_
    assert json.loads(report["file"])["version"] == 1
    _, weights, positions, multiplied = report["ensembles"][0]
    for rule, weight, position, factor in zip(ensemble, weights, positions, multiplied, strict=True):
        stored = {"weight": weight, "condition": [test for test, _ in report["conditions"][position]]}
        if factor is not None:
            stored["factor"] = report["factors"][factor][0]
        assert decode_rule(Field(stored, "the page"), len(ensemble.columns)) == rule


def test_pieces_are_the_text_of_the_library():
    ensemble = sloped()[0].ensemble_
    texts = PieceWriter([ensemble], ensemble.columns)
    for factor in (rule.factor for rule in ensemble if rule.factor is not None):
        assert joined(texts.pieces(factor), ensemble.feature_names) == factor.describe(ensemble.columns)
    assert texts.pieces(ensemble[0].factor) == ["(", 0, " - 50)"]


def test_rows_are_counted_by_score_alone(report):
    model, X, y = sloped()
    figures = report["figures"]
    assert (figures["exact"], figures["conditions"], figures["groups"]["patterns"]) == ([False], [], [])
    assert min(figures["groups"]["rows"]) >= 5
    assert sum(figures["groups"]["rows"]) == len(X)
    assert len(figures["predicted"][0]) == len(figures["groups"]["rows"])
    errors = np.mean(model.predict(X) != y)
    assert any(says(measure, errors) for measure in figures["measures"][0])
    assert {str(column) for column in model.ensemble_.used_columns} == set(figures["typical"])


def test_one_size_with_a_slope_is_enough():
    """All sizes share the groups."""
    plain = RuleEnsemble.parse("+1 if x0 >= 0")
    slope = RuleEnsemble([*plain, Rule(1.0, factor=Factor(0))])
    rows = plain.block(np.linspace(-1.0, 1.0, 100)[:, None])
    assert grouped_rows([plain, slope], [0], 0, rows, 5).exact_sizes == [0]
    both = grouped_rows([plain, slope], [0, 1], 0, rows, 5)
    assert (both.exact_sizes, both.n_patterns) == ([], 0)
