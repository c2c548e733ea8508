"""Training data: which task a target is taken for, and which rows and columns are left out."""

import re
from argparse import Namespace

import numpy as np
import pytest

from obliquerules.cli.column_summary import column_lines, column_records
from obliquerules.cli.fit import METHODS, build, estimator_class, parameter_table, settings
from obliquerules.cli.input_table import read_data
from obliquerules.cli.io.data_file import DataFile, check_names
from obliquerules.cli.target_column import against_counts
from obliquerules.cli.training_table import training_data
from obliquerules.estimators.loading import ESTIMATORS
from obliquerules.rules import Block

from .executable import write_csv

READING = {"separator": None, "decimal": None, "encoding": None, "sheet": None, "missing_values": ()}
DEFAULTS = {
    "target": "y",
    "drop": [],
    "categorical": (),
    "drop_rows": False,
    "task": None,
    "loss": None,
    "positive": None,
    "class_weight": (),
}
DEFAULTS |= {"weight": None, "exposure": None, "offset": (), "groups": None}


def chosen(directory, header, rows, **options):
    given = Namespace(data=str(write_csv(directory / "data.csv", header.split(), rows)), **READING | DEFAULTS | options)
    return training_data(read_data(given), given)


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "a"], "classification"),
        ([3, 7, 3], "classification"),
        (["true", "false", "true"], "classification"),
        ([0, 1, 5], "counts"),
        ([1, 2, 3], "regression"),
        ([0.0, 0.5, 1.5], "regression"),
        ([-1, 0, 2], "regression"),
        (["a", "b", "c"] * 2, "classification"),
        ([0, 1, 2] * 4, "classification"),
        ([0, 1, 2] * 3, "regression"),
        ([1, 2, 3] * 4, "regression"),
        (list(range(10)) * 4, "classification"),
        (list(range(11)) * 4, "regression"),
        ([0] * 20 + [1] * 7 + [2] * 2, "counts"),
    ],
)
def test_the_values_tell_the_task(tmp_path, values, task):
    data = chosen(tmp_path, "a y", zip(range(len(values)), values, strict=True))
    assert data.target.task == task


