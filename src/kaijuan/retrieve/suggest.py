"""What somebody who types may mean: titles, headings and past questions that this reader may see (spec F7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.text.normalise import folded
from kaijuan.index.catalog import StoredTrace

LONGEST_PREFIX = 200
_LONGEST_SHOWN = 120
_ANSWERED = frozenset({"answered", "partial"})


class SuggestionKind(StrEnum):
    """Where a suggestion is from; of equally good ones those listed first here come first."""

    QUESTION = "question"
    TITLE = "title"
    HEADING = "heading"


_ORDER = {kind: place for place, kind in enumerate(SuggestionKind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One text to go on with."""

    text: str
    kind: SuggestionKind
    source: str = ""
    """The document, of titles and headings."""


def suggestions(prefix: str, known: Iterable[Suggestion], limit: int) -> list[Suggestion]:
    """Return at most `limit` texts that go on from a prefix: those that begin with it, then those with it inside.

    Inside counts at the beginning of a word, or anywhere in text written without blanks. Each text once, shorter ones
    first; the order is the same every time.
    """
    wanted = folded(prefix[:LONGEST_PREFIX]).strip()
    if not wanted:
        return []
    within = re.compile((r"(?<![a-z0-9])" if wanted[0].isascii() and wanted[0].isalnum() else "") + re.escape(wanted))
    found: dict[str, tuple[tuple[int, int, int, str], Suggestion]] = {}
    for one in known:
        text = folded(one.text).strip()
        match = within.search(text)
        if match is None or not text:
            continue
        place = (int(match.start() > 0), _ORDER[one.kind], len(text), text)
        if text not in found or place < found[text][0]:
            found[text] = (place, one)
    return [one for _, one in sorted(found.values(), key=lambda item: (item[0], item[1].source))[:limit]]


def past_questions(traces: Iterable[StoredTrace], principals: frozenset[str]) -> list[Suggestion]:
    """Return questions that were answered for exactly these readers; what others asked is theirs."""
    return [
        Suggestion(text=question, kind=SuggestionKind.QUESTION)
        for trace in traces
        if _asked_by(trace) == principals and trace.body.get("status") in _ANSWERED
        for question in [trace.body.get("question") or trace.body.get("query")]
        if isinstance(question, str) and len(question) <= _LONGEST_SHOWN
    ]


def _asked_by(trace: StoredTrace) -> frozenset[str] | None:
    asked = trace.body.get("principals")
    return frozenset(map(str, asked)) if isinstance(asked, list | tuple) else None


def titles_and_headings(titles: Iterable[tuple[str, str]], headings: Sequence[tuple[str, str]]) -> list[Suggestion]:
    """Return suggestions of (source, title) and (source, heading) pairs; long ones are sentences and none."""
    return [
        Suggestion(text=text, kind=kind, source=source)
        for kind, pairs in ((SuggestionKind.TITLE, titles), (SuggestionKind.HEADING, headings))
        for source, text in pairs
        if 0 < len(text) <= _LONGEST_SHOWN
    ]
