"""Language: the one arithmetic of a model, written term by term in any language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from obliquerules.export.source import Source
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Rule
from obliquerules.rules.proposition import Proposition

Term = TypeVar("Term")
# Why a row is not scored, for people who read a product.
UNSCORABLE = "an input that rules use is missing or beyond {limit} in size"


class Language(ABC, Generic[Term]):
    """How numbers, columns and operations are written; a term is text, a data frame expression or the tensor of a graph.

    The meaning of a model is defined here, once for all languages: products are added from left to right and compared with a
    threshold, and the weights of the rules that fire are added from left to right to the constant. A language must evaluate
    each operation in double precision, and must neither fuse nor reorder operations. A row is scored only where `scorable`
    holds: elsewhere an input is missing or so large that a sum might overflow, and all outputs are missing, too.
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
        """Return whether total >= threshold; the total is a finite number in every row that is scored."""

    @abstractmethod
    def within(self, column: Term, limit: float) -> Term:
        """Return whether -limit <= column <= limit; it must be false, or count as false, for NaN and missing values."""

    @abstractmethod
    def both(self, conditions: Sequence[Term]) -> Term:
        """Return whether all of one or more conditions hold."""

    @abstractmethod
    def choice(self, condition: Term, weight: float) -> Term:
        """Return the weight where the condition holds, else 0."""

    @abstractmethod
    def bounded(self, score: Term, low: float, high: float) -> Term:
        """Return a score clipped to an interval."""

    @abstractmethod
    def logistic(self, score: Term) -> Term:
        """Return 1 / (1 + exp(-score)), to 12 digits, for scores up to `LARGEST_EXPONENT` in size."""

    @abstractmethod
    def exponential(self, score: Term) -> Term:
        """Return exp(score), to 12 digits, for scores up to `LARGEST_EXPONENT` in size."""

    def scorable(self, source: Source) -> Term | None:
        """Return whether a row can be scored; None if every row can, because rules use no input."""
        tests = [self.within(self.column(source, column), source.largest_input) for column in source.columns]
        return self.both(tests) if tests else None

    def constant(self, value: float) -> Term:
        """Return a number for each row."""
        return self.number(value)

    def projection(self, source: Source, proposition: Proposition) -> Term:
        """Return x.w, its products added from left to right."""
        products = [
            self.product(weight, self.column(source, column))
            for weight, column in zip(proposition.weights, proposition.columns, strict=True)
        ]
        total = products[0]
        for product in products[1:]:
            total = self.total(total, product)
        return total

    def proposition(self, source: Source, proposition: Proposition) -> Term:
        """Return whether a proposition holds."""
        return self.reaches(self.projection(source, proposition), proposition.threshold)

    def contribution(self, source: Source, rule: Rule) -> Term:
        """Return what a rule adds to the score."""
        if not rule.condition.propositions:
            return self.constant(rule.weight)
        return self.choice(self.both([self.proposition(source, proposition) for proposition in rule.condition]), rule.weight)

    def score(self, constant: float, contributions: Sequence[Term]) -> Term:
        """Return the constant plus the contributions, added from left to right."""
        total = self.constant(constant)
        for contribution in contributions:
            total = self.total(total, contribution)
        return total

    def prediction(self, source: Source, score: Term) -> Term:
        """Return the prediction at a score, by the link of the model."""
        if source.link == "identity":
            return score
        if source.largest_score > LARGEST_EXPONENT:
            score = self.bounded(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        return self.logistic(score) if source.link == "logistic" else self.exponential(score)


class TextLanguage(Language[str]):
    """A language whose terms are text, with the usual arithmetic operators."""

    exp: ClassVar[str] = "exp"

    def number(self, value: float) -> str:
        """Return the shortest decimal that reads back as this double."""
        return repr(value)

    def reaches(self, total: str, threshold: float) -> str:
        """Return a comparison."""
        return f"{total} >= {self.number(threshold)}"

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
