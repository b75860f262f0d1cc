"""Patterns that are only tried where their words occur: a gate that reads everything has to be cheap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern over lower-case text. `words` holds groups; of every group one word must occur somewhere."""

    said: str
    pattern: re.Pattern[str]
    words: tuple[tuple[str, ...], ...]


def rule(said: str, pattern: str, *words: str) -> Rule:
    """Return a rule; each of `words` is one group, its words parted by "|"."""
    return Rule(said, re.compile(pattern, re.MULTILINE), tuple(tuple(group.split("|")) for group in words))


def matches(rules: Iterable[Rule], text: str) -> Iterator[tuple[Rule, re.Match[str]]]:
    """Yield what the rules find in a text that is in lower case."""
    for each in rules:
        if all(any(word in text for word in group) for group in each.words):
            for match in each.pattern.finditer(text):
                yield each, match