@pytest.mark.parametrize("name", range(14))
def test_weights_count_rows_and_rows_of_weight_zero_are_not_there(tmp_path, name):
    rng = np.random.default_rng(name)
    top = [2, 3, 8, 12, 40, 1200][name % 6]
    values = rng.permutation(np.minimum(rng.poisson(top / 4.0, 30), top) + name // 6)
    weight = rng.integers(0, 4, 30)
    code, text = rng.permutation(30), [f"t{one}" for one in rng.permutation(30)]
    rows = list(zip(code, text, values, weight, strict=True))
    weighted = chosen(tmp_path, "code text y w", rows, weight="w", task=None)
    repeated = chosen(tmp_path, "code text y w", [row for row in rows for _ in range(row[-1])], drop=["w"])
    assert (weighted.target.task, weighted.target.why) == (repeated.target.task, repeated.target.why)
    assert weighted.X.columns == repeated.X.columns
    assert weighted.remarks == repeated.remarks
    assert len(weighted.target.y) == np.count_nonzero(weight)


def test_rows_of_weight_zero_are_said_to_be_left_out(tmp_path):
    rows = [(row % 7, "secret" if row == 5 else "ab"[row % 2], row % 3 / 2.0, float(row != 5)) for row in range(24)]
    data = chosen(tmp_path, "a c y w", rows, weight="w")
    assert "Rows: 23 (1 of weight 0 left out)" in data.sentences()
    assert data.X.column(1).levels == ("a", "b")


def test_the_user_has_the_last_word_on_the_task(tmp_path):
    data = chosen(tmp_path, "a y", zip(range(3), [0, 1, 2], strict=True), task="regression")
    assert (data.target.task, data.target.why) == ("regression", "you said so")


KINDS = ["u", "v", "w"] * 4
ROLES = [(row % 5, 1, 0.5, -1, f"g{row % 2}", kind) for row, kind in enumerate(KINDS)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weight": "y"}, "--weight must not name 'y', which is the target."),
        ({"weight": "w", "groups": "w"}, "--groups must not name 'w', which is already named after --weight."),
        ({"offset": ("w", "w", "o")}, "--offset must not name 'w', which is already named after --offset."),
        ({"offset": ("z",)}, "has no column 'z'"),
        ({"weight": "o"}, "The weight 'o' must not be negative; it is -1 in row 0 of "),
        ({"weight": "g"}, "The weight 'g' must hold numbers; it holds text."),
        ({"exposure": "w", "offset": ("o",)}, "--exposure and --offset cannot be used together: add the logarithm"),
        ({"exposure": "w"}, "--exposure is for counts and amounts; the task is classification, because it holds text with 3"),
        (
            {"exposure": "w", "target": "a", "loss": "squared"},
            "--exposure needs a loss with a log link: --loss poisson, gamma or ",
        ),
        ({"exposure": "o", "target": "a"}, "The exposure 'o' must be positive; it is -1 in row 0 of "),
        ({"exposure": "w", "target": "o"}, "The target 'o' has one value only"),
        ({"offset": ("o",)}, "--offset must name 3 columns, one for each class: 'u', 'v', 'w'; got 'o'."),
        ({"offset": ("o", "w"), "target": "a"}, "--offset must name one column; got 'o', 'w'."),
        ({"positive": "u"}, "--positive is for two classes; the target has 3, each with its own score."),
        ({"class_weight": ("balanced",), "target": "a", "task": "counts"}, "--class-weight cannot be used: the task is counts"),
        (
            {"class_weight": ("u",)},
            "--class-weight must be followed by 'balanced', or by CLASS=W with a positive number W; got 'u'",
        ),
        ({"class_weight": ("u=0",)}, "with a positive number W; got 'u=0'."),
        ({"class_weight": ("balanced", "u=1")}, "with a positive number W; got 'balanced'."),
        ({"class_weight": ("x=1",)}, "CLASS of --class-weight must be one of the classes, 'u', 'v', 'w'; got 'x'."),
        ({"class_weight": ("u=1", "u=2")}, "--class-weight gives the class 'u' two weights."),
    ],
)
def test_roles_and_classes_that_cannot_be_right(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        chosen(tmp_path, "a w e o g y", ROLES, **options)


def test_groups_must_be_known(tmp_path):
    with pytest.raises(
        ValueError, match=r"The group 'g' is missing in 1 rows. Fill it in, or leave out such rows with --drop-rows"
    ):
        chosen(tmp_path, "a g y", [(1, "p", 0.5), (2, "", 1.5), (3, "q", 2.5)], groups="g")


def test_columns_with_a_role_are_no_inputs_and_go_to_the_fit_under_their_names(tmp_path):
    data = chosen(tmp_path, "a w e o g y", ROLES, offset=("o", "w", "e"), groups="g", class_weight=("v=2",))
    assert data.X.names == ("a",)
    assert data.target.class_weight == {"v": 2.0}
    assert data.arguments["offset"].columns == ("o", "w", "e")
    np.testing.assert_array_equal(np.asarray(data.arguments["offset"])[0], [-1.0, 1.0, 0.5])
    assert np.asarray(data.arguments["groups"]).tolist() == ["g0", "g1"] * 6


def test_numbers_with_a_stray_text_are_no_classes_unless_the_user_says_so(tmp_path):
    rows = [(row % 5, row % 7) for row in range(40)] + [(1, "old"), (2, "old")]
    with pytest.raises(ValueError, match=r"The target 'y' holds numbers and text \('old'\). Correct it, say that the text"):
        chosen(tmp_path, "a y", rows)
    assert chosen(tmp_path, "a y", rows, task="classification").target.n_classes == 8
    with pytest.raises(ValueError, match=r"holds 3 different numbers with decimals .0.5, 1.5, 2.5., which are no classes"):
        chosen(tmp_path, "a y", [(row % 5, row % 3 + 0.5) for row in range(12)], task="classification")


@pytest.mark.parametrize(("loss", "task"), [("squared", "regression"), ("poisson", "counts"), ("gamma", "regression")])
def test_a_loss_that_the_user_names_tells_the_task(tmp_path, loss, task):
    data = chosen(tmp_path, "a y", zip(range(4), [1, 2, 2, 1], strict=True), loss=loss)
    assert (data.target.task, data.target.why, data.target.loss, data.target.y.dtype.kind) == (task, "you said so", loss, "f")


@pytest.mark.parametrize(("loss", "task"), [("gamma", "classification"), ("poisson", "classification"), ("tweedie", "counts")])
def test_a_loss_that_is_not_for_the_task_is_refused(tmp_path, loss, task):
    with pytest.raises(ValueError, match=f"--loss {loss} cannot be used with --task {task}"):
        chosen(tmp_path, "a y", zip(range(3), [1, 2, 4], strict=True), loss=loss, task=task)


def test_text_has_no_mean(tmp_path):
    with pytest.raises(ValueError, match="The target 'y' must hold numbers; it holds text"):
        chosen(tmp_path, "a y", [(1, "p"), (2, "q")], task="regression")


def test_rows_with_missing_values_are_left_out_if_asked_for(tmp_path):
    rows = [(1, 5, 1, 0.5), ("", 6, 2, 1.5), (3, 7, 1, ""), (4, 8, 3, 2.5), (5, 9, "", 3.5)]
    data = chosen(tmp_path, "a b w y", rows, weight="w", drop_rows=True)
    assert (data.rows.without_target, data.rows.incomplete) == (1, 2)
    assert data.rows.left_out() == "1 without a value of 'y' and 2 with other missing values left out"
    assert data.X.matrix.tolist() == [[1.0, 5.0], [4.0, 8.0]]
    assert data.target.y.tolist() == [0.5, 2.5]
    assert data.arguments["sample_weight"].tolist() == [1.0, 3.0]


def test_missing_values_in_a_column_that_is_not_used_do_not_matter(tmp_path):
    rows = [(1, "", "u", 0.5), (2, 3, "v", 1.5), (3, 4, "u", 2.5)]
    data = chosen(tmp_path, "a b t y", rows, drop=["b"], drop_rows=True)
    assert data.X.names == ("a", "t")
    assert data.left_out == {"b": "as asked for"}
    assert len(data.X) == 3


def test_rows_with_missing_inputs_are_learned_from_and_rows_without_a_target_are_not(tmp_path):
    data = chosen(tmp_path, "a b y", [(1, "u", 0.5), ("", "v", 1.5), (3, "", 2.5), (4, "u", ""), (5, "u", 3.5)])
    assert (data.rows.without_target, data.rows.incomplete) == (1, 0)
    np.testing.assert_array_equal(data.X.matrix, [[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan], [5.0, 0.0]])
    assert data.sentences()[1] == "Rows: 4 (1 without a value of 'y' left out)"


def test_a_target_that_is_always_missing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="The target 'y' has nothing but missing values"):
        chosen(tmp_path, "a y", [(1, ""), (2, "NA")])


