"""The training loop finds minima, exact zeros included, in phases that do not disturb each other, the same way every time."""

from collections.abc import Mapping

import numpy as np
import pytest

from obliquerules.learning.nets.adam import (
    Adam,
    EarlyStopping,
    Floats,
    NetworkParameters,
    Phase,
    train,
)

TARGET = np.array([2.0, -1.0, 0.3])


def distance(parameters: NetworkParameters) -> tuple[Floats, dict[str, Floats]]:
    gap = parameters["place"] - TARGET
    return np.array([0.5 * float(gap @ gap)]), {"place": gap}


def test_the_minimum_is_found() -> None:
    parameters: NetworkParameters = {"place": np.zeros(3)}
    train(parameters, [Phase(distance, Adam(["place"], 0.1), 500, falling=True)])
    np.testing.assert_allclose(parameters["place"], TARGET, atol=1e-3)


def test_soft_thresholding_by_the_reach_of_each_entry_gives_the_l1_solution_with_exact_zeros() -> None:
    def shrink(parameters: NetworkParameters, reach: Mapping[str, Floats]) -> None:
        place, most = parameters["place"], 0.5 * reach["place"]
        place[...] = np.sign(place) * np.maximum(np.abs(place) - most, 0.0)

    parameters: NetworkParameters = {"place": np.array([1.0, 1.0, 1.0])}
    train(parameters, [Phase(distance, Adam(["place"], 0.1), 2000, shrink, falling=True)])
    np.testing.assert_allclose(parameters["place"], [1.5, -0.5, 0.0], atol=1e-3)
    assert parameters["place"][2] == 0.0


def test_the_first_step_has_the_given_size_whatever_the_gradient() -> None:
    parameters: NetworkParameters = {"place": np.zeros(2)}
    Adam(["place"], 0.25).step(parameters, {"place": np.array([1e-3, -1e3])})
    np.testing.assert_allclose(parameters["place"], [-0.25, 0.25], rtol=1e-4)


def test_a_phase_moves_its_own_parameters_only_and_its_optimizer_remembers() -> None:
    def both(parameters: NetworkParameters) -> tuple[Floats, dict[str, Floats]]:
        return np.zeros(1), {name: values - 1.0 for name, values in parameters.items()}

    parameters: NetworkParameters = {"first": np.zeros(1), "second": np.zeros(1)}
    optimizer = Adam(["first"], 0.1)
    train(parameters, [Phase(both, optimizer, 3)])
    assert parameters["second"] == 0.0
    assert optimizer.n_steps == 3
    train(parameters, [Phase(both, Adam(["second"], 0.1), 2), Phase(both, optimizer, 4)])
    assert parameters["second"] != 0.0
    assert optimizer.n_steps == 7


def test_training_stops_once_no_network_has_improved_for_as_long_as_patience_lasts() -> None:
    seen = []
    losses = iter(np.array(pair) for pair in [(3.0, 3.0), (2.0, 3.0), (2.0, 2.9), (2.0, 2.9), (2.0, 2.9), (1.0, 1.0)])

    def objective(parameters: NetworkParameters) -> tuple[Floats, dict[str, Floats]]:
        return next(losses), {"place": np.zeros(1)}

    steps = train(
        {"place": np.zeros(1)},
        [Phase(objective, Adam(["place"], 0.1), 10)],
        stopping=EarlyStopping(2, 0.01),
        report=lambda done, *_: seen.append(done),
        report_every=2,
    )
    assert steps == 4
    assert seen == [0, 2, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parameters_keep_their_precision_and_the_same_start_gives_the_same_bits(dtype: type[np.floating]) -> None:
    ends = []
    for _ in range(2):
        parameters: NetworkParameters = {"place": np.zeros(3, dtype=dtype)}
        train(parameters, [Phase(distance, Adam(["place"], 0.1), 50)])
        assert parameters["place"].dtype == dtype
        ends.append(parameters["place"].tobytes())
    assert ends[0] == ends[1]
