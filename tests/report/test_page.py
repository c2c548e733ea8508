"""The file is one page that a strict policy lets run, whatever names and titles are in it, and that asks for nothing."""

import base64
import functools
import hashlib
import html.parser
import json
import re

import numpy as np
import pandas as pd
import pytest

from obliquerules import TGBClassifier
from obliquerules.report import workbench

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    """quotes ' " ` &amp; \\ {{payload}}""",
    "emoji 🩺👩‍⚕️",
    "\u202ertl \u200f",
    "<!-- " + "long " * 2000,
]


@functools.cache
def hostile(n_rows=120):
    """Return a model all of whose names, labels and words are hostile."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, len(HOSTILE))), columns=HOSTILE)
    y = np.where((X.iloc[:, :3] > 0.0).sum(axis=1) + (X.iloc[:, 3:] > 0.4).sum(axis=1) > 2, "</script>", "'\"<b>")
    return TGBClassifier(max_rules=8, complexity_penalty=0.5, random_state=0).fit(X, y), X, y


class Elements(html.parser.HTMLParser):
    """Collects the elements of a page, with the text of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.elements, self.texts, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag in ("script", "style")

    def handle_endtag(self, tag):  # noqa: ARG002  # the name that the parser calls
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.texts.append((*self.elements[-1], data))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "model.html"
    model, X, y = hostile()
    model.report(path, X, y, title="</title><script>alert(2)</script>{{script}}", data_name="<b>rows</b>")
    parser = Elements()
    parser.feed(path.read_text(encoding="utf-8"))
    return path.read_text(encoding="utf-8"), parser


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_this_script_and_style_and_nothing_else(page):
    _, parser = page
    policy = next(attrs["content"] for _, attrs in parser.elements if attrs.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    styles = [text for tag, _, text in parser.texts if tag == "style"]
    scripts = [text for tag, attrs, text in parser.texts if tag == "script" and "type" not in attrs]
    assert rules == {
        "default-src": "'none'",
        "script-src": digest(*scripts),
        "style-src": digest(*styles),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_names_make_no_elements(page):
    _, parser = page
    tags = [tag for tag, _ in parser.elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert not [attrs for _, attrs in parser.elements for name in attrs if name.startswith("on") or name == "style"]
    ids = [attrs["id"] for _, attrs in parser.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)


def test_the_data_come_back_as_they_were(page):
    text, parser = page
    data = json.loads(next(content for _, attrs, content in parser.texts if attrs.get("id") == "payload"))
    assert json.loads(data["file"])["feature_names"] == HOSTILE
    assert data["title"] == "</title><script>alert(2)</script>{{script}}"
    assert text.count("&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;{{script}}") == 2  # title and heading


def test_nothing_is_asked_for(page):
    text, parser = page
    assert not [attrs for _, attrs in parser.elements if "src" in attrs or attrs.get("href", "#").startswith("#") is False]
    assert set(re.findall(r"\w+://[^\"' ]*", text)) == {"http://www.w3.org/2000/svg"}  # a name, which nobody asks for
    script = next(content for tag, attrs, content in parser.texts if tag == "script" and "type" not in attrs)
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval(", "Function(", "fetch(", "document.write", "import("):
        assert word not in script


def test_embedded_json_cannot_end_its_element():
    data = {"title": "", "name": "</script><!--\u2028"}
    text = workbench.page(data, "1").split('id="payload">')[1].split("</script>")[0]
    assert "<" not in text
    assert json.loads(text) == data


def test_the_same_model_and_rows_give_the_same_file(tmp_path):
    model, X, y = hostile()
    model.report(tmp_path / "a.html", X, y)
    model.report(tmp_path / "b.html", X, y)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
