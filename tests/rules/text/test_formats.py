"""Text: tables, sentences and HTML show the numbers of the plain text, and no name can break out of them."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.rules.text.formats import FORMATS, Wording, ensemble_text, rule_lines

from ..strategies import ensembles, few

HOSTILE = ["<script>alert(1)</script>", "a | b `c` *d*", r"\input{x} $ & # _ % ~ ^ { }"]
ENSEMBLE = RuleEnsemble(
    [
        Rule(-3.123456789, Conjunction([Proposition([0, 1], [2.81, -1.5], -0.28), Proposition([2], [-1.0], -4.5)])),
        Rule(0.5, Conjunction([Proposition([1], [1.0], 3.0)])),
        Rule(7.0),
    ],
    1.79,
    ["variance", "skewness", "curtosis"],
)
RENAMED = RuleEnsemble(ENSEMBLE.rules, ENSEMBLE.intercept, HOSTILE)


def test_plain_text_is_what_print_shows():
    assert ENSEMBLE.to_text() == str(ENSEMBLE)


def test_markdown():
    assert ENSEMBLE.to_text("markdown").split("\n") == [
        "| weight | if |",
        "| ---: | :--- |",
        "| +1.79 | True |",
        "| -3.12 | 2.81 variance - 1.5 skewness >= -0.28 & curtosis <= 4.5 |",
        "| +0.5 | skewness >= 3 |",
        "| +7 | True |",
    ]


def test_latex():
    assert ENSEMBLE.to_text("latex").split("\n") == [
        r"\begin{tabular}{rll}",
        r"    \hline",
        r"    $+1.79$ & if & True \\",
        r"    $-3.12$ & if & $2.81$\,variance $-$ $1.5$\,skewness $\geq$ $-0.28$ \textbf{\&} curtosis $\leq$ $4.5$ \\",
        r"    $+0.5$ & if & skewness $\geq$ $3$ \\",
        r"    $+7$ & if & True \\",
        r"\end{tabular}",
    ]


def test_ratios_that_nobody_reads_are_left_out():
    rules = RuleEnsemble.parse("+1 if True\n+40 (share - 0.5)\n+0.7 (age - 50)\n-9 if age >= 60", ["share", "age"])
    odds, count = Wording("log-odds of 'yes'", "odds", plural=True), Wording(None, "expected count")
    assert ensemble_text(rules, "markdown", wording=odds).splitlines()[3:] == [
        "| +40 (share - 0.5) |  | True |",
        "| +0.7 (age - 50) | × 2.01 per unit | True |",
        "| -9 |  | age >= 60 |",
    ]
    start = ensemble_text(RuleEnsemble([], -20.0), "sentences", wording=odds)
    assert start == "The log-odds of 'yes' start at -20."
    assert ensemble_text(rules, "sentences", wording=odds).splitlines()[1:] == [
        "Always, the log-odds of 'yes' change by +40 times (share minus 0.5).",
        "Always, the log-odds of 'yes' change by +0.7 times (age minus 50) (odds × 2.01 for each unit).",
        "If age is at least 60, the log-odds of 'yes' fall by 9.",
    ]
    assert ensemble_text(rules, "sentences", wording=count).splitlines()[1:] == [
        "Always, the logarithm of the expected count changes by +40 times (share minus 0.5).",
        "Always, the expected count × 2.01 for each unit of (age minus 50).",
        "If age is at least 60, the logarithm of the expected count falls by 9.",
    ]


@pytest.mark.parametrize(
    ("wording", "start", "fall"),
    [
        (Wording(), "The score starts at 1.79.", "the score falls by 3.12."),
        (
            Wording("log-odds of 'yes'", "odds", plural=True),
            "The log-odds of 'yes' start at 1.79 (odds of 5.99).",
            "the log-odds of 'yes' fall by 3.12 (odds divided by 22.7).",
        ),
        (
            Wording(None, "expected count"),
            "The expected count starts at 5.99.",
            "the expected count is divided by 22.7.",
        ),
    ],
)
def test_sentences(wording, start, fall):
    first, second, third, last = ensemble_text(ENSEMBLE, "sentences", wording=wording).split("\n")
    assert first == start
    assert second == f"If 2.81 times variance minus 1.5 times skewness is at least -0.28 and curtosis is at most 4.5, {fall}"
    assert third.startswith("If skewness is at least 3, ")
    assert last.startswith("Always, ")


def test_huge_weights_have_sentences():
    text = ensemble_text(RuleEnsemble([Rule(1e300)], -1e300), "sentences", wording=Wording(None, "expected count"))
    assert "inf" not in text


def test_unknown_format():
    with pytest.raises(ValueError, match=r"^format must be one of 'plain', 'markdown', 'latex', 'sentences'; got 'pdf'\.$"):
        ENSEMBLE.to_text("pdf")


@few
@given(ensembles())
def test_every_format_has_one_line_for_each_rule_and_the_same_numbers(ensemble):
    weights = [line.partition(" if ")[0] for line in rule_lines(ensemble)]
    for kind in FORMATS:
        lines = [line for line in ensemble.to_text(kind).split("\n") if kind != "latex" or "& if &" in line]
        lines = lines[2:] if kind == "markdown" else lines
        assert len(lines) >= len(weights)  # behind the rules come the band tables
        for line, weight in zip(lines, weights, strict=False):
            assert weight.lstrip("+" if kind != "sentences" else "+-") in line


def test_exact_text_has_all_digits():
    for kind in FORMATS:
        assert "3.123456789" in ENSEMBLE.to_text(kind, exact=True)
        assert "3.123456789" not in ENSEMBLE.to_text(kind)


# Hostile names


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002  # the signature of HTMLParser
        self.tags.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_html_shows_names_as_they_are():
    cells = Cells(RENAMED._repr_html_())
    assert cells.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert f"2.81\xa0{HOSTILE[0]} -\xa01.5\xa0{HOSTILE[1]} ≥\xa0-0.28 & {HOSTILE[2]} ≤\xa04.5" in cells.text
    assert "-3.12" in cells.text


def test_markdown_names_stay_in_their_cell():
    line = RENAMED.to_text("markdown").split("\n")[3]
    assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert r"\<script\>" in line
    assert r"a \| b \`c\` \*d\*" in line


def test_latex_names_are_text():
    line = RENAMED.to_text("latex").split("\n")[3]
    assert r"\textbackslash{}input\{x\} \$ \& \# \_ \% \textasciitilde{} \textasciicircum{} \{ \}" in line
    assert line.endswith(r" \\")


def test_names_of_several_lines_stay_on_one():
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 2.0)]))], 0.0, ["two\n\nlines"])
    for kind, lines in {"plain": 2, "markdown": 4, "latex": 5, "sentences": 2}.items():
        assert len(ensemble.to_text(kind).split("\n")) == lines
