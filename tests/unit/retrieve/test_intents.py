"""What a question shows besides its words; a detector that is late counts with its default."""

from __future__ import annotations

import threading

import pytest

from kaijuan.retrieve.understanding import intents
from kaijuan.retrieve.understanding.intents import AT_ONCE, intents_of
from kaijuan.retrieve.understanding.kinds import QuestionKind, kinds_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("财务部和审计部是什么关系", QuestionKind.RELATION),
        ("How is Acme related to Initech?", QuestionKind.RELATION),
        ("两年的营收相差多少", QuestionKind.CALCULATION),
        ("What is the growth rate of revenue?", QuestionKind.CALCULATION),
        ("这份报告讲了什么", QuestionKind.SUMMARY),
        ("Summarize the travel policy", QuestionKind.SUMMARY),
    ],
)
def test_more_kinds(question: str, kind: QuestionKind) -> None:
    assert kinds_of(question)[0] is kind


async def test_what_is_named_when_and_how() -> None:
    found = await intents_of("去年《差旅办法》里 ERR-9988 怎么还没修？马上处理 2024-03-05 的 SLA", seconds=5)
    assert set(found.entities) == {"差旅办法", "err-9988", "sla"}
    assert "去年" in found.times
    assert "2024-03-05" in found.times
    assert found.mood == "urgent"
    assert (await intents_of("I am very disappointed with the delivery", seconds=5)).mood == "displeased"
    plain = await intents_of("住宿标准是多少", seconds=5)
    assert (plain.entities, plain.times, plain.mood, plain.late) == ((), (), "neutral", ())


async def test_a_detector_that_is_late_counts_with_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def stuck(_: str) -> tuple[str, ...]:
        release.wait(60)
        return ("nothing",)

    detectors = {**intents._DETECTORS, "entities": (stuck, ("by default",))}
    monkeypatch.setattr(intents, "_DETECTORS", detectors)
    try:
        found = await intents_of("马上告诉我" + "报销流程" * AT_ONCE, seconds=0.2)
    finally:
        release.set()
    assert "entities" in found.late
    assert found.entities == ("by default",)