def test_a_target_of_dates_is_refused(tmp_path):
    with pytest.raises(ValueError, match="The target 'y' holds dates, which cannot be predicted"):
        chosen(tmp_path, "a y", [(1, "2021-03-01"), (2, "2021-03-02")])


def test_weights_that_are_missing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="The weight 'w' is missing in 1 rows"):
        chosen(tmp_path, "a w y", [(1, 1, 0.5), (2, "", 1.5), (3, 2, 2.5)], weight="w")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([f"p{row}" for row in range(30)], "because it is text that differs in every row, like an identifier"),
        ([f"p{row}" for row in range(29)] + ["p0"], "because it is text that differs in nearly every row, like an identifier"),
        (["x"] * 30, "because it is the same in every row"),
        ([""] * 30, "because it has nothing but missing values"),
        (["x"] * 29 + [""], None),
        (["x"] * 15 + ["y"] * 15, None),
    ],
)
def test_columns_that_say_nothing_are_left_out(tmp_path, values, reason):
    data = chosen(tmp_path, "a t y", [(row % 7, value, row % 5 + 0.5) for row, value in enumerate(values)])
    assert data.left_out == ({} if reason is None else {"t": reason})


def test_text_with_a_few_numbers_is_text_and_remarked_on(tmp_path):
    rows = [(value, row + 0.5) for row, value in enumerate(["red", "blue", "7", "red", "blue", "red"])]
    data = chosen(tmp_path, "a y", rows)
    assert data.remarks == ("a holds text and numbers, and is taken for text",)
    assert data.X.column(0).levels == ("red", "blue", "7")


