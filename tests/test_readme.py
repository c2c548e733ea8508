"""The quick start of the README gives the output that it shows."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_quick_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves a model
    text = README.read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, flags=re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown
    assert (tmp_path / "model.json").is_file()
