"""What notebooks show: the rules of a fitted model, scikit-learn's diagram of another, and tables in which names are text."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier

HOSTILE = "<script>alert('&')</script>"
LEVEL = "<b>red</b>"


class Markup(HTMLParser):
    """The elements and the text of a piece of HTML; every element that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = set(), [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002  # the signature of HTMLParser
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({HOSTILE: rng.normal(size=200).round(2), "colour": rng.choice([LEVEL, "blue"], 200)})
    score = 3.0 * (frame[HOSTILE] >= 0.3) + 3.0 * (frame["colour"] == LEVEL) + rng.normal(0, 0.5, 200)
    return frame, np.where(score >= 2.5, "<i>yes</i>", "no")


@pytest.fixture(scope="module")
def model(data):
    settings = {"max_rules": 3, "linear_terms": False, "effort": 0, "random_state": 0}
    return LLTBoostClassifier(positive="<i>yes</i>", **settings).fit(*data)


def shown(model, data):
    """Return everything that a notebook may show of a model."""
    X, y = data
    editing = model.edit(X, y).drop(0).refit()
    return {
        "model": model._repr_mimebundle_()["text/html"],
        "value": model.model_._repr_html_(),
        "ensemble": model.ensemble_._repr_html_(),
        "rule table": model.rule_table(X, y)._repr_html_(),
        "explanation": model.explain(X[:2])._repr_html_(),
        "row": model.explain(X[:1])[0]._repr_html_(),
        "importance": model.variable_importance(X)._repr_html_(),
        "change": model.closest_change(X[:1], X)._repr_html_(),
        "stability": model.stability(X, y, n_bootstraps=2, random_state=0)._repr_html_(),
        "edits": editing.log._repr_html_(),
        "editing": editing._repr_html_(),
    }


def test_names_and_levels_are_text_everywhere(model, data):
    pieces = {name: Markup(text) for name, text in shown(model, data).items()}
    assert all(piece.tags <= {"p", "code", "table", "thead", "tbody", "tr", "th", "td"} for piece in pieces.values())
    assert all(HOSTILE in piece.text for name, piece in pieces.items() if name != "change")
    assert "<i>yes</i>" in pieces["model"].text
    assert LEVEL in pieces["model"].text


def test_a_fitted_model_shows_what_is_printed(model):
    text = Markup(model._repr_html_()).text
    for rule in model.ensemble_:
        assert f"{rule.weight:+.3g}" in text
    assert "3 rules, complexity" in text
    assert "add up to the log-odds of '<i>yes</i>'" in text


def test_a_smaller_size_shows_fewer_rules(model):
    assert model.at(0)._repr_html_().count("<tr>") < model._repr_html_().count("<tr>")
    assert "0 rules, complexity 0" in model.at(0)._repr_html_()


def test_many_classes_have_a_column_each(data):
    X, _ = data
    y = np.where(X["colour"] == "blue", "a", np.where(X[HOSTILE] > 0, "b", "c"))
    model = TGBClassifier(max_rules=2).fit(X, y)
    text = Markup(model._repr_html_()).text
    assert "a score for each class" in text
    assert {"a", "b", "c"} <= set(text)


def test_what_must_be_known_of_predictions_is_said(data):
    X, _ = data
    years = pd.Series(np.linspace(0.5, 2.0, len(X)), name="years")
    model = LLTBoostRegressor(loss="poisson", max_rules=1, effort=0).fit(X, np.arange(len(X)) % 3, exposure=years)
    assert "multiplied by the exposure, 'years'" in Markup(model._repr_html_()).text


def test_an_unfitted_model_and_a_pipeline_show_the_diagram(data):
    unfitted = LLTBoostClassifier(max_rules=2)
    assert "sk-top-container" in unfitted._repr_html_()
    assert "sk-top-container" in unfitted._repr_mimebundle_()["text/html"]
    pipeline = make_pipeline(StandardScaler(), LLTBoostClassifier(max_rules=1, effort=0)).fit(data[0][[HOSTILE]], data[1])
    assert "sk-top-container" in pipeline._repr_html_()
    assert "LLTBoostClassifier" in pipeline._repr_html_()


def test_scikit_learn_may_be_told_to_show_text_only(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
