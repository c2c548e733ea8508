"""The L1 path satisfies its optimality conditions on problems of every kind, and obeys the laws of its problem."""

import numpy as np
import pytest
from scipy.special import expit

from obliquerules import L1Path, l1_logistic_path
from obliquerules.learning.l1_logistic import CentredProblem

from .l1_oracle import objective, solve
from .l1_problems import KINDS, Problem, draw

every_kind = pytest.mark.parametrize("kind", KINDS)
# Kinds in which no two columns tie and every solution is unique.
GENERIC = ["normal", "correlated", "shifted", "heavy tails", "zero weights"]
generic_kinds = pytest.mark.parametrize("kind", GENERIC)


def centred(problem, level):
    """Return the rows that have weight, columns centred, with the intercept that belongs to them."""
    X, y, c = (part[problem.c > 0.0] for part in problem)
    mean = c @ X / c.sum()
    return X - mean, y.astype(float), c, level.intercept + mean @ level.weights


def gradient(problem, level):
    """Return the gradient in the weights, and in the intercept."""
    Z, y, c, intercept = centred(problem, level)
    residual = c * (expit(Z @ level.weights + intercept) - y)
    return Z.T @ residual, residual.sum()


def path_of(problem, **options):
    return l1_logistic_path(problem.X, problem.y, sample_weight=problem.c, **options)


def levels_of(kind, seeds, **options):
    """Yield problem, path, s and level for every level of the problems with the given seeds."""
    for seed in seeds:
        problem = draw(kind, seed)
        path = path_of(problem, **options)
        for size, level in enumerate(path.levels, start=1):
            if level is not None:
                yield problem, path, size, level


@every_kind
def test_levels_satisfy_the_optimality_conditions(kind):
    checked = 0
    for problem, _, size, level in levels_of(kind, range(60)):
        slope, in_intercept = gradient(problem, level)
        active = level.weights != 0.0
        assert active.sum() == size
        assert np.abs(slope[active] + level.alpha * np.sign(level.weights[active])).max() <= 1e-6 * level.alpha
        assert np.abs(slope).max() <= level.alpha * (1.0 + 1e-6)
        Z, _, c, _ = centred(problem, level)
        assert abs(in_intercept) * np.sqrt(c @ Z[:, active] ** 2 / c.sum()).max() <= 1e-6 * level.alpha
        checked += 1
    assert checked >= 60


@every_kind
def test_levels_agree_with_another_solver(kind):
    for seed in range(100, 112):
        problem = draw(kind, seed)
        level = next((level for level in reversed(path_of(problem, max_support=3).levels) if level is not None), None)
        if level is not None:
            Z, y, c, intercept = centred(problem, level)
            w, b = solve(Z, y, c, level.alpha)
            ours, others = (objective(Z, y, c, level.alpha, *found) for found in ((level.weights, intercept), (w, b)))
            assert ours == pytest.approx(others, rel=1e-10), seed
            scores = Z @ w + b
            np.testing.assert_allclose(Z @ level.weights + intercept, scores, atol=1e-4 * (1.0 + np.abs(scores).max()))
            if kind in GENERIC:
                np.testing.assert_allclose(level.weights, w, atol=1e-4 * np.abs(w).max())


@every_kind
def test_no_level_lies_below_the_floor_and_only_the_last_of_a_path_lies_on_it(kind):
    for _, path, size, level in levels_of(kind, range(40), min_alpha_ratio=0.05):
        floor = 0.05 * path.alpha_max
        assert floor * (1.0 - 1e-9) <= level.alpha <= path.alpha_max * (1.0 + 1e-9)
        assert level.at_floor == (level.alpha <= floor * (1.0 + 1e-9))
        if level.at_floor:
            assert path.ending == "floor"
            assert all(other is None or not other.at_floor for other in path.levels[: size - 1])


@every_kind
def test_at_a_level_another_column_reaches_the_bound(kind):
    for problem, _, _, level in levels_of(kind, range(40)):
        if not level.at_floor:
            slope, _ = gradient(problem, level)
            assert np.abs(slope[level.weights == 0.0]).max() >= level.alpha * (1.0 - 1e-6)


