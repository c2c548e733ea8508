"""Whole files: all or nothing, over regular files alone, with the mode and owner that they had."""

import os
import resource
import socket
import stat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obliquerules import Rule, RuleEnsemble
from obliquerules.rules.files.whole_files import NotRegularError, give_new_name, write_bytes, write_text


def device(path):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))


def listening(path):
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(os.path.relpath(path))  # the name of a socket must be short


def _what_is_there(path):
    """All but the time of the last look at it."""
    state = os.lstat(path)
    return state.st_mode, state.st_ino, state.st_size, state.st_mtime_ns, sorted(path.parent.iterdir())


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser makes devices and gives files away")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (os.mkdir, "a directory"),
        (os.mkfifo, "a pipe"),
        (listening, "a socket"),
        pytest.param(device, "a device", marks=as_root),
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path, monkeypatch, make, what, linked):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "there"
    make(path)
    if linked:
        path = tmp_path / "link"
        path.symlink_to("there")
    before = _what_is_there(path)
    with pytest.raises(NotRegularError, match=f"'{path}' is {what}: only a regular file"):
        RuleEnsemble([Rule(1.0)]).save(path)
    assert _what_is_there(path) == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400, 0o777])
def test_the_mode_of_a_file_stays(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)
    RuleEnsemble([Rule(1.0)]).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@as_root
def test_the_owner_of_a_file_stays(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old", encoding="utf-8")
    os.chown(path, 1234, 4321)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_a_new_file_has_the_mode_that_the_user_wants_for_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "file").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loose").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    write_text(tmp_path / "link", "new")
    write_text(tmp_path / "loose", "new")
    with pytest.raises(OSError, match="symbolic links"):
        write_text(tmp_path / "loop", "new")
    assert all((tmp_path / name).is_symlink() for name in ("link", "loose", "loop"))
    assert [(tmp_path / name).read_text(encoding="utf-8") for name in ("file", "nothing")] == ["new", "new"]


@given(name=st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1))
@example(name="m" * 255)
@example(name="ü" * 127)
@example(name="\U0001f600" * 63 + "abc")
def test_names_as_long_as_the_system_takes_them(tmp_path_factory, name):
    raw = name.encode()[:255]
    name = raw.decode(errors="ignore")
    if name not in ("", ".", ".."):
        directory = tmp_path_factory.mktemp("names")
        write_bytes(directory / name, raw)
        assert [path.name for path in directory.iterdir()] == [name]


def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "file").write_text("old", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            write_bytes(tmp_path / "file", b"x" * 1001)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"file": "old"}


def without_links(*_):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("link", [os.link, without_links])
def test_a_new_name_is_given_once(tmp_path, monkeypatch, link):
    monkeypatch.setattr(os, "link", link)
    for text in ("first", "second"):
        (tmp_path / text).write_text(text, encoding="utf-8")
    give_new_name(tmp_path / "first", tmp_path / "file")
    with pytest.raises(FileExistsError):
        give_new_name(tmp_path / "second", tmp_path / "file")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"file": "first", "second": "second"}
