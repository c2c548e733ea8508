"""Text: an ensemble as plain lines, a Markdown or LaTeX table, sentences, or HTML."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obliquerules.rules.decimals.numbers import rounded_to
from obliquerules.rules.rule import Rule
from obliquerules.rules.style import PLAIN, Style

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble


@dataclass(frozen=True)
class Wording:
    """What the score of an ensemble is called.

    Attributes
    ----------
    score : str or None
        What a rule adds its weight to, such as ``"log-odds of 'benign'"``.
    factor : str or None
        What a rule multiplies by the exponential of its weight, such as ``"odds"``; None if there is no such thing.
    plural : bool
        Whether the name of the score is a plural.
    """

    score: str | None = "score"
    factor: str | None = None
    plural: bool = False

    @property
    def total(self) -> str:
        """What the constant and the weights of rules add up to."""
        return f"logarithm of the {self.factor}" if self.score is None else self.score

    def start(self, constant: str, weight: float) -> str:
        """Return the sentence on the constant."""
        if self.score is None:
            return f"The {self.factor} starts at {_factor(weight)}."
        aside = "" if self.factor is None else f" ({self.factor} of {_factor(weight)})"
        return f"The {self.score} {'start' if self.plural else 'starts'} at {constant}{aside}."

    def change(self, size: str, weight: float) -> str:
        """Return what a rule does, as the end of a sentence."""
        factor = "" if self.factor is None else f"{'divided' if weight < 0.0 else 'multiplied'} by {_factor(abs(weight))}"
        if self.score is None:
            return f"the {self.factor} is {factor}"
        verb = ("fall" if weight < 0.0 else "rise") + ("" if self.plural else "s")
        return f"the {self.score} {verb} by {size}" + (f" ({self.factor} {factor})" if factor else "")


def _factor(weight: float) -> str:
    return PLAIN.write(rounded_to(math.exp(max(-700.0, min(weight, 700.0))), 3))


def ensemble_text(ensemble: RuleEnsemble, kind: str, *, exact: bool = False, wording: Wording | None = None) -> str:
    """Return the ensemble as text of a kind; see `RuleEnsemble.to_text`."""
    if kind not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {kind!r}.")
    style, write = FORMATS[kind]
    return write(ensemble, style.in_full() if exact else style, Wording() if wording is None else wording)


def _with_constant(ensemble: RuleEnsemble) -> tuple[Rule, ...]:
    return (Rule(ensemble.intercept), *ensemble.rules)


def _plain(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:  # noqa: ARG001  # one signature for all formats
    return "\n".join(rule.describe(ensemble.feature_names, style) for rule in _with_constant(ensemble))


def _markdown(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:  # noqa: ARG001
    lines = [
        f"| {style.signed(rule.weight)} | {rule.condition.describe(ensemble.feature_names, style)} |"
        for rule in _with_constant(ensemble)
    ]
    return "\n".join(["| weight | if |", "| ---: | :--- |", *lines])


def _latex(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:  # noqa: ARG001
    lines = [
        rf"    {style.signed(rule.weight)} & if & {rule.condition.describe(ensemble.feature_names, style)} \\"
        for rule in _with_constant(ensemble)
    ]
    return "\n".join([r"\begin{tabular}{rll}", r"    \hline", *lines, r"\end{tabular}"])


def _sentences(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:
    lines = [wording.start(style.write(ensemble.intercept), ensemble.intercept)]
    for rule in ensemble:
        change = wording.change(style.write(abs(rule.weight)), rule.weight)
        when = f"If {rule.condition.describe(ensemble.feature_names, style)}" if rule.condition.propositions else "Always"
        lines.append(f"{when}, {change}.")
    return "\n".join(lines)


def ensemble_html(ensemble: RuleEnsemble) -> str:
    """Return the ensemble as an HTML table; names are escaped."""
    lines = [
        f'<tr><td style="text-align: right">{HTML.signed(rule.weight)}</td>'
        f'<td style="text-align: left">{rule.condition.describe(ensemble.feature_names, HTML)}</td></tr>'
        for rule in _with_constant(ensemble)
    ]
    heading = '<thead><tr><th>weight</th><th style="text-align: left">if</th></tr></thead>'
    return "\n".join(["<table>", heading, "<tbody>", *lines, "</tbody>", "</table>"])


def _markdown_name(name: str) -> str:
    """Escape what has a meaning in a Markdown table, and keep the name on one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", _one_line(name))


LATEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
} | {character: f"\\{character}" for character in "{}$&#_%"}


def _latex_name(name: str) -> str:
    return "".join(LATEX_CHARACTERS.get(character, character) for character in _one_line(name))


def _one_line(name: str) -> str:
    return " ".join(name.split())


MARKDOWN = Style(name=_markdown_name)
LATEX = Style(
    name=_latex_name,
    times=r"\,",
    plus=" $+$ ",
    minus=" $-$ ",
    at_least=r" $\geq$ ",
    at_most=r" $\leq$ ",
    both=r" \textbf{\&} ",
    number="${}$",
)
SENTENCE = Style(
    times=" times ", plus=" plus ", minus=" minus ", at_least=" is at least ", at_most=" is at most ", both=" and "
)
HTML = Style(name=html.escape, at_least=" &ge; ", at_most=" &le; ", both=" &amp; ")

FORMATS: dict[str, tuple[Style, Callable[[RuleEnsemble, Style, Wording], str]]] = {
    "plain": (PLAIN, _plain),
    "markdown": (MARKDOWN, _markdown),
    "latex": (LATEX, _latex),
    "sentences": (SENTENCE, _sentences),
}
