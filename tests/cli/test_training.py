"""Training data: which task a target is taken for, and which rows and columns are left out."""

from argparse import Namespace

import numpy as np
import pytest

from obliquerules.cli.data import read_data
from obliquerules.cli.methods import METHODS, build, estimator_class, parameter_table, settings
from obliquerules.cli.training import training_data
from obliquerules.estimators.loading import ESTIMATORS
from obliquerules.rows.files import DataFile, check_names
from obliquerules.rules import Block

from .executable import write_csv

DEFAULTS = {"target": "y", "weight": None, "drop_columns": [], "drop_rows": False, "task": None}


def chosen(directory, header, rows, **options):
    data = read_data(str(write_csv(directory / "data.csv", header.split(), rows)))
    return training_data(data, Namespace(**DEFAULTS | options))


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "a"], "classification"),
        ([3, 7, 3], "classification"),
        (["true", "false", "true"], "classification"),
        ([0, 1, 2], "counts"),
        ([1, 2, 3], "regression"),
        ([0.0, 0.5, 1.5], "regression"),
        ([-1, 0, 2], "regression"),
    ],
)
def test_the_values_tell_the_task(tmp_path, values, task):
    data = chosen(tmp_path, "a y", zip(range(3), values, strict=True))
    assert data.task == task


def test_the_user_has_the_last_word_on_the_task(tmp_path):
    data = chosen(tmp_path, "a y", zip(range(3), [0, 1, 2], strict=True), task="regression")
    assert (data.task, data.why) == ("regression", "you said so")


def test_text_has_no_mean(tmp_path):
    with pytest.raises(ValueError, match="The target 'y' must hold numbers; it holds text"):
        chosen(tmp_path, "a y", [(1, "p"), (2, "q")], task="regression")


def test_rows_with_missing_values_are_left_out_if_asked_for(tmp_path):
    rows = [(1, 5, 1, 0.5), ("", 6, 2, 1.5), (3, 7, 1, ""), (4, 8, 3, 2.5), (5, 9, "", 3.5)]
    data = chosen(tmp_path, "a b w y", rows, weight="w", drop_rows=True)
    assert data.rows_left_out == 3
    assert data.X.matrix.tolist() == [[1.0, 5.0], [4.0, 8.0]]
    assert data.y.tolist() == [0.5, 2.5]
    assert data.weight.tolist() == [1.0, 3.0]


def test_missing_values_in_a_column_that_is_not_used_do_not_matter(tmp_path):
    rows = [(1, "", "u", 0.5), (2, 3, "v", 1.5), (3, 4, "u", 2.5)]
    data = chosen(tmp_path, "a b t y", rows, drop_columns=["b"])
    assert data.X.names == ("a",)
    assert data.left_out == {
        "b": "as asked for",
        "t": "because it is text, with 2 different values; write it as numbers to use it",
    }


def test_a_column_that_becomes_constant_is_left_out(tmp_path):
    rows = [(1, 1, 0.5), (2, 1, 1.5), ("", 2, 2.5)]
    data = chosen(tmp_path, "a b y", rows, drop_rows=True)
    assert data.X.names == ("a",)
    assert data.left_out == {"b": "because it is the same in every row"}


def test_every_estimator_belongs_to_a_method():
    names = {f"{prefix}{kind}{cv}" for prefix in METHODS.values() for kind in ("Classifier", "Regressor") for cv in ("", "CV")}
    assert set(ESTIMATORS) <= names


def test_methods_that_cannot_do_a_task_say_so():
    with pytest.raises(ValueError, match="--method drnet cannot be used for regression"):
        estimator_class("drnet", "regression", False)
    with pytest.raises(ValueError, match="--cv cannot be used with --method ltrnet"):
        estimator_class("ltrnet", "regression", True)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_its_parameters_listed(method):
    assert f"--method {method}\n  max_rules=10" in parameter_table()


def test_settings_are_numbers_words_or_text():
    given = settings(["a=1", "b=0.5", "c=true", "d=None", "e=validation", "f=x=y"])
    assert given == {"a": 1, "b": 0.5, "c": True, "d": None, "e": "validation", "f": "x=y"}


def test_options_go_to_estimators_that_have_them():
    kind = estimator_class("lltboost", "counts", True)
    model = build(kind, {"max_rules": 3}, {"loss": "poisson", "cv": 3, "n_jobs": None}, {"random_state": 7, "colour": 1})
    assert type(model).__name__ == "LLTBoostRegressorCV"
    assert (model.loss, model.cv, model.max_rules, model.random_state) == ("poisson", 3, 3, 7)
    with pytest.raises(ValueError, match="--jobs cannot be used here"):
        build(estimator_class("lltboost", "counts", False), {}, {"n_jobs": 2}, {})


class Counted(str):
    """A name that counts how often it is compared with another object."""

    __slots__ = ()
    __hash__ = str.__hash__
    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_names_are_compared_a_few_times_for_each_column_however_many_there_are():
    names = [Counted(f"c{column}") for column in range(2000)]
    values = np.array([0.0, 1.0, 2.0])
    block = Block.of_matrix(np.column_stack([values] * 2001), [*names, "y"])
    data = DataFile("t", block, {}, block.names)
    Counted.comparisons = 0
    check_names(names, "t")
    training_data(data, Namespace(**DEFAULTS | {"drop_columns": [str(name) for name in names[1000:]]}))
    data.choose(names)
    assert Counted.comparisons < 20 * len(names)
