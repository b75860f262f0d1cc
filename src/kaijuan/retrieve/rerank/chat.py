"""A language model as reranker: one request for several passages (listwise) or one for each (pointwise)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.chat import ChatModel, ChatRequest, Effort, prompt, tokens
from kaijuan.core.chat_forms import fill
from kaijuan.errors import ModelError
from kaijuan.retrieve.ports import Reading, Verdict
from kaijuan.retrieve.rerank import prompts

Way = Literal["listwise", "pointwise"]

_TOGETHER = 8
"""Passages in one listwise request: small models lose count of more."""
_AT_ONCE = 4
"""Requests under way at once."""
_TOP_GRADE = 3
_CHANCES = (0.02, 0.2, 0.6, 0.9)
"""What a grade is taken to mean. Models grade generously and were not calibrated one by one."""
_FRAME = 300
"""Tokens of a prompt without passages, and of the reply."""
_PURPOSE = "rerank"


class Grade(BaseModel):
    """The reply to a pointwise request."""

    model_config = ConfigDict(extra="ignore")
    grade: int = Field(ge=0, le=_TOP_GRADE)


class Grades(BaseModel):
    """The reply to a listwise request."""

    model_config = ConfigDict(extra="ignore")
    grades: list[int]


class ChatReranker:
    """Grades passages 0 to 3; among equal grades the fused order stands.

    Passages whose grades cannot be read, after one repair, keep the fused order below those that answer; where that
    happens to all of them it is a ModelError.
    """

    def __init__(self, chat: ChatModel, *, way: Way = "listwise", characters: int = 1200) -> None:
        self._chat = chat
        self._way: Way = way
        self._characters = characters
        self._slots = asyncio.Semaphore(_AT_ONCE)

    @property
    def name(self) -> str:
        """Return the name that traces show."""
        return f"chat-{self._way}"

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        """Return a verdict for each candidate."""
        size = self._together(candidates) if self._way == "listwise" else 1
        groups = [candidates[at : at + size] for at in range(0, len(candidates), size)]
        grade = self._listwise if self._way == "listwise" else self._pointwise
        graded = await asyncio.gather(*(grade(question, group) for group in groups))
        grades = [one for group in graded for one in group]
        if candidates and all(one is None for one in grades):
            raise ModelError("The language model gave no grades that can be read.")
        top = max((candidate.fused for candidate in candidates), default=0.0) or 1.0
        return [
            # Less than a grade apart, so that the fused order only settles ties.
            Verdict(score=(1 if one is None else one) + 0.5 * candidate.fused / top, evidence=_chance(one))
            for one, candidate in zip(grades, candidates, strict=True)
        ]

    async def close(self) -> None:
        """Do nothing: the model belongs to the engine."""

    def _together(self, candidates: Sequence[Reading]) -> int:
        """Return how many passages fit the model's context together."""
        longest = max((tokens(self._text(candidate)) for candidate in candidates), default=1)
        return max(1, min(_TOGETHER, (self._chat.info.context_tokens - _FRAME) // (longest + 8)))

    async def _listwise(self, question: str, group: Sequence[Reading]) -> list[int | None]:
        passages = "\n\n".join(f"[{number}] {self._text(one)}" for number, one in enumerate(group, start=1))
        words = prompts.prompt("listwise", question, question=question, passages=passages)
        async with self._slots:
            filled = await fill(self._chat, _request(words), Grades)
        grades = filled.form.grades if filled.form is not None else []
        if len(grades) != len(group) or not all(0 <= grade <= _TOP_GRADE for grade in grades):
            return [None] * len(group)
        return list(grades)

    async def _pointwise(self, question: str, group: Sequence[Reading]) -> list[int | None]:
        words = prompts.prompt("pointwise", question, question=question, passage=self._text(group[0]))
        async with self._slots:
            filled = await fill(self._chat, _request(words), Grade)
        return [filled.form.grade if filled.form is not None else None]

    def _text(self, reading: Reading) -> str:
        head = " > ".join(name for name in dict.fromkeys((reading.title, *reading.title_path)) if name.strip())
        return f"{head}\n{reading.text}"[: self._characters]


def _request(words: str) -> ChatRequest:
    return ChatRequest(
        messages=prompt("", words), purpose=_PURPOSE, effort=Effort.SMALL, temperature=0.0, max_tokens=200
    )


def _chance(grade: int | None) -> float:
    return _CHANCES[1] if grade is None else _CHANCES[grade]
