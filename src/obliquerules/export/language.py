"""Language: the one arithmetic of a model, written operation by operation in any language."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from obliquerules.export.source import Source
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Factor, Rule
from obliquerules.rules.columns import Level
from obliquerules.rules.rule_parts import Membership, Proposition, Test

Expression = TypeVar("Expression")


def unscorable(source: Source, write: Callable[[float], str]) -> str:
    """Return why a row is not scored, for readers of a product; ``write`` writes a number."""
    text = f"a number that rules use is beyond {write(source.largest_input)} in size"
    if not source.offsets:
        return text
    limit = write(source.largest_offset)
    if source.has_exposure:
        return f"{text}, or the exposure is missing or not a positive number up to {limit}"
    return f"{text}, or an offset is missing or beyond {limit} in size"


class Language(ABC, Generic[Expression]):
    """How numbers, columns and operations are written: as text, data frame expressions or tensors of a graph.

    The meaning of a model is defined here, once for all languages. Products are added from left to right and compared with a
    threshold, and the weights of the rules that fire are added from left to right to the constant. A weight with a factor is
    multiplied by a value that is clipped first and then counted from an origin; where it is missing, the rule does not fire. A
    language must evaluate each operation in double precision, and must neither fuse nor reorder operations. A row is scored
    only where `scorable` holds: elsewhere an input is so large that a sum might overflow, and all outputs are missing.

    An offset is added to the constant, before the rules; the prediction is multiplied by an exposure, last. With many classes
    there is a score for each. The class is the first, in the order of labels, that has the highest score, and its probability
    is 1 / sum(exp(score - highest)).

    Conditions are never negated, so that in a language with null a condition may be null where it does not hold.
    """

    @abstractmethod
    def number(self, value: float) -> Expression:
        """Return a finite number, exactly."""

    @abstractmethod
    def column(self, source: Source, column: int) -> Expression:
        """Return the values of a column."""

    @abstractmethod
    def operation(self, sign: str, left: Expression, right: Expression) -> Expression:
        """Return what ``sign`` makes of two operands: one of + - * / > >= <=, or ``and`` or ``or`` of conditions.

        The left operand of + may be a sum, as may the right one of /. A comparison does not hold where an operand is missing.
        """

    @abstractmethod
    def function(self, name: str, *numbers: Expression) -> Expression:
        """Return the exponential of a number, or the largest or smallest of several: ``exp``, ``max`` or ``min``.

        Exponentials have 12 digits, for numbers up to `LARGEST_EXPONENT` in size.
        """

    @abstractmethod
    def within(self, column: Expression, limit: float) -> Expression:
        """Return whether -limit <= column <= limit, where the column is not missing."""

    @abstractmethod
    def missing(self, source: Source, column: int, *, negated: bool = False) -> Expression:
        """Return whether the value of a column is missing or, negated, whether it is not."""

    @abstractmethod
    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> Expression:
        """Return whether a level is one of those listed or, negated, none of them; it holds nowhere if it is missing."""

    @abstractmethod
    def only(self, condition: Expression, amount: Expression) -> Expression:
        """Return the amount where the condition holds, else 0."""

    @abstractmethod
    def first_label(self, labels: Sequence[Any], scores: Sequence[Expression], highest: Expression) -> Expression:
        """Return the label of the first score that is the highest."""

    # ---- what many languages write in their own way ----

    def both(self, conditions: Sequence[Expression]) -> Expression:
        """Return whether all of one or more conditions hold."""
        return functools.reduce(functools.partial(self.operation, "and"), conditions)

    def either(self, conditions: Sequence[Expression]) -> Expression:
        """Return whether one of the conditions holds."""
        return functools.reduce(functools.partial(self.operation, "or"), conditions)

    def bounded(self, value: Expression, low: float, high: float) -> Expression:
        """Return a number clipped to an interval; one end may be infinite."""
        if low != -math.inf:
            value = self.function("max", value, self.number(low))
        return value if high == math.inf else self.function("min", value, self.number(high))

    def product(self, weight: float, column: Expression) -> Expression:
        """Return weight * column."""
        return self.operation("*", self.number(weight), column)

    def constant(self, value: float) -> Expression:
        """Return a number for each row."""
        return self.number(value)

    def choice(self, condition: Expression, weight: float) -> Expression:
        """Return the weight where the condition holds, else 0."""
        return self.only(condition, self.number(weight))

    def positive(self, column: Expression, limit: float) -> Expression:
        """Return whether 0 < column <= limit."""
        tests = [self.operation(sign, column, self.number(end)) for sign, end in ((">", 0.0), ("<=", limit))]
        return self.both(tests)

    def logistic(self, score: Expression) -> Expression:
        """Return 1 / (1 + exp(-score)), to 12 digits, for scores up to `LARGEST_EXPONENT` in size."""
        one = self.number(1.0)
        return self.operation("/", one, self.operation("+", one, self.function("exp", self.product(-1.0, score))))

    # ---- which rows can be scored ----

    def scorable(self, source: Source) -> Expression | None:
        """Return whether a row can be scored; None if every row can, because rules use no input."""
        tests = self.usable_inputs(source) + [self.usable_offset(source, column) for column in source.offsets]
        return self.both(tests) if tests else None

    def usable_inputs(self, source: Source) -> list[Expression]:
        """Return for each number whether it is missing or can be computed with."""
        return [self.usable(source, column) for column in source.summed]

    def usable(self, source: Source, column: int) -> Expression:
        """Return whether a number is missing or can be computed with."""
        return self.either([self.missing(source, column), self.within(self.column(source, column), source.largest_input)])

    def usable_offset(self, source: Source, column: int) -> Expression:
        """Return whether an exposure is a positive number, or an offset a number, that can be computed with."""
        value, limit = self.column(source, column), source.largest_offset
        if source.has_exposure:
            return self.positive(value, limit)
        return self.both([self.missing(source, column, negated=True), self.within(value, limit)])

    # ---- conditions ----

    def condition(self, source: Source, rule: Rule) -> Expression | None:
        """Return whether a rule fires: its condition holds, and its factor is not missing; None if it has neither."""
        tests = [self.test(source, test) for test in rule.condition]
        if rule.factor is not None:
            column = rule.factor.column
            sums = [test for test in rule.condition if isinstance(test, Proposition) and not test.missing]
            if not any(column in test.columns for test in sums):
                tests.append(self.missing(source, column, negated=True))
        return self.both(tests) if tests else None

    def test(self, source: Source, test: Test) -> Expression:
        """Return whether a condition of a rule holds."""
        if isinstance(test, Membership):
            return self.membership(source, test)
        holds = self.comparison(source, test)
        numbers = [term for term in test.columns if isinstance(term, int)] if test.missing else []
        return self.either([holds, *[self.missing(source, column) for column in numbers]]) if numbers else holds

    def comparison(self, source: Source, proposition: Proposition) -> Expression:
        """Return whether a sum reaches its threshold; it does not where a number is missing."""
        return self.operation(">=", self.projection(source, proposition), self.number(proposition.threshold))

    def projection(self, source: Source, proposition: Proposition) -> Expression:
        """Return x.w, its products added from left to right."""
        products = [self.weighed(source, *pair) for pair in zip(proposition.weights, proposition.columns, strict=True)]
        return functools.reduce(functools.partial(self.operation, "+"), products)

    def weighed(self, source: Source, weight: float, term: int | Membership) -> Expression:
        """Return weight * value, for a membership the weight or 0."""
        if isinstance(term, int):
            return self.product(weight, self.column(source, term))
        return self.choice(self.membership(source, term), weight)

    def membership(self, source: Source, membership: Membership) -> Expression:
        """Return whether a membership holds."""
        column, negated = membership.column, membership.negated
        levels = known_levels(source, membership)
        if levels:
            holds = self.among(source, column, levels, negated=negated)
            return self.either([holds, self.missing(source, column)]) if membership.missing else holds
        if membership.missing != negated:
            return self.missing(source, column, negated=negated)
        join = self.either if negated else self.both
        return join([self.missing(source, column), self.missing(source, column, negated=True)])

    # ---- scores and what follows from them ----

    def contributions(self, source: Source, rule: Rule, name: Expression | None = None) -> list[Expression]:
        """Return what a rule adds to each score that it changes; ``name`` stands for its condition, if that has a name."""
        holds = self.condition(source, rule) if name is None else name
        weights = [rule.weights[output] for output in rule.classes_with_weight]
        if holds is None:
            return [self.constant(weight) for weight in weights]
        if rule.factor is None:
            return [self.choice(holds, weight) for weight in weights]
        factor = self.factor(source, rule.factor)
        return [self.only(holds, self.product(weight, factor)) for weight in weights]

    def factor(self, source: Source, factor: Factor) -> Expression:
        """Return the value of a column, clipped to limits and counted from an origin, for rows where it is not missing."""
        value = self.column(source, factor.column)
        if factor.is_clipped:
            value = self.bounded(value, factor.lower, factor.upper)
        return value if factor.origin == 0.0 else self.operation("+", value, self.number(-factor.origin))

    def starts(self, source: Source) -> list[Expression]:
        """Return the constant of each score, plus its offset if there is one."""
        constants = [self.constant(value) for value in source.ensemble.intercepts]
        if source.has_exposure or not source.offsets:
            return constants
        offsets = [self.column(source, column) for column in source.offsets]
        return [self.operation("+", *pair) for pair in zip(constants, offsets, strict=True)]

    def score(self, start: Expression, contributions: Sequence[Expression]) -> Expression:
        """Return the sum of a start and contributions, added from left to right."""
        return functools.reduce(functools.partial(self.operation, "+"), contributions, start)

    def scores(self, source: Source, contributions: Sequence[Expression]) -> list[Expression]:
        """Return each score, given the contributions in the order of `Source.parts`."""
        added: list[list[Expression]] = [[] for _ in range(source.n_scores)]
        for (_, output), contribution in zip(source.parts, contributions, strict=True):
            added[output].append(contribution)
        return [self.score(*one) for one in zip(self.starts(source), added, strict=True)]

    def answers(self, source: Source, scores: Sequence[Expression], highest: Expression | None = None) -> list[Expression]:
        """Return what follows from scores by the link: the prediction, or the class and its probability.

        The prediction is multiplied by the exposure if there is one. ``highest`` stands for the highest score, if that has a
        name.
        """
        if source.link == "softmax":
            highest = self.function("max", *scores) if highest is None else highest
            return [self.first_label(source.labels, scores, highest), self.probability(source, scores, highest)]
        score = scores[0]
        if source.link == "identity":
            return [score]
        if source.largest_score > LARGEST_EXPONENT:
            score = self.bounded(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        mean = self.logistic(score) if source.link == "logistic" else self.function("exp", score)
        return [self.operation("*", self.column(source, source.offsets[0]), mean) if source.has_exposure else mean]

    def probability(self, source: Source, scores: Sequence[Expression], highest: Expression) -> Expression:
        """Return the probability of the class with the highest score, for a row that can be scored."""
        odds = [self.function("exp", self.below(source, score, highest)) for score in scores]
        return self.operation("/", self.number(1.0), self.score(odds[0], odds[1:]))

    def below(self, source: Source, score: Expression, highest: Expression) -> Expression:
        """Return a score minus the highest one, raised where it is so low that its exponential vanishes."""
        difference = self.operation("-", score, highest)
        if 2.0 * source.largest_score <= LARGEST_EXPONENT:
            return difference
        return self.function("max", difference, self.number(-LARGEST_EXPONENT))

    def outputs(self, source: Source) -> list[Expression]:
        """Return all outputs, in the order of `Source.output_names`, for a row that can be scored."""
        contributions = [term for rule in source.ensemble for term in self.contributions(source, rule)]
        scores = self.scores(source, contributions)
        return [*scores, *self.answers(source, scores), *(contributions if source.contributions else [])]


def known_levels(source: Source, membership: Membership) -> list[Level]:
    """Return the listed levels in the order of the column; one that the column does not have counts as never seen."""
    listed = {(type(level), level) for level in membership.levels}
    return [level for level in source.columns[membership.column].levels or () if (type(level), level) in listed]


class TextLanguage(Language[str]):
    """A language of text with the usual arithmetic operators.

    Attributes
    ----------
    functions : mapping from str to str
        The names of the exponential, and of the largest and smallest of several numbers, where they differ.
    comma : str
        What stands between arguments.
    conjunction, disjunction : str
        What stands between conditions.
    choice_form, within_form : str
        An amount where a condition holds, else 0, and whether the size of a number is up to a limit.
    """

    functions: ClassVar[Mapping[str, str]] = {}
    comma: ClassVar[str] = ", "
    conjunction: ClassVar[str] = " and "
    disjunction: ClassVar[str] = " or "
    choice_form: ClassVar[str]
    within_form: ClassVar[str]

    def number(self, value: float) -> str:
        """Return the shortest decimal that reads back as this double."""
        return repr(value)

    def operation(self, sign: str, left: str, right: str) -> str:
        """Return two terms with a sign between them; without brackets, sums are evaluated from left to right."""
        if sign == "+" and right.startswith("-"):
            return f"{left} - {right[1:]}"
        return f"{left} / ({right})" if sign == "/" else f"{left} {sign} {right}"

    def function(self, name: str, *numbers: str) -> str:
        return f"{self.functions.get(name, name)}({self.comma.join(numbers)})"

    def within(self, column: str, limit: float) -> str:
        return self.within_form.format(column, self.number(limit))

    def both(self, conditions: Sequence[str]) -> str:
        return self.conjunction.join(conditions)

    def either(self, conditions: Sequence[str]) -> str:
        return f"({self.disjunction.join(conditions)})"

    def only(self, condition: str, amount: str) -> str:
        return self.choice_form.format(condition, amount, self.number(0.0))

    def weighed(self, source: Source, weight: float, term: int | Membership) -> str:
        """Return the product, with a membership in brackets."""
        text = super().weighed(source, weight, term)
        return text if isinstance(term, int) else f"({text})"

    def factor(self, source: Source, factor: Factor) -> str:
        """Return the factor, a difference in brackets."""
        text = super().factor(source, factor)
        return text if factor.origin == 0.0 else f"({text})"

    def product(self, weight: float, column: str) -> str:
        """Return the product, without a factor of 1; it needs no brackets inside a sum."""
        if abs(weight) == 1.0:
            return column if weight > 0.0 else f"-{column}"
        return f"{self.number(weight)} * {column}"

    def logistic(self, score: str) -> str:
        one = self.number(1.0)
        return self.operation("/", one, self.operation("+", one, self.function("exp", f"-{score}")))
