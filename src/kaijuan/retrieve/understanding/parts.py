"""A question taken apart into simpler ones, each searched by itself; one may need the answer of another.

Bounded in number and in depth. What a model makes of a question is checked as a whole: together the parts must hold
every anchor, and none may bring in dates, numbers or codes of its own.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kaijuan.core.text.language import language_of
from kaijuan.retrieve.understanding import prompts
from kaijuan.retrieve.understanding.anchors import Anchor, anchors, invented, lost
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.forms import OneQuestion, PartForm, PartsForm
from kaijuan.retrieve.understanding.results import Variant
from kaijuan.retrieve.understanding.rewording import LONGEST

Look = Callable[[str], Awaitable[Sequence[str]]]
"""Searches for a question and returns the texts of the first few chunks that the asker may read."""

_MARK = re.compile(r"[#＃]\s?(\d{1,2})")
_LONGEST_TEXT = 800
_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simpler question. `after` holds the numbers, from 1, of earlier ones whose answers it needs."""

    question: str
    after: tuple[int, ...] = ()


async def parts(asker: Asker, question: str, *, most: int, depth: int, look: Look) -> tuple[list[Variant], int]:
    """Return the simpler questions, those that depend on others with what was found put in; and how many were lost.

    None where the question is simple, or where its parts together say something else.
    """
    words = prompts.prompt("parts", question, question=question, count=str(most))
    given = (await asker.form(words, PartsForm)).parts
    planned = arranged(given, most=most, depth=depth)
    if len(planned) < _FEWEST or not whole(question, planned):
        return [], len(given) if len(given) >= _FEWEST else 0
    found: list[Variant | None] = []
    for part in planned:
        found.append(await _resolved(asker, part, planned, found, look))
    return [one for one in found if one is not None], len(given) - sum(one is not None for one in found)


def arranged(given: Sequence[PartForm], *, most: int, depth: int) -> list[Part]:
    """Return the parts with the dependencies that are real: on earlier ones only, and not too many in a row.

    A part is cut where it depends on one that does not come before it, on itself, or too deep; and so are those that
    need it.
    """
    kept: list[Part] = []
    numbers: dict[int, int] = {}
    depths: list[int] = []
    for number, one in enumerate(given, start=1):
        text = one.question.strip()
        needed = sorted({int(match[1]) for match in _MARK.finditer(text)})
        if not text or len(text) > LONGEST or len(kept) >= most or any(place not in numbers for place in needed):
            continue
        level = 1 + max((depths[numbers[place] - 1] for place in needed), default=0)
        if level > depth:
            continue
        renumbered = _MARK.sub(lambda match: f"#{numbers[int(match[1])]}", text)
        kept.append(Part(question=renumbered, after=tuple(numbers[place] for place in needed)))
        depths.append(level)
        numbers[number] = len(kept)
    return kept


def whole(question: str, planned: Sequence[Part]) -> bool:
    """Say whether parts together hold every anchor, and none brings in exact things or another language."""
    wanted = anchors(question)
    texts = [_MARK.sub(" ", part.question) for part in planned]
    language = language_of(question)
    return (
        not _lost_by_all(wanted, texts)
        and not any(invented(wanted, text) for text in texts)
        and all(language_of(text) in (language, "") for text in texts)
    )


def _lost_by_all(wanted: tuple[Anchor, ...], texts: Sequence[str]) -> bool:
    missing = wanted
    for text in texts:
        missing = lost(missing, text)
    return bool(missing)


async def _resolved(
    asker: Asker, part: Part, planned: Sequence[Part], found: Sequence[Variant | None], look: Look
) -> Variant | None:
    """Return a part that can be searched: as it is, or with the answers of those it needs in their places."""
    text = part.question
    for place in part.after:
        before = found[place - 1]
        if before is None:
            return None
        passages = "\n\n".join(one[:_LONGEST_TEXT] for one in await look(before.text))
        if not passages:
            return None
        mark = f"#{place}"
        words = prompts.prompt(
            "fill", planned[place - 1].question, passages=passages, first=before.text, second=text, mark=mark
        )
        filled = (await asker.form(words, OneQuestion)).question.strip()
        if not filled or _names(mark, filled) or len(filled) > LONGEST:
            return None
        if lost(anchors(_MARK.sub(" ", text)), filled):
            return None
        text = filled
    return None if _MARK.search(text) else Variant(kind="part", text=text, after=part.after)


def _names(mark: str, text: str) -> bool:
    return any(f"#{match[1]}" == mark for match in _MARK.finditer(text))
