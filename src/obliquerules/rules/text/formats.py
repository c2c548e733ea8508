"""Formats: an ensemble as plain lines, a Markdown or LaTeX table, sentences, or HTML, with its band tables."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obliquerules.rules.numbers import rounded_to
from obliquerules.rules.rule import Rule
from obliquerules.rules.text.bands import BandTable, band_tables
from obliquerules.rules.text.records import html_table
from obliquerules.rules.text.style import PLAIN, Style, column_at, plain_heading

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble

# Factors of odds or counts beyond this are not printed: nobody can read them.
LARGEST_RATIO = 1000.0

# The cells of a line, and a heading with its lines.
Row = tuple[str, ...]
Grid = tuple[Row, list[Row]]


@dataclass(frozen=True)
class Wording:
    """What the score of an ensemble is called."""

    # What a rule adds its weight to, such as "log-odds of 'benign'".
    score: str | None = "score"
    # What a rule multiplies by the exponential of its weight, such as "odds"; None without such a factor.
    factor: str | None = None
    # Whether the name of the score is a plural.
    plural: bool = False
    # With many classes, what each of them is called in a sentence.
    classes: tuple[str, ...] = ()

    def of(self, output: int) -> Wording:
        """Return what the score of one of many classes is called."""
        return replace(self, score=f"score of {self.classes[output]}", classes=()) if self.classes else self

    @property
    def total(self) -> str:
        """What the constant and the weights of rules add up to."""
        return f"logarithm of the {self.factor}" if self.score is None else self.score

    def ratio(self, weight: float, sign: str = "\N{MULTIPLICATION SIGN} ") -> str:
        """Return what a rule multiplies by, such as the ratio of odds with the rule and without it; empty if it is not read."""
        return "" if self.factor is None or abs(weight) > math.log(LARGEST_RATIO) else sign + _exponential(weight)

    def level(self, weight: float) -> str:
        """Return what a rule multiplies to begin with, such as the odds without any rule; empty if it is not read."""
        # An expected count or value may be of any size.
        return _exponential(weight) if self.score is None else self.ratio(weight, "")

    def start(self, constant: str, weight: float) -> str:
        """Return the sentence on the constant."""
        if self.score is None:
            return f"The {self.factor} starts at {_exponential(weight)}."
        aside = f" ({self.factor} of {self.level(weight)})" if self.level(weight) else ""
        return f"The {self.score} {'start' if self.plural else 'starts'} at {constant}{aside}."

    def change(self, size: str, weight: float) -> str:
        """Return what a rule does, as the end of a sentence."""
        ratio = self.ratio(abs(weight), "")
        factor = f"{'divided' if weight < 0.0 else 'multiplied'} by {ratio}" if ratio else ""
        if self.score is None and factor:
            return f"the {self.factor} is {factor}"
        verb = ("fall" if weight < 0.0 else "rise") + ("" if self.plural else "s")
        return f"the {self.total} {verb} by {size}" + (f" ({self.factor} {factor})" if factor else "")

    def slope(self, size: str, factor: str, weight: float) -> str:
        """Return what a rule with a factor does, as the end of a sentence."""
        ratio = f"{self.factor} {self.ratio(weight)} for each unit" if self.ratio(weight) else ""
        if self.score is None and ratio:
            return f"the {ratio} of {factor}"
        verb = "change" if self.plural else "changes"
        return f"the {self.total} {verb} by {size} times {factor}" + (f" ({ratio})" if ratio else "")


def _exponential(weight: float) -> str:
    return PLAIN.write(rounded_to(math.exp(max(-700.0, min(weight, 700.0))), 3))


def ensemble_text(ensemble: RuleEnsemble, kind: str, *, exact: bool = False, wording: Wording | None = None) -> str:
    """Return the ensemble as text of a kind; see `RuleEnsemble.to_text`."""
    if kind not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {kind!r}.")
    style, write = FORMATS[kind]
    return write(ensemble, style.in_full() if exact else style, _complete(wording, ensemble, style))


def ensemble_html(ensemble: RuleEnsemble, wording: Wording | None = None) -> str:
    """Return the ensemble and its band tables as HTML; names are escaped."""
    return "\n".join(html_table(*grid) for grid in _grids(ensemble, HTML, _complete(wording, ensemble, HTML)))


def _complete(wording: Wording | None, ensemble: RuleEnsemble, style: Style) -> Wording:
    """Return the wording, with the names of classes if there are many and it has none."""
    given = Wording() if wording is None else wording
    return given if given.classes else replace(given, classes=tuple(map(style.output, ensemble.outputs or ())))


# ---- lines and tables


def rule_lines(ensemble: RuleEnsemble, style: Style = PLAIN) -> list[str]:
    """Return the constant and the rules, one line each; with many classes, below a line with their names."""
    if ensemble.outputs is None:
        return [rule.describe(ensemble.columns, style) for rule in (Rule(ensemble.intercept), *ensemble.rules)]
    rows = [(*map(plain_heading, ensemble.outputs), "if"), *_rows(ensemble, style)]
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return [" | ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows]


def _rows(ensemble: RuleEnsemble, style: Style) -> list[Row]:
    """Return the weights and the condition of the constant and each rule, blank for classes of which a rule says nothing."""
    rows = []
    for rule in (Rule(ensemble.intercept), *ensemble.rules):
        # A factor is read off its weights, which may all be zero.
        in_full = rule.is_constant or (rule.factor is not None and not rule.classes_with_weight)
        shown = range(len(rule.weights)) if in_full else rule.classes_with_weight
        factor = None if rule.factor is None else rule.factor.describe(ensemble.columns, style)
        amounts = [style.amount(one, factor) if output in shown else "" for output, one in enumerate(rule.weights)]
        rows.append((*amounts, rule.condition.describe(ensemble.columns, style)))
    return rows


def _grids(ensemble: RuleEnsemble, style: Style, wording: Wording) -> list[Grid]:
    """Return the table of rules and the band tables; they have a column of ratios where rules multiply something."""

    def row(amount: str, ratio: str | None, condition: str) -> Row:
        return (amount, condition) if wording.factor is None else (amount, str(ratio), condition)

    rules = _rows(ensemble, style)
    if ensemble.outputs is not None:
        grids: list[Grid] = [((*map(style.name, ensemble.outputs), "if"), rules)]
    else:
        ratios = [wording.ratio(rule.weights[0]) for rule in ensemble]
        ratios = [f"{one} per unit" if one and rule.factor else one for one, rule in zip(ratios, ensemble, strict=True)]
        ratios = [wording.level(ensemble.intercepts[0]), *ratios]
        lines = [row(amount, ratio, condition) for (amount, condition), ratio in zip(rules, ratios, strict=True)]
        grids = [(row("weight", wording.factor, "if"), lines)]
    for table in band_tables(ensemble):
        bands = [row(style.signed(one.weight), wording.ratio(one.weight), one.describe(style)) for one in table.legible]
        grids.append((row("in all", wording.factor, table.heading(style)), bands))
    return grids


def _plain(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:  # noqa: ARG001  # one signature for all formats
    factors = dict.fromkeys(rule.factor.column for rule in ensemble if rule.factor is not None)
    columns = [column_at(ensemble.columns, column) for column in factors]
    # Without names, nothing is known of the columns.
    remarks = [f"a missing {PLAIN.name(one.name)} adds nothing" for one in columns if one.missing or ensemble.columns is None]
    remarks += [table.describe(style) for table in band_tables(ensemble)]
    return "\n".join([*rule_lines(ensemble, style), *(f"# {remark}" for remark in remarks)])


def _markdown(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:
    tables = []
    for heading, lines in _grids(ensemble, style, wording):
        sides = (*("---:" for _ in heading[:-1]), ":---")
        tables.append("\n".join(f"| {' | '.join(row)} |" for row in (heading, sides, *lines)))
    return "\n\n".join(tables)


def _latex(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:  # noqa: ARG001
    lines = [rf"    {' & '.join(row[:-1])} & if & {row[-1]} \\" for row in _rows(ensemble, style)]
    heading = [] if ensemble.outputs is None else [rf"    {' & '.join(map(style.name, ensemble.outputs))} & & \\"]
    sides = "r" * len(ensemble.intercepts)
    return "\n".join([rf"\begin{{tabular}}{{{sides}ll}}", *heading, r"    \hline", *lines, r"\end{tabular}"])


# ---- sentences


def _sentences(ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:
    starts = enumerate(ensemble.intercepts)
    lines = [wording.of(output).start(style.weight(constant), constant) for output, constant in starts]
    lines += [_sentence(rule, ensemble, style, wording) for rule in ensemble]
    if ensemble.outputs is not None:
        lines.append("The class with the highest score is the most probable.")
    return "\n".join([*lines, *(_band_sentence(table, style, wording) for table in band_tables(ensemble))])


def _sentence(rule: Rule, ensemble: RuleEnsemble, style: Style, wording: Wording) -> str:
    when = [f"if {rule.condition.describe(ensemble.columns, style)}"] if rule.condition.propositions else []
    factor, reach, sign = rule.factor, None, 1.0
    if factor is not None and (reach := style.hinge(ensemble.columns, factor)) is not None:
        when.append(f"for each unit of {reach}")
        # Below its knot, a hinge is negative.
        sign = 1.0 if factor.origin == factor.lower else -1.0
    parts = []
    for output in rule.classes_with_weight:
        weight, words = sign * rule.weights[output], wording.of(output)
        if factor is None or reach is not None:
            parts.append(words.change(style.weight(abs(weight)), weight))
        else:
            parts.append(words.slope(style.signed(weight), factor.describe(ensemble.columns, style), weight))
    change = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing changes"
    start = ", ".join(when or ["always"])
    return f"{start[0].upper()}{start[1:]}, {change}."


def _band_sentence(table: BandTable, style: Style, wording: Wording) -> str:
    told = []
    for band in table.legible:
        ratio = wording.ratio(band.weight) and f" ({wording.factor} {wording.ratio(band.weight)})"
        told.append(f"{style.signed(band.weight)}{ratio} {band.describe(style)}")
    total = wording.total if table.output is None else f"score of {style.output(table.output)}"
    return f"Together, the rules on {style.name(table.name)} alone add to the {total}: {', '.join(told)}."


# ---- styles


def _markdown_name(name: str) -> str:
    """Escape what has a meaning in a Markdown table, and keep the name on one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", " ".join(name.split()))


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
    return "".join(LATEX_CHARACTERS.get(character, character) for character in " ".join(name.split()))


