"""Figures are those of scikit-learn, for any rules switched off those of the edited model, and hold no row."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    d2_tweedie_score,
    log_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
    r2_score,
    roc_auc_score,
    zero_one_loss,
)

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBRegressor
from obliquerules.data.model_rows import read_rows
from obliquerules.losses import LOSSES, area_under_curve

from .counting import group_scores, holding, mean_loss
from .reading import payload, says

KINDS = ("classifier", "squared", "poisson", "tweedie")
every_kind = pytest.mark.parametrize("kind", KINDS)


def data(kind, n_rows=300):
    """Return a frame of values with many digits, and targets of a kind."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["age", "mass", "pulse"])
    score = 2.0 * (X["age"] + X["mass"] >= 0.2) - 1.5 * (X["pulse"] >= 0.5) + 0.3 * rng.normal(size=n_rows)
    if kind == "classifier":
        return X, np.where(score > 0.5, "yes", "no")
    if kind == "squared":
        return X, score.to_numpy()
    return X, rng.poisson(np.exp(score)) * (rng.gamma(2.0, 1.0, n_rows) if kind == "tweedie" else 1.0)


@functools.cache
def fitted(kind):
    X, y = data(kind)
    parameters = {"max_rules": 4, "complexity_penalty": 1.0, "linear_terms": False, "random_state": 0}
    if kind == "classifier":
        return LLTBoostClassifier(**parameters).fit(X, y), X, y
    return LLTBoostRegressor(loss=kind, **parameters).fit(X, y), X, y


def written(model, place, *data, **options):
    """Write a report and return its data."""
    model.report(place / "model.html", *data, **options)
    return payload(place / "model.html")


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    score, weight = rng.normal(size=90).round(1), rng.integers(1, 4, 90).astype(float) if weighted else np.ones(90)
    label = (score + rng.normal(size=90) > 0.0).astype(float)
    share = LOSSES["logistic"].inverse_link(score)
    expected = [log_loss(label, share, sample_weight=weight), zero_one_loss(label, score > 0.0, sample_weight=weight)]
    expected.append(roc_auc_score(label, score, sample_weight=weight))
    assert LOSSES["logistic"].measures(label, score, weight) == pytest.approx(expected, rel=1e-12)
    y = score + rng.normal(size=90)
    expected = [mean_squared_error(y, score, sample_weight=weight) ** 0.5, r2_score(y, score, sample_weight=weight)]
    assert LOSSES["squared"].measures(y, score, weight) == pytest.approx(expected, rel=1e-12)
    count, rate = rng.poisson(2.0, 90).astype(float), np.exp(score)
    expected = [mean_poisson_deviance(count, rate, sample_weight=weight)]
    expected.append(d2_tweedie_score(count, rate, sample_weight=weight, power=1))
    assert LOSSES["poisson"].measures(count, score, weight) == pytest.approx(expected, rel=1e-12)
    for name, power in (("gamma", 2.0), ("tweedie", 1.5)):
        amount = count * rng.gamma(2.0, 1.0, 90) + (name == "gamma")
        expected = [
            measure(amount, rate, sample_weight=weight, power=power) for measure in (mean_tweedie_deviance, d2_tweedie_score)
        ]
        assert LOSSES[name].measures(amount, score, weight) == pytest.approx(expected, rel=1e-9)


def test_what_is_not_defined_is_none():
    assert area_under_curve(np.ones(3), np.arange(3.0), np.ones(3)) is None
    assert LOSSES["squared"].measures(np.ones(3), np.arange(3.0), np.ones(3))[1] is None


@every_kind
def test_every_subset_of_rules_has_the_loss_of_the_edited_model(kind, tmp_path):
    model, X, y = fitted(kind)
    report = written(model, tmp_path, X, y, min_count=1)
    assert len(report["figures"]["groups"]["patterns"]) == len(report["figures"]["groups"]["rows"])
    assert all(report["figures"]["exact"])
    for size, ensemble in zip(report["sizes"], (model.path_[index] for index in report["sizes"]), strict=True):
        editing = model.at(ensemble.complexity).edit(X, y)
        for off in ([], [0], [0, 1], list(range(len(ensemble)))):
            if max(off, default=-1) < len(ensemble) and editing.ensemble == ensemble:
                edited = editing
                for rule in reversed(off):
                    edited = edited.drop(rule)
                scores, sample = edited.sample.scores(ensemble), edited.sample
                kept = model.model_.loss.risk(sample.y, scores, sample.weight)
                expected = edited.log.steps[-1].loss_after if off else kept
                assert mean_loss(report, size, off) == pytest.approx(expected, rel=1e-12)


@every_kind
def test_rows_of_exact_sizes_are_counted_exactly(kind, tmp_path):
    model, X, y = fitted(kind)
    report = written(model, tmp_path, X, y, min_count=35)
    figures = report["figures"]
    told = len(figures["groups"]["patterns"])
    assert told < len(figures["groups"]["rows"])
    assert min(figures["groups"]["rows"]) >= 35
    assert sum(figures["groups"]["rows"]) == len(X)
    # Which rows count exactly follows from what the file does not say: the pattern of each row.
    conditions = list(dict.fromkeys(rule.condition for ensemble in model.path_ for rule in ensemble))
    bits = np.column_stack([conditions[index](X.to_numpy()) for index in figures["conditions"]])
    groups = [[condition in holds for condition in figures["conditions"]] for holds in holding(figures)]
    kept = np.array([row.tolist() in groups for row in bits])
    assert kept.sum() == sum(figures["groups"]["rows"][:told])
    editing = model.edit(X[kept], y[kept]).drop(1)
    assert mean_loss(report, model.path_.index(model.ensemble_), [1]) == pytest.approx(
        editing.log.steps[-1].loss_after, rel=1e-12
    )


