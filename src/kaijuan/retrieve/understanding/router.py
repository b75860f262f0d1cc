"""Which steps of a language model are worth their time for a question: rules alone, so that asking costs nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.retrieve.understanding.anchors import Anchor, AnchorKind
from kaijuan.retrieve.understanding.kinds import QuestionKind
from kaijuan.retrieve.understanding.settings import UnderstandSettings

_SEVERAL = re.compile(
    r"以及|并且|並且|同时|同時|分别|分別|各自|[？?].*[^\s].*[？?]|，(?:又|还|并|再)"
    r"|\b(?:and (?:what|which|who|when|where|why|how|is|are|does|do|did)|as well as|respectively|both)\b",
    re.IGNORECASE | re.DOTALL,
)
_IN_A_ROW = re.compile(
    r"(?:的[^，。？?的]{1,12}){2}的|所在的?[^，。？?]{1,10}的"
    r"|\b(?:of|by|in) the \w+(?: \w+)? (?:that|who|which|where|whose)\b|\bof the \w+ of the\b",
    re.IGNORECASE,
)
_LEAST_WORDS = 1
"""Words besides identifiers that a question needs to be put in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a model is asked for, and why, in a few words for the trace."""

    rewrites: bool = False
    hyde: bool = False
    step_back: bool = False
    parts: bool = False
    why: str

    @property
    def asks(self) -> bool:
        """Say whether a model is asked for anything."""
        return self.rewrites or self.hyde or self.step_back or self.parts


def plan(
    question: str,
    kinds: Sequence[QuestionKind],
    wanted: Sequence[Anchor],
    best: float | None,
    settings: UnderstandSettings,
) -> Plan:
    """Return what to ask a model. `best` is the relevance of the best chunk found so far, None where it means nothing.

    Taking apart pays for what asks for several things, however well one of them was found; other words pay where
    nothing found speaks clearly to the question.
    """
    if settings.model == "off":
        return Plan(why="off")
    if kinds[0] in (QuestionKind.CHIT_CHAT, QuestionKind.OUT_OF_SCOPE):
        return Plan(why=f"not asked: {kinds[0]}")
    apart = settings.parts > 1 and asks_several(question, kinds)
    always = settings.model == "always"
    weak = always or (best is not None and best < settings.model_below)
    if not _has_words(question):
        return Plan(parts=False, why="not asked: an identifier is searched to the letter")
    if not (weak or apart):
        found = "unknown" if best is None else f"{best:.2f}"
        return Plan(why=f"not asked: one thing is asked, relevance {found}")
    specific = any(anchor.kind is not AnchorKind.NEGATION for anchor in wanted)
    step_back = weak and settings.step_back and (always or specific or QuestionKind.HOW_TO in kinds)
    return Plan(
        rewrites=weak and settings.rewrites > 0,
        hyde=weak and settings.hyde,
        step_back=step_back,
        parts=apart,
        why="asked: " + ", ".join(_reasons(apart, always, weak, best)),
    )


def _reasons(apart: bool, always: bool, weak: bool, best: float | None) -> list[str]:
    reasons = ["several things are asked"] if apart else []
    if always:
        reasons.append("always")
    elif weak:
        reasons.append(f"relevance {best:.2f}")
    return reasons


def asks_several(question: str, kinds: Sequence[QuestionKind]) -> bool:
    """Say whether a question asks for several things, or for one that another must be known for."""
    return QuestionKind.COMPARE in kinds or any(pattern.search(question) for pattern in (_SEVERAL, _IN_A_ROW))


def _has_words(question: str) -> bool:
    terms = analyse(question)
    codes = [term.span for term in terms if term.kind is TermKind.CODE]
    words = {
        term.text
        for term in terms
        if term.kind is TermKind.WORD and not term.weak and not any(code.contains(term.span) for code in codes)
    }
    return len(words) >= _LEAST_WORDS
