"""The examples of the documentation give the output that they show."""

import csv
import doctest
import re
from pathlib import Path

import pytest

import obliquerules

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.rst") if ">>>" in page.read_text(encoding="utf-8"))


def test_there_are_examples() -> None:
    assert {"index.rst", "tour.rst", "fitting.rst"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some examples write files
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


def test_the_comparison_shows_what_was_measured() -> None:
    tables = (DOCS.parent / "benchmarks" / "measured" / "tables.csv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.DictReader(tables) if row["measure"] == "Complexity at the risk target"]
    measured = {(row["dataset"], row["method"]): float(row["median"]) for row in rows}
    methods = ["LLTBoost (slopes)", "LLTBoost (information)", "TGB (default)", "Linear model (L1)", "FIGS (imodels)"]
    methods += ["Decision tree", "RuleFit (imodels)"]
    page = (DOCS / "compare.rst").read_text(encoding="utf-8")
    shown = re.findall(r"^(\w+(?: \w+)?) +((?:(?:[\d.]+|inf)(?: +|$)){7})", page, flags=re.MULTILINE)
    assert len(shown) == 10
    for dataset, figures in shown:
        assert [float(figure) for figure in figures.split()] == [measured[dataset, method] for method in methods]


def test_the_tree_of_contributing_is_that_of_the_package() -> None:
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"^```\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert tree is not None
    named: set[str] = set()
    above: list[str] = []
    for line in tree[1].splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], line.split()[0]]
        named.add("".join(above))
    package = DOCS.parent / "src" / "obliquerules"
    rooms = {f"{room.parent.relative_to(package)}/" for room in package.rglob("*/__init__.py")}
    assert {name for name in named if name.endswith("/")} == rooms
    assert all((package / name).exists() for name in named)
