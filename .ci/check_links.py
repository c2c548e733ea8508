"""Check that every link inside the documentation leads to a file that is there, and to a place in it that is there."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that others can link to."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of links and places."""
        given = {name: value for name, value in attrs if value}
        self.links += [given[name] for name in ("href", "src") if name in given and tag != "base"]
        self.places |= {given[name] for name in ("id", "name") if name in given}

    def broken(self, pages: dict[Path, "Page"]) -> list[str]:
        """Return the links inside the documentation that lead nowhere."""
        return [link for link in self.links if not self.leads_somewhere(link, pages)]

    def leads_somewhere(self, link: str, pages: dict[Path, "Page"]) -> bool:
        """Whether a link leaves the documentation, or is to a place that is there."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return True
        target = (self.path.parent / unquote(parts.path)).resolve() if parts.path else self.path
        place = unquote(parts.fragment)
        return target.exists() and (not place or target not in pages or place in pages[target].places)


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    # What themes bring along is no page: there are templates among it.
    paths = [path for path in sorted(root.rglob("*.html")) if "_static" not in path.relative_to(root).parts]
    pages = {path: Page(path) for path in paths}
    wrong = [f"{path.relative_to(root)}: {link}" for path, page in pages.items() for link in page.broken(pages)]
    sys.exit("\n".join(wrong) or (None if pages else f"There are no pages in {root}."))
