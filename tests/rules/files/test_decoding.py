"""Model files: exact round trip, complaints that name the field, and writing that never leaves half a file."""

import json
import math
import os

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obliquerules import Conjunction, ModelFileError, Proposition, Rule, RuleEnsemble, load_model
from obliquerules.rules.files.decoding import decode_ensemble
from obliquerules.rules.files.encoding import encode_ensemble
from obliquerules.rules.files.fields import MAX_BYTES, Field, read_document, write_document

from ..strategies import any_finite, ensembles, few

ENSEMBLE = RuleEnsemble(
    [Rule(-3.85, Conjunction([Proposition([1, 0], [2.81, -0.1], -0.28)])), Rule(5e-324, Conjunction())],
    1.79,
    ["variance", "Größe – π"],
)
CONTENT = {"feature_names": list(ENSEMBLE.feature_names), "ensemble": encode_ensemble(ENSEMBLE)}
PROPOSITION = ("ensemble", "rules", 0, "condition", 0)


def bits(ensemble):
    """Return all numbers of an ensemble as exact text, which tells 0.0 from -0.0."""
    return json.dumps(encode_ensemble(ensemble))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.fixture
def saved(path):
    ENSEMBLE.save(path)
    return path


def changed(path, keys, value):
    """Put a value at a place in a model file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    path.write_text(json.dumps(document), encoding="utf-8")


def where(keys):
    """Return how a complaint names a place."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def complaint(path):
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert os.fspath(path) in str(caught.value)
    return str(caught.value)


@given(ensembles(any_finite))
def test_text_and_back_is_the_identity_for_any_finite_doubles(ensemble):
    assume(math.isfinite(sum((abs(rule.weight) for rule in ensemble), abs(ensemble.intercept))))  # else no score is a number
    text = json.dumps(encode_ensemble(ensemble), allow_nan=False)
    again = decode_ensemble(Field(json.loads(text), "text"), ensemble.feature_names)
    assert again == ensemble
    assert bits(again) == bits(ensemble)


@few
@given(ensembles(any_finite))
def test_a_file_and_back_is_the_identity(tmp_path_factory, ensemble):
    path = tmp_path_factory.getbasetemp() / "round_trip.json"
    ensemble.save(path)
    assert load_model(path) == ensemble
    assert bits(load_model(path)) == bits(ensemble)


def test_saving_what_was_loaded_gives_the_same_bytes(saved, tmp_path):
    load_model(saved).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()


def test_text_is_stored_as_utf_8_with_unix_line_ends(saved):
    raw = saved.read_bytes()
    assert "Größe – π".encode() in raw
    assert b"\r" not in raw
    assert raw.endswith(b"}\n")


def test_a_file_cut_off_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    complete = len(whole.rstrip())
    for length in range(complete):
        saved.write_bytes(whole[:length])
        assert "not a complete JSON document" in complaint(saved)
    saved.write_bytes(whole[:complete])
    assert load_model(saved) == ENSEMBLE


def test_a_byte_that_is_not_utf_8_is_refused(saved):
    saved.write_bytes(saved.read_bytes().replace(b"variance", b"vari\xffnce"))
    assert "utf-8" in complaint(saved)


def test_a_file_larger_than_any_model_is_refused(saved):
    saved.write_bytes(saved.read_bytes() + b" " * MAX_BYTES)
    assert f"larger than {MAX_BYTES // 10**6} MB" in complaint(saved)


def test_a_file_of_exactly_the_largest_size_is_read(saved):
    saved.write_bytes(saved.read_bytes().ljust(MAX_BYTES))
    assert load_model(saved) == ENSEMBLE


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
def test_deep_nesting_is_refused(path, opening, depth):
    closing = "]" if opening == "[" else "}"
    path.write_text('{"format": "obliquerules", "version": 1, "kind": ' + opening * depth + "1" + closing * depth + "}")
    complaint(path)


NUMBERS = [
    ("ensemble", "intercept"),
    ("ensemble", "rules", 0, "weight"),
    (*PROPOSITION, "weights", 1),
    (*PROPOSITION, "threshold"),
]


