"""What an asker chose who had been asked back: the question before, with the choice put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kaijuan.answer.conversation.followup import Standalone
from kaijuan.core.conversations import Turn
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import folded

_ENDS = " \t\n。.!！?？"


def chosen(text: str, turns: Sequence[Turn]) -> Standalone | None:
    """Return the question that a choice completes, given by its words or its number; None for any other reply."""
    last = turns[-1] if turns else None
    asked = last.body.get("clarification") if last is not None and not last.withheld else None
    if last is None or not isinstance(asked, Mapping):
        return None
    choices = [str(choice) for choice in asked.get("choices", ())]
    choice = _named(folded(text).strip(_ENDS), choices)
    if not choice:
        return None
    about = str(asked.get("about", ""))
    question = last.standalone
    if about and about in question:
        return Standalone(text=question.replace(about, choice, 1), how="choice")
    chinese = language_of(question) == "zh"
    return Standalone(text=f"{question}（{choice}）" if chinese else f"{question} ({choice})", how="choice")


def _named(said: str, choices: Sequence[str]) -> str:
    if said.isascii() and said.isdigit() and 1 <= int(said) <= len(choices):
        return choices[int(said) - 1]
    return next((choice for choice in choices if folded(choice).strip(_ENDS) == said), "")
