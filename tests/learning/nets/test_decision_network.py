"""Gates and networks do what the formulas say, step by step beside a plain reference and in every gradient."""

import numpy as np
import pytest

from obliquerules.learning.nets.adam import Adam, Phase
from obliquerules.learning.nets.adam import train as train_in_phases
from obliquerules.learning.nets.decision_network import (
    LEAST,
    MOST,
    NOISE_SCALE,
    TEMPERATURE,
    DecisionRulesNetworks,
    Examples,
    Gates,
    Schedule,
    logistic_noise,
    open_probability,
    open_probability_slope,
    or_penalty_gradient,
    regulariser,
    rules_penalty_gradient,
    signs,
    start,
    train_networks,
    without_noise,
)

from .decision_network_reference import (
    State,
    conjunctions,
    forward,
    gate,
    or_gradient,
    rules_gradients,
    straight_through,
    train,
)

N_RULES, N_INPUTS = 4, 9
PENALTIES = np.array([0.3, 0.02])
OR_PENALTY = 1e-3


@pytest.fixture
def examples():
    random = np.random.default_rng(0)
    inputs = random.random((80, N_INPUTS)) < 0.5
    positive = (inputs[:, 0] & ~inputs[:, 1]) | inputs[:, 2] ^ (random.random(80) < 0.1)
    return Examples.of(inputs, positive, random.integers(1, 4, 80).astype(np.float64))


def begin(seed=0):
    return {
        name: values.astype(np.float64) for name, values in start((2, N_RULES, N_INPUTS), np.random.default_rng(seed)).items()
    }


def draw(n_steps, seed=1):
    random = np.random.default_rng(seed)
    return [(random.logistic(size=(2, N_RULES, N_INPUTS)), random.logistic(size=(2, N_RULES))) for _ in range(n_steps)]


def networks_on(examples, noises):
    scaled = iter([(conditions * NOISE_SCALE, rules * NOISE_SCALE) for conditions, rules in noises])
    return DecisionRulesNetworks(examples, PENALTIES, OR_PENALTY, N_RULES, scaled, np.float64)


def reference_data(examples):
    y = (np.arange(len(examples.inputs)) < examples.n_positive).astype(np.float64)
    return examples.inputs.astype(np.float64), y, examples.weight


def state_of(parameters, network):
    weights, logits = parameters["rules"][:, network]
    return State.at(weights, logits, parameters["gates"][network])


def noises_of(noises, network):
    return [(conditions[network], rules[network]) for conditions, rules in noises]


def warmed_up(examples):
    """Return parameters after some training, when rules fire and gates are of all kinds."""
    parameters, noises = begin(), draw(300)
    networks = networks_on(examples, noises)
    phases = [
        Phase(networks.rules_objective, Adam(["rules"], 0.05), 200),
        Phase(networks.or_objective, Adam(["gates"], 0.05), 100),
    ]
    train_in_phases(parameters, phases)
    return parameters


def test_training_follows_the_reference_step_by_step(examples):
    parameters, noises = begin(), draw(400)
    references = [state_of(parameters, network) for network in range(2)]
    networks = networks_on(examples, noises)
    of_rules, of_gates = Adam(["rules"], 1e-2), Adam(["gates"], 1e-2)
    turns = [Phase(networks.rules_objective, of_rules, 100), Phase(networks.or_objective, of_gates, 100)]
    train_in_phases(parameters, turns * 2)
    for network, reference in enumerate(references):
        penalties = PENALTIES[network], OR_PENALTY
        train(reference, *reference_data(examples), noises_of(noises, network), penalties, 100)
        np.testing.assert_allclose(parameters["rules"][0, network], reference.weights, atol=1e-8)
        np.testing.assert_allclose(parameters["rules"][1, network], reference.logits, atol=1e-8)
        np.testing.assert_allclose(parameters["gates"][network], reference.gates, atol=1e-8)