MARKDOWN = Style(name=_markdown_name, level=lambda level: _markdown_name(str(level)), output=_markdown_name)
LATEX = Style(
    name=_latex_name,
    level=lambda level: _latex_name(str(level)),
    output=_latex_name,
    equal=" $=$ ",
    unequal=r" $\neq$ ",
    among=r" $\in$ ",
    not_among=r" $\notin$ ",
    opening=r"\{",
    closing=r"\}",
    times=r"\,",
    plus=" $+$ ",
    minus=" $-$ ",
    at_least=r" $\geq$ ",
    at_most=r" $\leq$ ",
    both=r" \textbf{\&} ",
    number="${}$",
)
SENTENCE = Style(
    times=" times ",
    plus=" plus ",
    minus=" minus ",
    at_least=" is at least ",
    at_most=" is at most ",
    both=" and ",
    equal=" is ",
    unequal=" is not ",
    among=" is one of ",
    not_among=" is none of ",
    from_level=" is at least ",
    to_level=" is at most ",
    clipped=" limited to ",
    below_level=" is below ",
    above_level=" is above ",
    opening="",
    closing="",
)
# A line never ends between a coefficient and its variable.
HTML = Style(
    name=html.escape,
    level=lambda level: html.escape(str(level)),
    output=html.escape,
    times="&nbsp;",
    equal=" =&nbsp;",
    unequal=" &ne;&nbsp;",
    plus=" +&nbsp;",
    minus=" -&nbsp;",
    at_least=" &ge;&nbsp;",
    at_most=" &le;&nbsp;",
    both=" &amp; ",
)

FORMATS: dict[str, tuple[Style, Callable[[RuleEnsemble, Style, Wording], str]]] = {
    "plain": (PLAIN, _plain),
    "markdown": (MARKDOWN, _markdown),
    "latex": (LATEX, _latex),
    "sentences": (SENTENCE, _sentences),
}
