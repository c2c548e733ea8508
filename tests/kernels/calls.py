"""A sound call of each kernel, as named arrays and numbers, for tests to spoil."""

from functools import partial

import numpy as np

from obliquerules.kernels.axis_rules import DirectedObjective, RuleSearch, best_cuts
from obliquerules.kernels.class_weights import ClassWeightFinder
from obliquerules.kernels.l1_path import PathFollower
from obliquerules.kernels.losses import FAMILIES, class_value, expected_hessian, gradient, hessian, inverse_link, value
from obliquerules.kernels.rule_weights import WeightFinder
from obliquerules.kernels.soft_rules import SoftRules

ROWS, COLUMNS, PATTERNS = 40, 3, 4


def path_arguments():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(ROWS, COLUMNS)))
    y = (X[:, 0] + rng.normal(size=ROWS) > 0.0).astype(float)
    return {"X": X, "y": y, "c": rng.exponential(size=ROWS), "max_support": 2, "floor_ratio": 1e-3}


def follow(**arguments):
    follower = PathFollower(**arguments)
    return follower.run(), [None if level is None else (level[0].tolist(), *level[1:]) for level in follower.levels()]


def weights_arguments():
    rng = np.random.default_rng(1)
    columns = np.vstack([np.ones(ROWS), rng.random((3, ROWS)) < 0.5])
    y = (rng.random(ROWS) < 0.5).astype(float)
    numbers = {"family": FAMILIES["logistic"], "ridge": 0.1}
    return {"columns": columns, "y": y, "row_weight": np.ones(ROWS), "offset": np.zeros(ROWS), **numbers, "start": np.zeros(4)}


def find_weights(start, **arguments):
    weights, before, after = WeightFinder(**arguments).run(start)
    return weights.tolist(), before, after


def sums_of_weights(start, **arguments):
    value, gradient, hessian = WeightFinder(**arguments).sums(start)
    return value, gradient.tolist(), hessian.tolist()


def tweedie_weights_arguments():
    return {**weights_arguments(), "family": FAMILIES["tweedie"], "power": 1.5}


def class_weights_arguments():
    rng = np.random.default_rng(5)
    design = np.column_stack([np.ones(ROWS), rng.random((ROWS, 3)) < 0.5])
    shares = np.eye(3)[rng.integers(0, 3, ROWS)]
    column, output = map(np.ascontiguousarray, np.nonzero(np.ones((4, 3))))
    weights = {"column": column, "output": output, "ridge": np.full(12, 0.1), "start": np.zeros(12)}
    return {"design": design, "shares": shares, "row_weight": np.ones(ROWS), "offset": np.zeros((ROWS, 3)), **weights}


def find_class_weights(start, **arguments):
    weights, objective = ClassWeightFinder(**arguments).run(start)
    return weights.tolist(), objective


def soft_arguments():
    """Return two rules of four conditions, one of them on two terms and the last one fixed."""
    rng = np.random.default_rng(6)
    terms = np.vstack([rng.normal(size=(COLUMNS, ROWS)), rng.random(ROWS) < 0.5])
    conditions = {"rule_of": [0, 0, 1, 1], "first_term": [0, 2, 3, 4, 5], "term_of": [0, 1, 2, 1, 3]}
    flags = {"soft": [1, 1, 1, 0], "missing": [1, 0, 1, 0], "free": [1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0]}
    return {
        "terms": terms,
        "y": (rng.random(ROWS) < 0.5).astype(float),
        "row_weight": rng.exponential(size=ROWS),
        "offset": 0.1 * rng.normal(size=ROWS),
        **{name: np.array(values, dtype=np.intc) for name, values in conditions.items()},
        **{name: np.array(values, dtype=np.uint8) for name, values in flags.items()},
        **{"n_rules": 2, "family": FAMILIES["logistic"], "ridge": 0.1, "power": 1.5, "least_curvature": 1e-3},
        "parameters": rng.normal(size=12),
    }


def soften(parameters, **arguments):
    soft = SoftRules(**arguments)
    gradient, curvature = soft.sums(parameters, 4.0)
    step = soft.damped_step(0.01)
    return soft.value(parameters, 4.0), gradient.tolist(), curvature.tolist(), None if step is None else step.tolist()


