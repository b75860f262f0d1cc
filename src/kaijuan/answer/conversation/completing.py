"""A follow-up question made to stand by itself: by rule where a rule is sure, else by a language model if it can."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kaijuan.answer.conversation.followup import LONGEST, Standalone, leans, standalone
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.understanding.anchors import AnchorKind, anchors
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.results import StepReport
from kaijuan.retrieve.understanding.standalone import completed

STEP = "standalone"
_SAYS_MORE = re.compile(
    r"其他|其它|别的|另外|例子|举例|更多|还有呢|继续|相比|反过来"
    r"|\b(?:others?|another|else|examples?|instead|as a result|besides|again|more|what about|how about)\b",
    re.IGNORECASE,
)
_FEW = 2
"""Words that say something, up to which a question hardly stands by itself."""
_SHORT = 60


def may_lean(question: str) -> bool:
    """Say whether a question may go on from those before: more of them than rules could complete, if a model can."""
    if leans(question) or _SAYS_MORE.search(question):
        return True
    if len(question) > _SHORT or any(anchor.kind is not AnchorKind.NEGATION for anchor in anchors(question)):
        return False
    words = {term.text for term in analyse(question) if term.kind is TermKind.WORD and not term.weak}
    return len(words) <= _FEW


async def complete(
    question: str, before: Sequence[str], embedder: Embedder, asker: Asker | None
) -> tuple[Standalone, StepReport | None]:
    """Return what a question asks when nobody heard the ones before, and how the model fared where it was asked.

    `before` are those, standalone, oldest first. A model is asked only for a question that may go on from them; a reply
    that loses or makes up anything exact is not used.
    """
    by_rule = await standalone(question, before, embedder)
    asked = question.strip()
    if asker is None or not before or by_rule.how == "instead" or len(asked) > LONGEST or not may_lean(asked):
        return by_rule, None
    found, report = await asker.step(STEP, lambda: completed(asker, asked, before))
    if not found:
        return by_rule, report
    return Standalone(text=found[0], how="" if found[0] == asked else "model"), report
