"""Labels become numbers and come back as they were, whatever their type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Labels

from .strategies import label_pairs


@given(label_pairs, st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_decode_undoes_encode(pair, codes):
    y = np.array([pair[code] for code in (0, 1, *codes)])
    labels = Labels.of(y)
    assert labels.decode(labels.encode(y)).tolist() == y.tolist()
    assert labels.decode(labels.encode(y)).dtype == y.dtype
    assert labels.classes.tolist() == pair


def test_a_label_that_was_not_fitted_is_refused():
    with pytest.raises(ValueError, match=r"labels that the model was fitted to, \['no', 'yes'\]"):
        Labels.of(["yes", "no"]).encode(["maybe"])


def test_equal_labels_are_equal_values():
    assert Labels.of([1, 0]) == Labels.of([0, 1, 1])
    assert hash(Labels.of(["a", "b"])) == hash(Labels.of(["b", "a"]))


def test_words():
    assert Labels.of(["no", "yes"]).word() == "'yes'"
    assert Labels.of([0, 1]).word(0) == "class 0"


@pytest.mark.parametrize(("fitted", "given"), [(["0", "1"], [0, 1]), ([0, 1], ["0", "1"]), ([0, 1], [0.0, np.nan])])
def test_labels_of_another_type_are_not_taken_for_those_that_look_alike(fitted, given):
    with pytest.raises(ValueError, match="labels that the model was fitted to"):
        Labels.of(fitted).encode(given)


def test_numbers_that_are_equal_are_the_same_label():
    assert Labels.of([0, 1]).encode([1.0, 0.0]).tolist() == [1.0, 0.0]
    assert Labels.of([False, True]).encode([1, 0]).tolist() == [1.0, 0.0]


def test_rows_of_both_classes_are_needed():
    labels = Labels.of(["no", "yes"])
    labels.check_both(np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match=r"y holds one class only \('yes'\)"):
        labels.check_both(np.array([1.0, 1.0]))
