"""Excel: a model as a workbook with rows to fill in, its rules, and formulas that score the rows."""

from __future__ import annotations

import datetime
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.data.model_rows import read_rows
from obliquerules.export.export_formats import Export, ExportFormat
from obliquerules.export.language import TextLanguage, unscorable
from obliquerules.export.sheet_formulas import (
    EMPTY,
    FIRST_ROW,
    compiled,
    evaluated,
    find_office,
    moved,
    office_version,
    recalculated,
)
from obliquerules.export.source import Source
from obliquerules.export.table_values import LATEST
from obliquerules.export.verification import compare
from obliquerules.export.workbook import (
    CODE_START,
    MOST_CHARACTERS,
    MOST_COLUMNS,
    MOST_ROWS,
    Cell,
    Sheet,
    Value,
    letters,
    position,
    read_cells,
    write_workbook,
)
from obliquerules.rules.columns import DAY, EPOCH, Level
from obliquerules.rules.rule_parts import Proposition

# Excel takes only 15 digits of a number in a formula, but all digits of a number in a cell.
DIGITS = 15
SMALLEST_NUMBER, LARGEST_NUMBER = 2.2251e-308, 9.99999999999999e307
EMPTY_ROWS = 100
CANNOT_SCORE = "cannot score"
# LibreOffice writes 15 digits, and counts sums and thresholds as equal if they differ by less than about that.
OFFICE_TOLERANCE = 1e-13
# What LibreOffice is given to compute at most.
MOST_OFFICE_ROWS = 5000

# The day of 1970-01-01 in Excel, and the first day from which on Excel counts days as others do.
DAY_OF_1970, FIRST_DAY = 25569.0, 61.0
# The longest text in a formula, and what a cell cannot hold: LibreOffice takes a carriage return and a newline for one.
LONGEST_TEXT = 255
NO_TEXT = re.compile(r"\r\n|\n\r|[\x00\ud800-\udfff\ufffe\uffff]")

ABOUT = (
    "Fill in the coloured columns of the sheet Score, one row for each case: copy the formulas down for more rows.",
    "An empty cell is a missing value; a row without any value stays empty.",
    "A row says 'cannot score' if {unscorable}, or if there is text in place of a number.",
    "The columns of rules say what each rule adds to the score; the weights and conditions are in the sheet Rules.",
    "Excel compares with 15 digits: a row that is closer to a threshold may fall on its other side.",
)
SIDE_NOTES = ["if the score is not above 0", "if the score is above 0"]
HIGHEST_NOTE = "if its score is the first that is the highest"
ABOUT_CLASSES = "The class is the one with the highest score, of equal ones the first; the probability is that of this class."
ABOUT_FACTORS = "Where a value and what it is counted from agree in 15 digits, Excel may take their difference for 0."
ABOUT_EXPOSURE = "The column '{name}' is the exposure, which multiplies the prediction; the score is that of an exposure of 1."
ABOUT_OFFSET = "The column '{name}' is an offset, which is added to the score."