def written(path, keys, text):
    """Put text that `json` would not write at a place in a model file."""
    changed(path, keys, "here")
    path.write_text(path.read_text().replace('"here"', text))


@pytest.mark.parametrize("keys", NUMBERS, ids=where)
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_numbers_beyond_the_doubles_are_refused_with_their_place(saved, keys, number):
    written(saved, keys, number)
    assert f"{where(keys)} should be a finite number" in complaint(saved)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "9" * 5000, "0x1", "1_000", "+1", ".5", "01"])
def test_numbers_that_json_does_not_know_are_refused(saved, number):
    written(saved, NUMBERS[0], number)
    assert "not a complete JSON document" in complaint(saved)


NOT_A_NUMBER = [None, True, False, "1.5", [1.5], {"value": 1.5}]
NOT_A_LIST = [None, True, 1.5, "text", {"0": 1}]
NOT_AN_OBJECT = [None, True, 1.5, "text", [1, 2]]
NOT_A_COLUMN = [None, True, False, 0.0, 1.5, "0", [0], -1, 2, 2**31, 10**400]


WRONG = {
    ("format",): [None, 1, "rulesets", ["obliquerules"]],
    ("version",): [None, True, 1.0, 0, -1, "", "1", "1.0", "one", 10**400],
    ("kind",): [None, 1, "net", ["ensemble"], {}],
    ("feature_names",): [True, 1, "variance", {"0": "variance"}],
    ("feature_names", 1): [None, 1, ["skewness"]],
    ("ensemble",): NOT_AN_OBJECT,
    ("ensemble", "intercept"): NOT_A_NUMBER,
    ("ensemble", "rules"): NOT_A_LIST,
    ("ensemble", "rules", 0): NOT_AN_OBJECT,
    ("ensemble", "rules", 0, "weight"): NOT_A_NUMBER,
    ("ensemble", "rules", 0, "condition"): NOT_A_LIST,
    PROPOSITION: NOT_AN_OBJECT,
    (*PROPOSITION, "columns"): NOT_A_LIST,
    (*PROPOSITION, "columns", 1): NOT_A_COLUMN,
    (*PROPOSITION, "weights"): NOT_A_LIST,
    (*PROPOSITION, "weights", 0): NOT_A_NUMBER,
    (*PROPOSITION, "threshold"): NOT_A_NUMBER,
}


@pytest.mark.parametrize(("keys", "wrong"), WRONG.items(), ids=map(where, WRONG))
def test_a_wrong_value_is_refused_with_its_place(saved, keys, wrong):
    original = saved.read_bytes()
    for value in wrong:
        saved.write_bytes(original)
        changed(saved, keys, value)
        assert where(keys) in complaint(saved), value


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("columns", [1, 1], "must be different"),
        ("columns", [0], "got 1 columns and 2 weights"),
        ("columns", [], "got 0 columns and 2 weights"),
        ("weights", [1.0, 0.0], "not zero"),
        ("weights", [1.0, -0.0], "not zero"),
        ("weights", [1.0], "got 2 columns and 1 weights"),
    ],
)
def test_an_impossible_proposition_is_refused_with_its_place(saved, key, value, reason):
    changed(saved, (*PROPOSITION, key), value)
    text = complaint(saved)
    assert where(PROPOSITION) in text
    assert reason in text


@pytest.mark.parametrize("keys", [("format",), ("version",), ("kind",), ("ensemble",), ("feature_names",)])
def test_a_missing_field_is_named(saved, keys):
    document = json.loads(saved.read_text(encoding="utf-8"))
    del document[keys[0]]
    saved.write_text(json.dumps(document))
    assert f"has no field '{keys[0]}'" in complaint(saved)


@pytest.mark.parametrize("key", ["columns", "weights", "threshold"])
def test_a_missing_field_of_a_proposition_is_named_with_its_place(saved, key):
    changed(saved, PROPOSITION, {name: [0] for name in ("columns", "weights", "threshold") if name != key})
    assert f"{where(PROPOSITION)} has no field '{key}'" in complaint(saved)


