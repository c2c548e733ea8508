"""Whatever is wrong with what a command is given, it says so in one sentence, and leaves all files as they were."""

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from obliquerules import Rule, RuleEnsemble
from obliquerules.cli.main import main

from .executable import COMMAND, ENVIRONMENT, FULL_DISK, refused, run, write_csv

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
ROWS = [(1, 2.5, 0), (2, 3.5, 1), (3, 0.5, 0), (4, 9.5, 1)]


@pytest.fixture
def fit(tmp_path):
    """Return what tries to fit a table, and looks that it wrote nothing."""

    def fit(name, content, *options):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None:
            write_csv(path, content[0], content[1])
        sentence = refused("fit", name, "--target", "y", "-o", "model.json", *options, cwd=tmp_path)
        assert not (tmp_path / "model.json").exists()
        return sentence

    return fit


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("data.csv", PNG, "'data.csv' is not CSV in UTF-8: line 1 is not text."),
        ("data.csv", b"\0\0\0", "'data.csv' is not CSV: line 1 has a character that no text has."),
        ("data.csv", b"", "'data.csv' is empty: the first line should have the names of the columns."),
        ("data.csv", b"a,b,y\n", "'data.csv' has a header, but no rows."),
        ("data.csv", b"a,b,y\n1,2\n", "'data.csv' has 2 values in line 2, but 3 columns in its header."),
        ("data.csv", b'a,b,y\n1,2,"3\n', "'data.csv' is not CSV: unexpected end of data."),
        ("data.csv", b"a,,y\n1,2,3\n", "has no name for column 2"),
        (
            "data.csv",
            b"y\n1\n2\n",
            "'data.csv' has no column to learn from: the target, and columns with a role, are no inputs.",
        ),
        ("data.csv", b"a" * 140_000 + b",y\n1,2\n", "'data.csv' is not CSV: field larger than field limit (131072)."),
        ("data.csv", b"a,b,y\r1,2\r", "'data.csv' has 2 values in line 2, but 3 columns in its header."),
        (
            "data.csv",
            b"gr\xf6\xdfe,y\n1,2\n",
            "line 1 is not text. If it is text in another encoding, say so: --encoding latin-1.",
        ),
        (
            "data.csv",
            b"a;y\n1,5;2\n2,5;3\n",
            "Column 'a' of 'data.csv' holds numbers with a decimal comma ('1,5'). To read them",
        ),
        ("data.csv", b"a;y\n1;2,5\n2;3\n3;4,5\n", "Column 'y' of 'data.csv' holds numbers with a decimal comma ('2,5')."),
        ("data.xlsx", b"PK", "'data.xlsx' is not an Excel file (.xlsx): File is not a zip file."),
        ("data.csv", (["a", "a", "y"], ROWS), "'data.csv' has two columns named 'a'"),
        ("data.csv", (["a", "b", "z"], ROWS), "'data.csv' has no column 'y'; it has 'a', 'b', 'z'."),
        ("data.csv", (["a", "b", "y"], [(1, 2, 5), (2, 3, 5)]), "The target 'y' has one value only, 5"),
        (
            "data.csv",
            (["a", "y"], [(1, 2), ("two", 3)]),
            "Column 'a' holds numbers and text ('two'). Correct it, say that the text stands for a missing value "
            "(--missing-values), take it for levels (--categorical a), or leave it out (--drop a).",
        ),
        ("data.csv", (["a", "y"], [(1, "NA"), (2, "")]), "The target 'y' has nothing but missing values."),
        ("data.csv", (["a", "y"], [(1, "2021-03-01"), (2, "2021-03-02")]), "The target 'y' holds dates, which cannot be pred"),
        (
            "data.csv",
            (["a", "y"], [(1, "x"), (2, "y"), (3, "z")]),
            "The target 'y' has 3 classes ('x', 'y', 'z') in 3 rows, too many",
        ),
        (
            "data.csv",
            (["a", "y"], [("p", 1), ("q", 2)]),
            "has no column left to learn from: 'a' is left out because it is text",
        ),
        ("data.parquet", (["a", "y"], [(1, 2)]), "'data.parquet' is not a Parquet file"),
        ("data.arrow", (["a", "y"], [(1, 2)]), "'data.arrow' is not an Arrow file"),
        ("data.txt", b"a,y\n1,2\n", "DATA must end in .csv, .xlsx, .parquet or .arrow, or be '-'; got 'data.txt'."),
        ("missing.csv", None, "'missing.csv' cannot be read: No such file or directory."),
    ],
)
def test_a_table_that_cannot_be_learned_from(fit, name, content, sentence):
    assert sentence in fit(name, content)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--weight", "c"], "has no column 'c'"),
        (["--drop", "c"], "has no column 'c'"),
        (["--drop", "y"], "--drop must not name the target, 'y'."),
        (["--categorical", "a,c"], "has no column 'c'"),
        (["--categorical", "y"], "--categorical must not name the target, 'y'."),
        (["--set", "max_rules"], "--set must be followed by NAME=VALUE; got 'max_rules'."),
        (["--set", "cv=3"], "--set cannot be used for cv: that is what --cv is for."),
        (["--set", "loss=gamma"], "--set cannot be used for loss: that is what --loss is for."),
        (["--loss", "absolute"], "argument --loss: invalid choice: 'absolute'"),
        (["--loss", "gamma", "--task", "classification"], "--loss gamma cannot be used with --task classification."),
        (["--separator", ";;"], "--separator must be one character, 'tab' or 'space'; got ';;'."),
        (["--encoding", "klingon"], "--encoding must name an encoding of text, such as latin-1 or utf-16; got 'klingon'."),
        (["--encoding", "base64"], "--encoding must name an encoding of text"),
        (["--sheet", "one"], "--sheet is for .xlsx; it cannot be used with 'data.csv'."),
        (["--positive", "2"], "--positive must be one of the classes, "),
        (
            ["--positive", "2", "--task", "regression"],
            "--positive cannot be used: the task is regression, which has no classes.",
        ),
        (
            ["--method", "ltrnet", "--groups", "a"],
            "LTRNetClassifier takes no groups, because it leaves no rows out; the classes of LLTBoost and TGB do.",
        ),
        (["--groups", "a", "--cv", "5"], "--cv 5 needs a group for each fold; 'a' has 4."),
        (["--class-weight", "0=1,2=3"], "CLASS of --class-weight must be one of the classes, 0 and 1; got '2'."),
        (
            ["--method", "drnet", "--offset", "a"],
            "--offset cannot be used with --method drnet for classes. Give --method lltboost",
        ),
        (["--method", "forest"], "argument --method: invalid choice: 'forest'"),
        (["--set", "max_rule=3"], "LLTBoostClassifier has no parameter 'max_rule'; it has max_rules"),
    ],
)
def test_options_that_cannot_be_right(fit, options, sentence):
    assert sentence in fit("data.csv", (["a", "b", "y"], ROWS), *options)


