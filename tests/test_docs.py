"""The examples of the documentation give the output that they show."""

import doctest
import re
from pathlib import Path

import pytest

import obliquerules

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.rst") if ">>>" in page.read_text(encoding="utf-8"))


def test_there_are_examples() -> None:
    assert {"index.rst", "install.rst", "tour.rst", "guide/fitting.rst"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some examples write files, and some read what was measured
    (tmp_path / "docs").symlink_to(DOCS)
    result = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_reference_lists_every_public_name() -> None:
    listed = {line.strip() for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines()}
    assert set(obliquerules.__all__) <= listed


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_between_files_lead_somewhere(page: str) -> None:
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert all((DOCS.parent / target).is_file() for target in targets if target)