@pytest.mark.parametrize("text", ["", "null", "[]", "1", '"text"', "{}", "not json", '{"format": "obliquerules"} {}'])
def test_other_files_are_refused(path, text):
    path.write_text(text)
    complaint(path)


@pytest.mark.parametrize("version", [2, 99])
def test_a_newer_version_asks_for_an_upgrade(saved, version):
    changed(saved, ("version",), version)
    assert "upgrade obliquerules" in complaint(saved)


def test_unknown_fields_are_read(saved):
    changed(saved, ("remark",), "added later")
    assert load_model(saved) == ENSEMBLE


def test_whole_numbers_are_read_as_doubles(saved):
    changed(saved, ("ensemble", "intercept"), 3)
    assert (load_model(saved).intercept, type(load_model(saved).intercept)) == (3.0, float)


def test_without_names_any_column_may_be_used_that_a_row_can_have(saved):
    changed(saved, ("feature_names",), None)
    changed(saved, (*PROPOSITION, "columns"), [0, 10**6 - 1])
    assert load_model(saved)[0].used_columns == (0, 10**6 - 1)
    changed(saved, (*PROPOSITION, "columns"), [0, 10**6])
    assert "columns[1] should be a whole number from 0 to 999999" in complaint(saved)


def test_long_values_are_cut_short_in_the_complaint(saved):
    changed(saved, ("kind",), "x" * 100_000)
    assert len(complaint(saved)) < 500 + len(os.fspath(saved))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_finite | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(list(WRONG)), json_values)
def test_any_value_anywhere_is_read_or_refused_and_nothing_else(tmp_path_factory, keys, value):
    path = tmp_path_factory.getbasetemp() / "hostile.json"
    path.write_text(json.dumps({"format": "obliquerules", "version": 1, "kind": "ensemble", **CONTENT}))
    changed(path, keys, value)
    try:
        model = load_model(path)
    except ModelFileError:
        return
    assert isinstance(model, RuleEnsemble)


def test_a_file_that_does_not_exist_is_reported_as_such(path):
    with pytest.raises(FileNotFoundError):
        load_model(path)


def entries(directory):
    return sorted(entry.name for entry in directory.iterdir())


def test_saving_replaces_the_old_file_and_leaves_no_other(saved, tmp_path):
    ENSEMBLE[:1].save(saved)
    assert load_model(saved) == ENSEMBLE[:1]
    assert entries(tmp_path) == ["model.json"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"feature_names": ["\ud800"]}, UnicodeEncodeError),  # half a character, which UTF-8 cannot hold
        ({"weight": math.nan}, ValueError),
        ({"weight": math.inf}, ValueError),
        ({"weight": object()}, TypeError),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file_alone(saved, tmp_path, content, error):
    before = saved.read_bytes()
    with pytest.raises(error):
        write_document(saved, content)
    assert saved.read_bytes() == before
    assert entries(tmp_path) == ["model.json"]


def test_a_target_that_cannot_be_replaced_leaves_no_temporary_file(tmp_path):
    (tmp_path / "model.json").mkdir()
    with pytest.raises(OSError, match=r"model\.json"):
        ENSEMBLE.save(tmp_path / "model.json")
    assert entries(tmp_path) == ["model.json"]


def test_a_missing_directory_is_named_and_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The directory '.*absent' does not exist, so 'model\.json'"):
        ENSEMBLE.save(tmp_path / "absent" / "model.json")
    assert entries(tmp_path) == []


def test_paths_may_be_text(path):
    ENSEMBLE.save(os.fspath(path))
    assert load_model(os.fspath(path)) == ENSEMBLE
    assert read_document(path).get("kind").text() == "ensemble"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "store").mkdir()
    link = tmp_path / "model.json"
    link.symlink_to(tmp_path / "store" / "first.json")
    ensemble = RuleEnsemble([], 1.5)
    ensemble.save(link)
    assert link.is_symlink()
    assert load_model(tmp_path / "store" / "first.json") == ensemble
