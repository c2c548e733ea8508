"""LLTBoost: it grows what the estimators grow and, in paper mode, what Algorithm 1 written down plainly grows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, Proposition, TGBClassifier, l1_logistic_path, load_model
from obliquerules.learning.boosting.boosting import PAPER_RIDGE
from obliquerules.learning.boosting.learner import GreedyLearner
from obliquerules.learning.boosting.lltboost import HARDLY_ANY_PENALTY, SELECTIONS, LLTBoost
from obliquerules.learning.boosting.loop import boost
from obliquerules.learning.boosting.selection import ValidationSelection
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

from .tasks import LOSS_NAMES, data, estimator_of, ordered, task_of

SMALL = {"max_rules": 3, "max_propositions": 2, "max_variables": 2, "random_state": 0}
every_kind = pytest.mark.parametrize("kind", LOSS_NAMES)
every_selection = pytest.mark.parametrize("selection", SELECTIONS)


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


METHOD = LLTBoost(selection="validation", max_rules=4, max_propositions=3, max_variables=3, random_state=0)


def scattered(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 2.0 * (X[:, 0] + X[:, 1] > 0.5) - 1.5 * (X[:, 2] > 0.0) * (X[:, 0] > X[:, 3]) + rng.normal(size=n)
    return X, y


def algorithm_1(Z, y, learning, method):
    """Return the rows of each rule, and the prediction: Algorithm 1 of the paper for squared loss on standardised inputs."""

    def predicted(rules):
        design = np.column_stack([np.ones(len(y)), *rules])
        return design @ np.linalg.lstsq(design[learning], y[learning], rcond=None)[0]

    def risk(rules):
        return ((y - predicted(rules))[~learning] ** 2).sum()

    def level(pull, rows, size):
        z, weight = pull[rows] > 0.0, np.abs(pull[rows])
        found = l1_logistic_path(Z[rows], z, sample_weight=weight, max_support=size, min_alpha_ratio=1e-6).at_support(size)
        return None if found is None else Z @ found.weights + found.intercept >= 0.0

    def grown(rules, pull):
        q, objective = np.ones(len(y), dtype=bool), 0.0
        for _ in range(method.max_propositions):
            taken, least, rows = None, np.inf, np.flatnonzero(q & learning)
            for size in range(1, method.max_variables + 1):
                holds = level(pull, rows, size) if len(np.unique(pull[rows] > 0.0)) == 2 else None
                if holds is None or len(np.unique(holds[rows])) == 1:
                    continue
                reached = risk([*rules, q & holds])
                if taken is None or (reached - least) / least <= method.validation_tolerance:
                    taken, least = q & holds, reached
            if taken is None or (rises := abs(pull[taken & learning].sum())) <= (1.0 + method.objective_tolerance) * objective:
                break
            q, objective = taken, rises
        return q, objective

    rules = []
    for _ in range(method.max_rules):
        gradient = predicted(rules) - y
        rules.append(max((grown(rules, sign * gradient) for sign in (-1.0, 1.0)), key=lambda found: round(found[1], 9))[0])
    return rules, predicted(rules)


@pytest.mark.parametrize("seed", range(6))
def test_rules_and_weights_are_those_of_algorithm_1(seed):
    X, y = scattered(seed)
    task = task_of("numbers", X, y)
    sample, held_out = task.sample, METHOD.problem(task, *METHOD.held_out(task)).held_out
    Z = (sample.X.matrix - X.mean(axis=0)) / X.std(axis=0)
    rules, score = algorithm_1(Z, sample.y, ~held_out, METHOD)
    ensemble = METHOD.grow(task).path[-1]
    fires = ensemble.fires(sample.X).T
    # A rule of one condition and its complement are the same, because the constant is free.
    assert all((ours == theirs).all() or (ours != theirs).all() for ours, theirs in zip(fires, rules, strict=True))
    np.testing.assert_allclose(ensemble(sample.X), score, atol=1e-4)


def test_a_proposition_that_leaves_all_rows_on_one_side_is_discarded():
    task = task_of("numbers", *scattered(3))
    stage, proposer = (
        Stage.constant(METHOD.problem(task, *METHOD.held_out(task))),
        METHOD.learner(task.sample).proposer,
    )
    # Among rows most of which pull the other way, a small sum of shrunken weights is below the threshold everywhere.
    rows = np.concatenate([np.flatnonzero(stage.gradient > 0.0)[:25], np.flatnonzero(stage.gradient < 0.0)])
    design, labels, weight = proposer.classification(stage.gradient, rows)
    levels = proposer.solve(design.standardised, labels, weight).levels
    expected = [design.restore(level.weights, -level.intercept)(task.sample.X) for level in levels if level is not None]
    proposed = [holds for _, holds in proposer.propose(stage, 1.0, rows)]
    assert {holds.any() for holds in expected} == {False, True}
    np.testing.assert_array_equal(proposed, [holds for holds in expected if holds.any() and not holds.all()])


def test_with_all_columns_the_penalty_falls_to_almost_nothing():
    X, y = scattered(1)
    task = task_of("numbers", X[:, :2], y)
    stage, proposer = (
        Stage.constant(METHOD.problem(task, *METHOD.held_out(task))),
        METHOD.learner(task.sample).proposer,
    )
    design, labels, weight = proposer.classification(stage.gradient, np.arange(len(y)))
    level = proposer.solve(design.standardised, labels, weight).at_support(2)
    free = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(design.standardised, labels, weight)
    assert proposer.min_alpha_ratio == HARDLY_ANY_PENALTY
    np.testing.assert_allclose(level.weights, free.coef_[0], rtol=1e-4)


@pytest.mark.parametrize("kind", ["numbers", "classes", "counts"])
def test_weights_are_fitted_to_the_rows_that_are_not_held_out(kind):
    task = task_of(kind, *data(kind))
    problem = METHOD.problem(task, *METHOD.held_out(task))
    assert 0.1 < problem.held_out.mean() < 0.25
    for ensemble in METHOD.grow(task).path:
        pull = problem.learning_weight * problem.loss.gradient(problem.y, ensemble(problem.X))
        fires = np.column_stack([np.ones(len(pull)), ensemble.fires(problem.X)])
        np.testing.assert_allclose(pull @ fires, 0.0, atol=2e-3)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_the_ridge_of_the_paper_is_none_where_weights_are_finite(loss):
    X, y = scattered(2)
    y = y if loss == "squared" else np.random.default_rng(0).poisson(np.exp(0.5 * y)) + 1.0
    model = LLTBoostRegressor(loss=loss, selection="validation", random_state=0).fit(X, y)
    without = LLTBoostRegressor(loss=loss, selection="validation", random_state=0, ridge=0.0).fit(X, y)
    assert (model.ridge_, without.ridge_) == (PAPER_RIDGE, 0.0)
    np.testing.assert_allclose(model.predict(X), without.predict(X), rtol=1e-4, atol=1e-4)


class Listed:
    """Proposes the same propositions whatever the gradients."""

    def __init__(self, X, *propositions):
        self.proposals = [(proposition, proposition(X)) for proposition in propositions]

    def propose(self, stage, sign, rows):  # noqa: ARG002 - the protocol has all three
        yield from self.proposals


def test_what_a_longer_sum_must_improve_on_may_repeat_a_rule():
    X = np.arange(12.0)[:, None]
    y = 4.0 * (X[:, 0] >= 5.0) + 1.0 * (X[:, 0] >= 2.0) + 0.1 * X[:, 0]
    problem = Problem(Block.of_matrix(X), y, np.ones(12), LOSSES["squared"], 1e-9, np.arange(12) % 3 == 0)
    high, low = Proposition([0], [1.0], 4.5), Proposition([0], [1.0], 1.5)

    def n_rules(repeats):
        learner, selection = GreedyLearner(Listed(X, high, low), 1, repeats=repeats), ValidationSelection(-1.0, 0.0)
        return len(list(boost(problem, learner, selection, 5))) - 1

    # With a tolerance of -1, the first proposition stays: it is the same each time, and then there is no other rule.
    assert n_rules(repeats=True) == 1
    assert n_rules(repeats=False) == 2


@pytest.mark.parametrize("kind", [LLTBoostClassifier, TGBClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_have_finite_weights_and_a_file(kind, n_classes, tmp_path):
    X = np.random.default_rng(4).normal(size=(90, 3))
    y = (X[:, 0] > 0.0).astype(int) + (X[:, 1] > 0.5) * (n_classes == 3)
    model = kind(selection="validation", random_state=0).fit(X, y)
    weights = np.concatenate([np.ravel(rule.weight) for rule in model.ensemble_])
    assert np.abs(weights).max() < 100.0
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), model.predict(X))
    assert (model.predict(X) == y).mean() > 0.9
