"""Sizes of fitted models: the path table, the automatic size, and refits with the ridge of the size that is edited."""

import numpy as np
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, LTRNetRegressor, TGBClassifier, load_model


def data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    return X, 2.0 * (X[:, 0] >= 0.3) + X[:, 1] + rng.normal(0.0, 2.0, n)


@pytest.fixture(scope="module")
def regressor():
    return LLTBoostRegressor(max_rules=4, effort=0).fit(*data(4))


@pytest.fixture(scope="module")
def many():
    X, y = data(1)
    return TGBClassifier(max_rules=4).fit(X, np.digitize(y, [0.0, 1.5]))


def changes(model, X, y):
    """Return by how much a refit changes each weight, relative to it, or to the largest where it is zero."""
    before, after = model.ensemble_.weight_table, model.edit(X, y).refit().model.ensemble_.weight_table
    return np.abs(after - before) / np.where(before == 0.0, np.abs(before).max(), np.abs(before))


def test_a_refit_of_any_size_has_its_own_ridge_and_changes_nothing(regressor, tmp_path):
    X, y = data(4)
    regressor.save(tmp_path / "model.json")
    for model in (regressor, load_model(tmp_path / "model.json")):
        assert len(set(model.model_.ridges)) > 1
        for member, ridge in zip(model.path_[1:], model.model_.ridges[1:], strict=True):
            one = model.at(member.complexity)
            assert one.ridge_ == ridge
            assert changes(one, X, y).max() < 1e-6
            # The ridge after an edit is still that of the size that was edited.
            assert one.edit(X, y).drop(0).model.ridge_ == ridge


def test_a_refit_of_two_and_of_many_classes_changes_nothing(many):
    X, y = data(1)
    two = LLTBoostClassifier(max_rules=3, effort=0).fit(X, y > 1.0)
    for model, classes in ((many, np.digitize(y, [0.0, 1.5])), (two, y > 1.0)):
        for member in model.path_[1:]:
            assert changes(model.at(member.complexity), X, classes).max() < 1e-6


@pytest.mark.parametrize("name", ["regressor", "many"])
def test_the_table_says_what_is_known_of_each_size(name, request):
    model = request.getfixturevalue(name)
    table = model.path_table()
    assert [one.complexity for one in table] == [member.complexity for member in model.path_]
    assert [one.rules for one in table] == [len(member) for member in model.path_]
    assert [one.ridge for one in table] == [*model.model_.ridges]
    assert [one.predicts for one in table].index(True) == model.model_.chosen
    auto = model.at("auto")
    assert auto.ensemble_ == model.path_[table.auto]
    assert auto.path_table().auto == table.auto
    assert auto.model_.verdict in auto._repr_mimebundle_()["text/html"]


def test_the_first_size_that_separates_the_classes_is_the_largest_to_take():
    X, _ = data(2)
    model = LLTBoostClassifier(max_rules=4, linear_terms=False, effort=0).fit(X, (X[:, 0] >= 0.3) & (X[:, 1] >= 0.0))
    table = model.path_table()
    separating = [one.complexity for one in model.path_ if ((one(X) > 0.0) == ((X[:, 0] >= 0.3) & (X[:, 1] >= 0.0))).all()]
    assert table.separated == separating[0]
    assert model.at("auto").ensemble_.complexity == separating[0]
    assert "not to be trusted" in table.verdict


def test_without_expected_losses_a_sentence_says_what_to_do():
    X, y = data()
    paper = LLTBoostRegressor(max_rules=2, selection="validation", random_state=0).fit(X, y)
    net = LTRNetRegressor(random_state=0, max_rules=2).fit(X, y)
    for model in (paper, net):
        with pytest.raises(ValueError, match="complexity='auto' needs the expected loss of each size"):
            model.at("auto")
        assert model.path_table().verdict == ""
        assert model.path_table().auto is None
