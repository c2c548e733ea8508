"""The Pareto front: nothing simpler does as well as what is on it, and something on it does as well as what is not."""

from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules.path_table import pareto

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
