"""LibreOffice: the program that recalculates a workbook, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from obliquerules.export.verification import ExportError

# A workbook of some thousand rows takes seconds.
TIME_LIMIT = 600


def find_office() -> str | None:
    """Return the path of LibreOffice; None if it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def office_version(program: str) -> str:
    """Return the version of LibreOffice."""
    asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", asked.stdout)
    return found[0] if found else "of unknown version"


def recalculated(program: str, workbook: bytes) -> bytes:
    """Return a workbook with values in the cells whose formulas had none."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "given.xlsx").write_bytes(workbook)
        # With a profile of its own, it neither reads nor waits for the one of a user who has it open.
        command = [program, "--headless", f"-env:UserInstallation={(place / 'profile').as_uri()}"]
        command += ["--convert-to", "xlsx", "--outdir", str(place / "made"), str(place / "given.xlsx")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=TIME_LIMIT)
        made = place / "made" / "given.xlsx"
        if done.returncode != 0 or not made.is_file():
            raise ExportError(f"LibreOffice failed on the export with exit code {done.returncode}: {done.stderr.strip()}")
        return made.read_bytes()
