"""Groups stay together, in folds and when the ridge is estimated; metadata is routed."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostRegressorCV,
    LTRNetRegressor,
    TGBClassifier,
    TGBClassifierCV,
    TGBRegressor,
    TGBRegressorCV,
)
from obliquerules.learning.boosting.cv.folds import splits_by_group
from obliquerules.learning.method import Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(30), 8)
X = RNG.normal(size=(240, 3)) + 0.3 * RNG.normal(size=(30, 3))[GROUPS]
Y = np.where(X[:, 0] > 0.2, 2.0, 0.0) + RNG.normal(size=30)[GROUPS] + 0.2 * RNG.normal(size=240)
SMALL = {"max_rules": 3, "max_propositions": 1, "effort": 0, "cv": 3}


def task(order):
    """Return the rows in some order, with their groups."""
    return Task(Block.of_matrix(X[order]), Y[order], np.ones(len(order)), LOSSES["squared"], groups=GROUPS[order])


def folds(order, salt=7):
    """Return the rows that are tested together, as sets of positions before they were put in order."""
    splits = splits_by_group(task(order), 4, [salt])
    return {frozenset(order[split.test].tolist()) for split in splits}


def test_a_group_is_in_one_fold_and_folds_are_about_equal():
    found = folds(np.arange(240))
    assert sorted(row for fold in found for row in fold) == list(range(240))
    for fold in found:
        assert all(len({row for row in fold if GROUPS[row] == group}) in (0, 8) for group in range(30))
        assert 40 <= len(fold) <= 80


def test_folds_depend_on_content_and_not_on_the_order_of_rows():
    assert folds(RNG.permutation(240)) == folds(np.arange(240))
    assert folds(np.arange(240), salt=8) != folds(np.arange(240))


@pytest.mark.parametrize("cv", [3, GroupKFold(3), LeaveOneGroupOut()], ids=str)
def test_groups_of_any_kind_are_taken(cv):
    few = np.array(["a", "b", "c", "d"])[GROUPS % 4]
    model = TGBRegressorCV(**(SMALL | {"cv": cv})).fit(X, Y, groups=few)
    assert model.complexity_ > 0
    assert model.risk_ > 0.0


def test_a_splitter_that_needs_groups_says_so():
    with pytest.raises(ValueError, match="groups"):
        TGBRegressorCV(**(SMALL | {"cv": GroupKFold(3)})).fit(X, Y)
    with pytest.raises(ValueError, match="at least 2 groups"):
        TGBRegressorCV(**SMALL).fit(X, Y, groups=np.zeros(240))
    with pytest.raises(ValueError, match=r"^cv gives a fold whose training rows are one group; ridge='auto' needs two"):
        TGBRegressorCV(**SMALL).fit(X, Y, groups=GROUPS % 2)
    assert TGBRegressorCV(ridge=4.0, **SMALL).fit(X, Y, groups=GROUPS % 2).risk_ > 0.0


def test_rows_of_a_group_help_each_other_so_that_groups_make_the_risk_honest():
    # The effect of a group can be learned from columns that tell groups apart.
    marked = np.column_stack([X, GROUPS])
    apart = TGBRegressorCV(max_rules=12, max_propositions=2, cv=3).fit(marked, Y)
    together = TGBRegressorCV(max_rules=12, max_propositions=2, cv=3).fit(marked, Y, groups=GROUPS)
    assert together.risk_ > apart.risk_


PLAIN = [TGBClassifier, LLTBoostClassifier, TGBRegressor]


def coarse(n=240, seed=0):
    """Return rows of few kinds, with weights that are no whole numbers, and groups that divide equal rows."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 4, n)]).astype(float)
    y = (rows[:, 0] + 0.5 * rows[:, 1] + rng.logistic(size=n) > 1.0).astype(float)
    return rows, y, rng.choice([0.0, 0.3, 1.0, 2.5], n), rng.integers(0, 25, n)


def documents(models, tmp_path):
    """Return the files of models."""
    for number, model in enumerate(models):
        model.save(tmp_path / f"{number}.json")
    return {(tmp_path / f"{number}.json").read_bytes() for number in range(len(models))}


@pytest.mark.parametrize("kind", [*PLAIN, TGBClassifierCV, TGBRegressorCV])
@pytest.mark.parametrize("grouped", [False, True])
def test_neither_the_order_of_rows_nor_labels_nor_rows_given_twice_matter(kind, grouped, tmp_path):
    rows, y, weight, groups = coarse()
    small = {name: value for name, value in SMALL.items() if name in kind().get_params()}
    order, labels = RNG.permutation(len(y)), RNG.permutation(25)
    twice = np.repeat(np.arange(len(y)), 2)

    def fitted(which, weight, groups):
        return kind(**small).fit(rows[which], y[which], weight, groups=groups if grouped else None)

    models = [
        fitted(np.arange(len(y)), weight, groups),
        fitted(order, weight[order], labels[groups][order]),
        fitted(twice, 0.5 * weight[twice], groups[twice]),
    ]
    assert len(documents(models, tmp_path)) == 1


