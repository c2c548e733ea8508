"""RuleModel: the face that all estimators share."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from obliquerules.arrays import Vector
from obliquerules.estimators.editing import Editable
from obliquerules.estimators.exporting import Exporting
from obliquerules.estimators.fitting import dask_predict
from obliquerules.estimators.inspecting import Inspecting
from obliquerules.parameters import check_whole
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.edits import EditLog


class RuleModel(Inspecting, Editable, Exporting):
    """An estimator whose method learns a `Model`.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit; the first is the constant.
    ensemble_ : RuleEnsemble
        The member of the path that predicts, with its edits if there are any; after `fit`, the last.
    edits_ : EditLog or None
        The log of its edits; None if it was not edited.
    n_iter_ : int
        The number of steps of the fit; with boosting, of rules grown.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X was a data frame whose column names are text.
    """

    @property
    def path_(self) -> tuple[RuleEnsemble, ...]:
        """The ensembles of the fit, of growing complexity."""
        return self.model_.path

    @property
    def ensemble_(self) -> RuleEnsemble:
        """The ensemble that predicts."""
        return self.model_.ensemble

    @property
    def edits_(self) -> EditLog | None:
        """The log of edits; None if there are none."""
        return self.model_.edits

    @property
    def n_iter_(self) -> int:
        """The number of steps of the fit."""
        return 0 if self.model_.origin is None else self.model_.origin.n_iter

    @property
    def ridge_(self) -> float:
        """The ridge of the rule weights, estimated or given."""
        if self.model_.ridges:
            return self.model_.ridges[self.model_.chosen]
        found = dict(() if self.model_.origin is None else self.model_.origin.parameters).get("ridge")
        if not isinstance(found, (int, float)):
            raise AttributeError("The model does not say with which ridge it was fitted.")
        return float(found)

    def at(self, complexity: int | str) -> Self:
        """Return the model at the largest size within a complexity.

        ``"auto"`` is the size that cross-validation chose or, without it, the smallest whose expected loss is above the least
        by no more than 2 % of what the best size gains over the constant. Where the training classes are separated, the first
        size that separates them is the largest that is considered: leaving rows out says nothing of larger ones.

        The returned model keeps the whole path, so that another size can be chosen from it. Edits are not kept.
        """
        check_is_fitted(self)
        if not isinstance(complexity, str):
            check_whole("complexity", complexity, 0)
        return self._with(self.model_.at(complexity))

    def _staged(self, X: Any, exposure: Any = None, offset: Any = None) -> Iterator[tuple[Vector, Vector | None]]:
        """Return scores by each member of the path, with offsets."""
        rows = self._read(X).with_offset(exposure, offset)
        members = (replace(self.model_, chosen=chosen, edits=None) for chosen in range(len(self.model_.path)))
        return ((replace(rows, model=member).scores, rows.given) for member in members)

    @dask_predict
    def score_samples(self, X: Any, *, offset: Any = None) -> Vector:
        """Return the score of each row: its rules added up.

        With two classes this is the log-odds of the positive one, with more a score for each; for numbers it is the prediction
        and, under a log link, its logarithm at an exposure of 1. As the ``offset`` of another fit it lets rules say what this
        model misses. `decision_function` is about the second of ``classes_`` instead, as scikit-learn asks.
        """
        return self._read(X).with_offset(offset=offset).scores

    def _repr_html_inner(self) -> str:
        return self._shown_in_notebooks() or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the rules, or scikit-learn's diagram before `fit`."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._shown_in_notebooks() or bundle["text/html"]} if "text/html" in bundle else bundle

    def _shown_in_notebooks(self) -> str:
        """Return the rules as HTML, empty before `fit`."""
        if not hasattr(self, "model_"):
            return ""
        model, n_rules = self.model_, len(self.ensemble_)
        size = f"{n_rules} rule{'' if n_rules == 1 else 's'}, complexity {self.ensemble_.complexity}"
        total = "a score for each class" if model.has_many_classes else f"the {model.wording.total}"
        verdict = model.verdict and f"{model.verdict}."
        facts = [f"{size}: the weights of those that apply add up to {total}.", *filter(None, [verdict, model.remark])]
        sentences = "".join(f"<p>{html.escape(fact)}</p>" for fact in facts)
        return f"<p><code>{html.escape(repr(self))}</code></p>{sentences}\n{model._repr_html_()}"