def test_one_step_agrees_with_the_reference_wherever_training_stands(examples):
    parameters, noises = warmed_up(examples), draw(2, seed=5)
    networks = networks_on(examples, noises)
    _, of_rules = networks.rules_objective(parameters)
    losses, of_gates = networks.or_objective(parameters)
    for network in range(2):
        state, (first, second) = state_of(parameters, network), noises_of(noises, network)
        data = reference_data(examples)
        expected = rules_gradients(state, *data, first, PENALTIES[network])
        np.testing.assert_allclose(of_rules["rules"][:, network], expected, atol=1e-12)
        np.testing.assert_allclose(of_gates["gates"][network], or_gradient(state, *data, second, OR_PENALTY), atol=1e-12)
        x, y, c = data
        score = forward(state, x, second)[4]
        assert losses[network] == pytest.approx(float(c @ (np.logaddexp(0.0, score) - y * score)))
        assert (forward(state, x, second)[3].sum(axis=0) > 0.0).any()  # some rule fires, or nothing was tested


def numeric(function, values, step=1e-6):
    gradient = np.zeros_like(values)
    for index in np.ndindex(*values.shape):
        moved = values.copy()
        moved[index] += step
        above = function(moved)
        moved[index] -= 2.0 * step
        gradient[index] = (above - function(moved)) / (2.0 * step)
    return gradient


def test_the_gradients_of_the_regulariser_are_true(examples):
    parameters = warmed_up(examples)

    def penalty_of_rules(logits):
        return float(
            PENALTIES @ regulariser({"rules": np.stack([parameters["rules"][0], logits]), "gates": parameters["gates"]})
        )

    def penalty_of_gates(gates):
        return float(OR_PENALTY * regulariser({"rules": parameters["rules"], "gates": gates}).sum())

    of_rules = numeric(penalty_of_rules, parameters["rules"][1])
    np.testing.assert_allclose(rules_penalty_gradient(parameters, PENALTIES), of_rules, atol=1e-9)
    np.testing.assert_allclose(
        or_penalty_gradient(parameters, OR_PENALTY), numeric(penalty_of_gates, parameters["gates"]), atol=1e-9
    )


def test_the_gradient_of_the_or_layer_is_that_of_a_score_in_which_gates_count_by_their_value(examples):
    parameters, noises = warmed_up(examples), draw(1, seed=6)
    _, of_gates = networks_on(examples, noises).or_objective(parameters)
    x, y, c = reference_data(examples)
    for network in range(2):
        state, (noise,) = state_of(parameters, network), noises_of(noises, network)
        _, m, _, fires, score = forward(state, x, noise)

        def loss(gates, noise=noise, m=m, fires=fires, score=score):
            soft = score + fires @ (gate(gates, noise[1]) - m)
            return float(c @ (np.logaddexp(0.0, soft) - y * soft))

        expected = numeric(loss, state.gates) + or_penalty_gradient(parameters, OR_PENALTY)[network]
        np.testing.assert_allclose(of_gates["gates"][network], expected, atol=1e-8)


def test_the_gradient_of_the_rules_layer_is_that_of_the_z_that_gradients_pass_to(examples):
    parameters, noises = warmed_up(examples), draw(1, seed=7)
    _, of_rules = networks_on(examples, noises).rules_objective(parameters)
    x, y, c = reference_data(examples)
    for network in range(2):
        state, (noise,) = state_of(parameters, network), noises_of(noises, network)
        _, through = straight_through(state, x, y, c, noise)

        def passed(rules, noise=noise, through=through):
            weights, logits = rules
            return float((through * conjunctions(x, weights * gate(logits, noise[0]))).sum())

        expected = numeric(passed, parameters["rules"][:, network])
        expected[1] += rules_penalty_gradient(parameters, PENALTIES)[network]
        np.testing.assert_allclose(of_rules["rules"][:, network], expected, atol=1e-7)


