"""The blocks of the README, run one after the other in one directory, give the output that it shows."""

import contextlib
import io
import re
from pathlib import Path

from .cli.test_documented import check_session

README = Path(__file__).parents[1] / "README.md"
# A block of Python with what it prints, if anything, or a session of the command line.
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", flags=re.MULTILINE | re.DOTALL)


def test_all_blocks_in_one_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = {}
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert [kind for kind, _, _ in blocks] == ["python", "console", "python"]
    for kind, code, shown in blocks:
        if kind == "console":
            check_session(code, tmp_path)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, session)
        assert printed.getvalue() == shown
    assert {file.name for file in tmp_path.iterdir()} >= {"cancer.json", "diabetes.json", "cancer.html"}
