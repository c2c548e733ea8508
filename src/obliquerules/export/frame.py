"""Data frames: a model as narwhals expressions, for pandas, polars, pyarrow, DuckDB and Dask."""

from __future__ import annotations

import datetime
import importlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import ExportFormat
from obliquerules.export.language import Language
from obliquerules.export.source import Source
from obliquerules.export.table_values import TEMPORAL, moment_arrays, threshold_moment
from obliquerules.export.verification import CannotVerifyError, compare
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules.columns import DAY, EPOCH, Level
from obliquerules.rules.rule_parts import Proposition

Columns = dict[str, Any]
# The kinds of the levels of columns, as far as they have levels.
Kinds = Mapping[str, str]
NO_KINDS: Kinds = {}
# No date, time or duration of any library counts more days or seconds.
LARGEST_MOMENT = 1e20


OPERATORS: dict[str, Callable[[Any, Any], nw.Expr]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    ">": operator.gt,
    ">=": operator.ge,
    "<=": operator.le,
    "and": operator.and_,
    "or": operator.or_,
}


class FrameLanguage(Language[nw.Expr]):
    """Narwhals expressions."""

    def number(self, value: float) -> nw.Expr:
        return nw.lit(value, dtype=nw.Float64)

    def column(self, source: Source, column: int) -> nw.Expr:
        """Return a column as doubles, null where they are NaN; dates, times and durations in days or seconds."""
        values, kind = nw.col(source.names[column]), source.columns[column].kind
        if kind not in TEMPORAL:
            return values.cast(nw.Float64).fill_nan(None)
        moment = (values if kind == "duration" else values - EPOCH) + EPOCH
        # Whole seconds and the rest: where pandas counts all microseconds, it may lose one.
        whole = (moment.dt.truncate("1s") - EPOCH).dt.total_seconds().cast(nw.Float64)
        counted = whole * 1e6 + moment.dt.microsecond().cast(nw.Float64)
        # Polars divides by a column, but multiplies by the reciprocal of a number, which is rounded otherwise.
        zeros = whole * 0.0
        seconds = counted / (zeros + 1e6)
        return seconds if kind == "time" else seconds / (zeros + DAY)

    def usable_inputs(self, source: Source) -> list[nw.Expr]:
        """Return tests of numbers; dates, times and durations, which take long to count, only if weights are extreme."""
        moments = TEMPORAL if source.largest_input > LARGEST_MOMENT else ()
        return [self.usable(source, column) for column in source.summed if source.columns[column].kind not in moments]

    def operation(self, sign: str, left: nw.Expr, right: nw.Expr) -> nw.Expr:
        return OPERATORS[sign](left, right)

    def function(self, name: str, *numbers: nw.Expr) -> nw.Expr:
        return numbers[0].exp() if name == "exp" else {"max": nw.max_horizontal, "min": nw.min_horizontal}[name](*numbers)

    def product(self, weight: float, column: nw.Expr) -> nw.Expr:
        return column * weight

    def comparison(self, source: Source, proposition: Proposition) -> nw.Expr:
        alone, weight = proposition.only_number, proposition.weights[0]
        kind = "number" if alone is None else source.columns[alone].kind
        bound = threshold_moment(kind, weight, proposition.threshold) if kind in TEMPORAL else None
        if alone is None or bound is None:
            return super().comparison(source, proposition)
        column, since = nw.col(source.names[alone]), datetime.timedelta(microseconds=bound)
        limit = since if kind == "duration" else EPOCH + since
        return column >= limit if weight > 0.0 else column <= limit

    def within(self, column: nw.Expr, limit: float) -> nw.Expr:
        return column.abs() <= limit

    def missing(self, source: Source, column: int, *, negated: bool = False) -> nw.Expr:
        special = source.columns[column].levels is not None or source.columns[column].kind in TEMPORAL
        absent = (nw.col(source.names[column]) if special else self.column(source, column)).is_null()
        return ~absent if negated else absent

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> nw.Expr:
        """Return whether a value is listed; whole numbers are compared one by one, because a column may have doubles."""
        values = nw.col(source.names[column])
        if isinstance(levels[0], int) and not isinstance(levels[0], bool):
            listed = self.either([values == level for level in levels])
        else:
            listed = values.is_in(list(levels))
        return ~listed & ~values.is_null() if negated else listed

    def only(self, condition: nw.Expr, amount: nw.Expr) -> nw.Expr:
        """Return a conditional expression; null counts as false."""
        return nw.when(condition).then(amount).otherwise(self.number(0.0))

    def bounded(self, value: nw.Expr, low: float, high: float) -> nw.Expr:
        """Return the bounded number as conditional expressions, which keep nulls."""
        below = value if high == math.inf else nw.when(value > high).then(self.number(high)).otherwise(value)
        return below if low == -math.inf else nw.when(value < low).then(self.number(low)).otherwise(below)

    def below(self, source: Source, score: nw.Expr, highest: nw.Expr) -> nw.Expr:
        """Return a difference, bounded by conditional expressions, which keep nulls."""
        far = 2.0 * source.largest_score > LARGEST_EXPONENT
        return self.bounded(score - highest, -LARGEST_EXPONENT, LARGEST_EXPONENT) if far else score - highest

    def first_label(self, labels: Sequence[Any], scores: Sequence[nw.Expr], highest: nw.Expr) -> nw.Expr:
        types: dict[type, Any] = {str: nw.String, int: nw.Int64, float: nw.Float64}
        written = [nw.lit(label, dtype=types[type(label)]) for label in labels]
        found: nw.Expr = nw.when(scores[-1] >= highest).then(written[-1])
        for label, score in zip(written[-2::-1], scores[-2::-1], strict=True):
            found = nw.when(score >= highest).then(label).otherwise(found)
        return found


