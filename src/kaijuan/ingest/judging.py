"""Where a new subject begins, as a language model says it: asked window by window, and what it said kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from kaijuan import telemetry
from kaijuan.core.chat import ChatModel, ChatRequest, Effort, prompt, tokens
from kaijuan.core.chat_forms import fill
from kaijuan.core.ids import stable_id
from kaijuan.core.text.language import language_of
from kaijuan.errors import DocumentError, ModelError
from kaijuan.ingest import prompts
from kaijuan.ingest.ports import Judge, WrittenShelf

_MOST = 40
"""Sentences in one request: small models lose count of more."""
_FRAME = 400
"""Tokens of the prompt without sentences, and of the reply."""
_REPLY = 200
PURPOSE = "judge_borders"


class Begins(BaseModel):
    """The reply."""

    model_config = ConfigDict(extra="ignore")
    begins: list[int]


def blocking_judge(chat: ChatModel, shelf: WrittenShelf | None = None) -> Judge:
    """Return a judge for threads beside the running event loop.

    Called on the loop's own thread it would wait for itself, so it raises RuntimeError there. What the model said is
    kept on the shelf: a run that was stopped, or a document that comes again, pays for no window twice.
    """
    loop = asyncio.get_running_loop()

    def judge(parts: Sequence[str]) -> Sequence[int]:
        if _is_on(loop):
            raise RuntimeError("the model is waited for on the thread that asks it")
        return asyncio.run_coroutine_threadsafe(borders(chat, parts, shelf), loop).result()

    return judge


def _is_on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


async def borders(chat: ChatModel, parts: Sequence[str], shelf: WrittenShelf | None = None) -> list[int]:
    """Return the places of the parts that begin a new subject, rising, never 0. DocumentError when the model fails.

    Each window begins with the last subject of the one before it, so that no border depends on where windows end.
    """
    found: list[int] = []
    start = 0
    while start < len(parts) - 1:
        end = _window(chat, parts, start)
        begun = [start + at for at in await _asked(chat, parts[start:end], shelf)]
        found += begun
        if end == len(parts):
            break
        # Without a border the next window begins with the last part of this one: it may be one itself.
        start = begun[-1] if begun else end - 1
    return sorted(set(found))


def _window(chat: ChatModel, parts: Sequence[str], start: int) -> int:
    room = chat.info.context_tokens - _FRAME - _REPLY
    end = start
    while end < len(parts) and end - start < _MOST:
        room -= tokens(parts[end]) + 4
        if room < 0 and end - start >= 2:
            break
        end += 1
    return end


async def _asked(chat: ChatModel, parts: Sequence[str], shelf: WrittenShelf | None) -> list[int]:
    key = stable_id("borders", prompts.mark("borders"), *parts)
    known = shelf.known([key]) if shelf is not None else {}
    if key in known:
        telemetry.count("judge.known")
        return [int(word) for word in known[key].split()]
    sentences = "\n".join(f"[{number}] {' '.join(part.split())}" for number, part in enumerate(parts, start=1))
    language = "zh" if language_of(" ".join(parts)) == "zh" else "en"
    request = ChatRequest(
        messages=prompt("", prompts.prompt("borders", language, sentences=sentences)),
        purpose=PURPOSE,
        effort=Effort.SMALL,
        temperature=0.0,
        max_tokens=_REPLY,
    )
    try:
        filled = await fill(chat, request, Begins)
    except ModelError as error:
        raise DocumentError(f"The language model failed: {error}", hint=error.hint) from error
    if filled.form is None:
        raise DocumentError(f"The language model did not say where to cut: {filled.fault}.", hint="Add it again.")
    found = sorted({number - 1 for number in filled.form.begins if 2 <= number <= len(parts)})
    telemetry.count("judge.asked")
    if shelf is not None:
        shelf.keep("", {key: " ".join(map(str, found))})
    return found