@generic_kinds
def test_just_below_a_level_one_more_variable_enters_and_just_above_none_does(kind):
    checked = 0
    for problem, path, size, level in levels_of(kind, range(200, 212), max_support=3):
        if not level.at_floor and level.alpha < 0.999 * path.alpha_max:
            Z, y, c, _ = centred(problem, level)
            below, _ = solve(Z, y, c, level.alpha * (1.0 - 1e-4))
            above, _ = solve(Z, y, c, level.alpha * (1.0 + 1e-4))
            assert np.count_nonzero(below) == size + 1
            assert np.count_nonzero(above) == size
            assert (np.sign(below) == np.sign(level.weights))[level.weights != 0.0].all()
            checked += 1
    assert checked >= 10


@every_kind
def test_the_path_starts_where_all_weights_are_zero(kind):
    for seed in range(40):
        problem = draw(kind, seed)
        path = path_of(problem)
        if path.ending in ("one-sided", "no signal"):
            assert not any(path.levels)
            continue
        share = problem.c @ problem.y / problem.c.sum()
        Z = problem.X - problem.c @ problem.X / problem.c.sum()
        assert np.abs(Z.T @ (problem.c * (share - problem.y))).max() == pytest.approx(path.alpha_max, rel=1e-8)


@every_kind
def test_few_paths_stall(kind):
    endings = [path_of(draw(kind, seed)).ending for seed in range(100)]
    assert endings.count("stalled") <= 2


def assert_same(path, other, sign=1.0, scale=1.0, columns=slice(None), rel=1e-6):
    """Compare two paths of which the second has flipped labels, scaled weights or permuted columns."""
    assert other.ending == path.ending
    assert other.alpha_max == pytest.approx(scale * path.alpha_max, rel=1e-9)
    assert [level is None for level in other.levels] == [level is None for level in path.levels]
    for one, two in zip(path.levels, other.levels, strict=True):
        if one is not None:
            assert two.alpha == pytest.approx(scale * one.alpha, rel=rel)
            np.testing.assert_allclose(sign * two.weights, one.weights[columns], atol=rel * np.abs(one.weights).max())
            assert sign * two.intercept == pytest.approx(one.intercept, rel=rel, abs=rel * (1.0 + np.abs(one.weights).max()))


SEEDS = range(8)


@every_kind
def test_booleans_zero_and_one_and_signs_are_the_same_labels(kind):
    for seed in SEEDS:
        X, y, c = draw(kind, seed)
        path = l1_logistic_path(X, y, sample_weight=c)
        for labels in (y.astype(int), y.astype(float), np.where(y, 1, -1), np.where(y, 1.0, -1.0), y.tolist()):
            assert_same(path, l1_logistic_path(X, labels, sample_weight=c), rel=0.0)


@generic_kinds
def test_flipping_the_labels_negates_the_solution(kind):
    for seed in SEEDS:
        problem = draw(kind, seed)
        assert_same(path_of(problem), path_of(problem._replace(y=~problem.y)), sign=-1.0)


@generic_kinds
def test_a_row_of_weight_two_is_the_row_twice(kind):
    for seed in SEEDS:
        X, y, c = draw(kind, seed)
        twice = np.arange(len(y)) % 3 == 0
        repeated = Problem(*(np.concatenate([part, part[twice]]) for part in (X, y, c)))
        assert_same(path_of(Problem(X, y, np.where(twice, 2.0 * c, c))), path_of(repeated))


@generic_kinds
def test_a_row_of_weight_zero_is_absent(kind):
    for seed in SEEDS:
        X, y, c = draw(kind, seed)
        absent = np.arange(len(y)) % 5 == 0
        far_away = Problem(np.where(absent[:, None], 1e200, X), y, np.where(absent, 0.0, c))
        assert_same(path_of(far_away), path_of(Problem(X[~absent], y[~absent], c[~absent])))


@generic_kinds
def test_the_unit_of_the_weights_scales_alpha_and_nothing_else(kind):
    for seed in SEEDS:
        problem = draw(kind, seed)
        for scale in (2.0**40, 2.0**-40, 1e-250, 1e250):
            assert_same(path_of(problem), path_of(problem._replace(c=scale * problem.c)), scale=scale)


@generic_kinds
def test_permuting_rows_changes_nothing_and_permuting_columns_permutes_the_weights(kind):
    for seed in SEEDS:
        X, y, c = draw(kind, seed)
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
        path = path_of(Problem(X, y, c))
        assert_same(path, path_of(Problem(X[rows], y[rows], c[rows])))
        assert_same(path, path_of(Problem(X[:, columns], y, c)), columns=columns)


