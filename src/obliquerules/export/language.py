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


class Language(ABC, Generic[Term]):
    """How numbers, columns and operations are written; a term is text, a data frame expression or the tensor of a graph.

    The meaning of a model is defined here, once for all languages: products are added from left to right and compared with a
    threshold, and the weights of the rules that fire are added from left to right to the constant. A language must evaluate
    each operation in double precision, and must neither fuse nor reorder operations.
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
        """Return whether total >= threshold; it must be false, or count as false, if the total is NaN or missing."""

    @abstractmethod
    def both(self, conditions: Sequence[Term]) -> Term:
        """Return whether all of one or more conditions hold."""

    @abstractmethod
    def choice(self, condition: Term, weight: float) -> Term:
        """Return the weight where the condition holds, else 0."""

    @abstractmethod
    def logistic(self, score: Term) -> Term:
        """Return 1 / (1 + exp(-score)), to 12 digits and without overflow for any score."""

    @abstractmethod
    def exponential(self, score: Term) -> Term:
        """Return exp(score), with the score limited to `LARGEST_EXPONENT`."""

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
        return self.logistic(score) if source.link == "logistic" else self.exponential(score)


class TextLanguage(Language[str]):
    """A language whose terms are text, with the usual arithmetic operators."""

    exp: ClassVar[str] = "exp"

    @abstractmethod
    def bounded(self, score: str, low: float, high: float) -> str:
        """Return a score clipped to an interval, as a term that may follow a minus sign."""

    def number(self, value: float) -> str:
        """Return the shortest decimal that reads back as this double."""
        return repr(value)

    def reaches(self, total: str, threshold: float) -> str:
        """Return a comparison, which is false for NaN in most languages."""
        return f"{total} >= {self.number(threshold)}"

    def product(self, weight: float, column: str) -> str:
        """Return the product; it needs no brackets inside a sum."""
        return f"{self.number(weight)} * {column}"

    def total(self, left: str, right: str) -> str:
        """Return the sum; without brackets, it is evaluated from left to right."""
        return f"{left} + {right}"

    def logistic(self, score: str) -> str:
        """Return the logistic function of the score, clipped so that the exponential does not overflow."""
        one, bounded = self.number(1.0), self.bounded(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        return f"{one} / ({one} + {self.exp}(-{bounded}))"

    def exponential(self, score: str) -> str:
        """Return the exponential of the score, clipped so that it neither overflows nor underflows."""
        return f"{self.exp}({self.bounded(score, -LARGEST_EXPONENT, LARGEST_EXPONENT)})"
