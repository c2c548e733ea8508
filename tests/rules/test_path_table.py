"""Path table: expected losses, the automatic size and the Pareto front."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Model, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Labels
from obliquerules.rules.edits import EditLog
from obliquerules.rules.path_table import TOLERANCE, automatic, pareto, trusted

PATH = tuple(
    RuleEnsemble.parse("\n".join(["+0.5 if True", *[f"+1 if age >= {20 + 10 * k}" for k in range(n)]]), ["age"])
    for n in range(4)
)
LABELS = Labels.of(["no", "yes"])
MODEL = Model(PATH, 3, LOSSES["logistic"], LABELS, ridges=(4.0, 4.0, 16.0, 16.0), expected=(0.693147, 0.45, 0.4123456, 0.41))
losses = st.lists(st.floats(0.0, 2.0), min_size=1, max_size=8)


def test_the_table_has_a_line_for_each_size():
    assert str(MODEL.path_table()).splitlines() == [
        "complexity  rules  ridge  expected log loss  explained",
        "         0      0      -              0.693      0.0 %",
        "         3      1      4              0.450     35.1 %",
        "         6      2     16              0.412     40.5 %  auto",
        "         9      3     16              0.410     40.8 %  predicts",
    ]
    assert "<td" in MODEL.path_table()._repr_html_()
    assert MODEL.path_table().to_dicts()[2] == {
        "complexity": 6,
        "rules": 2,
        "ridge": 16.0,
        "expected_loss": 0.4123456,
        "explained": 1.0 - 0.4123456 / 0.693147,
        "predicts": False,
    }
    assert len(MODEL.path_table().to_pandas()) == len(PATH)


def test_what_is_not_known_is_left_out():
    table = dataclasses.replace(MODEL, ridges=(), expected=()).path_table()
    assert str(table).splitlines()[:2] == ["complexity  rules", "         0      0"]
    assert set(table.to_dicts()[0]) == {"complexity", "rules", "predicts"}
    assert table.auto is None
    assert table.verdict == ""


@pytest.mark.parametrize(
    ("loss", "measure", "shown", "error"),
    [
        ("squared", "root mean squared error", 4.0, 0.5),  # to first order, that of sqrt(2 x 8) is 2 / 4
        ("logistic", "log loss", 8.0, 2.0),
        ("poisson", "mean Poisson deviance", 16.0, 4.0),
    ],
)
def test_losses_are_in_the_unit_in_which_they_are_read(loss, measure, shown, error):
    model = Model(PATH[:2], 1, LOSSES[loss], expected=(8.0, 0.0), standard_errors=(2.0, 0.0))
    table = model.path_table()
    assert table.measure == measure
    assert (table[0].expected_loss, table[0].standard_error) == (shown, error)
    assert (table[1].expected_loss, table[1].standard_error, table[1].explained) == (0.0, 0.0, 1.0)


def test_the_verdict_is_a_line():
    end = "(constant 0.693; best 0.410 at 9)"
    assert MODEL.verdict == f"Complexity 9: expected log loss 0.410 {end}; auto would take 6"
    assert MODEL.at("auto").verdict == f"Complexity 6: expected log loss 0.412 {end}"
    held_out = dataclasses.replace(MODEL, standard_errors=(0.01, 0.02, 0.02, 0.02), selected=1)
    assert held_out.verdict == f"Complexity 9: cross-validated log loss 0.410 +- 0.020 {end}; auto would take 3"
    edited = MODEL.edited(EditLog(PATH[3], (), PATH[1]))
    assert edited.verdict.startswith(f"Complexity 3, edited from complexity 9: expected log loss before the edits 0.410 {end}")
    assert "edited" in str(edited.path_table())


def test_a_constant_alone_has_a_verdict():
    model = Model(PATH[:1], 0, LOSSES["squared"], expected=(2.0,))
    assert model.verdict == "Complexity 0: expected root mean squared error 2.00 (constant 2.00; best 2.00 at 0)"
    assert dataclasses.replace(model, expected=(0.0,)).verdict.endswith("(constant 0; best 0 at 0)")


def test_losses_of_separated_classes_are_not_trusted():
    model = dataclasses.replace(MODEL, expected=(0.693, 0.3, 0.01, 0.0001), separated=6)
    assert model.at("auto").ensemble.complexity == 6
    assert model.verdict.endswith(
        "best 0.010 at 6); auto would take 6; not to be trusted from complexity 6 on, which separates the classes"
    )
    assert str(model.path_table()).endswith("not to be trusted from complexity 6 on, which separates the classes.")
    # Held-out rows of separated classes are honest.
    held_out = dataclasses.replace(model, standard_errors=(0.1,) * 4, selected=3)
    assert "trusted" not in f"{held_out.verdict}{held_out.path_table()}"


@given(losses, st.none() | st.integers(0, 9))
def test_the_automatic_size_is_the_smallest_next_to_the_best_that_is_trusted(expected, separated):
    sizes = list(range(len(expected)))
    auto, places = automatic(expected, sizes, separated), trusted(sizes, separated)
    least = min(np.array(expected)[places])
    assert auto in places
    assert separated is None or auto <= separated
    assert expected[auto] <= least + TOLERANCE * (expected[0] - least) + 1e-12
    assert all(expected[smaller] > least for smaller in range(auto))


# Few complexities and losses, so that there are ties; what tells equal ones apart is when they came.
items = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4).map(float)), max_size=12).map(
    lambda pairs: [(*pair, number) for number, pair in enumerate(pairs)]
)


def front_of(items):
    return pareto(items, lambda item: item[:2])


@given(items)
def test_what_is_on_the_front_has_a_lower_loss_than_all_that_is_simpler(items):
    front = front_of(items)
    for complexity, loss, number in front:
        assert all(loss < other for size, other, _ in items if size < complexity)
        assert all((loss, number) <= (other, later) for size, other, later in items if size == complexity)
    assert [item[0] for item in front] == sorted({item[0] for item in front})


@given(items)
def test_something_on_the_front_is_as_simple_and_does_as_well(items):
    front = front_of(items)
    assert all(any(size <= complexity and other <= loss for size, other, _ in front) for complexity, loss, _ in items)


@given(items, st.integers(0, 12))
def test_a_front_can_be_grown_item_by_item(items, known):
    assert front_of([*front_of(items[:known]), *items[known:]]) == front_of(items)