def test_numbers_with_a_few_texts_are_refused_unless_the_user_says_what_they_are(tmp_path):
    rows = [(value, row + 0.5) for row, value in enumerate(["1", "2", "2", "3", "1", "old"])]
    with pytest.raises(
        ValueError, match=r"Column 'a' holds numbers and text \('old'\). Correct it, say that the text stands for"
    ):
        chosen(tmp_path, "a y", rows)
    np.testing.assert_array_equal(
        chosen(tmp_path, "a y", rows, missing_values=("old",)).X.matrix[:, 0], [1.0, 2.0, 2.0, 3.0, 1.0, np.nan]
    )
    assert chosen(tmp_path, "a y", rows, categorical=("a",)).X.column(0).levels == ("1", "2", "3", "old")


def test_what_each_column_was_taken_for(tmp_path):
    header = "number flag truth text code day stay many"
    rows = [
        (1.5, 0, "true", "red", 1, "2021-03-01", "", "abcdefgh"[row % 8] * 10 * (row % 8 + 1), row + 0.5) for row in range(16)
    ]
    rows[3] = (-2, 1, "False", "", 2, "", 7, "x", 1.5)
    rows[4] = (-2, 1, "", "blue", 2, "2021-12-31", 8, "x", 2.5)
    data = chosen(tmp_path, f"{header} y", rows, categorical=("code",))
    assert column_lines(data.X) == [
        "  number  number   -2 to 1.5",
        "  flag    0/1",
        "  truth   boolean                                                   1 missing",
        "  text    text     2 levels: red, blue                              1 missing",
        "  code    levels   2 levels: 1, 2",
        "  day     date     2021-03-01 to 2021-12-31                         1 missing",
        "  stay    number   7 to 8                                           14 missing",
        "  many    text     9 levels: aaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, ...",
    ]
    assert column_records(data.X)[3:6] == [
        {"name": "text", "kind": "text", "levels": ["red", "blue"], "missing": 1},
        {"name": "code", "kind": "levels", "levels": [1, 2], "missing": 0},
        {"name": "day", "kind": "date", "range": ["2021-03-01", "2021-12-31"], "missing": 1},
    ]


def test_of_many_columns_the_first_are_listed():
    block = Block.of_matrix(np.zeros((3, 50)), [f"c{column}" for column in range(50)])
    lines = column_lines(block)
    assert len(lines) == 41
    assert lines[-1] == "  and 10 more"


def test_a_column_that_becomes_constant_is_left_out(tmp_path):
    rows = [(1, 1, 0.5), (2, 1, 1.5), ("", 2, 2.5)]
    data = chosen(tmp_path, "a b y", rows, drop_rows=True)
    assert data.X.names == ("a",)
    assert data.left_out == {"b": "because it is the same in every row"}


