"""Figures: the paper's two and a map of risk and complexity for each data set, as pictures and as text."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.datasets import load_banknote
from benchmarks.paper.contenders import OURS, Contender
from benchmarks.paper.measures import MEASURES
from benchmarks.paper.protocol import bootstrap_split
from benchmarks.paper.report import best_setting
from benchmarks.paper.trials import Outcome
from obliquerules.inspection import DecisionRegionsDisplay
from obliquerules.inspection.displays import drawing
from obliquerules.rules.ensemble import RuleEnsemble

RISK = MEASURES[0]
# Methods and settings, with the sizes of the models that the paper shows in its first table.
SHOWN = {
    ("TGB (paper)", "ridge 1"): 10,
    ("DRNet", "default"): 15,
    ("LTRNet", "default"): 33,
    ("LLTBoost (paper)", "default"): 4,
}
# The palette of Okabe and Ito without its yellow, which is lost on white. Our own methods are drawn in full and peers
# hollow, so that the same colours serve both.
COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#000000")
MARKERS = "os^vDPX*<>ph8d"
LOSSES = {"regression": "test risk (mean squared error, standardised target)", "classification": "test risk (log loss)"}
SIZE = "complexity (rules + conditions + variables)"


@dataclass(frozen=True)
class Figure:
    """A picture, as the contents of a PNG and of an SVG file, and what is to be read beside it."""

    name: str
    title: str
    png: bytes
    svg: str
    text: str = ""


def figures(contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """Draw what can be drawn from the outcomes, and the regions of the paper's example if its data are there."""
    ours = [contender for contender in contenders if contender.column is not None]
    for dataset in dict.fromkeys(outcome.trial.dataset for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.trial.dataset == dataset]
        name = dataset.lower().replace(" ", "-")
        if dataset == "Banknote" and ours:
            yield trends("figure-2", "Risk and complexity on Banknote, methods of the paper", ours, own)
        yield trends(f"risk-complexity-{name}", f"Risk and complexity on {dataset}", contenders, own)
        if dataset == "Banknote":
            yield regions()


def trends(name: str, title: str, contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> Figure:
    """Draw for each method the mean risk over the mean complexity, place by place on the path, and the paper's target."""
    target = RISK.paper[outcomes[0].trial.dataset].target

    def draw(figure: Any) -> None:
        ax = figure.subplots()
        for place, contender in enumerate(contenders):
            complexity, risk = trend([one for one in outcomes if one.trial.method == contender.name], target)
            if len(risk):
                ax.plot(complexity, risk, label=contender.name, **_line(place, peer=contender.name not in OURS))
        ax.axhline(target, color="black", ls=":", lw=1, label="the paper's target")
        ax.set(xscale="log", xlabel=SIZE, ylabel=LOSSES[_kind(outcomes)])
        # What is twice as bad as the target would only press the rest together.
        lowest, highest = ax.dataLim.intervaly
        ax.set_ylim(max(lowest - 0.05 * target, 0.0), min(highest + 0.05 * target, 2.0 * target))
        _tick_plainly(ax)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)

    return _figure(name, title, (8.0, 4.6), draw)


def _line(place: int, peer: bool) -> dict[str, Any]:
    style = {"ls": "--", "lw": 0.8, "mfc": "white"} if peer else {"ls": "-", "lw": 1.6}
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)], "ms": 5, **style}


def _kind(outcomes: Sequence[Outcome]) -> str:
    return "classification" if any("0/1 loss" in outcome.losses for outcome in outcomes) else "regression"


def _tick_plainly(ax: Any) -> None:
    """Write complexities as people do: 20, not two times ten to the first."""
    ticker = drawing.pyplot().matplotlib.ticker
    least, most = ax.get_xlim()
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if most < 300.0 * least else (1.0,)))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:.0f}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def trend(outcomes: Sequence[Outcome], target: float) -> tuple[Any, Any]:
    """Return mean complexities and risks over the repetitions, as far along the path as all of them go, at the best setting."""
    done = [outcome for outcome in outcomes if outcome.complexities]
    if not done:
        return np.empty(0), np.empty(0)
    setting = best_setting(RISK, done, target)[1]
    kept = [outcome for outcome in done if outcome.trial.setting == setting]
    length = min(len(outcome.complexities) for outcome in kept)
    complexity = np.mean([outcome.complexities[:length] for outcome in kept], axis=0)
    return complexity, np.mean([outcome.losses["risk"][:length] for outcome in kept], axis=0)


def regions() -> Figure:
    """Draw the paper's first figure: the regions of four methods on two inputs of Banknote, in the paper's sizes."""
    data = load_banknote()
    split = bootstrap_split(data, 0)
    X, models = split.X_train[:, :2], {}
    for (name, setting), size in SHOWN.items():
        models[name] = OURS[name].make("classification", 0)[setting].fit(X, split.y_train).at(size)

    def draw(figure: Any) -> None:
        for ax, (name, model) in zip(figure.subplots(2, 2).flat, models.items(), strict=True):
            DecisionRegionsDisplay.from_estimator(model, X, split.y_train, features=[0, 1], response_method="predict", ax=ax)
            ax.set(xlabel="variance", ylabel="skewness")
            ax.set_title(name, loc="left")
            for text, label in zip(ax.get_legend().get_texts(), data.target_names, strict=True):
                text.set_text(label)

    names = data.feature_names[:2]
    texts = (f"{name}\n{_named(model, names)}" for name, model in models.items())
    return _figure(
        "figure-1", "Regions of four methods on two inputs of Banknote, standardised", (9.0, 8.0), draw, "\n\n".join(texts)
    )


def _named(model: Any, names: Sequence[str]) -> str:
    return RuleEnsemble(model.ensemble_.rules, model.ensemble_.intercept, names).to_text()


def _figure(name: str, title: str, inches: tuple[float, float], draw: Callable[[Any], None], text: str = "") -> Figure:
    """Draw without a screen; the same data give the same bytes, and no two pictures of a page share a name inside."""
    plt = drawing.pyplot()
    with plt.rc_context({**drawing.TYPE, "svg.hashsalt": name, "svg.fonttype": "none"}):
        figure = plt.matplotlib.figure.Figure(inches, layout="constrained")
        draw(figure)
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=120)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return Figure(name, title, png.getvalue(), svg.getvalue(), text)