def test_the_signs_are_those_of_the_network_without_noise(examples):
    parameters = warmed_up(examples)
    parameters["rules"][1, 0, 1, :4] = -5.0
    parameters["gates"][1, 2] = -5.0
    x = examples.inputs.astype(np.float64)
    for network, rules in enumerate(signs(parameters)):
        weights, logits = parameters["rules"][:, network]
        u = weights * np.clip(1.2 / (1.0 + np.exp(-logits)) - 0.1, 0.0, 1.0)
        is_open = 1.2 / (1.0 + np.exp(-parameters["gates"][network])) - 0.1 > 0.0
        fires = (conjunctions(x, u) > 1.0 - 1e-9)[:, is_open]
        unmet = (~examples.inputs) @ (rules > 0).T.astype(int) + examples.inputs @ (rules < 0).T.astype(int)
        np.testing.assert_array_equal(unmet == 0, fires)
    assert len(signs(parameters)[1]) == N_RULES - 1


def test_rows_with_equal_inputs_and_class_are_one_and_the_covered_class_comes_first():
    inputs = np.array([[1, 0], [0, 1], [1, 0], [1, 0]], dtype=np.bool_)
    examples = Examples.of(inputs, np.array([False, True, False, True]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert examples.inputs.tolist() == [[False, True], [True, False], [True, False]]
    assert examples.n_positive == 2
    np.testing.assert_allclose(examples.weight, [0.2, 0.4, 0.4])


def test_training_stops_once_the_rules_have_settled_and_reports_its_way(examples):
    seen = []
    schedule = Schedule(3, 1e-5, 6000, 200, 1e-2)
    rules, n_steps = train_networks(
        examples,
        np.array([1e4]),
        schedule,
        np.random.default_rng(0),
        lambda done, losses, signs: seen.append((done, len(losses), len(signs))),
    )
    assert n_steps < 6000
    assert n_steps % 400 == 0
    assert seen == [(done, 1, 1) for done in range(0, n_steps, 200)]
    assert sum(map(np.count_nonzero, rules)) == 0
    _, all_steps = train_networks(examples, np.array([1e4]), Schedule(3, 1e-5, 900, 200, 1e-2, False), np.random.default_rng(0))
    assert all_steps == 900


LOGITS = np.linspace(-4.0, 4.0, 41)
FLOAT64 = np.dtype(np.float64)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def test_a_gate_is_a_stretched_sigmoid_of_logit_and_noise_cut_off_at_zero_and_one():
    noise = np.random.default_rng(0).logistic(size=41)
    drawn = Gates((41,), FLOAT64).draw(LOGITS, noise * NOISE_SCALE)
    stretched = LEAST + (MOST - LEAST) * sigmoid((LOGITS + noise) / TEMPERATURE)
    np.testing.assert_allclose(drawn, np.clip(stretched, 0.0, 1.0), atol=1e-12)
    assert drawn.min() == 0.0
    assert drawn.max() == 1.0


def test_the_slope_of_a_gate_is_its_derivative():
    noise = np.random.default_rng(1).logistic(size=41) * NOISE_SCALE
    gates, step = Gates((41,), FLOAT64), 1e-6
    numeric = (gates.draw(LOGITS + step, noise).copy() - gates.draw(LOGITS - step, noise)) / (2.0 * step)
    gates.draw(LOGITS, noise)
    np.testing.assert_allclose(gates.slope(), numeric, atol=1e-8)
    assert (gates.slope() == 0.0).any()


def test_the_slope_of_the_probability_is_its_derivative():
    step = 1e-5
    numeric = (open_probability(LOGITS + step) - open_probability(LOGITS - step)) / (2.0 * step)
    np.testing.assert_allclose(open_probability_slope(LOGITS), numeric, atol=1e-9)


@pytest.mark.parametrize("logit", [-3.0, -1.0, 0.5])
def test_gates_are_open_as_often_as_their_probability_says(logit):
    noise = logistic_noise(np.random.default_rng(2), (100_000,))
    drawn = Gates((100_000,), np.dtype(np.float32)).draw(np.full(100_000, logit, dtype=np.float32), noise)
    assert (drawn > 0.0).mean() == pytest.approx(float(open_probability(np.array(logit))), abs=0.005)


def test_without_noise_a_gate_has_no_temperature():
    np.testing.assert_allclose(without_noise(LOGITS), np.clip(1.2 * sigmoid(LOGITS) - 0.1, 0.0, 1.0), atol=1e-12)
