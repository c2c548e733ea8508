"""Whatever array comes to the door of a kernel is worked on or refused; nothing is read outside of it."""

import numpy as np
import pytest

from obliquerules.kernels.axis_rules import DirectedObjective, RuleSearch
from obliquerules.kernels.l1_path import PathFollower
from obliquerules.kernels.losses import FAMILIES
from obliquerules.kernels.rule_weights import WeightFinder
from obliquerules.kernels.soft_rules import SoftRules

from .calls import (
    CALLS,
    DOORS,
    PATTERNS,
    ROWS,
    path_arguments,
    search,
    search_arguments,
    soft_arguments,
    weights_arguments,
    with_array,
)

FORMULAS = ("value", "gradient", "inverse_link", "hessian", "expected_hessian")
every_door = pytest.mark.parametrize(("kernel", "name"), DOORS)
# How many rows an array has instead of those it should have: (a share of them, and what is added).
LENGTHS = {"none": (0, 0), "one": (0, 1), "one less": (1, -1), "one more": (1, 1)}
# Keys that are taken are a set of any size, what a basis must have follows from the patterns, and a single array fits itself.
WITH_ROWS = [
    door
    for door in DOORS
    if door[1] not in {"taken", "basis", "parameters"} and door[0] not in {"inverse_link", "expected_hessian"}
]
INDEX_NAMES = {"order", "group", "pattern", "ranking", "column", "output", "rule_of", "first_term", "term_of"}
INDICES = [door for door in DOORS if door[1] in INDEX_NAMES]