# The libraries whose arithmetic is verified to be that of the model.
SUPPORTED = (
    nw.Implementation.PANDAS,
    nw.Implementation.POLARS,
    nw.Implementation.PYARROW,
    nw.Implementation.DUCKDB,
    nw.Implementation.DASK,
)


@dataclass(frozen=True)
class FrameScorer:
    """A model that adds its outputs to data frames and never replaces a column.

    Columns have their own types: text or categories, booleans, dates, times without a zone, durations and numbers. What is null
    or NaN is missing. Outputs are null, or NaN in pandas, for a row in which a number that rules use is beyond 1e300.

    Attributes
    ----------
    stages : tuple of mappings from str to narwhals.Expr
        The outputs by name, those of each stage computed from the columns of the stages before it, so that scores are computed
        once. A later stage may replace an output.
    names : tuple of str
        The names of the outputs.
    inputs : tuple of str
        The names of the columns that are read.
    moments : tuple of str
        Those of them that hold dates, times or durations.
    whole : tuple of str
        The outputs that are whole numbers or null, which pandas keeps in a type of its own.
    """

    stages: tuple[Mapping[str, nw.Expr], ...] = field(repr=False)
    names: tuple[str, ...]
    inputs: tuple[str, ...] = field(repr=False)
    moments: tuple[str, ...] = field(default=(), repr=False)
    whole: tuple[str, ...] = field(default=(), repr=False)

    def __call__(self, frame: Any) -> Any:
        """Return a frame, eager or lazy, with the outputs as further columns; raise if it has one of them already."""
        given = nw.from_native(frame)
        if given.implementation not in SUPPORTED:
            raise TypeError(
                f"A frame of {given.implementation.value} cannot be scored: sums may differ from the model's in the last bits. "
                f"Give a frame of {', '.join(LIBRARIES)}, or export the model to SQL."
            )
        schema, in_pandas = given.collect_schema(), given.implementation.is_pandas_like()
        # In DuckDB, names that differ only in case are the same.
        self._check(schema, given.implementation.is_duckdb(), in_pandas)
        scored = given
        for stage in self.stages:
            scored = scored.with_columns(*[expression.alias(name) for name, expression in stage.items()])
        if len(self.stages) > 1:
            scored = scored.select(*schema.names(), *self.names)
        native, by_pandas = nw.to_native(scored), in_pandas or given.implementation.is_dask()
        return native.astype(dict.fromkeys(self.whole, "Int64")) if self.whole and by_pandas else native

    def _check(self, schema: nw.Schema, ignore_case: bool, in_pandas: bool) -> None:
        """Raise if an input is missing or no moment that can be compared, or if a column has the name of an output."""
        outputs = {name.casefold() if ignore_case else name for name in self.names}
        for name in schema.names():
            if isinstance(name, str) and (name.casefold() if ignore_case else name) in outputs:
                raise ValueError(
                    f"The frame has a column {name!r}, which is called like an output: drop or rename it, or export the model "
                    "with another prefix."
                )
        # By exact name: a library that ignores case would read another column.
        missing = [name for name in self.inputs if name not in set(schema.names())]
        if missing:
            raise ValueError(f"The frame has no column {missing[0]!r}, which rules use.")
        for name in self.moments:
            dtype = schema[name]
            if getattr(dtype, "time_zone", None) is not None:
                raise ValueError(f"The times of column {name!r} have a zone: convert them to universal time without one.")
            # What pandas keeps as objects or as dates of Arrow cannot be compared with times.
            if not dtype.is_temporal() or (in_pandas and dtype == nw.Date):
                advice = " by pandas.to_datetime or pandas.to_timedelta" if in_pandas else ""
                raise ValueError(f"The column {name!r} is of type {dtype}: make it one of dates, times or durations{advice}.")


