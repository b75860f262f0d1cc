"""A question in other words, from a language model: rewrites, a passage that might answer it, a more general question.

Whatever the model says is checked: an anchor that is lost, a number that is made up, another language, or nothing new
is not searched.
"""

from __future__ import annotations

from collections.abc import Iterable

from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.sentences import sentences
from kaijuan.retrieve.understanding import prompts
from kaijuan.retrieve.understanding.anchors import anchors, held, invented, lost
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.forms import OnePassage, OneQuestion, Questions
from kaijuan.retrieve.understanding.results import Variant

LONGEST = 500
"""Characters of a wording. What is longer is no question."""
_LONGEST_PASSAGE = 1000


async def rewrites(asker: Asker, question: str, count: int) -> tuple[list[Variant], int]:
    """Return at most `count` other wordings that keep every anchor, and how many were thrown away."""
    words = prompts.prompt("rewrite", question, question=question, count=str(count))
    given = (await asker.form(words, Questions)).questions
    kept = _distinct(question, (text for text in given if sound(question, text)))
    return [Variant(kind="rewrite", text=text) for text in kept[:count]], len(given) - len(kept)


async def hypothetical(asker: Asker, question: str) -> tuple[list[Variant], int]:
    """Return the question with a passage that might answer it, without sentences that name what was not asked about.

    The question stands before it, so that no anchor is lost (Gao et al. 2022, Wang et al. 2023).
    """
    words = prompts.prompt("hyde", question, question=question)
    given = (await asker.form(words, OnePassage)).passage[:_LONGEST_PASSAGE]
    wanted = anchors(question)
    said = [span.of(given).strip() for span in sentences(given)]
    kept = [one for one in said if one and not invented(wanted, one) and _same_language(question, one)]
    dropped = len(said) - len(kept)
    return ([Variant(kind="hyde", text=f"{question}\n{' '.join(kept)}")] if kept else []), dropped


async def general(asker: Asker, question: str) -> tuple[list[Variant], int]:
    """Return a more general question; anchors that it leaves out stand behind it (Zheng et al. 2023)."""
    words = prompts.prompt("step_back", question, question=question)
    given = (await asker.form(words, OneQuestion)).question.strip()
    missing = " ".join(anchor.text for anchor in lost(anchors(question), given))
    text = f"{given} {missing}".strip() if given else ""
    if not sound(question, text) or not _distinct(question, [text]):
        return [], int(bool(given))
    return [Variant(kind="step-back", text=text)], 0


def sound(question: str, text: str) -> bool:
    """Say whether a wording may stand for a question: every anchor held, none made up, in the same language."""
    wanted = anchors(question)
    return (
        0 < len(text.strip()) <= LONGEST
        and held(wanted, text)
        and not invented(wanted, text)
        and _same_language(question, text)
    )


def _same_language(question: str, text: str) -> bool:
    return language_of(text) == language_of(question)


def _distinct(question: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that are neither the question nor each other, in order."""
    known = {_bare(question): ""}
    for text in texts:
        known.setdefault(_bare(text), text.strip())
    return [text for text in known.values() if text]


def _bare(text: str) -> str:
    return "".join(character for character in folded(text) if character.isalnum())
