"""Text and files of mixed ensembles read back as the same ensembles, in words where there are any."""

import pytest
from hypothesis import given

from obliquerules import load_model
from obliquerules.rules import Column, Conjunction, Membership, Proposition, RuleEnsemble
from obliquerules.rules.text.style import PLAIN

from ..mixed import COLUMNS, ensembles, tests
from ..strategies import few

FLAGS = ["a", "b", "c"]


@given(ensembles)
def test_exact_text_reads_back_as_the_same_ensemble(ensemble):
    assert RuleEnsemble.parse(ensemble.to_text(exact=True), COLUMNS) == ensemble


@given(tests)
def test_a_condition_reads_back_from_its_text(test):
    assert Conjunction.parse(test.describe(COLUMNS, PLAIN.in_full()), COLUMNS) == Conjunction([test])


@few
@given(ensembles)
def test_a_file_reads_back_as_the_same_ensemble(tmp_path_factory, ensemble):
    path = tmp_path_factory.mktemp("mixed") / "model.json"
    ensemble.save(path)
    assert load_model(path) == ensemble


@few
@given(ensembles)
def test_every_kind_of_text_can_be_written(ensemble):
    for kind in ("markdown", "latex", "sentences"):
        assert ensemble.to_text(kind)
    assert ensemble._repr_html_()


@pytest.mark.parametrize(
    ("weights", "threshold", "text"),
    [
        ([1, 1], 1, "any of {a, b}"),
        ([1, -1], 0, "any of {a, not b}"),
        ([1, -1], 1, "all of {a, not b}"),
        ([1, 1, 1], 2, "at least 2 of {a, b, c}"),
        ([-1, -1], 0, "all of {not a, not b}"),
        ([1], 1, "a = 1"),
        ([-1], 0, "a = 0"),
        ([2, 1, 1], 2, "2 a + b + c >= 2"),
        ([1, 1], 3, "a + b >= 3"),
    ],
)
def test_sums_of_flags_print_as_words(weights, threshold, text):
    columns = [Column(name, kind="flag") for name in FLAGS]
    proposition = Proposition(range(len(weights)), weights, threshold)
    assert proposition.describe(columns) == text
    assert Conjunction.parse(text, columns) == Conjunction([proposition])


def test_levels_in_sums_print_as_words():
    columns = [Column("hypertension", kind="flag"), Column("smoker", ("no", "yes"))]
    either = Proposition([0, Membership(1, ["yes"])], [1, 1], 1)
    assert either.describe(columns) == "any of {hypertension, smoker = yes}"
    assert Proposition([0, Membership(1, ["yes"])], [1, -1], 1).describe(columns) == "all of {hypertension, not (smoker = yes)}"


@pytest.mark.parametrize(
    ("kind", "threshold", "text"),
    [
        ("date", 18687.0, "x >= 2021-03-01"),
        ("date", 18687.5, "x >= 18687.5"),
        ("time", 1614609000.0, "x >= 2021-03-01 14:30:00"),
        ("duration", 3.5, "x >= 3.5 days"),
    ],
)
def test_dates_print_in_their_unit_and_read_back(kind, threshold, text):
    columns = [Column("x", kind=kind)]
    proposition = Proposition([0], [1.0], threshold)
    assert proposition.describe(columns) == text
    assert Conjunction.parse(text, columns) == Conjunction([proposition])


def test_a_date_can_be_typed():
    columns = [Column("x", kind="date")]
    assert Conjunction.parse("x > 2021-03-01", columns)([[18687.0]]).tolist() == [False]
    with pytest.raises(ValueError, match="no date '2021-02-30'"):
        Conjunction.parse("x >= 2021-02-30", columns)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("grade at least best", "Column 'grade' has no level best"),
        ("colour at least red", "Column 'colour' has no ordered levels"),
        ("colour >= 3", "Column 'colour' has levels"),
        ("age = old", "Column 'age' holds numbers"),
        ("age + 2 (tall) >= 3", "no column 'tall'"),
        ("age + 2 (drug a) >= 3", "In parentheses there should be a condition on levels"),
        ("smoker & teal in {a}", "no column 'teal'"),
        ("colour = teal", 'Column \'colour\' has no level teal; its levels are red, green, dark blue, "4", "a, b"'),
        ("colour in {red, teal}", "Column 'colour' has no level teal"),
        ("ward in {1, 4}", "Column 'ward' has no level 4; its levels are 3, 1, 2"),
        ("smoker = 1", "Column 'smoker' has no level 1; its levels are False, True"),
        ("age", "Column 'age' is no condition by itself"),
        ("any of {drug a, age >= 3}", "A condition reads like"),
        ("age >= 2021-03-01", "There should be a number in the place of '2021-03-01'"),
    ],
)
def test_what_is_no_condition_is_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        RuleEnsemble.parse(f"+1 if {text}", COLUMNS)


def test_sentences_speak_of_levels():
    ensemble = RuleEnsemble.parse("+1 if colour in {red, green} & smoker\n-1 if grade at most mid or missing", COLUMNS)
    assert ensemble.to_text("sentences").splitlines()[1:] == [
        "If colour is one of red, green and smoker, the score rises by 1.",
        "If grade is at most mid or missing, the score falls by 1.",
    ]