@dataclass(frozen=True)
class FrameFormat(ExportFormat):
    """An object that adds score, prediction and, on request, the contribution of each rule to a data frame.

    Parameters
    ----------
    prefix : str, default=""
        The prefix of the output names.
    """

    name = "frame"
    has_moments = True
    prefix: str = ""

    def write(self, source: Source) -> FrameScorer:
        # Some libraries ignore the case of names.
        source.check_outputs(self.prefix, ignore_case=True)
        source.check_distinct(source.names)
        source.check_distinct(source.used_names, ignore_case=True)
        language, names = FrameLanguage(), source.output_names(self.prefix)
        scores, answers = names[: source.n_scores], names[source.n_scores : source.link_position + 1]
        contributions = [term for rule in source.ensemble for term in language.contributions(source, rule)]
        computed = [*language.scores(source, contributions), *(contributions if source.contributions else [])]
        if (scorable := language.scorable(source)) is not None:
            # Null elsewhere.
            computed = [nw.when(scorable).then(term) for term in computed]
        stages = [dict(zip([*scores, *names[source.link_position + 1 :]], computed, strict=True))]
        terms = [nw.col(name) for name in scores]
        # In place of the last answer, there is the highest score at first.
        stages += [{answers[-1]: language.function("max", *terms)}] if len(terms) > 1 else []
        stages += [dict(zip(answers, language.answers(source, terms, nw.col(answers[-1])), strict=True))]
        moments = tuple(source.names[column] for column in source.used if source.columns[column].kind in TEMPORAL)
        whole = (names[source.n_scores],) if source.label_kind == "integer" else ()
        return FrameScorer(tuple(stages), names, source.used_names, moments, whole)

    def with_free_names(self, source: Source) -> FrameFormat:
        return replace(self, prefix=source.free_prefix(self.prefix))

    def engine(self) -> tuple[str, str]:
        """Return narwhals, and the data frame libraries that are installed."""
        if not installed_libraries():
            raise CannotVerifyError(f"none of {', '.join(LIBRARIES)} is installed.")
        return "narwhals", f"{version('narwhals')} with {', '.join(installed_libraries())}"

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Add the outputs to a frame of each library, and compare each with the model."""
        computed = np.empty((0, 0))
        for library in installed_libraries():
            computed = outputs_of(product, source, X, library)
            compare(source, X, computed)
        return computed


def outputs_of(scorer: FrameScorer, source: Source, X: Matrix, library: str) -> Matrix:
    """Return the outputs that a scorer adds to a frame of one library."""
    position, known = source.position_name(scorer.names), LIBRARIES[library]
    layout = source.layout(ignore_case=not known.case_sensitive)
    # A frame with all columns of a wide model would take too long.
    layout = layout if len(layout) < known.most_columns else source.used
    columns: dict[str, Any] = {}
    for index in layout:
        column, values = source.columns[index], X[:, index]
        if column.levels is not None:
            columns[column.name] = source.values(index, X)
        else:
            columns[column.name] = moment_arrays(column.kind, values) if column.kind in TEMPORAL else values
    columns[position] = np.arange(len(X))  # a frame without columns would have no rows, and a lazy one may reorder them
    kinds = {source.names[index]: str(source.kinds[index]) for index in layout if index in source.with_levels}
    scored = nw.from_native(scorer(known.make(columns, kinds)))
    frame = (scored.collect() if isinstance(scored, nw.LazyFrame) else scored).sort(position)
    outputs = [frame[name].to_numpy() for name in scorer.names]
    if (place := source.class_position) is not None:
        outputs[place] = source.codes(frame[scorer.names[place]].to_list())
    return np.column_stack(outputs)


def _pandas(columns: Columns, kinds: Kinds = NO_KINDS) -> Any:
    import pandas

    types = {"boolean": "boolean", "integer": "Int64", "text": object}
    return pandas.DataFrame({name: pandas.Series(many, dtype=types.get(kinds.get(name, ""))) for name, many in columns.items()})


def _polars(columns: Columns, kinds: Kinds = NO_KINDS) -> Any:
    import polars

    types = {"boolean": polars.Boolean, "integer": polars.Int64, "text": polars.String}
    return polars.DataFrame(columns, schema_overrides={name: types[kind] for name, kind in kinds.items()})


def _pyarrow(columns: Columns, kinds: Kinds = NO_KINDS) -> Any:
    import pyarrow

    types = {"boolean": pyarrow.bool_(), "integer": pyarrow.int64(), "text": pyarrow.string()}
    return pyarrow.table({name: pyarrow.array(many, types.get(kinds.get(name, ""))) for name, many in columns.items()})


@dataclass(frozen=True)
class Library:
    """A data frame library: how to make a frame, the packages that this needs, and the limits of a frame."""

    make: Callable[..., Any]
    packages: tuple[str, ...]
    case_sensitive: bool = True
    most_columns: int = 1000


LIBRARIES = {
    "pandas": Library(_pandas, ("pandas",)),
    "polars": Library(_polars, ("polars",)),
    "pyarrow": Library(_pyarrow, ("pyarrow",)),
    "duckdb": Library(
        lambda *given: importlib.import_module("duckdb").from_arrow(_pyarrow(*given)),
        ("duckdb", "pyarrow"),
        case_sensitive=False,
    ),
    "dask": Library(
        lambda *given: importlib.import_module("dask.dataframe").from_pandas(_pandas(*given), npartitions=2),
        ("dask", "pandas", "pyarrow"),
    ),
}


def installed_libraries() -> list[str]:
    """Return the data frame libraries that are installed."""
    return [name for name, library in LIBRARIES.items() if all(find_spec(package) is not None for package in library.packages)]