@pytest.mark.parametrize("kind", PLAIN)
def test_copies_are_no_observations_where_groups_say_so(kind):
    rows, y, _, _ = coarse(120, seed=3)
    noise = np.column_stack([rows, np.random.default_rng(1).normal(size=(120, 3))])
    copied = np.tile(np.arange(120), 8)
    told = kind(max_rules=4, effort=0).fit(noise[copied], y[copied], groups=copied)
    untold = kind(max_rules=4, effort=0).fit(noise[copied], y[copied])
    assert untold.ridge_ < told.ridge_


def test_weights_of_rows_of_few_kinds_are_not_shrunk_as_if_they_were_noise():
    rng = np.random.default_rng(0)
    n = 400
    rows = rng.integers(0, 3, (n, 1)).astype(float)
    y = (rng.random(n) < np.where(rows[:, 0] == 0.0, 0.9, 0.45)).astype(int)
    model = TGBClassifier(max_rules=1).fit(rows, y)
    inside = rows[:, 0] == 0.0
    most_likely = np.log(y[inside].mean() / (1 - y[inside].mean())) - np.log(y[~inside].mean() / (1 - y[~inside].mean()))
    # Left out as one, the six kinds of rows ask for a ridge of 128, and half of this.
    assert abs(model.ensemble_[0].weight) > 0.9 * most_likely
    kinds = np.unique(2 * rows[:, 0] + y, return_inverse=True)[1]
    assert abs(TGBClassifier(max_rules=1).fit(rows, y, groups=kinds).ensemble_[0].weight) < 0.7 * most_likely


def test_there_may_be_many_small_groups_or_few_large_ones():
    rows, y = RNG.normal(size=(3000, 3)), RNG.normal(size=3000)
    for n_groups in (3, 1500, 3000):
        groups = RNG.integers(0, n_groups, 3000)
        assert TGBRegressor(max_rules=3, effort=0).fit(rows, y + rows[:, 0], groups=groups).ridge_ > 0.0


@pytest.mark.parametrize("kind", [LTRNetRegressor, DRNetClassifier])
def test_networks_leave_no_rows_out_and_take_no_groups(kind):
    with pytest.raises(ValueError, match=rf"^{kind.__name__} takes no groups, because"):
        kind().fit(X, Y > 0.0, groups=GROUPS)


def test_metadata_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = (
            LLTBoostRegressorCV(loss="poisson", **SMALL)
            .set_fit_request(groups=True, exposure=True, sample_weight=True)
            .set_score_request(exposure=True, sample_weight=True)
        )
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        counts, scored = np.floor(np.exp(Y / 2.0)), {"exposure": RNG.uniform(0.5, 2.0, 240), "sample_weight": np.ones(240)}
        given = {"groups": GROUPS} | scored
        result = cross_validate(estimator, X, counts, params=given, cv=GroupKFold(2), error_score="raise")
        pipeline = make_pipeline(scaler, estimator).fit(X, counts, **given)
        in_pipeline = pipeline.score(X, counts, **scored)
    assert np.isfinite([*result["test_score"], in_pipeline]).all()


@pytest.mark.parametrize("empty", [np.nan, None, pd.NA, pd.NaT], ids=str)
def test_a_row_with_weight_must_have_a_group(empty):
    groups = pd.Series([pd.Timestamp(2020, 1, 1 + group) if empty is pd.NaT else float(group) for group in GROUPS])
    groups = groups if empty is pd.NaT or empty is np.nan else groups.astype(object)
    groups[7] = empty
    with pytest.raises(ValueError, match="groups must name the group of each row; that of row 7 is missing"):
        TGBRegressor(max_rules=1).fit(X, Y, groups=groups)
    weight = np.where(np.arange(240) == 7, 0.0, 1.0)
    model = TGBRegressor(max_rules=1).fit(X, Y, sample_weight=weight, groups=groups)
    assert model.path_ == TGBRegressor(max_rules=1).fit(X, Y, sample_weight=weight, groups=GROUPS).path_


def test_one_group_cannot_be_left_out():
    with pytest.raises(ValueError, match="ridge='auto' needs at least 2 groups with weight"):
        TGBRegressor(max_rules=1).fit(X, Y, groups=np.zeros(240))
    assert len(TGBRegressor(max_rules=1, ridge=1.0).fit(X, Y, groups=np.zeros(240)).path_) > 1
