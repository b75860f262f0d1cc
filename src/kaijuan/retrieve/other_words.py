"""The question in other words: what a language model is asked for, where the router says that it pays (spec F2, F3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from kaijuan import telemetry
from kaijuan.core.chat import ChatModel
from kaijuan.retrieve.understanding.anchors import anchors
from kaijuan.retrieve.understanding.asking import Asker, Wordings
from kaijuan.retrieve.understanding.parts import Look, parts
from kaijuan.retrieve.understanding.results import StepReport, Understanding, Variant
from kaijuan.retrieve.understanding.rewording import general, hypothetical, rewrites
from kaijuan.retrieve.understanding.router import plan
from kaijuan.retrieve.understanding.settings import UnderstandSettings

_Step = Awaitable[tuple[Sequence[Variant], StepReport]]


async def in_other_words(
    chat: ChatModel,
    question: str,
    understood: Understanding,
    settings: UnderstandSettings,
    *,
    best: float | None,
    look: Look,
    wordings: Wordings,
) -> Understanding:
    """Return what is understood with other wordings, each step at the same time and within its own.

    `best` is the relevance of the best chunk found so far, None where that is unknown. Without a usable reply the
    question stays as it is; every step says in its report how it fared.
    """
    wanted = plan(question, understood.kinds, anchors(question), best, settings)
    telemetry.count("understand.model_asked" if wanted.asks else "understand.model_spared")
    if not wanted.asks:
        return replace(understood, routing=wanted.why)
    asker = Asker(chat=chat, seconds=settings.model_seconds, wordings=wordings)

    def step(name: str, on: bool, work: Callable[[], Awaitable[tuple[list[Variant], int]]], rounds: int = 1) -> _Step:
        return asker.step(name, work, seconds=rounds * settings.model_seconds) if on else _off(name)

    found = await asyncio.gather(
        step("rewrite", wanted.rewrites, lambda: rewrites(asker, question, settings.rewrites)),
        step("hyde", wanted.hyde, lambda: hypothetical(asker, question)),
        step("step-back", wanted.step_back, lambda: general(asker, question)),
        step(
            "parts",
            wanted.parts,
            lambda: parts(asker, question, most=settings.parts, depth=settings.part_depth, look=look),
            settings.part_depth,
        ),
    )
    return replace(
        understood,
        variants=tuple(variant for variants, _ in found for variant in variants),
        steps=(*understood.steps, *(report for _, report in found)),
        routing=wanted.why,
        usage=understood.usage + asker.usage,
    )


async def _off(name: str) -> tuple[Sequence[Variant], StepReport]:
    return (), StepReport(name=name, state="off")
