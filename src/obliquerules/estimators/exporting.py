"""Exporting: text, model files, other languages, and the workbench."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from obliquerules.data.frames import column_kinds
from obliquerules.estimators.fitting import Fitting
from obliquerules.export.export_formats import Export, export
from obliquerules.parameters import check_text, check_whole
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head
from obliquerules.report.workbench import write_workbench
from obliquerules.rules import BandTable
from obliquerules.rules.files.encoding import encode_model
from obliquerules.rules.files.fields import write_document


class Exporting(Fitting):
    """An estimator whose model is printed, saved, exported and shown."""

    def to_text(self, format: str = "plain", *, exact: bool = False) -> str:  # noqa: A002  # the word users look for
        """Return `ensemble_` as text; sentences also say what the score means. See `RuleEnsemble.to_text`.

        Parameters
        ----------
        format : {"plain", "markdown", "latex", "sentences"}, default="plain"
        exact : bool, default=False
            Write every number in full.
        """
        check_is_fitted(self)
        return self.model_.to_text(format, exact=exact)

    def band_tables(self) -> tuple[BandTable, ...]:
        """Return what the rules on one variable alone add up to; see `RuleEnsemble.band_tables`."""
        check_is_fitted(self)
        return self.model_.ensemble.band_tables()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON, for `load_model`."""
        check_is_fitted(self)
        write_document(path, encode_model(self.model_))

    def export(self, to: str, X: Any = None, *, contributions: bool = False, **options: Any) -> Export:
        """Return `ensemble_` in another language, after verifying that it computes the same.

        The export is run on the rows of X and on generated rows, which hit thresholds, miss them by one double, or hold extreme
        or missing values. The same rules fire, scores are equal to the last bit, and predictions are equal to 12 digits.

        Parameters
        ----------
        to : {"python", "c", "sql", "frame", "onnx", "excel", "json", "latex"}
            ``"python"``: a module that needs only the standard library. ``"c"``: a C99 header. ``"sql"``: a query. ``"frame"``:
            an object that adds outputs to data frames of pandas, polars, pyarrow, DuckDB and Dask. ``"onnx"``: a graph in
            doubles. ``"excel"``: an .xlsx workbook. ``"json"``: the rules, which `load_model` reads. ``"latex"``: a table.
        X : data frame or array of shape (n_samples, n_features), optional
            Rows on which to compare the export with this model, besides the generated ones. A query is written for the types
            of the columns of a data frame, such as booleans.
        contributions : bool, default=False
            Also output the contribution of each rule to the score.
        **options
            ``dialect``, ``table``, ``prefix``, ``types`` and ``connection`` for ``"sql"``: see `SqlFormat`. ``prefix`` for
            ``"c"`` and ``"frame"``. ``rows`` and ``office`` for ``"excel"``: see `ExcelFormat`. ``exact`` for ``"latex"``.

        Returns
        -------
        Export
            Its `content` is the product; its `verification` says what ran it and on how many rows. `save` writes a file.

        Raises
        ------
        ExportError
            If the export does not compute the same as the model; the message names the first row that differs.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> exported = model.export("sql", X, dialect="sqlite", table="patients")
        >>> exported.verification.engine, exported.verification.mismatches
        ('SQLite', 0)
        """
        check_is_fitted(self)
        rows = None if X is None else self._read(X).X
        return export(self.model_, to, rows, contributions=contributions, kinds=column_kinds(X), **options)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        title: str | None = None,
        target: str | None = None,
        data: str | None = None,
        date: str | None = None,
        intended_use: str | None = None,
        data_name: str = "rows",
        min_count: int = 5,
        max_sizes: int = 12,
    ) -> None:
        """Write the workbench of this model as one HTML file.

        The file works in any browser, without a network or other files. It has a slider along the path, the rules at each size,
        calibration, for classifiers a threshold to choose with what follows from it, and a form that explains the prediction
        for a case: with menus for levels, date fields and tick boxes, and empty fields for missing values. Rules can be
        switched off, which updates the figures, and the edited model can be downloaded as a file for `load_model`.

        The file contains no row, but, as a saved model does, all levels that the columns had in `fit`. Figures come from one
        table that counts rows by the conditions that hold, in groups of at least ``min_count`` rows. Rows with rare
        combinations of conditions are merged with others of similar predictions. They count while all rules are on; with rules
        switched off, figures are for the other rows only, and the page says how many. If rules have factors, or the model an
        offset, conditions do not determine predictions: rows are then counted by similar predictions alone, and there are no
        figures with rules switched off. What does not follow from the table is rounded so far that one row could not change it.

        Parameters
        ----------
        path : str or path
            The file to write; it is replaced in one step.
        X, y : data frame or array of shape (n_samples, n_features), and targets, optional
            Rows to measure the model on, preferably not those of `fit`. Without them there are no figures.
        sample_weight, exposure : array of shape (n_samples,), optional
        offset : array, optional
            As in `fit`, of these rows.
        title : str, optional
            The heading of the page.
        target, data, date, intended_use : str, optional
            What the head of the page says: what is predicted, what it was learned from, when, and who may use it for what. The
            class that the scores speak of is named in any case.
        data_name : str, default="rows"
            The name of the rows on the page, such as ``"test rows"``.
        min_count : int, default=5
            The least number of rows in a group. With 1, all figures are exact on all rows, but a group may be a single row,
            which reveals its target and the conditions that hold for it.
        max_sizes : int, default=12
            The largest number of sizes on the slider. A size whose conditions would leave too few rows in groups of
            ``min_count`` has no figures with rules switched off, and the page says so.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     model.report(Path(directory) / "model.html", X, y, title="Diabetes after one year")
        ...     Path(directory, "model.html").read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        check_is_fitted(self)
        check_whole("min_count", min_count, 1)
        check_whole("max_sizes", max_sizes, 1)
        head = Head(title=title, target=target, data=data, date=date, intended_use=intended_use)
        check_text("data_name", data_name)
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together.")
        measured = None
        if X is not None:
            rows = self._read(X).with_offset(exposure, offset)
            counted = rows.target_and_weight(y, sample_weight)
            measured = MeasuredRows.counted(rows.X, *counted, data_name, int(min_count), rows.given)
        results = getattr(self, "cv_results_", None)
        write_workbench(self.model_, path, measured, head=head, max_sizes=int(max_sizes), cv_results=results)
