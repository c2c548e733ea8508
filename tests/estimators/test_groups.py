"""Groups stay together in cross-validation; metadata reaches the estimators; the risk has the choice inside."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV, TGBClassifierCV, TGBRegressorCV
from obliquerules.boosting.folds import splits_by_group
from obliquerules.losses import LOSSES
from obliquerules.method import Task
from obliquerules.rules import Block

pytestmark = pytest.mark.usefixtures("few_repetitions")

RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(30), 8)
X = RNG.normal(size=(240, 3)) + 0.3 * RNG.normal(size=(30, 3))[GROUPS]
Y = np.where(X[:, 0] > 0.2, 2.0, 0.0) + RNG.normal(size=30)[GROUPS] + 0.2 * RNG.normal(size=240)
SMALL = {"max_rules": 3, "max_propositions": 1, "effort": 0, "cv": 3}


def task(order):
    """Return the rows in some order, and their groups."""
    return Task(Block.of_matrix(X[order]), Y[order], np.ones(len(order)), LOSSES["squared"]), GROUPS[order]


def folds(order, salt=7):
    """Return the rows that are tested together, as sets of positions before they were put in order."""
    splits = next(splits_by_group(*task(order), 4, iter([salt])))
    return {frozenset(order[test].tolist()) for _, test in splits}


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


def test_rows_of_a_group_help_each_other_so_that_groups_make_the_risk_honest():
    # The effect of a group can be learned from columns that tell groups apart.
    marked = np.column_stack([X, GROUPS])
    apart = TGBRegressorCV(max_rules=12, max_propositions=2, cv=3).fit(marked, Y)
    together = TGBRegressorCV(max_rules=12, max_propositions=2, cv=3).fit(marked, Y, groups=GROUPS)
    assert together.risk_ > apart.risk_


@pytest.mark.parametrize("kind", [LLTBoostClassifierCV, TGBClassifierCV])
def test_the_risk_has_the_choice_inside(kind):
    excess = []
    for seed in range(4):
        y = np.random.default_rng(seed).integers(0, 2, 120)  # nothing to learn: whatever looks good does so by chance
        model = kind(**SMALL, one_standard_error=False).fit(X[:120], y)
        excess.append(model.risk_ - model.cv_results_["mean_test_risk"].min())
        assert 0.0 < model.risk_standard_error_ < 0.1
    assert min(excess) >= -1e-9
    assert np.mean(excess) > 0.001


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
