"""The report: our figures beside the paper's as Markdown tables, with counts and geometric means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from obliquerules.benchmark.interval import Interval, order_interval
from obliquerules.benchmark.measures import MEASURES, Measure
from obliquerules.benchmark.methods import Method
from obliquerules.benchmark.tasks import Outcome, Task

PREFACE = (
    "Medians over the repetitions, between order statistics: of ten, the 4th and 7th for complexities and the 3rd and 8th for\n"
    "losses. Less is better. Our median losses are rounded to two decimals, as the paper's are, before the two are compared."
)
AT_LEAST_AS_GOOD, INSIDE, WORSE = "at least as good", "inside the interval", "worse"


@dataclass(frozen=True)
class Comparison:
    """One line of the report: our median beside the paper's, on one data set, at our best setting."""

    dataset: str
    setting: str
    target: float
    ours: Interval
    paper: Interval
    decimals: int

    @property
    def mark(self) -> str:
        """Whether our median, rounded as the paper rounds, is at least as good as the paper's or inside its interval."""
        median = round(self.ours.median, self.decimals)
        if median <= self.paper.median:
            return AT_LEAST_AS_GOOD
        return INSIDE if median <= self.paper.upper else WORSE

    @property
    def ratio(self) -> float:
        """Our median over the paper's: less than one is better."""
        return self.ours.median / self.paper.median


def compare(measure: Measure, outcomes: Sequence[Outcome], column: str) -> tuple[Comparison, ...]:
    """Set the outcomes of one method beside a column of the paper, for each data set that the paper has."""
    comparisons = []
    for dataset, row in measure.paper.items():
        reached, own = row.reached[column], [outcome for outcome in outcomes if outcome.task.dataset == dataset]
        if own and reached is not None:
            ours, setting = best_setting(measure, own, row.target)
            comparisons.append(Comparison(dataset, setting, row.target, ours, reached, measure.decimals))
    return tuple(comparisons)


def best_setting(measure: Measure, outcomes: Sequence[Outcome], target: float) -> tuple[Interval, str]:
    """Return the interval with the least median, and the setting that has it; the first of several."""
    by_setting: dict[str, list[float]] = {}
    for one in outcomes:
        # A failure, like a path without any rule, has no losses and so meets no target.
        value = measure.of(one.complexities, one.losses.get(measure.loss, ()), target)
        by_setting.setdefault(one.task.setting, []).append(value)
    intervals = [(order_interval(values, measure.tenths), setting) for setting, values in by_setting.items()]
    return min(intervals, key=lambda interval: (interval[0].median, interval[0].upper))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of numbers of which some may be zero."""
    return math.prod(values) ** (1.0 / len(values))


def summary(comparisons: Sequence[Comparison]) -> str:
    """Return how often we hold our ground, and the mean ratio, as one sentence each."""
    marks = [comparison.mark for comparison in comparisons]
    as_good, inside, n = marks.count(AT_LEAST_AS_GOOD), marks.count(INSIDE), len(marks)
    counts = f"At least as good or inside the interval: {as_good + inside}/{n} (at least as good {as_good}/{n})."
    finite = [one.ratio for one in comparisons if math.isfinite(one.ours.median) and math.isfinite(one.paper.median)]
    if not finite:
        return counts
    left_out = f", leaving out {n - len(finite)} where a median is infinite" if len(finite) < n else ""
    return f"{counts} Geometric mean of the ratios{left_out}: {geometric_mean(finite):.3f}."


def report(methods: Iterable[Method], outcomes: Sequence[Outcome], left_out: Mapping[str, str]) -> str:
    """Return the tables of all methods and measures, the failures, and what was left out, as Markdown."""
    parts = [PREFACE, *(part for method in methods for part in _method(method, outcomes))]
    failures = [f"- {_told(outcome.task)}: {outcome.failure}" for outcome in outcomes if outcome.failure is not None]
    if failures:
        parts.append("\n".join(["## Failed fits, which meet no target", "", *failures]))
    if left_out:
        parts.append("\n".join(["## Left out", "", *(f"- {name}: {why}" for name, why in left_out.items())]))
    return "\n\n".join(parts) + "\n"


def _told(task: Task) -> str:
    return f"{task.method} ({task.setting}) on {task.dataset}, seed {task.seed}"


def _method(method: Method, outcomes: Sequence[Outcome]) -> Iterator[str]:
    if method.column is None:
        return
    own = [outcome for outcome in outcomes if outcome.task.method == method.name]
    for measure in MEASURES:
        comparisons = compare(measure, own, method.column)
        if comparisons:
            heading = f"## {measure.title}: {method.name} beside the paper's {method.column}"
            yield f"{heading}\n\n{_table(comparisons)}\n\n{summary(comparisons)}"


def _table(comparisons: Sequence[Comparison]) -> str:
    header = ["data set", "target", "ours", "paper", "ratio", "ours is", "setting"]
    body = [
        [one.dataset, f"{one.target:g}", _figure(one.ours), _figure(one.paper), f"{one.ratio:.2f}", one.mark, one.setting]
        for one in comparisons
    ]
    if len({one.setting for one in comparisons}) == 1:
        header, body = header[:-1], [line[:-1] for line in body]
    widths = [max(len(line[place]) for line in (header, *body)) for place in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(cells, widths) for cells in (header, rule, *body))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _figure(interval: Interval) -> str:
    return f"{interval.median:.3g} [{interval.lower:.3g}, {interval.upper:.3g}]"
