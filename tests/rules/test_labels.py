"""Labels become numbers and come back as they were, whatever their type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules.labels import Labels

pairs = st.one_of(
    st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=2, unique=True),
    st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5), min_size=2, max_size=2, unique=True),
    st.just([False, True]),
)


@given(pairs, st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_decode_undoes_encode(pair, codes):
    y = np.array([sorted(pair)[code] for code in (0, 1, *codes)])
    labels = Labels.of(y)
    assert labels.decode(labels.encode(y)).tolist() == y.tolist()
    assert labels.decode(labels.encode(y)).dtype == y.dtype
    assert labels.classes.tolist() == sorted(pair)


def test_a_label_that_was_not_fitted_is_refused():
    with pytest.raises(ValueError, match=r"labels that the model was fitted to, \['no', 'yes'\]"):
        Labels.of(["yes", "no"]).encode(["maybe"])


def test_equal_labels_are_equal_values():
    assert Labels.of([1, 0]) == Labels.of([0, 1, 1])
    assert hash(Labels.of(["a", "b"])) == hash(Labels.of(["b", "a"]))


def test_words():
    assert Labels.of(["no", "yes"]).word() == "'yes'"
    assert Labels.of([0, 1]).word(0) == "class 0"