@every_kind
@pytest.mark.parametrize("complexity", [5, 99])
def test_mean_predictions_and_targets_of_groups_are_those_of_all_rows(kind, complexity, tmp_path):
    model, X, y = fitted(kind)
    model = model.at(complexity)
    report = written(model, tmp_path, X, y)
    figures, loss = report["figures"], model.model_.loss
    weight, target = np.array(figures["groups"]["weight"]), np.array(figures["groups"]["target"])
    assert target.sum() == pytest.approx(read_rows(model.model_, X, warned=False).target(y).sum(), rel=1e-12)
    for size, exact, predicted in zip(report["sizes"], figures["exact"], figures["predicted"], strict=True):
        told = loss.inverse_link(group_scores(report, size)).tolist() if exact else []
        groups = [(value, 0.0) for value in told] + predicted
        assert len(groups) == len(weight)
        expected = loss.inverse_link(model.path_[size](X.to_numpy())).mean()
        assert says(np.average(groups, axis=0, weights=weight), expected)


@every_kind
@pytest.mark.parametrize("least", [1, 5])
def test_no_value_of_a_row_is_in_the_file(kind, least, tmp_path):
    model, X, y = fitted(kind)
    model.report(tmp_path / "model.html", X, y, min_count=least)
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert not [value for value in X.to_numpy().ravel() if repr(float(value)) in text]
    if kind == "squared" and least > 1:
        assert not [value for value in y if repr(float(value)) in text]


def test_the_usual_ranges_of_training_are_in_the_file(tmp_path):
    model, X, y = fitted("squared")
    ranges = written(model, tmp_path, X, y)["ranges"]
    assert ranges == {str(one.column): [one.low, one.high] for one in model.model_.ranges}
    assert ranges


def test_a_column_is_binary_if_zeros_and_ones_occur_and_nothing_else(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ticked": rng.integers(0, 2, 200), "count": rng.integers(0, 3, 200)})
    model = TGBRegressor(max_rules=4, complexity_penalty=0.0).fit(X, X["ticked"] + 2.0 * X["count"])
    assert written(model, tmp_path, X, X["count"])["figures"]["binary"] == [0]
    assert written(model, tmp_path, X.assign(ticked=0), X["count"])["figures"]["binary"] == []
    once = X.assign(ticked=np.arange(200) == 7).astype(int)
    assert [written(model, tmp_path, once, X["count"], min_count=least)["figures"]["binary"] for least in (1, 5)] == [[0], []]


@every_kind
@pytest.mark.parametrize("least", [1, 5, 40])
def test_figures_on_all_rows_are_short(kind, least, tmp_path):
    model, X, y = fitted(kind)
    report, target = written(model, tmp_path, X, y, min_count=least), read_rows(model.model_, X, warned=False).target(y)
    for ensemble, measures in zip(model.path_, report["figures"]["measures"], strict=True):
        assert says(measures, model.model_.loss.measures(target, ensemble(X.to_numpy()), np.ones(len(y))))
        assert all(len(repr(abs(number)).replace(".", "").strip("0")) <= 4 for number, _ in measures)
        assert least > 1 or not any(within for _, within in measures)


def test_a_row_of_weight_two_is_the_row_given_twice(tmp_path):
    model, X, y = fitted("poisson")
    twice = np.r_[np.arange(len(y)), np.arange(100)]
    weighted = written(model, tmp_path, X, y, sample_weight=np.r_[np.full(100, 2.0), np.ones(len(y) - 100)], min_count=1)
    repeated = written(model, tmp_path, X.iloc[twice], y[twice], min_count=1)
    first, second = weighted["figures"]["groups"], repeated["figures"]["groups"]
    assert first["patterns"] == second["patterns"]
    for name in ("weight", "target", "spread"):
        assert first[name] == pytest.approx(second[name], rel=1e-12)
    assert weighted["figures"]["measures"] == repeated["figures"]["measures"]
    assert sum(first["rows"]) == len(y)  # but it is one row, where rows are protected


def test_rows_without_weight_leave_no_trace(tmp_path):
    model, X, y = fitted("classifier")
    zero = written(model, tmp_path, X, y, sample_weight=np.r_[np.ones(200), np.zeros(100)])
    assert zero == written(model, tmp_path, X[:200], y[:200])


def test_a_path_of_hundred_thousand_rows_has_few_groups(tmp_path):
    model, _, _ = fitted("squared")
    X = np.random.default_rng(3).normal(size=(100_000, 3))
    report = written(model, tmp_path, pd.DataFrame(X, columns=["age", "mass", "pulse"]), X[:, 0], min_count=1)
    assert len(report["figures"]["groups"]["rows"]) <= 1000
    assert (tmp_path / "model.html").stat().st_size < 150_000


@pytest.mark.parametrize("least", [1, 5])
def test_every_condition_has_its_share_of_rows(least, tmp_path):
    model, X, y = fitted("classifier")
    figures = written(model, tmp_path, X, y, min_count=least)["figures"]
    conditions = list(dict.fromkeys(rule.condition for ensemble in model.path_ for rule in ensemble))
    for index, (share, within) in figures["coverage"].items():
        # A share of 0.3515 may be rounded either way.
        assert abs(share - conditions[int(index)](X.to_numpy()).mean()) <= max(within, 0.0005) + 1e-9
        assert within <= 0.01
    assert any(within for _, within in figures["coverage"].values()) is (least > 1)
