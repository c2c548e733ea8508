"""Every estimator writes its workbench, with rows and without, and says what is wrong before it writes anything."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from obliquerules import DRNetClassifier, LLTBoostClassifier, LTRNetRegressor, TGBRegressor

from ..report.reading import payload
from .fitted import data, every_kind, fitted


@every_kind
def test_with_rows_and_without(kind, tmp_path):
    model, X, y = fitted(kind)
    model.report(tmp_path / "with.html", X, y)
    model.report(tmp_path / "without.html")
    full, bare = payload(tmp_path / "with.html"), payload(tmp_path / "without.html")
    assert bare["figures"] is None
    assert {**full, "figures": None} == bare
    assert len(full["ensembles"]) == len(model.path_)
    assert full["ensembles"][full["sizes"][full["present"]]][0] == model.ensemble_.intercept
    assert (full["crossValidated"] is not None) == hasattr(model, "cv_results_")


def test_the_other_estimators(tmp_path):
    X, labels, counts = data()
    models = [
        DRNetClassifier(max_rules=3, max_iter=200, phase_length=100, n_penalties=2, random_state=0).fit(X, labels),
        LTRNetRegressor(max_rules=3, max_iter=20, n_restarts=1, n_penalties=2, random_state=0).fit(X, counts),
        TGBRegressor(max_rules=3, random_state=0).fit(X, counts),
    ]
    for model in models:
        model.report(tmp_path / "model.html", X, labels if hasattr(model, "classes_") else counts)
        assert json.loads(payload(tmp_path / "model.html")["file"])["estimator"] == type(model).__name__


def test_an_edited_model_is_a_size_of_its_own(tmp_path):
    model, X, y = fitted("squared")
    edited = model.edit(X, y).drop(0).refit().model
    edited.report(tmp_path / "model.html", X, y)
    report = payload(tmp_path / "model.html")
    assert len(report["ensembles"]) == len(model.path_) + 1
    assert report["sizes"][report["present"]] == len(model.path_)
    assert [step["action"] for step in report["edits"]["steps"]] == ["drop", "refit"]


def test_columns_without_names(tmp_path):
    X, labels, _ = data()
    LLTBoostClassifier(max_rules=2, random_state=0).fit(X.to_numpy(), labels).report(
        tmp_path / "model.html", X.to_numpy(), labels
    )
    assert json.loads(payload(tmp_path / "model.html")["file"])["feature_names"] is None


def test_the_head_names_the_event_and_what_is_given(tmp_path):
    model, X, y = fitted("classifier")
    model.report(tmp_path / "model.html", X, y, target="state", date="2026-05-01")
    assert payload(tmp_path / "model.html")["about"] == [["Target", "state"], ["Event", "'yes'"], ["Date", "2026-05-01"]]
    model, _, _ = fitted("squared")
    model.report(tmp_path / "model.html", data="150 rows", intended_use="none")
    assert payload(tmp_path / "model.html")["about"] == [["Data", "150 rows"], ["Intended use", "none"]]


def test_max_sizes(tmp_path):
    model, X, y = fitted("poisson")
    model.report(tmp_path / "model.html", X, y, max_sizes=2)
    report = payload(tmp_path / "model.html")
    assert len(report["sizes"]) == 2
    assert len(report["figures"]["measures"]) == len(model.path_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_count": 0}, "min_count must be a whole number of at least 1; got 0."),
        ({"max_sizes": 2.5}, "max_sizes must be a whole number of at least 1; got 2.5."),
        ({"title": "\ud800"}, r"title must be text; got '\\ud800'."),
        ({"intended_use": 3}, "intended_use must be text; got 3."),
        ({"date": " "}, "date must be text; got ' '."),
        ({"data_name": ""}, "data_name must be text; got ''."),
        ({"min_count": 151}, "X must have at least min_count=151 rows with weight; got 150."),
        ({"y": None}, "X and y must be given together."),
        ({"y": ["yes", "no"]}, "y must have one entry for each of the 150 rows of X; got shape .2,.."),
        ({"y": ["maybe"] * 150}, "y must hold the labels that the model was fitted to, .'no', 'yes'.."),
        ({"sample_weight": np.full(150, -1.0)}, "sample_weight has negative entries."),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(options, sentence, tmp_path):
    model, X, y = fitted("classifier")
    with pytest.raises(ValueError, match=sentence):
        model.report(tmp_path / "model.html", **({"X": X, "y": y} | options))
    assert list(tmp_path.iterdir()) == []


def test_targets_that_the_loss_does_not_take(tmp_path):
    model, X, y = fitted("poisson")
    with pytest.raises(ValueError, match=r"y has negative values, which are no counts\."):
        model.report(tmp_path / "model.html", X, -y)


def test_a_model_must_be_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        LLTBoostClassifier().report(tmp_path / "model.html")


def test_the_file_is_replaced_whole(tmp_path):
    model, X, y = fitted("classifier")
    (tmp_path / "model.html").write_text("old", encoding="utf-8")
    model.report(tmp_path / "model.html", X, y)
    assert (tmp_path / "model.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(FileNotFoundError, match="does not exist"):
        model.report(tmp_path / "nowhere" / "model.html")
