"""TGB as a method: it grows what the estimators grow, and says of its parameters what they say."""

import itertools

import pytest
from sklearn.exceptions import ConvergenceWarning

from obliquerules import TGBClassifier, TGBRegressor
from obliquerules.learning.boosting.terms import OBJECTIVES
from obliquerules.learning.boosting.tgb import SEARCHES, SELECTIONS, TGB

from .tasks import LOSS_NAMES, data, estimator_of, ordered, task_of

SMALL = {"max_rules": 3, "max_propositions": 2, "max_nodes": 10**9, "random_state": 0}


def estimator(kind, **parameters):
    return estimator_of(kind, TGBClassifier, TGBRegressor, **SMALL | parameters)


@pytest.mark.parametrize("kind", LOSS_NAMES)
@pytest.mark.parametrize(("selection", "search"), list(itertools.product(SELECTIONS, SEARCHES)))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_that_of_the_estimator(kind, selection, search, weighted):
    X, y, weight = data(kind, n_rows=70)
    weight = weight if weighted else None
    growth = TGB(selection=selection, search=search, **SMALL).grow(task_of(kind, X, y, weight))
    fitted = estimator(kind, selection=selection, search=search).fit(X, y, weight)
    assert ordered(growth.path) == fitted.path_
    assert (growth.n_iter, growth.chosen, growth.notes) == (
        fitted.n_iter_,
        -1,
        {"search_complete_": True, "stopped_": None},
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_so_it_is_for_every_objective(objective, tolerance):
    X, y, _ = data("numbers")
    parameters = SMALL | {"objective": objective, "objective_tolerance": tolerance, "ridge": 0.5}
    path = TGB(**parameters).grow(task_of("numbers", X, y)).path
    assert ordered(path) == estimator("numbers", **parameters).fit(X, y).path_


def test_a_search_that_is_cut_short_is_noted_with_a_warning():
    X, y, _ = data("numbers")
    method = TGB(**SMALL | {"search": "exact", "max_rules": 1, "max_propositions": 3, "max_nodes": 2})
    with pytest.warns(ConvergenceWarning, match=r"^The exact search came to the limit of max_nodes or max_seconds"):
        growth = method.grow(task_of("numbers", X, y))
    assert growth.notes["search_complete_"] is False
    assert len(growth.path) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("objective", "newton"),
        ("search", "beam"),
        ("selection", "oracle"),
        ("max_nodes", 0),
        ("max_seconds", -1.0),
        ("max_seconds", "long"),
        ("objective_tolerance", -0.1),
    ],
)
def test_bad_parameters_are_refused_in_the_words_of_the_estimator(name, value):
    X, y, _ = data("numbers")
    with pytest.raises(ValueError, match=f"^{name} must be") as theirs:
        estimator("numbers", **{name: value}).fit(X, y)
    with pytest.raises(ValueError, match=f"^{name} must be") as ours:
        TGB(**{name: value})
    assert str(ours.value) == str(theirs.value)
