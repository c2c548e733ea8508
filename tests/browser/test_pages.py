"""The pages of the documentation, as `make docs` has built them: links lead somewhere, nothing overflows, all can read them."""

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

pytestmark = pytest.mark.pages

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
# Of the reference, which is made from one template, a few pages stand for all.
REFERENCE = "api/generated"
STANDING_FOR_ALL = ("obliquerules.LLTBoostClassifier", "obliquerules.Rule", "obliquerules.load_model")
# Fonts and the new width have taken effect.
SETTLED = """
const done = arguments[arguments.length - 1];
document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())));
"""
# How wide the page is, and which colours the reader prefers.
LOOKS = {"a desk": (1280, "light"), "a desk in the dark": (1280, "dark"), "a phone": (390, "light")}


def all_pages():
    return sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html") if "_static" not in page.parts)


def different_pages():
    """Return the pages without those of the reference that are like another one."""
    return [page for page in all_pages() if not page.startswith(REFERENCE) or Path(page).stem in STANDING_FOR_ALL]


class Page(HTMLParser):
    """What a page refers to, and the places in it that can be referred to."""

    def __init__(self, path):
        super().__init__()
        self.references, self.places = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        self.references |= {given[name] for name in ("href", "src") if given.get(name) and tag != "form"}


@pytest.fixture(scope="module")
def pages():
    return {page: Page(SITE / page) for page in all_pages()}


def test_the_site_is_complete(pages):
    expected = {"index", "tour", "fitting", "exports", "format", "gallery/index", "compare", "api", "extending/loss", "search"}
    assert {f"{page}.html" for page in expected} <= pages.keys()


def test_links_lead_somewhere(pages):
    """External addresses are not asked: there may be no network."""
    astray = [
        f"{page}: {reference}"
        for page, content in pages.items()
        for reference in content.references
        if not urlparse(reference).scheme and not urlparse(reference).netloc and not leads_somewhere(page, reference, pages)
    ]
    assert astray == []


def leads_somewhere(page, reference, pages):
    address, place = urldefrag(reference)
    file = (SITE / page).parent / unquote(urlparse(address).path) if address else SITE / page
    if not file.is_file():
        return False
    target = file.resolve().relative_to(SITE.resolve()).as_posix()
    return not place or target not in pages or unquote(place) in pages[target].places | {"top"}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("page", different_pages())
def test_nothing_overflows_or_bars_a_reader(page, look, driver, axe):
    width, colours = LOOKS[look]
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": look == "a phone"}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colours}]})
    driver.get((SITE / page).as_uri())
    driver.execute_async_script(SETTLED)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    driver.execute_script(axe)
    found = driver.execute_async_script("axe.run().then(arguments[0])")
    assert [describe(violation) for violation in found["violations"]] == []


def describe(violation):
    """Return a violation and the first elements that have it."""
    return f"{violation['id']}: {json.dumps([node['html'][:200] for node in violation['nodes'][:3]])}"


@pytest.mark.parametrize(("words", "expected"), [("exposure", "classes"), ("closest_change", "explanations")])
def test_search_finds(words, expected, driver):
    driver.implicitly_wait(10)  # results come one after the other
    driver.get(f"{(SITE / 'search.html').as_uri()}?q={words}")
    assert driver.find_element("css selector", f"ul.search li a[href*='{expected}.html']").is_displayed()
    driver.implicitly_wait(0)
