"""A follow-up question made to stand by itself: by rule where a rule is sure, else by a language model if it can."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.answer.conversation.followup import LONGEST, Standalone, leans, standalone
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.results import StepReport
from kaijuan.retrieve.understanding.standalone import completed

STEP = "standalone"


async def complete(
    question: str, before: Sequence[str], embedder: Embedder, asker: Asker | None
) -> tuple[Standalone, StepReport | None]:
    """Return what a question asks when nobody heard the ones before, and how the model fared where it was asked.

    `before` are those, standalone, oldest first. A model is asked only for a question that points at something before
    it; a reply that loses or makes up anything exact is not used.
    """
    by_rule = await standalone(question, before, embedder)
    asked = question.strip()
    if asker is None or not before or by_rule.how == "instead" or len(asked) > LONGEST or not leans(asked):
        return by_rule, None
    found, report = await asker.step(STEP, lambda: completed(asker, asked, before))
    if not found:
        return by_rule, report
    return Standalone(text=found[0], how="" if found[0] == asked else "model"), report