class ExcelLanguage(TextLanguage):
    """Formulas with English function names and commas between arguments, for the first row of the sheet Score.

    Attributes
    ----------
    inputs : str
        The cells of all inputs.
    long : list of float
        The numbers with more than 15 digits, which formulas take from the sheet Rules.
    """

    functions: ClassVar[Mapping[str, str]] = {"exp": "EXP", "max": "MAX", "min": "MIN"}
    comma = ","
    choice_form = "IF({0},{1},0)"
    within_form = "ABS({}) <= {}"

    def __init__(self, source: Source) -> None:
        self._letters = {column: letters(position) for position, column in enumerate(source.used)}
        self.inputs = _range(0, len(source.used) - 1) if source.used else ""
        shown = source.labels or two_classes(source)
        self._first_label = class_row(source)
        self._first_long = self._first_label + (1 + len(shown) if shown else 0)
        self.long: list[float] = []

    def number(self, value: float) -> str:
        """Return a decimal or, if 15 digits do not suffice, the cell that holds the number."""
        check_number(value)
        text = f"{value:.{DIGITS}G}"
        if float(text) == value:
            return text
        if value not in self.long:
            self.long.append(value)
        return f"Rules!$B${self._first_long + self.long.index(value)}"

    def cell(self, column: int) -> str:
        return f"{self._letters[column]}{FIRST_ROW}"

    def column(self, source: Source, column: int) -> str:
        """Return a cell as a number; dates and times, which are days in Excel, since the beginning of 1970."""
        cell, kind = self.cell(column), source.columns[column].kind
        days = f"({cell} - {self.number(DAY_OF_1970)})"
        return f"ROUND({days} * 86400,3)" if kind == "time" else days if kind == "date" else cell

    def count_given(self, source: Source) -> str:
        """Return how many inputs are given, 0 if one cannot be computed with; the criteria have no decimal point or comma."""
        if not source.used:
            return "0"
        # Numbers stand in runs of cells.
        places = [place for place, column in enumerate(source.used) if column in source.summed]
        starts = [place for place in places if place - 1 not in places]
        ends = [place for place in places if place + 1 not in places]
        runs = [_range(*run) for run in zip(starts, ends, strict=True)]
        limit = f"{source.largest_input:.0E}"
        usable = "+".join(f'COUNTIFS({cells},">=-{limit}",{cells},"<={limit}")' for cells in runs)
        filled = "+".join(f"COUNTA({cells})" for cells in runs)
        tests = [f"{usable}={filled}"] if runs else []
        tests += [self.usable_offset(source, column) for column in source.offsets]
        return f"IF({self.both(tests)},COUNTA({self.inputs}),0)" if tests else f"COUNTA({self.inputs})"

    def usable_offset(self, source: Source, column: int) -> str:
        """Return whether a cell holds a number that an exposure or an offset can be."""
        place, limit = source.used.index(column), f"{source.largest_offset:.0E}"
        cell, least = _range(place, place), ">0" if source.has_exposure else f">=-{limit}"
        return f'COUNTIFS({cell},"{least}",{cell},"<={limit}")=1'

    def comparison(self, source: Source, proposition: Proposition) -> str:
        """Return whether a sum reaches its threshold and no number is missing, which would count as 0."""
        numbers = [self.cell(term) for term in proposition.columns if isinstance(term, int)]
        alone, weight = proposition.only_number, proposition.weights[0]
        day = proposition.threshold * weight
        is_date = alone is not None and source.columns[alone].kind == "date" and abs(weight) == 1.0 and day.is_integer()
        if is_date and FIRST_DAY - DAY_OF_1970 <= day <= LATEST / DAY:
            date = (EPOCH + datetime.timedelta(day)).date()
            holds = f"{numbers[0]} {'>=' if weight > 0.0 else '<='} DATE({date.year},{date.month},{date.day})"
        else:
            holds = super().comparison(source, proposition)
        return self.both([f"COUNT({','.join(numbers)})={len(numbers)}", holds]) if numbers else holds

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:  # noqa: ARG002  # one signature
        return f"NOT(ISBLANK({self.cell(column)}))" if negated else f"ISBLANK({self.cell(column)})"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        """Return comparisons by EXACT, which tells upper from lower case, and an empty cell from 0 and FALSE."""
        listed = [f"EXACT({self.cell(column)},{level_text(level)})" for level in levels]
        found = listed[0] if len(listed) == 1 else self.either(listed)
        return self.both([self.missing(source, column, negated=True), f"NOT({found})"]) if negated else found

    def both(self, conditions: Sequence[str]) -> str:
        return conditions[0] if len(conditions) == 1 else f"AND({','.join(conditions)})"

    def either(self, conditions: Sequence[str]) -> str:
        return f"OR({','.join(conditions)})"

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        """Return the label from the sheet Rules; MATCH finds the first score that is the highest."""
        first = self._first_label
        found = f"MATCH({highest},${scores[0]}:${scores[-1]},0)"
        return f"INDEX(Rules!$B${first}:$B${first + len(labels) - 1},{found})"


