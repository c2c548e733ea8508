"""The code of the README, run in an empty directory, gives the output that it shows."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
# A block of Python with what it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
LONGEST = 700


def test_the_code_gives_the_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((code, shown),) = BLOCK.findall(README.read_text(encoding="utf-8"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown
    assert {file.name for file in tmp_path.iterdir()} == {"cancer.json", "cancer.html"}


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").split()) <= LONGEST