COUNTED = np.random.default_rng(0)
LOOKS = {
    "small counts": (COUNTED.poisson(2.0, 200), None),
    "overdispersed counts": (COUNTED.poisson(60.0 * COUNTED.gamma(1.0, 1.0, 5000)), None),
    "rare events": (COUNTED.poisson(0.05, 200), None),
    "dollars": (np.rint(COUNTED.gamma(1.0, 500.0, 400)), "larger than most counts"),
    "small amounts, hardly any twice": (np.rint(COUNTED.gamma(1.0, 200.0, 200).clip(0, 900)), "repeat less than counts"),
    "rounded to tens": (10 * COUNTED.poisson(3.0, 200), "all multiples of a larger number"),
    "ratings": (COUNTED.choice([1, 2, 3, 4], 200, p=[0.2, 0.5, 0.2, 0.1]), "vary less than counts"),
    "points of 100": (np.append(np.rint(COUNTED.normal(70.0, 15.0, 500)).clip(0, 100), 0), "not skewed like counts"),
    "years": (COUNTED.integers(1990, 2020, 200), ""),
    "negative": (np.append(COUNTED.poisson(2.0, 200), -1), ""),
    "fractions": (COUNTED.poisson(2.0, 200) + 0.5, ""),
}


@pytest.mark.parametrize("name", LOOKS)
def test_counts_are_told_from_other_whole_numbers(name):
    values, doubt = LOOKS[name]
    found = against_counts(values.astype(float))
    assert found == doubt if not doubt else doubt in found


def test_why_whole_numbers_are_no_counts_is_said(tmp_path):
    data = chosen(tmp_path, "a y", zip(range(40), (37 * row for row in range(40)), strict=True))
    assert data.target.task == "regression"
    assert (
        data.target.why
        == "it holds numbers with 40 different values; they are whole, but larger than most counts (--task counts if they are)"
    )


@pytest.mark.parametrize(
    ("name", "values", "alike"),
    [
        ("patient_id", [907, 12, 455], True),
        ("CustomerID", [907, 12, 455], True),
        ("ID", [907, 12, 455], True),
        ("paid", [907, 12, 455], False),
        ("anything", [12, 10, 11], True),
        ("id", [1, 1, 2], False),
        ("id", [1.5, 2, 3], False),
    ],
)
def test_identifiers_are_remarked_on(tmp_path, name, values, alike):
    data = chosen(tmp_path, f"{name} b y", zip(values, [1, 5, 2], [0.5, 1.5, 2.5], strict=True))
    expected = (f"{name} is a different whole number in every row, like an identifier (to leave it out: --drop {name})",)
    assert data.remarks == (expected if alike else ())
    assert name in data.X.names


@pytest.mark.parametrize(
    ("written", "values", "positive"),
    [
        ("no", ["no", "yes"], "no"),
        ("1", [1, 2], 1),
        ("1.0", [1, 2], 1),
        ("0.5", [0.5, 2.5], 0.5),
        ("TRUE", ["TRUE", "x"], "TRUE"),
    ],
)
def test_the_positive_class_is_found_as_the_table_has_it(tmp_path, written, values, positive):
    data = chosen(tmp_path, "a y", zip(range(4), values * 2, strict=True), positive=written)
    assert data.target.positive == positive
    assert type(data.target.positive) is type(positive)


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


def test_parameters_of_regressors_alone_are_listed_too():
    assert parameter_table().count("  tweedie_power=1.5 ") == 3


def test_settings_are_numbers_words_or_text():
    given = settings(["a=1", "b=0.5", "c=true", "d=None", "e=validation", "f=x=y"])
    assert given == {"a": 1, "b": 0.5, "c": True, "d": None, "e": "validation", "f": "x=y"}


def test_options_go_to_estimators_that_have_them():
    kind = estimator_class("lltboost", "counts", True)
    model = build(kind, {"max_rules": 3}, {"loss": "poisson", "cv": 3, "n_jobs": None}, {"random_state": 7, "colour": 1})
    assert type(model).__name__ == "LLTBoostRegressorCV"
    assert (model.loss, model.cv, model.max_rules, model.random_state) == ("poisson", 3, 3, 7)
    with pytest.raises(ValueError, match="--cv cannot be used here"):
        build(estimator_class("lltboost", "counts", False), {}, {"cv": 2}, {})


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
    training_data(data, Namespace(**DEFAULTS | {"drop": [str(name) for name in names[1000:]]}))
    data.choose(names)
    assert Counted.comparisons < 20 * len(names)