@dataclass(frozen=True)
class ExcelFormat(ExportFormat):
    """An .xlsx workbook that scores rows, in a sheet with a column for each input and each rule, the score and the prediction.

    For a classifier there is a column for the class, too. With many classes there is a column for each score, and for what each
    rule adds to it, for the class and for its probability. The exposure or the offset, if the model has one, is an input. The
    sheet Rules has the weights, which the formulas refer to, and the conditions. An empty cell is a missing value, dates and
    times are cells with dates and times, and durations are in days. An empty row stays empty, and a row with a number beyond
    1e300 says "cannot score".

    Excel and LibreOffice compare sums with 15 digits, so a row closer than that to a threshold may fall on its other side. The
    verification evaluates the formulas in Python, with exact comparisons. If LibreOffice is installed, it recalculates the
    first 5000 rows, too, except for those that are as close to a threshold.

    Parameters
    ----------
    rows : data frame or array of shape (n_rows, n_features), optional
        Rows to put into the sheet, with their scores, above a hundred empty ones. No other row is in the file.
        In place of a level that the model does not have, there is "never seen". If the model has an exposure or an offset, it
        may be a further column of a data frame; without it, these rows cannot be scored until it is filled in.
    office : bool, default=True
        Whether LibreOffice verifies the workbook, too, if it is installed; it takes some seconds.
    """

    name = "excel"
    rows: Any = field(default=None, repr=False, compare=False)
    office: bool = True

    def export(self, source: Source, X: Matrix) -> Export:
        """Write the workbook, which always has a column for each rule, and verify it."""
        return super().export(source.with_contributions(), X)

    def write(self, source: Source) -> bytes:
        check_texts(source)
        formulas, long = row_formulas(source.with_contributions())
        filled = np.empty((0, source.n_columns)) if self.rows is None else _filled(source, self.rows)
        if len(source.used) + len(formulas) > MOST_COLUMNS or len(filled) + EMPTY_ROWS >= MOST_ROWS:
            raise ValueError(f"A sheet has {MOST_COLUMNS} columns and {MOST_ROWS} rows, which are too few for this export.")
        values = [row_values(source, filled), row_values(source, np.full((EMPTY_ROWS, source.n_columns), np.nan))]
        sheets = [score_sheet(source, formulas, np.vstack(values)), rules_sheet(source, long), about_sheet(source)]
        return write_workbook(sheets)

    # ---- verification ----

    def engine(self) -> tuple[str, str]:
        """Return LibreOffice if it is installed, and the running Python, which evaluates the formulas in place of Excel."""
        program = find_office() if self.office else None
        if program is None:
            return "Python", f"{platform.python_version()} in place of Excel"
        return "LibreOffice", f"{office_version(program)} and Python {platform.python_version()}"

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        """Return rows with an empty cell, or 0, in place of numbers that are too large or too small for Excel."""
        held = source.held(X)
        held = np.where(np.abs(held) <= LARGEST_NUMBER, held, np.nan)
        held = np.where(np.abs(held) < SMALLEST_NUMBER, 0.0, held)
        # A row has a value, and no empty text, which is a missing value in Excel.
        kept = ~np.isnan(held[:, list(source.used)]).all(axis=1) if source.used else np.ones(len(held), dtype=np.bool_)
        for index in source.used:
            levels = source.columns[index].levels or ()
            kept &= ~np.isin(held[:, index], [code for code, level in enumerate(levels) if level == ""])
        return held[kept]

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Evaluate the formulas of the sheet for each row, and compare what LibreOffice makes of them with the model."""
        scores, rules = read_cells(product, 1), read_cells(product, 2)
        computed = map(letters, range(len(source.used), len(headings(source))))
        formulas = {letter: str(scores[f"{letter}{FIRST_ROW}"].formula) for letter in computed}
        program = find_office() if self.office else None
        if program is not None:
            far = X[_far_from_thresholds(source, X)][:MOST_OFFICE_ROWS]
            compare(source, far, _by_office(program, source, far, formulas, rules))
        codes = {letter: compiled(formula) for letter, formula in formulas.items()}
        known = {f"Rules_{place}": cell.value for place, cell in rules.items()}
        found = []
        for row in cell_values(source, X):
            cells = {f"{letters(column)}{FIRST_ROW}": EMPTY if value is None else value for column, value in enumerate(row)}
            found.append(list(evaluated(codes, known | cells).values()))
        return _outputs(source, found)


def _filled(source: Source, rows: Any) -> Matrix:
    """Return the rows to put into the sheet; the exposure or offset is missing unless it is a column of a data frame."""
    offsets = []
    for column in source.offsets:
        frame, name = nw.from_native(rows, eager_only=True, pass_through=True), source.names[column]
        has_column = isinstance(frame, nw.DataFrame) and name in frame.columns
        offsets.append(frame[name].cast(nw.Float64).to_numpy() if has_column else None)
        rows = nw.to_native(frame.drop(name)) if has_column else rows
    inputs = read_rows(source.model, rows, "An export to Excel", warned=False).X.matrix
    unknown = np.full(len(inputs), np.nan)
    return np.column_stack([inputs, *[unknown if values is None else values for values in offsets]])


def _range(first: int, last: int) -> str:
    """Return the cells of the first row from one column to another."""
    return f"${letters(first)}{FIRST_ROW}:${letters(last)}{FIRST_ROW}"


def level_text(level: Level) -> str:
    r"""Return a level in a formula; raise if there is none.

    Control characters are named, and what looks like the code of one is divided: programs differ in how they read them.

    >>> level_text("a\nb"), level_text("_x0041_")
    ('"a"&CHAR(10)&"b"', '"_"&"x0041_"')
    """
    if not isinstance(level, str):
        return str(level).upper()
    if not level or len(level) > LONGEST_TEXT:
        raise ValueError(f"A formula of Excel cannot have the level {level!r}: text has 1 to {LONGEST_TEXT} characters.")
    parts = re.split(rf"([\x01-\x1f]|{CODE_START})", level)
    texts = [part.replace('"', '""') for part in parts if part]
    return "&".join(f"CHAR({ord(text)})" if text < " " else f'"{text}"' for text in texts)


def check_texts(source: Source) -> None:
    """Raise if a cell cannot hold a level or class unchanged."""
    found = [(label, f"class {label!r}") for label in source.labels or two_classes(source)]
    for index in source.used:
        found += [(level, f"level {level!r} of column {source.names[index]!r}") for level in source.columns[index].levels or ()]
    for text, what in found:
        if isinstance(text, str) and NO_TEXT.search(text):
            raise ValueError(
                f"A workbook cannot hold the {what}: a carriage return must not stand beside a newline, and characters must "
                "be such as XML has."
            )


def check_number(value: float) -> None:
    """Raise if a number is too small or too large for Excel."""
    if value and not SMALLEST_NUMBER <= abs(value) <= LARGEST_NUMBER:
        raise ValueError(f"The model has the number {value!r}, which is too small or too large for Excel.")


# ---- the sheet Rules: headings, the constant, the rules, the classes, long numbers ----


def weight_cell(rule: int, output: int = 0) -> str:
    """Return the cell that holds the weight of a rule for a score; the constant has the number -1."""
    return f"Rules!${letters(1 + output)}${FIRST_ROW + 1 + rule}"


def class_row(source: Source) -> int:
    """Return the row of the first class."""
    return FIRST_ROW + 2 + len(source.ensemble)


def two_classes(source: Source) -> list[Any]:
    """Return the labels of the classes on both sides of a single score, none where it has no classes."""
    return [] if source.labels or source.model.labels is None else source.model.labels.decode([0, 1]).tolist()


def rules_sheet(source: Source, long: Sequence[float]) -> Sheet:
    """Return the sheet with the weights, in a column for each score, the factors, if there are any, and the conditions."""
    names = (*(source.ensemble.outputs or ("weight",)), *(("times",) if source.factors else ()))
    columns = source.ensemble.columns or source.names[: source.n_features]
    # The name of a line, its numbers, and what stands below the conditions.
    lines: list[tuple[str, list[Value], str]] = [("constant", [*source.ensemble.intercepts], "always")]
    for index, rule in enumerate(source.ensemble):
        amounts: list[Value] = [None] * source.n_scores
        for output in rule.classes_with_weight:
            amounts[output] = rule.weights[output]
        amounts += [] if rule.factor is None else [rule.factor.describe(columns)]
        lines.append((f"rule_{index}", amounts, rule.condition.describe(columns)))
    empty: tuple[str, list[Value], str] = ("", [], "")
    shown = source.labels or two_classes(source)
    if shown:
        said = [HIGHEST_NOTE] * len(shown) if source.labels else SIDE_NOTES
        lines += [empty, *[("class", [_as_value(label)], note) for label, note in zip(shown, said, strict=True)]]
    if long:
        lines.append(empty)
        lines += [("number", [value], "with more digits than a formula can hold") for value in long]
    rows = [tuple(Cell(text, style="heading") for text in ("rule", *names, "condition"))]
    for name, numbers, text in lines:
        for value in numbers:
            if isinstance(value, float):
                check_number(value)
        cells = (name, *numbers, *[None] * (len(names) - len(numbers)), text) if name else ()
        rows.append(tuple(map(Cell, cells)))
    return Sheet("Rules", tuple(rows), (12.0, *[22.0] * len(names), 80.0))


def _as_value(label: Any) -> Value:
    return label if isinstance(label, (str, bool)) else float(label)


def about_sheet(source: Source) -> Sheet:
    """Return the sheet that says how to use the workbook."""
    texts = [line.format(unscorable=unscorable(source, "{:.0E}".format)) for line in ABOUT]
    texts += [ABOUT_CLASSES] if source.labels else []
    texts += [ABOUT_FACTORS] if source.factors else []
    about = ABOUT_EXPOSURE if source.has_exposure else ABOUT_OFFSET
    lines = [(Cell(line),) for line in (*texts, *[about.format(name=source.names[column]) for column in source.offsets])]
    return Sheet("About", ((Cell("How to use this workbook", style="heading"),), *lines), (120.0,))


# ---- the sheet Score: inputs, how many are given, rules, score, prediction, class ----


def headings(source: Source) -> list[str]:
    """Return the headings of the sheet Score."""
    names = source.with_contributions().output_names()
    outputs = [source.model.mean_name if name == "prediction" else name for name in names[: source.link_position + 1]]
    outputs += ["class"] if two_classes(source) else []
    return [*source.used_names, f"given of {len(source.used)}", *names[source.link_position + 1 :], *outputs]


def row_formulas(source: Source) -> tuple[list[str], list[float]]:
    """Return the formulas of the first row, and the numbers that they take from the sheet Rules."""
    language, n_inputs, n_parts = ExcelLanguage(source), len(source.used), len(source.parts)
    places = [f"{letters(n_inputs + index)}{FIRST_ROW}" for index in range(1 + n_parts + source.n_scores)]
    given, rules, scores = places[0], places[1 : 1 + n_parts], places[1 + n_parts :]
    missing = f'IF(COUNTA({language.inputs})=0,"","{CANNOT_SCORE}")' if n_inputs else '""'
    can_score = f"${given}>0" if n_inputs else f"${given}=0"
    scored = [(formula, '""') for formula in _rule_formulas(language, source, rules)]
    for output in range(source.n_scores):
        # The constant of the score, the offset if there is one, and what rules add to it.
        added = [cell for (_, one), cell in zip(source.parts, rules, strict=True) if one == output]
        offset = [] if source.has_exposure else [language.cell(column) for column in source.offsets[output : output + 1]]
        scored.append(("+".join([weight_cell(-1, output), *offset, *added]), scores[0] if output else missing))
    answers = language.answers(source, scores, f"MAX(${scores[0]}:${scores[-1]})")
    row = class_row(source)
    answers += [f"IF({scores[0]}>0,Rules!$B${row + 1},Rules!$B${row})"] if two_classes(source) else []
    scored += [(formula, scores[0]) for formula in answers]
    formulas = [f"IF({can_score},{formula},{otherwise})" for formula, otherwise in scored]
    longest = max(map(len, formulas)) + 1
    if longest > MOST_CHARACTERS:
        raise ValueError(
            f"A formula of {longest} characters is needed, where Excel takes {MOST_CHARACTERS}: export a smaller model."
        )
    return [language.count_given(source), *formulas], language.long


def _rule_formulas(language: ExcelLanguage, source: Source, cells: Sequence[str]) -> Iterator[str]:
    """Yield what each rule adds to each score that it changes, for a row that can be scored."""
    fired: dict[int, str] = {}
    for (index, output), cell in zip(source.parts, cells, strict=True):
        rule, amount = source.ensemble[index], weight_cell(index, output)
        holds = language.condition(source, rule)
        if rule.factor is not None:
            amount = language.operation("*", amount, language.factor(source, rule.factor))
        # No weight of a class is zero, so what the rule adds to the first of them tells whether it fires.
        holds = f"{fired[index]}<>0" if index in fired and holds is not None else holds
        if rule.factor is None:
            fired.setdefault(index, cell)
        yield amount if holds is None else language.only(holds, amount)


def cell_values(source: Source, X: Matrix) -> list[list[Value]]:
    """Return the values of rows as cells have them: None for an empty one."""
    columns: list[list[Value]] = []
    for index in source.used:
        column, values = source.columns[index], X[:, index]
        if column.levels is not None:
            levels = source.values(index, X)
            columns.append([None if level is None else _as_value(level) for level in levels])
            continue
        if column.kind in ("date", "time"):
            values = values / (DAY if column.kind == "time" else 1.0) + DAY_OF_1970
        columns.append([value if np.isfinite(value) else None for value in values.tolist()])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in X]


def row_values(source: Source, X: Matrix) -> NDArray[np.object_]:
    """Return what the cells of some rows hold: None for an empty one."""
    n_inputs, n_parts, n_said = len(source.used), len(source.parts), source.link_position + 1
    values = np.full((len(X), len(headings(source))), "", dtype=object)
    values[:, :n_inputs] = np.array(cell_values(source, X), dtype=object).reshape(len(X), n_inputs)
    given = np.array([sum(value is not None for value in row) for row in values[:, :n_inputs]], dtype=np.int64)
    scorable, last = source.scorable(X), values[:, n_inputs + 1 + n_parts :]
    last[~scorable & (given > 0)] = CANNOT_SCORE
    values[:, n_inputs] = np.where(scorable, given, 0)
    scorable &= (given > 0) | (n_inputs == 0)
    outputs = source.with_contributions().outputs(X[scorable])
    values[scorable, n_inputs + 1 : n_inputs + 1 + n_parts] = outputs[:, n_said:]
    last[scorable, :n_said] = outputs[:, :n_said]
    if source.labels:
        last[scorable, source.n_scores] = [source.labels[int(code)] for code in outputs[:, source.n_scores]]
    elif two_classes(source):
        last[scorable, n_said] = source.model.decisions(outputs[:, 0]).tolist()
    return values


def score_sheet(source: Source, formulas: Sequence[str], values: NDArray[np.object_]) -> Sheet:
    """Return the sheet that scores rows."""
    n_inputs = len(source.used)
    rows = [tuple(Cell(name, style="heading") for name in headings(source))]
    kinds = [source.columns[column].kind for column in source.used]
    styles = [kind if kind in ("date", "time") else "input" for kind in kinds]
    for number, row in enumerate(values.tolist(), start=FIRST_ROW):
        inputs = [Cell(value, style=style) for value, style in zip(row[:n_inputs], styles, strict=True)]
        computed = zip(map(_as_value, row[n_inputs:]), formulas, strict=True)
        given, *outputs = [(value, moved(formula, number)) for value, formula in computed]
        rows.append((*inputs, Cell(*given, "count"), *[Cell(*output, "output") for output in outputs]))
    return Sheet("Score", tuple(rows), tuple(max(10.0, min(24.0, 2.0 + len(name))) for name in headings(source)))


# ---- running the formulas ----


def _by_office(program: str, source: Source, X: Matrix, formulas: dict[str, str], rules: dict[str, Cell]) -> Matrix:
    """Return the outputs that LibreOffice computes; those that equal the model's to 13 digits become equal."""
    rows = [tuple(Cell() for _ in range(len(source.used) + len(formulas)))]
    for number, row in enumerate(cell_values(source, X), start=FIRST_ROW):
        rows.append((*map(Cell, row), *[Cell(None, moved(formula, number)) for formula in formulas.values()]))
    # The sheet Rules again.
    places = [re.fullmatch(r"([A-Z]+)(\d+)", place) for place in rules]
    names = sorted({place[1] for place in places if place}, key=position)
    lines = range(1, 1 + max(int(place[2]) for place in places if place))
    copied = Sheet("Rules", tuple(tuple(rules.get(f"{name}{line}", Cell()) for name in names) for line in lines), (10.0,))
    done = read_cells(recalculated(program, write_workbook([Sheet("Score", tuple(rows), (10.0,)), copied])), 1)
    numbers = range(FIRST_ROW, FIRST_ROW + len(X))
    computed = _outputs(source, [[done[f"{letter}{number}"].value for letter in formulas] for number in numbers])
    expected = source.outputs(X)
    return np.where(np.abs(computed - expected) <= OFFICE_TOLERANCE * np.maximum(1.0, np.abs(expected)), expected, computed)