def test_a_package_that_is_not_there_is_named_with_its_extra(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError('No module named pyarrow')")
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    without = ENVIRONMENT | {"PYTHONPATH": str(tmp_path)}
    arguments = ("fit", "data.parquet", "--target", "y", "-o", "model.json")
    sentence = refused(*arguments, code=1, cwd=tmp_path, env=without)
    assert sentence == "obliquerules: Reading .parquet files needs pyarrow: pip install 'obliquerules[arrow]'."


def test_standard_input_that_is_closed(tmp_path):
    done = subprocess.run(
        f"'{COMMAND}' fit - --target y -o model.json <&-",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 2
    assert done.stderr == "obliquerules: standard input is closed, so no table can be read from it.\n"


def test_rules_alone_can_be_shown_but_do_not_predict(tmp_path, capsys):
    path = tmp_path / "rules.json"
    RuleEnsemble([Rule(1.5)], 0.5, ["a"]).save(path)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out == "+0.5 if True\n+1.5 if True\n"
    write_csv(tmp_path / "data.csv", ["a"], [(1,)])
    assert main(["predict", str(path), str(tmp_path / "data.csv")]) == 2
    assert "holds rules alone" in capsys.readouterr().err
    assert main(["show", str(path), "--at", "3"]) == 2
    assert "holds one ensemble, and no path" in capsys.readouterr().err


def test_commands_that_are_not_there():
    assert "invalid choice: 'fitt'" in refused("fitt")
    assert "required: COMMAND" in refused()


@pytest.fixture(scope="module")
def bad(place):
    """A directory with a table and a model, and with files that do not fit."""
    (place / "broken.json").write_bytes((place / "model.json").read_bytes()[:-20])
    write_csv(place / "other.csv", ["age", "state"], [(30, "sick"), (40, "well")])
    write_csv(place / "words.csv", ["age", "pulse", "state"], [(30, 60.5, "sick"), (40, "high", "well")])
    write_csv(place / "dates.csv", ["age", "pulse", "state"], [(30, "2021-03-01", "sick"), (40, "2021-03-02", "well")])
    return place


FIT = ("fit", "data.csv", "--target", "state")
EDIT = ("edit", "model.json", "data.csv", "--target", "state", "-o", "edited.json")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "missing.json"], "'missing.json' cannot be read: No such file or directory."),
        (["show", "broken.json"], "broken.json is not a complete JSON document"),
        (["predict", "model.json", "other.csv"], "'other.csv' has no column 'pulse'; it has 'age', 'state'."),
        (
            ["predict", "model.json", "words.csv"],
            "Column 'pulse' of 'words.csv' holds numbers and text ('high'), but held numbers in fit. If the text stands for a "
            "missing value: --missing-values.",
        ),
        (["predict", "model.json", "dates.csv"], "Column 'pulse' of 'dates.csv' holds dates, but held numbers in fit."),
        (
            ["closest", "model.json", "data.csv", "--row", "0", "--lower", "age=young"],
            "--lower age=young: the value must be a n",
        ),
        (["explain", "model.json", "data.csv", "--row", "80"], "--row must lie between 0 and 79"),
        ([*EDIT, "--drop", "7"], "There is no rule 7"),
        (EDIT, "there is nothing to do: give --drop"),
        ([*EDIT, "--replace", "first", "age >= 3"], "the first of its two values must be the number of a rule; got 'first'"),
        ([*FIT, "-o", "model.json"], "'model.json' is there already: give another name to --output, or --force"),
        ([*FIT, "-o", "nowhere/model.json"], "The directory 'nowhere' does not exist"),
        ([*FIT, "-o", "data.csv/model.json"], "The directory 'data.csv' does not exist"),
        ([*FIT, "-o", "."], "--output must name a file; '.' is a directory"),
        ([*FIT, "-o", "/dev/full", "--force"], "--output must name a file; '/dev/full' is a device"),
    ],
)
def test_files_that_cannot_be_read_or_must_not_be_written(bad, arguments, sentence):
    before = {path: path.read_bytes() for path in bad.iterdir()}
    assert sentence in refused(*arguments, cwd=bad)
    assert {path: path.read_bytes() for path in bad.iterdir()} == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a directory in which nobody can write")
