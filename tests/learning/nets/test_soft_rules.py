"""The network: gradients agree with finite differences, conjunctions are conjunctions, penalties leave exact zeros and ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.nets.adam import NetworkParameters
from obliquerules.learning.nets.soft_rules import Architecture, Penalties, ScoreUnits, SoftRules, descend
from obliquerules.losses import LOSSES, Loss, MultinomialLoss, class_loss

NONE = Penalties(0.0, 0.0)
# All losses of one score, and that of four classes.
ALL_LOSSES: dict[str, Loss] = {**LOSSES, "multinomial": class_loss(4)}


def problem(loss: str, n: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    targets = {
        "squared": 100.0 + 7.0 * X[:, 0] * X[:, 1],
        "logistic": (X[:, 0] > 0.3) * 1.0,
        "poisson": random.poisson(3.0, n) * 1.0,
        "multinomial": np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.8, 0.1, 1.0]) * 1.0,
        "gamma": np.exp(2.0 + X[:, 0]),
        "tweedie": (X[:, 0] > 0.3) * np.exp(2.0 + X[:, 1]),
    }
    return X, targets[loss], random.uniform(0.5, 2.0, n)


def network(loss: str, architecture: Architecture, penalties: Penalties = NONE, dtype: Any = np.float64) -> SoftRules:
    X, y, weight = problem(loss)
    units = ScoreUnits.of(y, weight, ALL_LOSSES[loss])
    return SoftRules(X.astype(dtype), y, weight, ALL_LOSSES[loss], units, architecture, penalties)


def shaped(loss: str, *sizes: int, steepness: float = 2.0) -> Architecture:
    """Return an architecture with as many networks, rules and propositions, and the scores that the loss takes."""
    return Architecture(*sizes, steepness, (4,) if ALL_LOSSES[loss].by_class else ())


def numeric_gradient(objective: SoftRules, parameters: NetworkParameters, name: str, step: float = 1e-5) -> np.ndarray:
    values = parameters[name]
    gradient = np.zeros_like(values)
    for index in np.ndindex(values.shape):
        kept = values[index]
        values[index] = kept + step
        above = objective(parameters)[0][index[0]]
        values[index] = kept - step
        below = objective(parameters)[0][index[0]]
        values[index] = kept
        gradient[index] = (above - below) / (2.0 * step)
    return gradient


@pytest.mark.parametrize("name", ["directions", "thresholds", "memberships", "rule_weights", "constant"])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_gradients_agree_with_finite_differences(loss: str, name: str) -> None:
    architecture = shaped(loss, 2, 3, 2)
    objective = network(loss, architecture)
    parameters = architecture.start(objective.X, np.random.default_rng(1))
    parameters["rule_weights"] *= 10.0
    gradient = objective(parameters)[1][name].copy()
    assert np.abs(gradient).max() > 1e-3
    np.testing.assert_allclose(gradient, numeric_gradient(objective, parameters, name), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_network_without_rule_weights_has_the_loss_of_the_best_constant_and_no_gradient_there(loss: str) -> None:
    X, y, weight = problem(loss)
    objective = network(loss, shaped(loss, 1, 2, 2))
    parameters = objective.architecture.start(X, np.random.default_rng(0))
    parameters["rule_weights"][:] = 0.0
    losses, gradients = objective(parameters)
    constant = np.repeat([ALL_LOSSES[loss].best_constant(y, weight)], len(y), axis=0)
    expected = np.average(ALL_LOSSES[loss].value(y, constant), weights=weight)
    np.testing.assert_allclose(losses * objective.units.of_loss, expected, rtol=1e-9)
    np.testing.assert_allclose(gradients["constant"], 0.0, atol=1e-12)


def test_the_unit_of_a_squared_loss_is_the_standard_deviation() -> None:
    _, y, _ = problem("squared")
    units = ScoreUnits.of(y, np.ones(len(y)), LOSSES["squared"])
    np.testing.assert_allclose([units.offset, units.size, units.of_loss], [y.mean(), y.std(), y.var()])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_target_that_does_not_vary_has_units_too(loss: str) -> None:
    units = ScoreUnits.of(np.full(4, 0.5), np.ones(4), LOSSES[loss])
    assert np.isfinite([units.offset, units.size, units.of_loss]).all()
    assert units.of_loss > 0.0


def test_the_units_of_classes_make_each_a_target_of_unit_variance() -> None:
    _, y, weight = problem("multinomial")
    units = ScoreUnits.of(y, weight, ALL_LOSSES["multinomial"])
    share = np.bincount(y.astype(int), weight) / weight.sum()
    np.testing.assert_allclose(units.size, 1.0 / np.sqrt(share * (1.0 - share)))
    np.testing.assert_allclose([units.of_loss, units.offset.sum()], [1.0, 0.0], atol=1e-12)
    # A class without rows has units too.
    absent = ScoreUnits.of(y, np.where(y == 1.0, 0.0, weight), ALL_LOSSES["multinomial"])
    assert np.isfinite([*absent.offset, *absent.size, absent.of_loss]).all()


def test_two_scores_are_one_whose_weights_are_their_difference() -> None:
    X, y, weight = problem("logistic")
    sizes, random = (2, 3, 2), np.random.default_rng(3)
    one, two = LOSSES["logistic"], MultinomialLoss(2)
    units = {loss: ScoreUnits.of(y, weight, loss) for loss in (one, two)}
    objectives = {
        one: SoftRules(X, y, weight, one, units[one], Architecture(*sizes, 2.0), NONE),
        two: SoftRules(X, y, weight, two, units[two], Architecture(*sizes, 2.0, (2,)), NONE),
    }
    parameters = objectives[two].architecture.start(X, random)
    np.testing.assert_allclose(units[two].size, units[one].size)
    single = {**parameters, **{name: np.diff(parameters[name])[..., 0] for name in ("rule_weights", "constant")}}
    (losses, gradients), (expected, wanted) = objectives[two](parameters), objectives[one](single)
    np.testing.assert_allclose(losses, expected)
    for name in ("directions", "thresholds", "memberships"):
        np.testing.assert_allclose(gradients[name], wanted[name], atol=1e-12)
    for name in ("rule_weights", "constant"):
        np.testing.assert_allclose(gradients[name], wanted[name][..., None] * [-1.0, 1.0], atol=1e-12)


@given(st.permutations(range(4)))
def test_no_class_is_special(order: list[int]) -> None:
    X, y, weight = problem("multinomial")
    loss, architecture = ALL_LOSSES["multinomial"], shaped("multinomial", 2, 3, 2)
    codes = np.argsort(order)[y.astype(int)] * 1.0
    straight, turned = (
        SoftRules(X, target, weight, loss, ScoreUnits.of(target, weight, loss), architecture, Penalties(0.01, 0.01))
        for target in (y, codes)
    )
    parameters = architecture.start(X, np.random.default_rng(0))
    permuted = {**parameters, **{name: parameters[name][..., order] for name in ("rule_weights", "constant")}}
    (losses, gradients), (others, wanted) = straight(parameters), turned(permuted)
    np.testing.assert_allclose(losses, others)
    for name, values in gradients.items():
        expected = values[..., order] if name in ("rule_weights", "constant") else values
        np.testing.assert_allclose(wanted[name], expected, atol=1e-12)


@given(st.lists(st.booleans(), min_size=3, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_a_conjunction_of_binary_propositions_is_near_one_just_where_all_members_hold(
    members: list[bool], holds: list[bool]
) -> None:
    objective = network("squared", Architecture(1, 1, 3, 4.0))
    propositions = np.array(holds, dtype=np.float64).reshape(1, 1, 3, 1)
    value = objective._evaluate_conjunctions(propositions, np.array(members, dtype=np.float64).reshape(1, 1, 3))
    met = all(hold for hold, member in zip(holds, members, strict=True) if member)
    assert abs(float(value[0, 0, 0]) - met) < 0.02


@given(st.floats(0.0, 1.0), st.floats(-2.0, 2.0), st.floats(0.0, 1.0), st.floats(0.01, 2.0))
def test_the_proximal_step_minimises_penalty_plus_squared_distance(
    membership: float, weight: float, penalty: float, reach: float
) -> None:
    parameters: NetworkParameters = {
        "directions": np.full((1, 1, 1, 1), weight),
        "memberships": np.full((1, 1, 1), membership),
        "rule_weights": np.full((1, 1), weight),
    }
    penalties = Penalties(penalty, penalty)
    penalties.proximal(parameters, {name: np.full_like(values, reach) for name, values in parameters.items()})

    def cost(of: float, place: np.ndarray, l1: float) -> np.ndarray:
        return l1 * np.abs(place) + (place - of) ** 2 / (2.0 * reach)

    grid = np.linspace(-2.0, 2.0, 4001)
    got = parameters["rule_weights"][0, 0]
    assert cost(weight, got, penalty) <= cost(weight, grid, penalty).min() + 1e-9
    # A membership goes to the nearer end, so the minimum is the one on its own side.
    side = np.linspace(0.0, 0.5, 2001) if membership < 0.5 else np.linspace(0.5, 1.0, 2001)
    undecided = penalty * np.minimum(side, 1.0 - side) + (side - membership) ** 2 / (2.0 * reach)
    got = parameters["memberships"][0, 0, 0]
    assert penalty * min(got, 1.0 - got) + (got - membership) ** 2 / (2.0 * reach) <= undecided.min() + 1e-9


def test_training_lowers_the_loss_and_leaves_exact_zeros_and_memberships_in_bounds() -> None:
    objective = network("logistic", Architecture(3, 4, 2, 2.0), Penalties(0.02, 0.01), np.float32)
    before = objective(objective.architecture.start(objective.X, np.random.default_rng(0)))[0]
    parameters, n_steps = descend(objective, np.random.default_rng(0), 200)
    assert n_steps == 200
    assert (objective(parameters)[0] < 0.8 * before).all()
    assert (parameters["directions"] == 0.0).any()
    assert ((parameters["memberships"] >= 0.0) & (parameters["memberships"] <= 1.0)).all()
    assert {values.dtype for values in parameters.values()} == {np.dtype(np.float32)}


def test_the_networks_of_a_batch_do_not_know_of_each_other() -> None:
    batch = network("squared", Architecture(3, 2, 2, 2.0), Penalties(0.01, 0.01))
    start = batch.architecture.start(batch.X, np.random.default_rng(0))
    losses, gradients = batch(start)
    for index in range(3):
        alone = network("squared", Architecture(1, 2, 2, 2.0), Penalties(0.01, 0.01))
        loss, gradient = alone({name: values[index : index + 1] for name, values in start.items()})
        np.testing.assert_allclose(loss[0], losses[index])
        for name, values in gradient.items():
            np.testing.assert_allclose(values[0], gradients[name][index], rtol=1e-9, atol=1e-12)


def test_the_larger_the_penalty_the_fewer_classes_do_rules_speak_for() -> None:
    counts = []
    for l1 in (0.001, 0.01, 0.03):
        objective = network("multinomial", shaped("multinomial", 3, 4, 2), Penalties(l1, 0.01), np.float32)
        parameters, _ = descend(objective, np.random.default_rng(0), 200)
        spoken = np.count_nonzero(parameters["rule_weights"], axis=-1)
        counts.append(spoken[spoken > 0].mean())
    assert counts[0] > 3.5
    assert counts[1] < counts[0] - 0.3
    assert counts[2] < counts[1] - 0.3


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_a_huge_penalty_leaves_nothing(loss: str) -> None:
    objective = network(loss, shaped(loss, 2, 3, 2), Penalties(1e6, 0.01), np.float32)
    parameters, _ = descend(objective, np.random.default_rng(0), 20)
    assert not parameters["directions"].any()
    assert not parameters["rule_weights"].any()


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "tweedie"])
def test_extreme_targets_and_inputs_stay_finite(loss: str) -> None:
    X, _, weight = problem(loss)
    X[0, 0] = 1e30
    y = np.full(len(X), 1e-60 if loss == "gamma" else 0.0)
    y[0] = 1e60
    units = ScoreUnits.of(y, weight, LOSSES[loss])
    inputs = X.astype(np.float32)
    objective = SoftRules(inputs, y, weight, LOSSES[loss], units, Architecture(2, 3, 2, 2.0), Penalties(0.0, 0.0))
    parameters, _ = descend(objective, np.random.default_rng(0), 50)
    assert all(np.isfinite(values).all() for values in parameters.values())