@generic_kinds
def test_shifting_a_column_moves_the_intercept_only(kind):
    for seed in SEEDS:
        problem = draw(kind, seed)
        shift = np.arange(problem.X.shape[1]) * 4.0
        for one, two in zip(path_of(problem).levels, path_of(problem._replace(X=problem.X + shift)).levels, strict=True):
            if one is not None:
                np.testing.assert_allclose(two.weights, one.weights, atol=1e-6 * np.abs(one.weights).max())
                assert two.intercept == pytest.approx(one.intercept - shift @ one.weights, rel=1e-6, abs=1e-5)


def test_layout_and_type_of_the_inputs_do_not_matter_and_they_are_left_alone():
    X, y, c = draw("whole numbers", 3)
    before = X.copy(), y.copy(), c.copy()
    path = l1_logistic_path(X, y, sample_weight=c)
    for same in (np.asfortranarray(X), X.astype(np.int8), X.astype(np.float32), X.tolist(), np.repeat(X, 2, axis=0)[::2]):
        assert_same(path, l1_logistic_path(same, y, sample_weight=c))
    assert all(np.array_equal(part, copy) for part, copy in zip((X, y, c), before, strict=True))


def test_weights_are_one_if_not_given():
    X, y, _ = draw("normal", 1)
    assert_same(l1_logistic_path(X, y), l1_logistic_path(X, y, sample_weight=np.ones(len(y))), rel=0.0)


def test_more_levels_start_with_the_same_ones():
    problem = Problem(*draw("normal", 5)[:2], np.ones(len(draw("normal", 5).y)))
    longest = path_of(problem, max_support=problem.X.shape[1] + 5)
    assert len(longest.levels) == problem.X.shape[1]
    for size in range(1, problem.X.shape[1]):
        shorter = path_of(problem, max_support=size)
        assert len(shorter.levels) == size
        for one, two in zip(shorter.levels, longest.levels, strict=False):
            np.testing.assert_allclose(one.weights, two.weights, rtol=1e-6)


X4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]])


@pytest.mark.parametrize("label", [0, 1])
def test_one_sided_labels_give_an_empty_path(label):
    path = l1_logistic_path(X4, np.full(4, label))
    assert (path.levels, path.ending) == ((), "one-sided")


@pytest.mark.parametrize("weight", [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 3, 0]])
def test_labels_that_are_one_sided_among_the_rows_with_weight_give_an_empty_path(weight):
    path = l1_logistic_path(X4, [0, 0, 1, 1], sample_weight=weight)
    assert (path.levels, path.ending) == ((), "one-sided")


@pytest.mark.parametrize("rare", [1e-6, 1e-8, 1e-10, 1e-14, 1e-20, 1e-300])
def test_a_side_of_vanishing_weight_is_treated_alike_on_both_sides(rare):
    y = np.array([False, False, False, True])
    path, other = (l1_logistic_path(X4, labels, sample_weight=[1, 1, 1, rare]) for labels in (y, ~y))
    assert_same(path, other, sign=-1.0)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [-1.0], [1.0], [-1.0]], [1, 1, 0, 0]),
        ([[3.7], [3.7], [3.7]], [1, 0, 1]),
        ([[0.1, 1e9], [0.1, 1e9], [0.1, 1e9]], [1, 0, 1]),
        ([[0.0], [0.0]], [1, 0]),
    ],
)
def test_columns_unrelated_to_the_labels_give_no_signal(X, y):
    path = l1_logistic_path(X, y)
    assert path.ending == "no signal"
    assert not any(path.levels)


@pytest.mark.parametrize("constant", [0.1, 1e7 / 3.0, 1e15 / 3.0])
def test_a_column_that_is_constant_up_to_rounding_never_enters_however_small_the_others_are(constant):
    X, y, _ = draw("normal", 5)
    with_constant = np.column_stack([np.where(y, constant, np.nextafter(constant, 0.0)), 1e-6 * X])
    path = l1_logistic_path(with_constant, y, sample_weight=np.random.default_rng(0).random(len(y)))
    assert path.alpha_max < 1e-3
    assert all(level is None or level.weights[0] == 0.0 for level in path.levels)
    assert path.levels[0] is not None


