"""Whatever a language model says about a question: nothing exact is lost, and nothing exact is made up."""

from __future__ import annotations

import asyncio
import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.test_anchors import EXACT, QUESTIONS, WORDS

from kaijuan.core.chat import ChatRequest
from kaijuan.retrieve.understanding.anchors import anchors, invented, lost
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.retrieve.understanding.forms import PartForm
from kaijuan.retrieve.understanding.parts import arranged, parts, whole
from kaijuan.retrieve.understanding.results import Variant
from kaijuan.retrieve.understanding.rewording import general, hypothetical, rewrites
from kaijuan.retrieve.understanding.standalone import completed
from kaijuan.testing.chat import ScriptedChat

WORDINGS = st.lists(QUESTIONS | st.text(max_size=30), max_size=5)
SEEDS = st.integers(0, 2**32)


def shuffled(question: str, others: list[str], seed: int) -> list[str]:
    """Return wordings as a model might give them: the question's words in another order, some lost, some added."""
    chance = random.Random(seed)
    words = question.split(" ")
    made = []
    for other in others:
        kept = [word for word in words if chance.random() < 0.8]
        chance.shuffle(kept)
        made.append(" ".join([*kept, *(other.split(" ") if chance.random() < 0.5 else [])]))
    return [*made, *others]


def model(said: object) -> Asker:
    return Asker(chat=ScriptedChat([json.dumps(said, ensure_ascii=False)]), seconds=60)


def exact_kept(question: str, variants: list[Variant]) -> bool:
    wanted = anchors(question)
    return all(not lost(wanted, one.text) and not invented(wanted, one.text) for one in variants)


@settings(deadline=None)
@given(QUESTIONS, WORDINGS, SEEDS)
def test_rewrites_keep_everything_exact(question: str, others: list[str], seed: int) -> None:
    said = shuffled(question, others, seed)
    found, dropped = asyncio.run(rewrites(model({"questions": said}), question, 5))
    assert exact_kept(question, found)
    assert len(found) <= 5
    assert dropped <= len(said)


@settings(deadline=None)
@given(QUESTIONS, WORDINGS)
def test_a_passage_that_might_answer_keeps_everything_exact(question: str, others: list[str]) -> None:
    found, _ = asyncio.run(hypothetical(model({"passage": "。".join(others)}), question))
    assert exact_kept(question, found)


@settings(deadline=None)
@given(QUESTIONS, QUESTIONS)
def test_a_more_general_question_keeps_everything_exact(question: str, said: str) -> None:
    found, _ = asyncio.run(general(model({"question": said}), question))
    assert exact_kept(question, found)


@settings(deadline=None)
@given(QUESTIONS, WORDINGS, SEEDS)
def test_parts_keep_everything_exact_together(question: str, others: list[str], seed: int) -> None:
    async def look(_: str) -> list[str]:
        return []

    said = {"parts": [{"question": one, "after": []} for one in shuffled(question, others, seed)]}
    found, _ = asyncio.run(parts(model(said), question, most=4, depth=2, look=look))
    missing = anchors(question)
    for one in found:
        missing = lost(missing, one.text)
        assert not invented(anchors(question), one.text)
    assert not found or not missing


@settings(deadline=None)
@given(QUESTIONS, st.lists(QUESTIONS, min_size=1, max_size=3), EXACT | WORDS, SEEDS)
def test_a_follow_up_keeps_everything_exact(question: str, before: list[str], more: str, seed: int) -> None:
    for said in shuffled(question, [*before, more], seed):
        found, _ = asyncio.run(completed(model({"question": said}), question, before))
        known = (*anchors(question), *(anchor for one in before for anchor in anchors(one)))
        for text in found:
            assert lost(anchors(question), text) == ()
            assert invented(known, text) == ()


@settings(deadline=None)
@given(st.lists(st.tuples(QUESTIONS, st.lists(st.integers(0, 6), max_size=3)), max_size=6))
def test_dependencies_point_backwards_and_end(given_parts: list[tuple[str, list[int]]]) -> None:
    forms = [PartForm(question=" ".join([text, *(f"#{one}" for one in after)])) for text, after in given_parts]
    planned = arranged(forms, most=4, depth=2)
    assert len(planned) <= 4
    depths: list[int] = []
    for number, part in enumerate(planned, start=1):
        assert all(1 <= place < number for place in part.after)
        depths.append(1 + max((depths[place - 1] for place in part.after), default=0))
    assert max(depths, default=0) <= 2
    assert isinstance(whole("x", planned), bool)


@given(st.text(max_size=200))
def test_any_reply_is_borne(reply: str) -> None:
    def say(_: ChatRequest) -> str:
        return reply

    asker = Asker(chat=ScriptedChat(say), seconds=60)
    found, report = asyncio.run(asker.step("rewrite", lambda: rewrites(asker, "报销流程", 3)))
    assert report.state in ("ok", "failed: model_reply_unusable")
    assert exact_kept("报销流程", list(found))
