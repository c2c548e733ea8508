"""The report: the figures of all methods beside the paper's as tables, with counts and geometric means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.paper.contenders import OURS, Contender
from benchmarks.paper.interval import Interval, order_interval
from benchmarks.paper.measures import MEASURES, Measure
from benchmarks.paper.published import COLUMNS, SECONDS
from benchmarks.paper.report_table import ReportTable
from benchmarks.paper.trials import Outcome, Trial

PREFACE = (
    "Medians over the repetitions, between order statistics: of ten, the 4th and 7th for complexities and the 3rd and 8th for\n"
    "losses. Less is better. Our median losses are rounded to two decimals, as the paper's are, before the two are compared."
)
ABOUT_TIMES = (
    "Mean over repetitions and settings of the fits that did not fail, in one thread. A fit of ours gives a whole path, and "
    "one of a peer all of its sizes. The paper's are for one value of each parameter, on another machine."
)
NOTHING = "-"
# Rules alone, as in the paper, and what is learned by default.
LEADERS = ("LLTBoost (information)", "LLTBoost (slopes)")
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
        reached, own = row.reached[column], [outcome for outcome in outcomes if outcome.trial.dataset == dataset]
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
        by_setting.setdefault(one.trial.setting, []).append(value)
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


def tables(contenders: Sequence[Contender], outcomes: Sequence[Outcome], left_out: Mapping[str, str]) -> list[ReportTable]:
    """Return the paper's tables with all methods, each of ours beside its own column, failures, and what was left out."""
    found = [overview(measure, contenders, outcomes) for measure in MEASURES]
    found += [standing(leader, contenders, outcomes) for leader in LEADERS]
    found.append(times(contenders, outcomes))
    found += [table for contender in contenders for table in _beside_the_paper(contender, outcomes)]
    failures = [(_described(outcome.trial), outcome.failure) for outcome in outcomes if outcome.failure is not None]
    found.append(ReportTable("Failed fits, which meet no target", ("fit", "why"), failures))
    found.append(ReportTable("Left out", ("what", "why"), tuple(left_out.items())))
    return [table for table in found if table.rows]


def report(found: Sequence[ReportTable], made: str) -> str:
    """Return tables as Markdown, with what they have in common and how they were made said first."""
    return "\n\n".join([PREFACE, made, *(table.markdown() for table in found)]) + "\n"


def overview(measure: Measure, contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> ReportTable:
    """Return one measure of all methods, ours and others, with the paper's figures below."""
    datasets = [name for name in measure.paper if any(outcome.trial.dataset == name for outcome in outcomes)]
    rows = [("target", *(f"{measure.paper[name].target:g}" for name in datasets))]
    for contender in contenders:
        own = {name: _own(outcomes, contender, name) for name in datasets}
        best = (best_setting(measure, own[name], measure.paper[name].target)[0] if own[name] else None for name in datasets)
        rows.append((contender.name, *map(_figure, best)))
    for column in COLUMNS:
        rows.append((f"paper: {column}", *(_figure(measure.paper[name].reached[column]) for name in datasets)))
    shown = [row for row in rows if set(row[1:]) != {NOTHING}]
    return ReportTable(f"{measure.title}, all methods", ("method", *datasets), shown if datasets else ())


def standing(leader: str, contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> ReportTable:
    """Return for each measure and data set which rule learners, ours of other selections aside, do better than LLTBoost."""
    rivals = [contender for contender in contenders if contender.rules and contender.column != "LLTB"]
    peers = [contender.name for contender in rivals if contender.column is None]
    rows, beaten_by_peers = [], 0
    for measure in MEASURES if rivals else ():
        for dataset, row in measure.paper.items():
            ours = _own(outcomes, OURS[leader], dataset)
            others = {contender.name: own for contender in rivals if (own := _own(outcomes, contender, dataset))}
            if ours and others:
                reached = best_setting(measure, ours, row.target)[0].median
                medians = {name: best_setting(measure, own, row.target)[0].median for name, own in others.items()}
                better = {name: median for name, median in medians.items() if median < reached}
                shown = ", ".join(f"{name} ({_short(median)})" for name, median in better.items())
                rows.append((measure.title, dataset, _short(reached), shown or "none"))
                beaten_by_peers += any(name in better for name in peers)
    lowest = sum(row[-1] == "none" for row in rows)
    remark = (
        f"No other rule learner does better in {lowest} of {len(rows)} cases, and no peer in {len(rows) - beaten_by_peers}. "
        "LLTBoost has one setting; TGB is at the best of seven, LTRNet at the better of two and LTRNet (paper) at the best of "
        "five for each measure."
    )
    return ReportTable(
        f"Where {leader} stands among rule learners", ("measure", "data set", "it reaches", "better"), rows, remark
    )


def times(contenders: Sequence[Contender], outcomes: Sequence[Outcome]) -> ReportTable:
    """Return the mean processor time of the fits that did not fail, with the paper's below."""
    datasets = [name for name in SECONDS if any(outcome.trial.dataset == name for outcome in outcomes)]
    rows = []
    for contender in contenders:
        own = ([one.seconds for one in _own(outcomes, contender, name) if one.failure is None] for name in datasets)
        rows.append((contender.name, *(f"{fmean(seconds):.3g}" if seconds else NOTHING for seconds in own)))
    for column in COLUMNS:
        seconds = (SECONDS[name][column] for name in datasets)
        rows.append((f"paper: {column}", *(NOTHING if one is None else f"{one:g}" for one in seconds)))
    return ReportTable("Seconds of processor time for a fit", ("method", *datasets), rows if datasets else (), ABOUT_TIMES)


def _own(outcomes: Sequence[Outcome], contender: Contender, dataset: str) -> list[Outcome]:
    return [one for one in outcomes if (one.trial.method, one.trial.dataset) == (contender.name, dataset)]


def _described(trial: Trial) -> str:
    return f"{trial.method} ({trial.setting}) on {trial.dataset}, seed {trial.seed}"


def _beside_the_paper(contender: Contender, outcomes: Sequence[Outcome]) -> Iterator[ReportTable]:
    if contender.column is None:
        return
    own = [outcome for outcome in outcomes if outcome.trial.method == contender.name]
    for measure in MEASURES:
        comparisons = compare(measure, own, contender.column)
        title = f"{measure.title}: {contender.name} beside the paper's {contender.column}"
        if comparisons:
            yield _comparison_table(title, comparisons)


def _comparison_table(title: str, comparisons: Sequence[Comparison]) -> ReportTable:
    header = ["data set", "target", "ours", "paper", "ratio", "ours is", "setting"]
    body = [
        [one.dataset, f"{one.target:g}", _figure(one.ours), _figure(one.paper), f"{one.ratio:.2f}", one.mark, one.setting]
        for one in comparisons
    ]
    if len({one.setting for one in comparisons}) == 1:
        header, body = header[:-1], [line[:-1] for line in body]
    return ReportTable(title, header, body, summary(comparisons))


def _figure(interval: Interval | None) -> str:
    return f"{_short(interval.median)} [{_short(interval.lower)}, {_short(interval.upper)}]" if interval else NOTHING


def _short(value: float) -> str:
    """Return three digits, without an exponent."""
    return f"{value:.0f}" if 1000.0 <= value < math.inf else f"{value:.3g}"
