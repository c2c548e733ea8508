"""Language: the one arithmetic of a model, written term by term in any language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from obliquerules.export.source import Source
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Factor, Rule
from obliquerules.rules.columns import Level
from obliquerules.rules.membership import Membership
from obliquerules.rules.proposition import Proposition, Test

Term = TypeVar("Term")


def unscorable(source: Source, write: Callable[[float], str]) -> str:
    """Return why a row is not scored, for people who read a product; ``write`` writes a number."""
    text = f"a number that rules use is beyond {write(source.largest_input)} in size"
    if not source.given:
        return text
    limit = write(source.largest_given)
    if source.has_exposure:
        return f"{text}, or the exposure is missing or not a positive number up to {limit}"
    return f"{text}, or an offset is missing or beyond {limit} in size"


class Language(ABC, Generic[Term]):
    """How numbers, columns and operations are written; a term is text, a data frame expression or the tensor of a graph.

    The meaning of a model is defined here, once for all languages: products are added from left to right and compared with a
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
    def number(self, value: float) -> Term:
        """Return a finite number, exactly."""

    @abstractmethod
    def column(self, source: Source, column: int) -> Term:
        """Return the values of a column."""

    @abstractmethod
    def product(self, weight: float, column: Term) -> Term:
        """Return weight * column."""

    @abstractmethod
    def total(self, left: Term, right: Term) -> Term:
        """Return left + right, where left may itself be a sum."""

    @abstractmethod
    def reaches(self, total: Term, threshold: float) -> Term:
        """Return whether total >= threshold; it does not hold where the total is missing, and is finite elsewhere."""

    @abstractmethod
    def within(self, column: Term, limit: float) -> Term:
        """Return whether -limit <= column <= limit, where the column is not missing."""

    @abstractmethod
    def missing(self, source: Source, column: int, *, negated: bool = False) -> Term:
        """Return whether the value of a column is missing or, negated, whether it is not."""

    @abstractmethod
    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> Term:
        """Return whether a level is one of those listed or, negated, none of them; it holds nowhere if it is missing."""

    @abstractmethod
    def both(self, conditions: Sequence[Term]) -> Term:
        """Return whether all of one or more conditions hold."""

    @abstractmethod
    def either(self, conditions: Sequence[Term]) -> Term:
        """Return whether one of two or more conditions holds."""

    @abstractmethod
    def only(self, condition: Term, amount: Term) -> Term:
        """Return the amount where the condition holds, else 0."""

    @abstractmethod
    def bounded(self, value: Term, low: float, high: float) -> Term:
        """Return a number clipped to an interval, of which one end may be infinite."""

    @abstractmethod
    def logistic(self, score: Term) -> Term:
        """Return 1 / (1 + exp(-score)), to 12 digits, for scores up to `LARGEST_EXPONENT` in size."""

    @abstractmethod
    def exponential(self, score: Term) -> Term:
        """Return exp(score), to 12 digits, for scores up to `LARGEST_EXPONENT` in size."""

    @abstractmethod
    def positive(self, column: Term, limit: float) -> Term:
        """Return whether 0 < column <= limit; it does not hold where the column is missing."""

    @abstractmethod
    def times(self, left: Term, right: Term) -> Term:
        """Return left * right."""

    @abstractmethod
    def reciprocal(self, total: Term) -> Term:
        """Return 1 / total, where the total may be a sum."""

    @abstractmethod
    def highest(self, numbers: Sequence[Term]) -> Term:
        """Return the largest of two or more numbers."""

    @abstractmethod
    def first_label(self, labels: Sequence[Any], scores: Sequence[Term], highest: Term) -> Term:
        """Return the label of the first score that is the highest."""

    def scorable(self, source: Source) -> Term | None:
        """Return whether a row can be scored; None if every row can, because rules use no input."""
        tests = [self.usable(source, column) for column in self.doubtful(source)]
        tests += [self.usable_given(source, column) for column in source.given]
        return self.both(tests) if tests else None

    def doubtful(self, source: Source) -> Sequence[int]:
        """Return the columns of numbers that may be too large to be computed with."""
        return source.summed

    def usable(self, source: Source, column: int) -> Term:
        """Return whether a number is missing or can be computed with."""
        return self.either([self.missing(source, column), self.within(self.column(source, column), source.largest_input)])

    def usable_given(self, source: Source, column: int) -> Term:
        """Return whether an exposure is a positive number, or an offset a number, that can be computed with."""
        value, limit = self.column(source, column), source.largest_given
        if source.has_exposure:
            return self.positive(value, limit)
        return self.both([self.missing(source, column, negated=True), self.within(value, limit)])

    def constant(self, value: float) -> Term:
        """Return a number for each row."""
        return self.number(value)

    def choice(self, condition: Term, weight: float) -> Term:
        """Return the weight where the condition holds, else 0."""
        return self.only(condition, self.number(weight))

    def factor(self, source: Source, factor: Factor) -> Term:
        """Return the value of a column, clipped to limits and counted from an origin, for rows where it is not missing."""
        value = self.column(source, factor.column)
        if factor.is_clipped:
            value = self.bounded(value, factor.lower, factor.upper)
        return value if factor.origin == 0.0 else self.total(value, self.number(-factor.origin))

    def projection(self, source: Source, proposition: Proposition) -> Term:
        """Return x.w, its products added from left to right."""
        products = [self.weighed(source, *pair) for pair in zip(proposition.weights, proposition.columns, strict=True)]
        total = products[0]
        for product in products[1:]:
            total = self.total(total, product)
        return total

    def weighed(self, source: Source, weight: float, term: int | Membership) -> Term:
        """Return weight * value, for a membership the weight or 0."""
        if isinstance(term, int):
            return self.product(weight, self.column(source, term))
        return self.choice(self.membership(source, term), weight)

    def test(self, source: Source, test: Test) -> Term:
        """Return whether a condition of a rule holds."""
        return self.membership(source, test) if isinstance(test, Membership) else self.proposition(source, test)

    def proposition(self, source: Source, proposition: Proposition) -> Term:
        """Return whether a proposition holds."""
        holds = self.comparison(source, proposition)
        numbers = [term for term in proposition.columns if isinstance(term, int)] if proposition.missing else []
        return self.either([holds, *[self.missing(source, column) for column in numbers]]) if numbers else holds

    def comparison(self, source: Source, proposition: Proposition) -> Term:
        """Return whether a sum reaches its threshold; it does not where a number is missing."""
        return self.reaches(self.projection(source, proposition), proposition.threshold)

    def membership(self, source: Source, membership: Membership) -> Term:
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

    def condition(self, source: Source, rule: Rule) -> Term | None:
        """Return whether a rule fires: its condition holds, and its factor is not missing; None if it has neither."""
        tests = [self.test(source, test) for test in rule.condition]
        if rule.factor is not None and not any(_needs(test, rule.factor.column) for test in rule.condition):
            tests.append(self.missing(source, rule.factor.column, negated=True))
        return self.both(tests) if tests else None

    def contributions(self, source: Source, rule: Rule) -> list[Term]:
        """Return what a rule adds to the score, or to the score of each class that it speaks for."""
        holds = self.condition(source, rule)
        if holds is None:
            return [self.constant(rule.weights[output]) for output in rule.classes_with_weight]
        return self.contributions_where(holds, source, rule)

    def contributions_where(self, holds: Term, source: Source, rule: Rule) -> list[Term]:
        """Return what a rule adds, given where it fires."""
        weights = [rule.weights[output] for output in rule.classes_with_weight]
        if rule.factor is None:
            return [self.choice(holds, weight) for weight in weights]
        factor = self.factor(source, rule.factor)
        return [self.only(holds, self.product(weight, factor)) for weight in weights]

    def starts(self, source: Source) -> list[Term]:
        """Return what each score starts with: its constant, plus the offset if there is one."""
        constants = [self.constant(value) for value in source.ensemble.intercepts]
        if source.has_exposure or not source.given:
            return constants
        offsets = [self.column(source, column) for column in source.given]
        return [self.total(*pair) for pair in zip(constants, offsets, strict=True)]

    def score(self, start: Term, contributions: Sequence[Term]) -> Term:
        """Return the sum of what a score starts with and the contributions, added from left to right."""
        for contribution in contributions:
            start = self.total(start, contribution)
        return start

    def scores(self, source: Source, contributions: Sequence[Term]) -> list[Term]:
        """Return the score, or that of each class, given the contributions in the order of `Source.parts`."""
        added: list[list[Term]] = [[] for _ in range(source.n_scores)]
        for (_, output), contribution in zip(source.parts, contributions, strict=True):
            added[output].append(contribution)
        return [self.score(*one) for one in zip(self.starts(source), added, strict=True)]

    def prediction(self, source: Source, score: Term) -> Term:
        """Return the prediction at a score, by the link of the model, times the exposure if there is one."""
        if source.link == "identity":
            return score
        if source.largest_score > LARGEST_EXPONENT:
            score = self.bounded(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        mean = self.logistic(score) if source.link == "logistic" else self.exponential(score)
        return self.times(self.column(source, source.given[0]), mean) if source.has_exposure else mean

    def probability(self, source: Source, scores: Sequence[Term], highest: Term) -> Term:
        """Return the probability of the class with the highest score, for a row that can be scored."""
        odds = [self.exponential(self.below(source, score, highest)) for score in scores]
        return self.reciprocal(self.score(odds[0], odds[1:]))

    def below(self, source: Source, score: Term, highest: Term) -> Term:
        """Return a score minus the highest one; no less than what has no weight beside it, where that could be."""
        difference = self.difference(score, highest)
        if 2.0 * source.largest_score <= LARGEST_EXPONENT:
            return difference
        return self.highest([difference, self.number(-LARGEST_EXPONENT)])

    def difference(self, left: Term, right: Term) -> Term:
        """Return left - right."""
        return self.total(left, self.product(-1.0, right))

    def outputs(self, source: Source) -> list[Term]:
        """Return all outputs, in the order of `Source.output_names`, for a row that can be scored."""
        contributions = [term for rule in source.ensemble for term in self.contributions(source, rule)]
        scores = self.scores(source, contributions)
        if source.has_many_classes:
            highest = self.highest(scores)
            said = [self.first_label(source.labels, scores, highest), self.probability(source, scores, highest)]
        else:
            said = [self.prediction(source, scores[0])]
        return [*scores, *said, *(contributions if source.contributions else [])]


def _needs(test: Test, column: int) -> bool:
    """Say whether a condition holds nowhere that the number of a column is missing."""
    return isinstance(test, Proposition) and not test.missing and column in test.columns


def known_levels(source: Source, membership: Membership) -> list[Level]:
    """Return the listed levels in the order of the column; one that the column does not have counts as never seen."""
    listed = {(type(level), level) for level in membership.levels}
    return [level for level in source.column(membership.column).levels or () if (type(level), level) in listed]


class TextLanguage(Language[str]):
    """A language whose terms are text, with the usual arithmetic operators."""

    exp: ClassVar[str] = "exp"
    largest: ClassVar[str] = "max"

    def number(self, value: float) -> str:
        """Return the shortest decimal that reads back as this double."""
        return repr(value)

    def reaches(self, total: str, threshold: float) -> str:
        """Return a comparison."""
        return f"{total} >= {self.number(threshold)}"

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

    def total(self, left: str, right: str) -> str:
        """Return the sum or difference; without brackets, it is evaluated from left to right."""
        return f"{left} - {right[1:]}" if right.startswith("-") else f"{left} + {right}"

    def logistic(self, score: str) -> str:
        """Return the logistic function of the score."""
        one = self.number(1.0)
        return f"{one} / ({one} + {self.exp}(-{score}))"

    def exponential(self, score: str) -> str:
        """Return the exponential of the score."""
        return f"{self.exp}({score})"

    def positive(self, column: str, limit: float) -> str:
        """Return two comparisons."""
        return self.both([f"{column} > {self.number(0.0)}", f"{column} <= {self.number(limit)}"])

    def times(self, left: str, right: str) -> str:
        """Return the product."""
        return f"{left} * {right}"

    def reciprocal(self, total: str) -> str:
        """Return the quotient."""
        return f"{self.number(1.0)} / ({total})"

    def difference(self, left: str, right: str) -> str:
        """Return the difference; neither is a sum."""
        return f"{left} - {right}"

    def highest(self, numbers: Sequence[str]) -> str:
        """Return a call of a function of any number of arguments."""
        return f"{self.largest}({', '.join(numbers)})"