def _outputs(source: Source, computed: list[list[Any]]) -> Matrix:
    """Return the outputs from the columns of the sheet: given, rules, scores, prediction and class, or class and probability.

    A row with a class that does not belong to its score is not scored.
    """
    size, n_said = len(source.parts), source.link_position + 1
    said = [[None] * n_said if isinstance(row[1 + size], str) else row[1 + size : 1 + size + n_said] for row in computed]
    rows = [[*one, *row[1 : 1 + size]] for one, row in zip(source.with_codes(said), computed, strict=True)]
    numbers = [[np.nan if isinstance(value, str) else value for value in row] for row in rows]
    table = np.array(numbers, dtype=np.float64).reshape(len(computed), n_said + size)
    if two_classes(source):
        found = source.model.decisions(np.nan_to_num(table[:, 0])).tolist()
        classes = [CANNOT_SCORE if np.isnan(one) else _as_value(label) for one, label in zip(table[:, 0], found, strict=True)]
        table[[row[-1] != given for row, given in zip(computed, classes, strict=True)]] = np.nan
    return table if source.contributions else table[:, :n_said]


def _nearly_cancelling(source: Source, X: Matrix) -> NDArray[np.bool_]:
    """Return in which rows a difference from an origin, or the score on its way, is so small that LibreOffice makes it 0."""
    block, found = source.block(X), np.zeros(len(X), dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        for _, factor in source.factors:
            difference = np.abs(factor(block))
            found |= (difference > 0.0) & (difference <= 2.0 * OFFICE_TOLERANCE * abs(factor.origin))
        offset = [] if source.has_exposure or not source.offsets else [X[:, list(source.offsets)]]
        total = np.tile(source.ensemble.intercepts, (len(X), 1))
        for added in [*offset, *[rule.contribution(block).reshape(total.shape) for rule in source.ensemble]]:
            size, total = np.abs(total) + np.abs(added), total + added
            found |= ((total != 0.0) & (np.abs(total) <= OFFICE_TOLERANCE * size)).any(axis=1)
    return found


def _far_from_thresholds(source: Source, X: Matrix) -> NDArray[np.bool_]:
    """Return the rows far from all thresholds, limits and classes.

    LibreOffice cannot put these on the wrong side, or into another class.
    """
    block, scorable = source.block(X), source.scorable(X)
    close = np.zeros(len(X), dtype=np.bool_)
    for proposition in source.propositions:
        with np.errstate(all="ignore"):
            summands = np.abs(np.column_stack(proposition.summands(block)))
            sizes = summands @ np.abs(proposition.weights) + abs(proposition.threshold)
            # Where a number is missing, nothing is close.
            close |= np.abs(proposition.project(block) - proposition.threshold) <= OFFICE_TOLERANCE * sizes
    if source.factors:
        close |= _nearly_cancelling(source, X)
    if source.labels:
        leading = np.sort(source.model.scores(block, source.offset_values(X)), axis=1)[:, -2:]
        close |= np.ptp(leading, axis=1) <= OFFICE_TOLERANCE * np.abs(leading).max(axis=1)
    sizes = np.abs(X[:, [*source.used]])
    at_limit = (np.abs(sizes - source.largest_input) <= OFFICE_TOLERANCE * source.largest_input).any(axis=1)
    return ~(scorable & close) & ~at_limit
