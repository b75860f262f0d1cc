"""What else a question shows: what it names, of when it speaks, in what mood it is asked (spec F5).

Detectors know nothing of each other. Each runs within the same short time at once with the others, and one that is late
or finds nothing counts as its default.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kaijuan import telemetry
from kaijuan.retrieve.understanding.anchors import AnchorKind, anchors
from kaijuan.retrieve.understanding.kinds import LONGEST, QuestionKind, kinds_of

NEUTRAL = "neutral"
_NAMES = frozenset({AnchorKind.NAME, AnchorKind.IDENTIFIER, AnchorKind.VERSION})
_TIMES = re.compile(
    r"最新|现行|現行|目前|当前|今天|昨天|明天|今年|去年|明年|前年|本月|上个?月|下个?月|本季度?|上季度|近[一二三四五六七八九十\d]+[年月周天]"
    r"|\b(?:latest|current(?:ly)?|today|yesterday|tomorrow|now|recent(?:ly)?"
    r"|(?:this|last|next) (?:year|month|quarter|week))\b",
    re.IGNORECASE,
)
_MOODS = MappingProxyType(
    {
        "urgent": re.compile(
            r"紧急|緊急|马上|馬上|立刻|立即|尽快|急(?:用|需|着)"
            r"|\b(?:urgent(?:ly)?|asap|immediately|right away|emergency)\b",
            re.I,
        ),
        "displeased": re.compile(
            r"投诉|投訴|太慢|太差|差劲|不满|失望|气死|坑人|骗人|凭什么|怎么(?:又|还|还是)"
            r"|\b(?:complain(?:t|ing)?|terrible|awful|ridiculous|unacceptable|disappoint(?:ed|ing)|frustrat(?:ed|ing)|angry"
            r"|fed up)\b",
            re.I,
        ),
    }
)

Found = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intents:
    """What the detectors saw."""

    kinds: tuple[QuestionKind, ...]
    """What kind of question it is; the first decides, always at least one."""
    entities: Found
    """What is named: in quotation marks, acronyms, identifiers, versions."""
    times: Found
    """Dates, and words that say of when it speaks."""
    mood: str
    """"urgent", "displeased" or "neutral"."""
    late: Found = ()
    """Detectors that took too long and count with their defaults."""


def entities_of(question: str) -> Found:
    """Return what a question names."""
    return tuple(dict.fromkeys(anchor.text for anchor in anchors(question) if anchor.kind in _NAMES))


def times_of(question: str) -> Found:
    """Return the dates of a question and its words for points in time, as they stand there."""
    dates = [anchor.text for anchor in anchors(question) if anchor.kind is AnchorKind.DATE]
    return tuple(dict.fromkeys([*dates, *(match.group().lower() for match in _TIMES.finditer(question))]))


def mood_of(question: str) -> Found:
    """Return how a question is asked."""
    return (next((name for name, words in _MOODS.items() if words.search(question)), NEUTRAL),)


def _kinds(question: str) -> Found:
    return tuple(map(str, kinds_of(question)))


_DETECTORS: Mapping[str, tuple[Callable[[str], Found], Found]] = MappingProxyType(
    {
        "kind": (_kinds, (QuestionKind.LOOKUP,)),
        "entities": (entities_of, ()),
        "time": (times_of, ()),
        "mood": (mood_of, (NEUTRAL,)),
    }
)
"""Name, detector and what holds without it."""
AT_ONCE = 500
"""Characters up to which a question is looked at in place: that takes less time than to start a thread."""


async def intents_of(question: str, *, seconds: float) -> Intents:
    """Return what all detectors see in the first of a question's characters."""
    looked_at = question[:LONGEST]
    if len(looked_at) <= AT_ONCE:
        return _joined({name: detect(looked_at) for name, (detect, _) in _DETECTORS.items()})
    answers = await asyncio.gather(*(_within(detect, looked_at, seconds) for detect, _ in _DETECTORS.values()))
    found = dict(zip(_DETECTORS, answers, strict=True))
    late = tuple(name for name, answer in found.items() if answer is None)
    for name in late:
        telemetry.count(f"understand.dropped.intent.{name}")
    kept = {name: default if (seen := found[name]) is None else seen for name, (_, default) in _DETECTORS.items()}
    return _joined(kept, late)


async def _within(detect: Callable[[str], Found], question: str, seconds: float) -> Found | None:
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(detect, question)
    except TimeoutError:
        return None


def _joined(found: Mapping[str, Found], late: Found = ()) -> Intents:
    return Intents(
        kinds=tuple(map(QuestionKind, found["kind"])),
        entities=found["entities"],
        times=found["time"],
        mood=found["mood"][0],
        late=late,
    )
