"""Whole files: written entirely or not at all, over regular files only, whose mode and owner stay as they are."""

from __future__ import annotations

import os
import stat
import sys
import uuid
from pathlib import Path

# The name of the temporary file starts with this many characters of that of the file, so that it is never too long.
KEPT_OF_NAME = 50
KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
NEW_FILE, OWNER_ONLY, PERMISSIONS = 0o666, 0o600, 0o777


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text so that the file holds, at any moment, either what it held before or all of the new text."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], raw: bytes) -> None:
    """Write bytes as `write_text` writes a text."""
    before = regular_file(path)
    target = Path(os.path.realpath(path))  # what a link leads to, so that the link stays one
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The directory '{target.parent}' does not exist, so '{target.name}' cannot be written there.")
    temporary = temporary_beside(target)
    try:
        _write_new(temporary, raw, before)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_beside(path: Path) -> Path:
    """Return a hidden name that nobody uses, beside a file."""
    return path.with_name(f".{path.name[:KEPT_OF_NAME]}.{uuid.uuid4().hex}.tmp")


def give_new_name(temporary: Path, target: Path) -> None:
    """Move a file, atomically and never over another one."""
    if sys.platform == "win32":
        temporary.rename(target)
        return
    try:
        os.link(temporary, target)  # unlike a rename, never over another file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        target.touch(exist_ok=False)
        temporary.replace(target)
    else:
        temporary.unlink()


def regular_file(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a regular file, or None if nothing is there; raise if it is not a regular file."""
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "a device")
        raise NotRegularError(f"'{os.fspath(path)}' is {kind}: only a regular file can be written or replaced.")
    return found


class NotRegularError(OSError):
    """A file cannot be written, because its path is a directory, a device, a pipe or a socket, which is left alone."""


def _write_new(path: Path, raw: bytes, before: os.stat_result | None) -> None:
    """Write a file that nobody else can read before it has the owner and the mode of the one that it will replace."""
    mode = NEW_FILE if before is None else OWNER_ONLY
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
    if before is None:
        return
    # Owner and group are kept as far as the user may set them.
    if sys.platform != "win32":
        if os.geteuid() == 0:
            os.chown(path, before.st_uid, before.st_gid)
        elif before.st_gid in os.getgroups():
            os.chown(path, -1, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode) & PERMISSIONS)