def objective_arguments():
    rng = np.random.default_rng(2)
    pattern, basis = rng.integers(0, PATTERNS, ROWS), 0.1 * rng.normal(size=(PATTERNS, 2))
    arrays = {"pull": rng.normal(size=ROWS), "mass": rng.exponential(size=ROWS), "basis": basis, "pattern": pattern}
    return {**arrays, "offset": 1.0, "plain": False}


def columns_arguments():
    rng = np.random.default_rng(3)
    order = np.argsort(rng.normal(size=(COLUMNS, ROWS)), axis=1).astype(np.intc)
    group = np.sort(rng.integers(0, 10, (COLUMNS, ROWS)), axis=1).astype(np.intc)
    keys = rng.integers(0, 2**64, ROWS, dtype=np.uint64)
    return {"order": order, "group": group, "keys": keys, "taken": keys[:2].copy(), "objective": objective_arguments()}


def cuts_arguments():
    return {**columns_arguments(), "covers": np.ones(ROWS, dtype=np.uint8)}


def cut(objective, **arguments):
    return tuple(part.tolist() for part in best_cuts(objective=made(objective), **arguments))


def search_arguments():
    return {**columns_arguments(), "ranking": np.arange(ROWS), "between": 10.0, "limit": 2}


def search(objective, limit, **arguments):
    return RuleSearch(objective=made(objective), **arguments).run(limit, 0.0, 1000, np.inf)


def made(objective):
    return DirectedObjective(**objective) if isinstance(objective, dict) else objective


def judge(**arguments):
    """Make an objective and ask it something."""
    return cut(arguments, **{name: value for name, value in cuts_arguments().items() if name != "objective"})


def loss_arguments():
    rng = np.random.default_rng(4)
    return {"family": FAMILIES["poisson"], "y": rng.poisson(2.0, ROWS).astype(float), "score": rng.normal(size=ROWS)}


def tweedie_arguments():
    return {**loss_arguments(), "family": FAMILIES["tweedie"], "power": 1.5}


def score_arguments():
    return {name: value for name, value in loss_arguments().items() if name != "y"}


def class_value_arguments():
    rng = np.random.default_rng(7)
    return {"shares": np.eye(3)[rng.integers(0, 3, ROWS)], "score": rng.normal(size=(ROWS, 3))}


def listed(formula):
    return lambda **arguments: formula(**arguments).tolist()


CALLS = {
    "value": (listed(value), loss_arguments),
    "gradient": (listed(gradient), loss_arguments),
    "inverse_link": (listed(inverse_link), score_arguments),
    "hessian": (listed(hessian), loss_arguments),
    "expected_hessian": (listed(expected_hessian), score_arguments),
    "class_value": (listed(class_value), class_value_arguments),
    "value, Tweedie": (listed(value), tweedie_arguments),
    "gradient, Tweedie": (listed(gradient), tweedie_arguments),
    "hessian, Tweedie": (listed(hessian), tweedie_arguments),
    "PathFollower": (follow, path_arguments),
    "WeightFinder": (find_weights, weights_arguments),
    "WeightFinder, Tweedie": (find_weights, tweedie_weights_arguments),
    "WeightFinder, sums": (sums_of_weights, weights_arguments),
    "ClassWeightFinder": (find_class_weights, class_weights_arguments),
    "SoftRules": (soften, soft_arguments),
    "DirectedObjective": (judge, objective_arguments),
    "best_cuts": (cut, cuts_arguments),
    "RuleSearch": (search, search_arguments),
}


def arrays_of(arguments):
    return [name for name, value in arguments().items() if isinstance(value, np.ndarray)]


# Each kernel with each of its arrays.
DOORS = [(kernel, name) for kernel, (_, arguments) in CALLS.items() for name in arrays_of(arguments)]


def with_array(kernel, name, change):
    """Return the call of a kernel with one of its arrays changed."""
    call, arguments = CALLS[kernel]
    sound = arguments()
    return partial(call, **{**sound, name: change(sound[name])})
