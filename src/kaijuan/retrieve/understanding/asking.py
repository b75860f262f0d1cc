"""How a language model is asked about a question: within its time, by a form, once for the same prompt."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from kaijuan import telemetry
from kaijuan.core.chat import NOTHING, ChatModel, ChatRequest, Effort, Usage, prompt
from kaijuan.core.chat_forms import fill
from kaijuan.errors import KaijuanError, UnusableReplyError
from kaijuan.retrieve.understanding.results import OK, StepReport

Form = TypeVar("Form", bound=BaseModel)
Found = TypeVar("Found")

PURPOSE = "understand"
_KEPT = 256
_LONGEST_REPLY = 400


@dataclass(slots=True)
class Wordings:
    """What models said of late, by model and prompt: the same question gets the same words, and is paid for once."""

    _kept: OrderedDict[tuple[str, str, str], BaseModel] = field(default_factory=OrderedDict)

    def known(self, key: tuple[str, str, str]) -> BaseModel | None:
        """Return what was said to this, if it is still kept."""
        return self._kept.get(key)

    def keep(self, key: tuple[str, str, str], form: BaseModel) -> None:
        """Keep what was said; the oldest goes when there is too much."""
        self._kept[key] = form
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)


@dataclass(slots=True)
class Asker:
    """Asks one model for one search. `usage` grows with every call."""

    chat: ChatModel
    seconds: float
    wordings: Wordings = field(default_factory=Wordings)
    usage: Usage = NOTHING

    async def form(self, words: str, form: type[Form]) -> Form:
        """Return the form that the model fills; ModelError where it fails, UnusableReplyError where it is none."""
        key = (self.chat.info.fingerprint, form.__name__, words)
        known = self.wordings.known(key)
        if isinstance(known, form):
            return known
        request = ChatRequest(
            messages=prompt("", words),
            purpose=PURPOSE,
            effort=Effort.SMALL,
            temperature=0.0,
            max_tokens=min(_LONGEST_REPLY, self.chat.info.reply_tokens),
            seconds=self.seconds,
        )
        filled = await fill(self.chat, request, form)
        self.usage += filled.usage
        if filled.form is None:
            raise UnusableReplyError(f"The language model's reply cannot be used: {filled.fault}.")
        self.wordings.keep(key, filled.form)
        return filled.form

    async def step(
        self, name: str, work: Callable[[], Awaitable[tuple[Sequence[Found], int]]], *, seconds: float = 0.0
    ) -> tuple[Sequence[Found], StepReport]:
        """Return what a step found, none where it fails or is late, and how it fared; faults are counted.

        `work` returns also how much of what was said could not be used. 0 `seconds` are those of one request.
        """
        start = time.perf_counter()
        found: Sequence[Found] = ()
        dropped = 0
        state = OK
        try:
            async with asyncio.timeout(seconds or self.seconds):
                found, dropped = await work()
        except TimeoutError:
            state = "timeout"
        except KaijuanError as error:
            state = f"failed: {error.code}"
        if state != OK:
            telemetry.count(f"understand.dropped.{name}")
            telemetry.event("step dropped", step=name, state=state)
        if dropped:
            telemetry.count(f"understand.unusable.{name}")
        spent = round((time.perf_counter() - start) * 1000, 3)
        said = tuple(map(str, found))
        return found, StepReport(name=name, state=state, said=said, milliseconds=spent, dropped=dropped)