def test_a_level_that_does_not_exist_is_none():
    half = np.random.default_rng(0).normal(size=(40, 2))
    X, y = np.vstack([half, half[:, ::-1]]), np.tile(half.sum(axis=1) + half[:, 0] ** 2 > 0.5, 2)
    path = l1_logistic_path(X, y, max_support=2)
    assert path.levels[0] is None
    assert path.at_support(1) is None
    np.testing.assert_allclose(*path.at_support(2).weights, rtol=1e-6)


def test_of_equal_columns_only_one_is_used():
    x = np.random.default_rng(1).normal(size=(60, 1))
    y = x[:, 0] + np.random.default_rng(2).normal(size=60) > 0.0
    path = l1_logistic_path(np.hstack([x, x, -x]), y)
    assert [level is None for level in path.levels] == [False, True, True]


def test_at_support_counts_from_one():
    X, y, _ = draw("separable", 4)
    path = l1_logistic_path(X, y, max_support=2)
    assert path.at_support(1) is path.levels[0]
    assert path.at_support(len(path.levels) + 1) is None
    for size in (0, -1):
        with pytest.raises(ValueError, match="size must be at least 1"):
            path.at_support(size)
    assert isinstance(path, L1Path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": [1.0, 2.0]}, r"X must be a matrix .* got shape \(2,\)"),
        ({"X": np.empty((0, 2))}, "X must be a matrix with at least one row"),
        ({"X": np.empty((4, 0))}, "X must be a matrix with at least one row and one column"),
        ({"X": [[0, 1], [1, np.nan], [2, 3], [3, 1]]}, "X has a missing or infinite value in column 1"),
        ({"X": [[0, 1], [np.inf, 0], [2, 3], [3, 1]]}, "X has a missing or infinite value in column 0"),
        ({"X": [["a", "b"]] * 4}, "X must hold numbers"),
        ({"z": [0, 1, 0]}, "z must have one label for each of the 4 rows"),
        ({"z": [[0, 1, 0, 1]]}, "z must have one label"),
        ({"z": [0, 1, 2, 1]}, "z must hold booleans"),
        ({"z": [-1, 0, 1, 1]}, "z must hold booleans"),
        ({"z": [0.0, np.nan, 1.0, 1.0]}, "z must hold booleans"),
        ({"z": ["a", "b", "a", "b"]}, "z must hold booleans"),
        ({"z": [None, 1, 0, 1]}, "z must hold booleans"),
        ({"sample_weight": [1.0, 1.0]}, "sample_weight must have one entry for each of the 4 rows"),
        ({"sample_weight": 1.0}, "sample_weight must have one entry"),
        ({"sample_weight": [1, 1, 1, -1]}, "sample_weight must be finite and not negative"),
        ({"sample_weight": [1, 1, 1, np.nan]}, "sample_weight must be finite"),
        ({"sample_weight": [1, 1, 1, np.inf]}, "sample_weight must be finite"),
        ({"sample_weight": ["a", "b", "c", "d"]}, "sample_weight must hold numbers"),
        ({"max_support": 0}, "max_support must be a whole number of at least 1; got 0"),
        ({"max_support": 2.0}, "max_support must be a whole number of at least 1; got 2.0"),
        ({"max_support": "2"}, "max_support must be a whole number of at least 1; got '2'"),
        ({"min_alpha_ratio": 0.0}, "min_alpha_ratio must lie between 0 and 1; got 0.0"),
        ({"min_alpha_ratio": 1.0}, "min_alpha_ratio must lie between 0 and 1; got 1.0"),
        ({"min_alpha_ratio": np.nan}, "min_alpha_ratio must lie between 0 and 1; got nan"),
    ],
    ids=str,
)
def test_bad_input_is_refused_by_name(changes, complaint):
    arguments = {"X": X4, "z": [0, 1, 0, 1]} | changes
    with pytest.raises(ValueError, match=complaint):
        l1_logistic_path(**arguments)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-160, 1e150, 1e200])
def test_columns_at_the_ends_of_the_doubles_are_followed_or_given_up(size):
    X = np.array([[-2.0], [-3.0], [-1.0], [-1.0], [2.0], [0.0], [-3.0]]) * size
    path = l1_logistic_path(X, [0, 1, 1, 1, 1, 0, 1], max_support=1)
    assert path.ending in ("complete", "floor", "stalled", "no signal")
    assert all(level is None or np.isfinite(level.weights).all() for level in path.levels)


def test_no_columns_have_no_signal():
    path = CentredProblem.of(np.empty((4, 0)), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4)).path(3, 1e-2)
    assert (path.levels, path.ending) == ((), "no signal")