def test_a_directory_in_which_nobody_can_write(place):
    assert "No file can be written in the directory '/proc'" in refused(*FIT, "-o", "/proc/model.json", cwd=place)


def test_a_disk_that_is_full_leaves_the_old_file(place):
    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    (place / "old.json").write_text("old", encoding="utf-8")
    before = {path: path.read_bytes() for path in place.iterdir()}
    sentence = refused(*EDIT[:-1], "old.json", "--drop", "0", "--force", code=1, cwd=place, env=FULL_DISK, preexec_fn=fill)
    assert sentence == "obliquerules: 'old.json' could not be written, and is as it was before: File too large."
    assert {path: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_standard_output_that_is_full(place):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "show", "model.json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=place,
            env=ENVIRONMENT,
        )
    assert done.returncode == 1
    assert done.stderr == "obliquerules: standard output: No space left on device.\n"


def test_a_pipe_that_nobody_reads(place):
    command = [COMMAND, "predict", "model.json", "data.csv"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place, env=ENVIRONMENT
    ) as process:
        process.stdout.close()
        told = process.stderr.read()
    assert process.returncode == 1
    assert told == "obliquerules: whoever reads standard output closed it before everything was written.\n"


def test_an_interrupt_ends_a_fit_with_a_sentence_and_no_file(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"x{column}" for column in range(20)]
    write_csv(tmp_path / "data.csv", [*names, "y"], rng.normal(size=(3000, 21)))
    command = [COMMAND, "fit", "data.csv", "--target", "y", "-o", "model.json", "--progress", "--set", "max_rules=100"]
    with subprocess.Popen(
        [*command, "--set", "complexity_penalty=0"], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=ENVIRONMENT
    ) as process:
        assert any("rule 0/100" in line for line in process.stderr)
        os.kill(process.pid, signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.endswith("obliquerules: interrupted; no file is left half-written.\n")
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.fixture
def shell(place):
    """Return what runs a line of a shell, in which COMMAND is the command, beside a table and a model."""

    def shell(line, **environment):
        return subprocess.run(
            line.replace("COMMAND", f"'{COMMAND}'"),
            shell=True,
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
            env=ENVIRONMENT | environment,
        )

    return shell


@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_disk_that_is_full_is_noticed_with_and_without_a_buffer(shell, buffered):
    done = shell(
        "ulimit -f 1; COMMAND predict model.json data.csv --probabilities --json > short.json",
        PYTHONUNBUFFERED=buffered,
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert done.returncode == 1
    assert done.stderr == "obliquerules: standard output: File too large.\n"


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_whoever_cannot_be_told_gets_the_same_exit_code(shell, closed):
    assert shell(f"COMMAND show missing.json {closed}").returncode == 2
    assert shell(f"COMMAND fit data.csv --target state -o deaf.json --force --set max_rules=1 --json {closed}").returncode == (
        1 if closed.startswith(">&-") else 0
    )


ASCII = {"PYTHONIOENCODING": "ascii"}


def test_a_terminal_that_knows_few_characters(place, shell):
    write_csv(place / "grüße.csv", ["größe\u2028ß", "y"], [(1, "ä"), (2, "ö"), (3, "ä"), (4, "ö"), (5, "ö")])
    fit = ("fit", "grüße.csv", "--target", "y", "-o", "grün.json", "--force", "--method", "tgb", "--set", "max_rules=1")
    done = run(*fit, cwd=place, encoding="ascii")
    assert done.returncode == 0, done.stderr
    assert 'if "gr\\xf6\\xdfe\\u2028\\xdf" >=' in done.stdout
    assert shell("COMMAND show grün.json", **ASCII).stdout == done.stdout
    done = run(*fit, "--json", cwd=place, encoding="ascii")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["columns"] == ["größe\u2028ß"]
    assert len(summary["rules"]) == 2
    assert summary["rules"][1].count('"größe\\u2028ß"') == 1
    done = shell("COMMAND predict grün.json grüße.csv", **ASCII)
    assert (done.returncode, done.stdout) == (1, "")
    assert "standard output takes only characters of ascii" in done.stderr
    predicted = json.loads(shell("COMMAND predict grün.json grüße.csv --json", **ASCII).stdout)["prediction"]
    assert set(predicted) <= {"ä", "ö"}
    assert shell("COMMAND predict grün.json grüße.csv", PYTHONIOENCODING="utf-8").stdout.split()[1:] == predicted


def test_no_input_is_overwritten_by_whatever_name(place, capsys, monkeypatch):
    def sentence(*arguments):
        assert main([*map(str, arguments), "--force"]) == 2
        return capsys.readouterr().err

    monkeypatch.chdir(place)
    (place / "soft.csv").symlink_to("data.csv")
    (place / "hard.csv").hardlink_to(place / "data.csv")
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    for name in ("data.csv", "./data.csv", place / "data.csv", "soft.csv", "hard.csv"):
        assert "--output must not be an input" in sentence(*FIT, "-o", name)
        assert "is the file that is read as 'data.csv'" in sentence("predict", "model.json", "data.csv", "-o", name)
    for command in (("predict", "model.json", "data.csv"), ("report", "model.json"), ("export", "model.json", "--to", "json")):
        assert "is read as 'model.json'" in sentence(*command, "-o", "model.json")
    assert "is read as 'model.json'" in sentence(*EDIT[:-1], "model.json", "--drop", "0")
    with open(place / "data.csv", "rb") as table:
        told = refused("fit", "-", "--target", "state", "-o", "data.csv", "--force", cwd=place, stdin=table)
    assert "is read as standard input" in told
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


def test_names_of_files_as_long_as_the_system_takes_them(place):
    longest = "m" * 250 + ".json"
    assert run(*FIT, "-o", longest, "--set", "max_rules=1", cwd=place).returncode == 0
    assert run("show", longest, cwd=place).returncode == 0
    assert "File name too long" in refused(*FIT, "-o", "m" + longest, cwd=place)
