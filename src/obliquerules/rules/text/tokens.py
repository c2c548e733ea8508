"""Tokens: the words, names, numbers and signs of printed rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
TRUTHS = ("True", "False")
JOINERS = "\u200c\u200d"
# Read as names, but in quotes they leave no doubt.
_DOUBTFUL = re.compile(r"True|False|missing|.*[<>=\\].*")

# A token ends where a space or one of these signs follows.
_END = r"(?![^\s,|(){}\[\]])"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
# These end a name wherever they stand; a number does so with its sign alone.
_SIGNS = rf"(?:if|and|&|or\s+missing|>=|<=|==|!=|[=<>+-]){_END}"
_SIGNED = rf"(?=[+-]){NUMBER.pattern}{_END}"
# These end a name behind its first word.
_WORDS = rf"(?:is(?:\s+not)?\s+missing|at\s+least|at\s+most|below|above){_END}|(?:not\s+)?in(?=\s*\{{)|clipped\s+to(?=\s*\[)"
_PREFIXES = rf"not{_END}|(?:any|all|at\s+least\s+[0-9]+)\s+of(?=\s*\{{)"
# Brackets inside a name: without a comma if nothing separates them from the word before, as in min(age, 80).
_WORD = r'(?:[^\s"(){}\[\],|]|\([^"(){}\[\],|]*\)|\[[^"(){}\[\],|]*\])+'
_BRACKETS = r'\([^"(){}\[\]|]*\)|\[[^"(){}\[\]|]*\]'
_NAME = rf"(?![(\[]){_WORD}(?:\s+(?!{_SIGNS}|{_SIGNED}|{_WORDS})(?:{_WORD}|(?:{_BRACKETS}){_END}))*"

_SIGN = rf"(?P<sign>[(){{}}\[\],|]|{_SIGNS})"
_BEFORE_NAME = re.compile(
    rf"\s*(?:(?P<quoted>{_QUOTED})|{_SIGN}|(?P<moment>(?:{MOMENT}){_END})|(?P<number>{NUMBER.pattern}{_END})"
    rf"|(?P<word>{_PREFIXES})|(?P<name>{_NAME}))",
    re.DOTALL,
)
_AFTER_NAME = re.compile(rf"\s*(?:{_SIGN}|(?P<number>{_SIGNED})|(?P<word>{_WORDS}))")

Item = TypeVar("Item")


class Token(NamedTuple):
    """A part of a printed rule, with one space between words, and without the quotes of a name.

    The kind is name, quoted, number, moment, word (words of the grammar, such as ``at least``) or sign (a bracket, an operator,
    ``if`` or ``and``).
    """

    kind: str
    text: str


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text; see `Reader` for the grammar."""
    tokens, place, end = list[Token](), 0, len(text.rstrip())
    while place < end:
        after_name = bool(tokens) and tokens[-1].kind in ("name", "quoted")
        match = (_AFTER_NAME.match(text, place) if after_name else None) or _BEFORE_NAME.match(text, place)
        if match is None:
            raise ValueError(f"The quotes are not closed in {text[place:].strip()!r}.")
        kind, place = str(match.lastgroup), match.end()
        try:
            said = str(json.loads(match[kind], strict=False)) if kind == "quoted" else " ".join(match[kind].split())
        except ValueError as error:
            raise ValueError(f"Text in quotes is written as in JSON, with \\\\ for a backslash; got {match[kind]}.") from error
        tokens.append(Token(kind, said))
    return tokens


class Tokens:
    """The tokens of a text, taken one by one."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self._left = tokenize(text)[::-1]

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without taking it; behind the last there is one without text."""
        return self._left[-1 - ahead] if ahead < len(self._left) else Token("sign", "")

    def has(self, *texts: str) -> bool:
        """Say whether one of the signs is still to come."""
        return any(token.kind == "sign" and token.text in texts for token in self._left)

    def follows(self, *texts: str, ahead: int = 0) -> bool:
        """Say whether a token is one of these signs or words."""
        token = self.peek(ahead)
        return token.kind in ("sign", "word") and token.text in texts

    def next(self) -> Token:
        """Take the next token."""
        return self._left.pop() if self._left else self.peek()

    def take(self, *texts: str) -> str | None:
        """Take the next token if it is one of these."""
        return self.next().text if self.follows(*texts) else None

    def need(self, *texts: str) -> str:
        """Take one of these signs or words, the empty one at the end of the text; raise if none follows."""
        if not self.follows(*texts):
            raise self.refusal()
        return self.next().text

    def listed(self, read: Callable[[Tokens], Item], opening: str = "{", closing: str = "}") -> list[Item]:
        """Take a list in brackets, with commas."""
        self.need(opening)
        found = [read(self)]
        while self.take(","):
            found.append(read(self))
        self.need(closing)
        return found

    def refusal(self) -> ValueError:
        """Return the error for text that is no condition."""
        return ValueError(f"A condition reads like 'x0 >= 3', '2 x0 - x1 <= 0.5' or 'x0 = red'; got {self.text!r}.")


def quoted(text: str) -> str:
    r"""Return text in quotes as in JSON, invisible characters escaped.

    >>> print(quoted('5" pipe'), quoted("a\nb\u2028"))
    "5\" pipe" "a\nb\u2028"
    """
    unseen = _unseen(text)
    return "".join(json.dumps(one)[1:-1] if one in unseen else one for one in json.dumps(text, ensure_ascii=False))


def _unseen(text: str) -> set[str]:
    """Return the invisible characters; joiners between letters or emoji are visible."""
    joiners = JOINERS if text.strip(JOINERS) == text else ""
    return {one for one in text if not (one.isprintable() or one in joiners)}


def is_name(text: str) -> bool:
    """Say whether text is one name without quotes in any context."""
    # What follows a name may take its last word: "x not" in {a} is not x not in {a}.
    clear = not _unseen(text) and '"' not in text and not _DOUBTFUL.fullmatch(text)
    return clear and tokenize(f"{text} in {{")[0] == Token("name", text)
