"""Two commands that write the same new file at once: one succeeds, and its file is whole."""

import subprocess
from argparse import Namespace

import pytest

from obliquerules.cli.console import WorkFailedError
from obliquerules.cli.output import writing

from .executable import COMMAND, ENVIRONMENT, run


def test_of_two_fits_at_once_one_succeeds(place):
    names = {path.name for path in place.iterdir()}
    fit = [COMMAND, "fit", "data.csv", "--target", "state", "-o", "new.json", "--set", "max_rules=1", "--quiet"]
    both = [subprocess.Popen(fit, cwd=place, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    codes = [one.returncode for one in both]
    assert codes.count(0) == 1, said
    assert codes[codes.index(0) - 1] in (1, 2)
    assert "give another name to --output, or --force to overwrite it." in "".join(said)
    assert run("show", "new.json", cwd=place).returncode == 0
    assert {path.name for path in place.iterdir()} == {*names, "new.json"}


def test_what_another_program_has_written_meanwhile_stays(tmp_path):
    path = tmp_path / "new.json"
    with pytest.raises(WorkFailedError, match="was written by another program meanwhile, and is left as it is"):
        _write_twice(path, force=False)
    assert [(one.name, one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()] == [("new.json", "theirs")]
    _write_twice(path, force=True)
    assert [(one.name, one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()] == [("new.json", "ours")]


def _write_twice(path, *, force):
    with writing(Namespace(output=path, force=force)) as place:
        path.write_text("theirs", encoding="utf-8")
        place.write_text("ours", encoding="utf-8")


@pytest.mark.parametrize("force", [False, True])
def test_a_link_leads_to_the_new_file(tmp_path, force):
    (tmp_path / "link.json").symlink_to("file.json")
    with writing(Namespace(output=tmp_path / "link.json", force=force)) as place:
        assert not (tmp_path / "file.json").exists()
        place.write_text("ours", encoding="utf-8")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "file.json").read_text(encoding="utf-8") == "ours"


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        _write_half(tmp_path / "new.json")
    assert not list(tmp_path.iterdir())


def _write_half(path):
    with writing(Namespace(output=path, force=False)) as place:
        place.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt
