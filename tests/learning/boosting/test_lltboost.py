"""LLTBoost as a method: it grows what the estimators grow, and says of its parameters what they say."""

import numpy as np
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.learning.boosting.lltboost import STRATEGIES, LLTBoost

from .tasks import LOSS_NAMES, data, estimator_of, ordered, task_of

SMALL = {"max_rules": 3, "max_propositions": 2, "max_variables": 2, "random_state": 0}
every_kind = pytest.mark.parametrize("kind", LOSS_NAMES)
every_selection = pytest.mark.parametrize("selection", STRATEGIES)


def estimator(kind, **parameters):
    return estimator_of(kind, LLTBoostClassifier, LLTBoostRegressor, **SMALL | parameters)


@every_kind
@every_selection
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_that_of_the_estimator(kind, selection, weighted):
    X, y, weight = data(kind)
    weight = weight if weighted else None
    growth = LLTBoost(selection=selection, **SMALL).grow(task_of(kind, X, y, weight))
    fitted = estimator(kind, selection=selection).fit(X, y, weight)
    assert ordered(growth.path) == fitted.path_
    assert (growth.n_iter, growth.chosen, growth.notes) == (fitted.n_iter_, -1, {"stopped_": None})


@every_selection
def test_a_random_state_moves_on_as_in_the_estimator(selection):
    X, y, _ = data("classes")
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    for _ in range(2):
        path = LLTBoost(**SMALL | {"selection": selection, "random_state": ours}).grow(task_of("classes", X, y)).path
        assert path == estimator("classes", selection=selection, random_state=theirs).fit(X, y).path_
    assert ours.randint(10**9) == theirs.randint(10**9)


def test_progress_is_reported_as_by_the_estimator(capsys, still):
    X, y, _ = data("classes")
    LLTBoost(verbose=1, **SMALL).grow(task_of("classes", X, y, learner="LLTBoostClassifier", stopwatch=still))
    reported = capsys.readouterr().err
    estimator("classes", verbose=1).fit(X, y)
    assert reported == capsys.readouterr().err
    assert reported.startswith("[LLTBoostClassifier] rule 0/3, complexity 0: the best constant\n")


def test_growing_twice_gives_the_same():
    X, y, _ = data("counts")
    method, task = LLTBoost(**SMALL), task_of("counts", X, y)
    assert method.grow(task).path == method.grow(task).path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_rules", 0),
        ("max_propositions", 1.5),
        ("max_variables", 0),
        ("selection", "objective"),
        ("complexity_penalty", -1.0),
        ("validation_fraction", 1.0),
        ("validation_tolerance", -1.5),
        ("objective_tolerance", -0.1),
        ("ridge", float("nan")),
        ("random_state", -1),
        ("verbose", None),
    ],
)
def test_bad_parameters_are_refused_in_the_words_of_the_estimator(name, value):
    X, y, _ = data("numbers")
    with pytest.raises(ValueError, match=f"^{name} must be") as theirs:
        estimator("numbers", **{name: value}).fit(X, y)
    with pytest.raises(ValueError, match=f"^{name} must be") as ours:
        LLTBoost(**{name: value})
    assert str(ours.value) == str(theirs.value)