def strided(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


def in_the_other_order(array):
    return np.asfortranarray(array) if array.flags.c_contiguous else np.ascontiguousarray(array)


WRONG_TYPES = {
    "single": lambda array: array.astype(np.float32),
    "complex": lambda array: array.astype(complex),
    "short": lambda array: array.astype(np.int16),
    "objects": lambda array: array.astype(object),
    "text": lambda array: array.astype(str),
    "bytes swapped": lambda array: array.astype(array.dtype.newbyteorder()) if array.itemsize > 1 else array.astype(object),
    "flattened": lambda array: array.ravel() if array.ndim > 1 else array[None],
    "scalar": lambda array: array.ravel()[0],
    "list": lambda array: array.tolist(),
    "none": lambda _: None,
}


@pytest.mark.parametrize("kernel", CALLS)
def test_a_sound_call_is_answered(kernel):
    call, arguments = CALLS[kernel]
    assert call(**arguments()) == call(**arguments())


def rows_axis(array):
    """Return the axis of a matrix along which its rows are counted: the order and groups of columns have them last."""
    return 0 if array.ndim == 1 or array.shape[0] == ROWS else 1


def resized(array, rows):
    """Return the array cut or repeated to this number of rows, in its own memory order."""
    order = "C" if array.flags.c_contiguous else "F"
    return np.array(np.take(array, np.arange(rows) % array.shape[rows_axis(array)], axis=rows_axis(array)), order=order)


@pytest.mark.parametrize(("kernel", "name"), WITH_ROWS)
@pytest.mark.parametrize(("share", "more"), LENGTHS.values(), ids=LENGTHS.keys())
def test_arrays_with_another_number_of_rows_are_refused(kernel, name, share, more):
    with pytest.raises(ValueError, match="must"):
        with_array(kernel, name, lambda array: resized(array, share * array.shape[rows_axis(array)] + more))()


@every_door
@pytest.mark.parametrize("change", WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_arrays_of_another_type_or_shape_are_refused(kernel, name, change):
    with pytest.raises((ValueError, TypeError)):
        with_array(kernel, name, change)()


@every_door
def test_arrays_in_another_order_are_refused(kernel, name):
    with pytest.raises(ValueError, match="contiguous"):
        with_array(kernel, name, strided)()
    if CALLS[kernel][1]()[name].ndim > 1:
        with pytest.raises(ValueError, match="contiguous"):
            with_array(kernel, name, in_the_other_order)()


@every_door
def test_read_only_arrays_are_accepted_because_they_are_only_read(kernel, name):
    def locked(array):
        array.setflags(write=False)
        return array

    call, arguments = CALLS[kernel]
    assert with_array(kernel, name, locked)() == call(**arguments())


@every_door
def test_arrays_are_left_as_they_are(kernel, name):
    kept = []

    def remembered(array):
        kept.extend([array, array.copy()])
        return array

    with_array(kernel, name, remembered)()
    assert np.array_equal(*kept)


@pytest.mark.parametrize(("kernel", "name"), INDICES)
@pytest.mark.parametrize("index", [-1, ROWS, 2**31 - 1, -(2**31)])
def test_indices_outside_of_their_array_are_refused(kernel, name, index):
    def spoilt(array):
        array[..., array.shape[-1] // 2] = index
        return array

    with pytest.raises(ValueError, match=r"must (hold|name)"):
        with_array(kernel, name, spoilt)()


@every_door
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0])
def test_no_number_does_harm(kernel, name, value):
    def spoilt(array):
        array[..., ::2] = value
        return array

    # A ridge that is no finite number of at least 0 is refused.
    if CALLS[kernel][1]()[name].dtype == np.float64 and (name != "ridge" or 0.0 <= value < np.inf):
        with_array(kernel, name, spoilt)()


@pytest.mark.parametrize(
    ("kernel", "change"),
    [
        ("PathFollower", {"max_support": 0}),
        ("PathFollower", {"max_support": -1}),
        ("PathFollower", {"max_support": 4}),
        ("PathFollower", {"max_support": 2**31 - 1}),
        ("PathFollower", {"floor_ratio": 0.0}),
        ("PathFollower", {"floor_ratio": 1.0}),
        ("PathFollower", {"floor_ratio": np.nan}),
        ("WeightFinder", {"family": 4}),
        ("WeightFinder", {"family": -1}),
        ("WeightFinder", {"ridge": -1.0}),
        ("WeightFinder", {"ridge": np.nan}),
        ("WeightFinder", {"ridge": np.inf}),
        ("ClassWeightFinder", {"ridge": np.full(12, -1.0)}),
        ("ClassWeightFinder", {"ridge": np.full(12, np.nan)}),
        *(("SoftRules", {"ridge": ridge}) for ridge in (-1.0, np.nan, np.inf)),
        *(("SoftRules", {"n_rules": n_rules}) for n_rules in (0, 1, 3, -1, 2**62)),
        *((kernel, {"family": family}) for kernel in (*FORMULAS, "SoftRules") for family in (-1, 4)),
        *(
            (kernel, {"family": FAMILIES["tweedie"], "power": power})
            for kernel in (*FORMULAS, "WeightFinder", "SoftRules")
            for power in (0.0, 1.0, 2.5, -1.5, np.nan, np.inf)
        ),
        ("RuleSearch", {"limit": 0}),
        ("RuleSearch", {"limit": -1}),
    ],
)
def test_numbers_without_a_meaning_are_refused(kernel, change):
    call, arguments = CALLS[kernel]
    with pytest.raises(ValueError, match="must"):
        call(**{**arguments(), **change})


def test_a_limit_beyond_all_kinds_needs_no_room():
    call, arguments = CALLS["RuleSearch"]
    assert call(**{**arguments(), "limit": 2**60}) == call(**{**arguments(), "limit": 6})


def test_no_objective_is_refused():
    for kernel in ("best_cuts", "RuleSearch"):
        call, arguments = CALLS[kernel]
        with pytest.raises(TypeError):
            call(**{**arguments(), "objective": None})


@pytest.mark.parametrize("patterns", [0, 1, PATTERNS - 1])
def test_a_basis_that_lacks_a_pattern_is_refused(patterns):
    with pytest.raises(ValueError, match="rows of the basis"):
        with_array("DirectedObjective", "basis", lambda basis: basis[:patterns])()


@pytest.mark.parametrize("n_parameters", [0, 1, 11, 13])
def test_another_number_of_parameters_is_refused(n_parameters):
    arguments = soft_arguments()
    arguments.pop("parameters")
    soft = SoftRules(**arguments)
    for question in (soft.value, soft.sums, lambda at, sharpness: soft.descend(at, sharpness, 1)):
        with pytest.raises(ValueError, match=f"There are 12 parameters; got {n_parameters}"):
            question(np.zeros(n_parameters), 4.0)


def test_first_terms_that_rise_only_by_overflow_are_refused():
    first = np.array([0, 2**31 - 8, -10, 4, 5], dtype=np.intc)
    with pytest.raises(ValueError, match="must name"):
        with_array("SoftRules", "first_term", lambda _: first)()


def test_rules_that_no_condition_belongs_to_are_a_row_of_ones():
    arguments = soft_arguments()
    arguments |= {"n_rules": 3, "free": np.ones(13, dtype=np.uint8)}
    parameters = arguments.pop("parameters")
    with_third = SoftRules(**arguments).sums(np.insert(parameters, 3, 0.7), 4.0)[0]
    arguments |= {"n_rules": 2, "free": np.ones(12, dtype=np.uint8), "offset": arguments["offset"] + 0.7}
    without = SoftRules(**arguments).sums(parameters, 4.0)[0]
    np.testing.assert_allclose(np.delete(with_third, 3), without, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [PathFollower, WeightFinder, SoftRules, DirectedObjective, RuleSearch])
def test_there_is_no_kernel_without_its_arrays(kernel):
    with pytest.raises(TypeError):
        kernel.__new__(kernel)


def test_a_second_run_is_like_the_first():
    follower = PathFollower(**path_arguments())
    first = follower.run(), [level[0].tolist() for level in follower.levels()], follower.passes
    assert (follower.run(), [level[0].tolist() for level in follower.levels()], follower.passes) == first


def test_a_result_is_not_changed_by_the_next_run():
    arguments = weights_arguments()
    start = arguments.pop("start")
    finder = WeightFinder(**arguments)
    weights, *_ = finder.run(start)
    kept = weights.copy()
    finder.run(start + 5.0)
    assert np.array_equal(weights, kept)


def test_a_search_without_columns_finds_nothing():
    none = np.zeros((0, ROWS), dtype=np.intc)
    assert search(**{**search_arguments(), "order": none, "group": none}) == (None, 1, True)
