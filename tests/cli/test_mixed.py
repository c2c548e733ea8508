"""Tables as people have them, run as users run them: text, dates, codes and empty fields, from the fit to the report."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, load_model

from .executable import refused, run, write_csv
from .workbooks import DATE, Styled, write_workbook

FIT = ("--target", "outcome", "--set", "max_rules=4", "--set", "linear_terms=false", "--missing-values", "unknown", "-o")
READ = ("--missing-values", "unknown")
INPUTS = ["age", "colour", "smoker", "admitted", "dose"]


def patients(n_rows=240):
    """Return a frame with text, dates, booleans and missing values, as Python objects."""
    rng = np.random.default_rng(3)
    age, dose = rng.integers(20, 90, n_rows), rng.normal(5.0, 1.0, n_rows).round(2)
    colour = rng.choice(["red", "green", "dark blue", "pink"], n_rows, p=[0.4, 0.3, 0.2, 0.1])
    smoker = rng.random(n_rows) < 0.4
    admitted = np.datetime64("2020-01-01") + rng.integers(0, 700, n_rows)
    score = 3.0 * np.isin(colour, ["red", "pink"]) + 2.5 * smoker - 3.0 * (admitted >= np.datetime64("2021-01-01"))
    score += 0.06 * (age - 50) + rng.logistic(0.0, 0.3, n_rows)
    columns = {"id": [f"p{row}" for row in range(n_rows)], "age": age, "colour": colour, "smoker": smoker}
    frame = pd.DataFrame(columns | {"admitted": admitted.astype(str), "dose": dose, "site": "A"}).astype(object)
    frame["outcome"] = np.where(score > 1.5, "ill", "well")
    for name, share in (("age", 0.1), ("colour", 0.05), ("admitted", 0.04), ("dose", 0.04), ("outcome", 0.05)):
        frame.loc[rng.random(n_rows) < share, name] = None
    return frame


def typed(frame):
    """Return the inputs and the targets of known outcome as a user of the library has them."""
    known = frame[frame["outcome"].notna()]
    kinds = {"age": "float64", "smoker": "bool", "dose": "float64"}
    return known[INPUTS].astype(kinds).assign(admitted=pd.to_datetime(known["admitted"])), known["outcome"].astype(str)


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """A directory with such a table, the model of it, and what `fit` said."""
    directory = tmp_path_factory.mktemp("ward")
    frame = patients()
    written = frame.copy()
    written["dose"] = written["dose"].fillna("unknown")
    written.to_csv(directory / "data.csv", index=False)
    done = run("fit", "data.csv", *FIT, "model.json", cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    (directory / "rules.txt").write_text(done.stdout, encoding="utf-8")
    return directory


def test_fit_says_what_it_understood(ward):
    frame = patients()
    unknown = {name: int(frame[frame["outcome"].notna()][name].isna().sum()) for name in INPUTS}
    said = (ward / "said.txt").read_text(encoding="utf-8").splitlines()
    n_unknown = int(frame["outcome"].isna().sum())
    assert said[2:11] == [
        f"Rows: {240 - n_unknown} ({n_unknown} without a value of 'outcome' left out)",
        "Columns: 5",
        f"  age       number   20 to 88                               {unknown['age']} missing",
        f"  colour    text     4 levels: red, green, dark blue, pink  {unknown['colour']} missing",
        "  smoker    boolean",
        f"  admitted  date     2020-01-11 to 2021-11-29               {unknown['admitted']} missing",
        f"  dose      number   1.94 to 7.91                           {unknown['dose']} missing",
        "Left out: id, because it is text that differs in every row, like an identifier",
        "Left out: site, because it is the same in every row",
    ]


def test_fit_makes_the_model_that_the_library_makes_of_a_data_frame(ward):
    model = LLTBoostClassifier(max_rules=4, linear_terms=False, random_state=0).fit(*typed(patients()))
    model.save(ward / "same.json")
    assert (ward / "same.json").read_bytes() == (ward / "model.json").read_bytes()
    assert (ward / "rules.txt").read_text(encoding="utf-8") == f"{model.ensemble_}\n"


def test_show_prints_levels_and_dates(ward):
    shown = json.loads(run("show", "model.json", "--json", cwd=ward).stdout)
    conditions = " ".join(rule["condition"] for rule in shown["rules"])
    assert "colour" in conditions
    assert "admitted >= 2021-0" in conditions or "admitted <= 2020-1" in conditions
    assert "smoker" in conditions


def test_predict_makes_the_predictions_of_the_library(ward):
    X, _ = typed(patients().assign(outcome="ill"))
    model = load_model(ward / "model.json")
    done = run("predict", "model.json", "data.csv", *READ, "--probabilities", "--json", cwd=ward)
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["prediction"] == model.predict(X).tolist()
    assert told["probability of well"] == model.predict_proba(X)[:, 1].tolist()


def test_an_unseen_level_and_missing_values_are_scored(ward):
    write_csv(ward / "new.csv", INPUTS, [("", "violet", "", "2021-05-05 10:00", ""), (*"?????",)])
    done = run("predict", "model.json", "new.csv", "--json", cwd=ward)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "Note: values are missing in 'smoker', which had none in fit: conditions on a missing value do not hold, unless they "
        "say so\n"
        "Note: levels that were not seen in fit occur in 'colour' (1 row): conditions on levels do not hold for them, and "
        "negated conditions do\n"
    )
    rows = pd.DataFrame(
        {
            "age": [np.nan, np.nan],
            "colour": ["violet", None],
            "smoker": pd.Series([None, None], dtype=object),
            "admitted": pd.to_datetime(["2021-05-05 10:00", None]),
            "dose": [np.nan, np.nan],
        }
    )
    model = load_model(ward / "model.json")
    with (
        pytest.warns(UserWarning, match="Values are missing in 'smoker'"),
        pytest.warns(UserWarning, match=r"not seen in fit occur in 'colour' \(1 row\)"),
    ):
        assert json.loads(done.stdout)["prediction"] == model.predict(rows).tolist()


def test_explain_names_the_level_that_was_never_seen(ward):
    write_csv(ward / "violet.csv", INPUTS, [("", "violet", "true", "2021-05-05", 3)])
    told = run("explain", "model.json", "violet.csv", cwd=ward).stdout
    assert "colour = violet (never seen in fit)" in told
    assert "age is missing" in told
    assert "admitted = 2021-05-05" in told
    records = json.loads(run("explain", "model.json", "data.csv", *READ, "--row", "3", "--json", cwd=ward).stdout)
    model = load_model(ward / "model.json")
    X, _ = typed(patients().assign(outcome="ill"))
    assert records[-1]["contribution"] == model.explain(X.iloc[[3]]).to_dicts()[-1]["contribution"]


def test_closest_takes_dates_and_levels(ward):
    options = (*READ, "--row", "1", "--fixed", "smoker", "--lower", "admitted=2020-01-02", "--cost", "colour=3")
    done = run("closest", "model.json", "data.csv", *options, "--json", cwd=ward)
    assert done.returncode == 0, done.stderr
    model = load_model(ward / "model.json")
    X, _ = typed(patients().assign(outcome="ill"))
    found = model.closest_change(X.iloc[[1]], X, fixed=["smoker"], lower={"admitted": "2020-01-02"}, cost={"colour": 3})
    told = json.loads(done.stdout)
    assert told["distance"] == found.distance
    assert [change["variable"] for change in told["changes"]] == [change.variable for change in found]
    sentence = refused("closest", "model.json", "data.csv", *READ, "--row", "1", "--lower", "colour=red", cwd=ward)
    assert "colour" in sentence


def test_a_query_scores_the_table(ward):
    done = run("export", "model.json", "--to", "sql", "--dialect", "sqlite", "--data", "data.csv", *READ, cwd=ward)
    assert done.returncode == 0, done.stderr
    assert "Verified with SQLite" in done.stderr
    frame = patients()
    connection = sqlite3.connect(":memory:")
    kinds = {"smoker": int}
    frame[INPUTS].astype(kinds).to_sql("data", connection)
    scored = pd.read_sql(done.stdout, connection)
    connection.close()
    model = load_model(ward / "model.json")
    X, _ = typed(frame.assign(outcome="ill"))
    assert scored["score"].tolist() == model.decision_function(X).tolist()


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "model.json", "data.csv", "-o", "model.html"),
        ("round", "model.json", "data.csv", "--digits", "2", "-o", "short.json"),
        ("edit", "model.json", "data.csv", "--add", "+1 if colour in {red, pink}", "--refit", "-o", "edited.json"),
        ("stability", "model.json", "data.csv", "--bootstraps", "2"),
    ],
)
def test_rows_without_a_target_are_left_out_with_a_remark(ward, arguments):
    done = run(*arguments, *READ, "--target", "outcome", cwd=ward)
    assert done.returncode == 0, done.stderr
    n_unknown = int(patients()["outcome"].isna().sum())
    assert done.stderr.splitlines()[0] == f"Note: of 240 rows, {n_unknown} without a value of 'outcome' left out"
    if arguments[0] == "edit":
        assert "colour in {red, pink}" in done.stdout


def test_rows_with_missing_values_are_left_out_if_asked_for(ward):
    done = run("fit", "data.csv", *FIT, "complete.json", "--drop-rows", "--json", cwd=ward)
    told, frame = json.loads(done.stdout), patients()
    complete = frame[[*INPUTS, "outcome"]].notna().all(axis=1)
    assert told["rows"] == int(complete.sum())
    assert told["rows_left_out"] == int((~complete).sum())
    assert told["rows_without_target"] == int(frame["outcome"].isna().sum())
    assert all(column["missing"] == 0 for column in told["understood"])


def test_the_same_table_in_excel_and_parquet_makes_the_same_model(ward):
    frame = patients()
    day_zero = pd.Timestamp("1899-12-30")
    columns = {name: frame[name].tolist() for name in frame.columns}
    columns["admitted"] = [day and Styled((pd.Timestamp(day) - day_zero).days, DATE) for day in columns["admitted"]]
    write_workbook(ward / "data.xlsx", {"patients": [list(columns), *zip(*columns.values(), strict=True)]})
    X, y = typed(frame)
    X.assign(colour=X["colour"].astype("category"), id=range(len(X)), outcome=y).to_parquet(ward / "data.parquet")
    for name, options in (("data.xlsx", ()), ("data.parquet", ("--drop", "id"))):
        done = run("fit", name, *FIT, f"{name}.json", *options, cwd=ward)
        assert done.returncode == 0, done.stderr
        assert (ward / f"{name}.json").read_bytes() == (ward / "model.json").read_bytes()


def test_decimal_commas_beside_text(ward):
    written = patients()
    written["dose"] = [None if dose is None else str(dose).replace(".", ",") for dose in written["dose"]]
    written.to_csv(ward / "comma.csv", sep=";", index=False, encoding="latin-1")
    done = run("fit", "comma.csv", *FIT, "comma.json", "--decimal", ",", "--encoding", "latin-1", cwd=ward)
    assert done.returncode == 0, done.stderr
    assert (ward / "comma.json").read_bytes() == (ward / "model.json").read_bytes()
    assert "To read them: --decimal ','" in refused("fit", "comma.csv", *FIT, "refused.json", cwd=ward)


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """A directory with a table of codes, some of them text, and the model that takes them for levels."""
    directory = tmp_path_factory.mktemp("coded")
    rng = np.random.default_rng(0)
    region, grade = rng.integers(1, 6, 150), rng.choice(["1", "2", "3", "10+"], 150)
    ill = np.isin(region, [2, 5]) ^ (grade == "10+")
    rows = zip(region, grade, np.where(ill, "ill", "well"), strict=True)
    write_csv(directory / "data.csv", ["region", "grade, old", "state"], [(a, b, c) for a, b, c in rows])
    text = (directory / "data.csv").read_text(encoding="utf-8").replace("grade, old", '"grade, old"')
    (directory / "data.csv").write_text(text, encoding="utf-8")
    options = ("--categorical", 'region,"grade, old"', "--method", "tgb", "-o", "model.json")
    done = run("fit", "data.csv", "--target", "state", *options, cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    return directory


def test_numbers_are_levels_if_the_user_says_so(coded):
    said = (coded / "said.txt").read_text(encoding="utf-8")
    assert "  region        levels  5 levels: " in said
    assert '  "grade, old"  text    4 levels: ' in said
    columns = load_model(coded / "model.json").model_.columns
    assert set(columns[0].levels) == {1, 2, 3, 4, 5}
    assert set(columns[1].levels) == {"1", "2", "3", "10+"}


def test_levels_are_found_again_in_a_table_in_which_they_look_otherwise(coded):
    expected = run("predict", "model.json", "data.csv", cwd=coded).stdout.splitlines()
    table = pd.read_csv(coded / "data.csv")
    kept = table[table["grade, old"] != "10+"]
    # Only numbers are left among the grades, and the regions become decimals beside a text.
    kept = kept.assign(region=kept["region"].astype(float).astype(str)).reset_index()
    kept.loc[len(kept)] = [-1, "abroad", "1", "well"]
    kept[["region", "grade, old"]].to_csv(coded / "some.csv", index=False)
    done = run("predict", "model.json", "some.csv", cwd=coded)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:-1] == [expected[row + 1] for row in kept["index"] if row >= 0]
    assert done.stderr.startswith("Note: levels that were not seen in fit occur in 'region' (1 row): ")
    typed_table = kept.iloc[:-1].assign(region=table["region"]).astype({"grade, old": int})[["region", "grade, old"]]
    typed_table.assign(region=kept["region"].iloc[:-1].astype(float)).to_parquet(coded / "some.parquet")
    assert run("predict", "model.json", "some.parquet", cwd=coded).stdout.splitlines() == done.stdout.splitlines()[:-1]


def test_an_option_with_a_quote_that_is_not_closed(coded):
    sentence = refused("fit", "data.csv", "--target", "state", "--categorical", '"region', "-o", "x.json", cwd=coded)
    assert "argument --categorical" in sentence
