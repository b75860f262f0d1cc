"""A follow-up question made to stand by itself by a language model. What is not said before is not put in."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.language import language_of
from kaijuan.retrieve.understanding import prompts
from kaijuan.retrieve.understanding.anchors import AnchorKind, anchors, invented, lost
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.forms import OneQuestion
from kaijuan.retrieve.understanding.rewording import LONGEST

TOLD = 4
"""Earlier questions that the model is told, the latest ones."""
_LONGEST_TOLD = 300
_KEPT = 0.5


async def completed(asker: Asker, question: str, before: Sequence[str]) -> tuple[list[str], int]:
    """Return the question with what it leaves unsaid, at most one; and how many replies could not be used.

    None where the reply loses an anchor or most words of the question, denies what it does not, or names dates, numbers
    or codes that nobody has said.
    """
    # On one line each: a line break would look like another turn.
    told = [" ".join(one.split())[:_LONGEST_TOLD] for one in before[-TOLD:] if one.strip()]
    if not told:
        return [], 0
    words = prompts.prompt("standalone", question, question=" ".join(question.split()), earlier=" ".join(told))
    given = (await asker.form(words, OneQuestion)).question.strip()
    return ([given], 0) if faithful(question, told, given) else ([], 1)


def faithful(question: str, before: Sequence[str], text: str) -> bool:
    """Say whether a text may stand for a question that was asked after others."""
    wanted = anchors(question)
    said = (*wanted, *(anchor for one in before for anchor in anchors(one)))
    denied = any(anchor.kind is AnchorKind.NEGATION for anchor in said)
    return (
        0 < len(text) <= LONGEST
        and not lost(wanted, text)
        and not invented(said, text)
        and (denied or not any(anchor.kind is AnchorKind.NEGATION for anchor in anchors(text)))
        and language_of(text) == language_of(question)
        and _keeps_words(question, text)
    )


def _keeps_words(question: str, text: str) -> bool:
    """Say whether a text has at least half of the words that the question asks with: else it is another question."""
    own, other = _words(question), _words(text)
    return len(own & other) >= _KEPT * len(own)


def _words(text: str) -> frozenset[str]:
    return frozenset(term.text for term in analyse(text) if term.kind is TermKind.WORD and not term.weak)
