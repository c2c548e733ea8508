"""Editing: drop, add, replace, lock, refit and round, with a log."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from obliquerules.data.sample import Sample
from obliquerules.estimators.fitting import Fitting
from obliquerules.parameters import check_flag, check_real, check_whole
from obliquerules.rules import Block, Conjunction, Factor, Proposition, Rule, RuleEnsemble, Shortening, Test
from obliquerules.rules.edits import ACTIONS, EditLog, EditStep, Settings, change
from obliquerules.rules.numbers import readable
from obliquerules.rules.rule import Weight, as_weight
from obliquerules.rules.text.parsing import Reader

Estimator = TypeVar("Estimator", bound=Fitting)


@dataclass(frozen=True, eq=False)
class Editing(Generic[Estimator]):
    """A model in editing, with its data; see `RuleModel.edit`.

    Every step returns a new `Editing` and leaves this one unchanged: to undo a step, continue from the one before.

    Attributes
    ----------
    model : estimator
        The edited model. Its `edits_` is the log.
    sample : Sample
        The data.
    """

    model: Estimator
    sample: Sample = field(repr=False)

    @property
    def log(self) -> EditLog:
        """The steps so far."""
        model = self.model.model_
        return model.edits or EditLog(model.ensemble, (), model.ensemble)

    @property
    def ensemble(self) -> RuleEnsemble:
        """The rules as they are now."""
        return self.model.model_.ensemble

    def drop(self, rule: int) -> Editing[Estimator]:
        """Remove a rule, given by its position from 0."""
        rule = self._position(rule)
        rules = [*self.ensemble.rules[:rule], *self.ensemble.rules[rule + 1 :]]
        return self._next("drop", rule, None, f"drop rule {rule}: {self._text(self.ensemble[rule])}", rules)

    def add(self, new: Rule | Conjunction | str) -> Editing[Estimator]:
        """Append a rule.

        Parameters
        ----------
        new : Rule, Conjunction or str
            A rule, also as text such as ``"+1.5 if age >= 50"`` or ``"+1.5 if colour in {red, blue} & day >= 2021-03-01"``. A
            condition alone, such as ``"age >= 50"``, has the weight zero until `refit`. With two classes or a number to
            predict, also a slope such as ``"+0.3 (age - 50)"``, or a slope where a condition holds. Text may also have ``>``,
            ``<`` and ``=``, which become the shortest conditions that say the same of the rows at hand; the log says which. A
            level must be one that the column had in `fit`.
        """
        rule, remark = self._as_rule(new, Rule(np.zeros_like(self.ensemble.intercept)))
        text = f"add rule {len(self.ensemble)}: {self._text(rule)}{remark}"
        return self._next("add", None, rule, text, [*self.ensemble.rules, rule])

    def replace(self, rule: int, new: Rule | Conjunction | str) -> Editing[Estimator]:
        """Replace a rule; a condition alone keeps weight and factor."""
        rule = self._position(rule)
        old = self.ensemble[rule]
        other, remark = self._as_rule(new, old)
        rules = [*self.ensemble.rules[:rule], other, *self.ensemble.rules[rule + 1 :]]
        text = f"replace rule {rule}: {self._text(old)}, by {self._text(other)}{remark}"
        return self._next("replace", rule, other, text, rules)

    def lock(self, rule: int) -> Editing[Estimator]:
        """Make every following `refit` keep the weight of a rule."""
        rule = self._position(rule)
        if rule in self.log.locked:
            raise ValueError(f"Rule {rule} is locked already.")
        return self._next("lock", rule, None, f"lock rule {rule}: {self._text(self.ensemble[rule])}", self.ensemble.rules)

    def unlock(self, rule: int) -> Editing[Estimator]:
        """Let `refit` change the weight of a locked rule again."""
        rule = self._position(rule)
        if rule not in self.log.locked:
            raise ValueError(f"Rule {rule} is not locked.")
        return self._next("unlock", rule, None, f"unlock rule {rule}: {self._text(self.ensemble[rule])}", self.ensemble.rules)

    def refit(self) -> Editing[Estimator]:
        """Refit the constant and all weights that are not locked.

        What is minimised is the penalised mean loss: that of the rows of the edit, plus the ridge of the fit, which is a fixed
        number of rows. The log has it before and after, and a refit does not raise it. The mean loss may rise: where these rows
        weigh less than those of `fit`, the ridge has a greater share, and weights are shrunk more.

        A DRNet remains a set of rules for its class, added rules included, unless a rule is locked, has a factor or has a
        weight of the other sign.
        """
        locked = sorted(self.log.locked)
        fixed = np.isin(np.arange(-1, len(self.ensemble)), locked)
        method, loss, class_weights = self.model._fitted_method(), self.model.model_.loss, self.model.model_.class_weights
        start = self.ensemble.weight_table
        weights = method.refitted(self.ensemble, self.sample, loss, start, fixed, class_weights)
        after = self.ensemble.with_weight_table(weights)
        losses = [method.penalised_loss(one, self.sample, loss, class_weights) for one in (self.ensemble, after)]
        kept = (
            f" but {'that of rule' if len(locked) == 1 else 'those of rules'} {', '.join(map(str, locked))}" if locked else ""
        )
        text = f"refit all weights{kept}: penalised mean loss {change(*map(readable, losses))}"
        return self._next("refit", None, None, text, after.rules, after.intercept)

    def round(self, digits: int = 3, *, tolerance: float = 0.0, integers: bool = False) -> Editing[Estimator]:
        """Write all numbers in fewer digits, as `RuleEnsemble.rounded` does."""
        check_whole("digits", digits, 1)
        check_real("tolerance", tolerance, 0.0)
        check_flag("integers", integers)
        settings: dict[str, Any] = {"digits": int(digits), "tolerance": float(tolerance), "integers": bool(integers)}
        sample, loss = self.sample, self.model.model_.loss
        rounding = self.ensemble.rounded(
            sample.X, y=sample.y, loss=loss, sample_weight=sample.weight, offset=sample.offset, **settings
        )
        after, n = rounding.ensemble, rounding.rows_changed
        how = (
            f"to {digits} digits"
            if tolerance == 0.0
            else f"as far as the mean loss rises by no more than {readable(tolerance)}"
        )
        sides = "no row changes side" if n == 0 else f"{n} of {len(sample.y)} distinct rows change side of a condition"
        text = f"round {how}: {sides}, scores change by {readable(rounding.score_change)} at most"
        return self._next("round", None, None, text, after.rules, after.intercept, tuple(settings.items()))

    def replay(self, log: EditLog) -> Editing[Estimator]:
        """Repeat the steps of a log, such as `edits_`.

        With the same model and data as in the log, the result is the same to the last bit.
        """
        editing = self
        for step in log:
            given = [argument for argument in (step.rule, step.new) if argument is not None]
            if step.action not in ACTIONS:
                raise ValueError(f"The action of a step must be one of {', '.join(map(repr, ACTIONS))}; got {step.action!r}.")
            editing = getattr(editing, step.action)(*given, **dict(step.settings))
        return editing

    def __str__(self) -> str:
        return f"{self.ensemble}\n\n{self.log}" if self.log.steps else str(self.ensemble)

    def _repr_html_(self) -> str:
        model = self.model.model_._repr_html_()
        return f"{model}\n{self.log._repr_html_()}" if self.log.steps else model

    def _position(self, rule: int) -> int:
        """Return the position of a rule; raise if there is none."""
        check_whole("rule", rule, 0)
        if rule >= len(self.ensemble):
            n = len(self.ensemble)
            has = "no rules" if n == 0 else "one rule, number 0" if n == 1 else f"{n} rules, numbered from 0 to {n - 1}"
            raise ValueError(f"There is no rule {rule}: the model has {has}.")
        return int(rule)

    def _as_rule(self, new: Rule | Conjunction | str, old: Rule) -> tuple[Rule, str]:
        """Return a rule, and a remark for the log."""
        remark = ""
        if isinstance(new, str):
            new, remark = read_typed(new, self.ensemble, self.sample.X, old.weight, old.factor)
        if isinstance(new, Conjunction):
            new = replace(old, condition=new)
        if not isinstance(new, Rule):
            raise TypeError(f"A rule is a Rule, a Conjunction or text; got {type(new).__name__}.")
        rule = self.ensemble.with_rules([new])[0]  # raises if a column does not exist
        rule.condition.check_levels(self.ensemble.columns)
        return rule, f" ({remark})" if remark else ""

    def _text(self, rule: Rule) -> str:
        return rule.describe(self.ensemble.columns, outputs=self.ensemble.outputs)

    def _next(
        self,
        action: str,
        rule: int | None,
        new: Rule | None,
        description: str,
        rules: list[Rule] | tuple[Rule, ...],
        intercept: Weight | None = None,
        settings: Settings = (),
    ) -> Editing[Estimator]:
        """Return the editing with new rules and the step in its log."""
        before = self.ensemble
        after = before.with_rules(rules, intercept)
        y, weight, loss = self.sample.y, self.sample.weight, self.model.model_.loss
        with np.errstate(invalid="ignore"):
            first, last = (loss.risk(y, self.sample.scores(ensemble), weight) for ensemble in (before, after))
        if not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError(
                f"Cannot {description}, because the mean loss, {first:g} before and {last:g} after, must be finite."
            )
        step = EditStep(action, rule, new, description, before.complexity, after.complexity, first, last, settings)
        edited = self.model.model_.edited(self.log.followed_by(step, after))
        return Editing(self.model._with(edited), self.sample)


class Editable(Fitting):
    """An estimator whose model is edited or rounded, which gives another estimator."""

    def edit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None) -> Editing[Self]:
        """Start to edit the rules and their weights.

        This model does not change. Every step is logged with its effect on complexity and loss, and the log is saved with the
        edited model.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            The data on which losses are measured and weights are fitted, preferably those of `fit`.

        Returns
        -------
        Editing
            Its methods `drop`, `add`, `replace`, `lock`, `unlock`, `refit` and `round` return the next `Editing`; its `model`
            is the edited model.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(random_state=0).fit(X, y).at(14)
        >>> edited = model.edit(X, y).drop(0).refit().model
        >>> len(model.ensemble_), len(edited.ensemble_)
        (5, 4)
        """
        rows, seen = self._read_to_learn(X, y, sample_weight, exposure, offset)
        return Editing(self, Sample.of(rows.X, seen.y, seen.weight, seen.total_offset))

    def rounded(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        digits: int = 3,
        tolerance: float = 0.0,
        integers: bool = False,
        exposure: Any = None,
        offset: Any = None,
    ) -> Self:
        """Return the model with all numbers in few digits.

        The last step of its `edits_` certifies what that changes on the data: how many rows change side of a condition, by how
        much scores change, and the mean loss before and after. It is saved with the model.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            The data on which the certificate holds, preferably those of `fit`.
        digits : int, default=3
            The significant digits wanted for rule weights. More are kept if the mean loss would rise by more than 0.1 %.
        tolerance : float, default=0.0
            By how much the mean loss may rise. If it may, conditions are shortened further, so that rows may change side, and
            rule weights may have fewer than ``digits`` digits.
        integers : bool, default=False
            Prefer whole numbers of at most 1000 as weights in oblique conditions, where no row changes side.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from obliquerules import LLTBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y).at(10)
        >>> short = model.rounded(X, y, digits=2)
        >>> print(short.to_text())
        +204 if True
        +7.6 (bmi - 26)
        +60 (min(s5, 5.34) - 5.34)
        -25 if bp <= 99.8 & bmi >= 23.25
        >>> short.edits_[-1].description
        'round to 2 digits: no row changes side, scores change by 1.044 at most'
        """
        editing = self.edit(X, y, sample_weight, exposure=exposure, offset=offset)
        return editing.round(digits, tolerance=tolerance, integers=integers).model


# Comparisons of conditions, taken as they are, and those that stand for two.
EXACT, EQUATIONS = (">=", "<=", None), ("=", "==")


def read_typed(text: str, ensemble: RuleEnsemble, X: Block, weight: Weight, factor: Factor | None = None) -> tuple[Rule, str]:
    """Return the rule that a text means, and a remark.

    A condition alone has the given weight and factor.
    A comparison of numbers other than ``>=`` and ``<=`` is given the shortest threshold with which it says the same of each
    row of X.
    """
    columns = ensemble.columns
    given, multiplied, typed = Reader(columns).rule_or_condition(text, ensemble.outputs)
    text = text.strip()
    if given is not None:
        weight, factor = as_weight(given), multiplied
    if all(one.comparison in EXACT for one in typed):
        return Rule(weight, Conjunction(one.test for one in typed), factor), ""
    shortening, tests = Shortening(X), list[Test]()
    for test, comparison in typed:
        if comparison in EXACT or not isinstance(test, Proposition):
            tests.append(test)
            continue
        if comparison in EQUATIONS:
            if test.only_number is None:
                raise ValueError(f"'=' compares a single column with a number; got {text!r}.")
            equal = X.matrix[:, test.only_number] == test.threshold / test.weights[0]
            if not equal.any() or equal.all():
                raise ValueError(f"{'All rows have' if equal.all() else 'No row has'} the value in {text!r}.")
        if comparison not in EQUATIONS or not test(X).all():
            tests.append(shortening.with_whole_threshold(shortening.with_short_threshold(test)))
    rule = Rule(weight, Conjunction(tests), factor)
    meant = rule.condition.describe(columns) if given is None else rule.describe(columns, outputs=ensemble.outputs)
    return rule, f"'{text}' is {meant} on these rows"
