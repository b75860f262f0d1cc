"""Which sentences make an answer: nothing beside the point, steps in full, the edition that holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kaijuan.answer.notes import NoteKind
from kaijuan.answer.pipeline import answer
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.documents import BlockKind
from kaijuan.retrieve.results import Passage, SearchResult
from kaijuan.testing.embedders import HashEmbedder

MakePassage = Callable[..., Passage]
MakeResult = Callable[..., SearchResult]
P, H, L = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST


async def _ask(question: str, result: MakeResult, *passages: Passage) -> Answer:
    limits = AnswerSettings(refuse_below=0, keep_ratio=0)
    return await answer(question, result(question, *passages), HashEmbedder(), limits)


async def test_steps_after_the_best_sentence_belong_to_how_to(passage: MakePassage, result: MakeResult) -> None:
    manual = passage(
        "X5 泵手册",
        (P, "X5 泵用于输送冷却水。"),
        (H, "# 故障"),
        (P, "FAULT-17 表示压力过低。请先关闭阀门；再拧紧接头。最后重新启动。"),
        (P, "FAULT-18 表示温度过高。请等待冷却。"),
    )
    given = await _ask("X5 泵报 FAULT-17 怎么处理？", result, manual)
    assert given.answer == "FAULT-17 表示压力过低。请先关闭阀门；再拧紧接头。最后重新启动。"


async def test_a_list_of_steps_is_not_mixed_with_other_sections(passage: MakePassage, result: MakeResult) -> None:
    guide = passage(
        "Guide",
        (H, "# Reset the router"),
        (L, "1. Unplug it.\n2. Wait a minute."),
        (H, "# Other"),
        (P, "Routers are blue."),
    )
    given = await _ask("How do I reset the router?", result, guide)
    assert "Unplug" in given.answer
    assert "blue" not in given.answer


async def test_a_sentence_that_says_less_of_the_question_is_left_out(passage: MakePassage, result: MakeResult) -> None:
    given = await _ask(
        "2031 年元宵节放假几天？",
        result,
        passage("放假安排", (P, "元宵节：2031 年 2 月放假 3 天。"), (P, "中秋节：2031 年 4 月放假 5 天。")),
    )
    assert given.answer == "元宵节：2031 年 2 月放假 3 天。"


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("How long are backups kept?", ("90 days", "14 days"), ()),
        ("How long are full backups kept?", ("90 days",), ("14 days",)),
        ("How long are incremental backups kept?", ("14 days",), ("90 days",)),
    ],
)
async def test_kinds_that_a_question_does_not_tell_apart_are_both_told(
    passage: MakePassage, result: MakeResult, question: str, said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    policy = passage(
        "Policy", (P, "Full backups are kept for 90 days."), (P, "Incremental backups are kept for 14 days.")
    )
    given = await answer(question, result(question, policy), HashEmbedder(), AnswerSettings(refuse_below=0))
    assert all(words in given.answer for words in said)
    assert not any(words in given.answer for words in unsaid)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 1)])
async def test_the_newer_edition_holds_and_the_other_is_named(
    passage: MakePassage, result: MakeResult, ranks: tuple[int, int]
) -> None:
    old = passage("餐补办法（2030 版）", (P, "员工每天餐补为 30 元。"), rank=ranks[0])
    new = passage("餐补办法（2032 版）", (P, "员工每天餐补为 45 元。"), rank=ranks[1])
    given = await _ask("员工每天餐补多少？", result, *sorted((old, new), key=lambda one: one.rank))
    assert given.status is Status.ANSWERED
    assert given.answer == "员工每天餐补为 45 元。"
    assert any("30 元" in note and "2030" in note for note in given.notes)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 1)])
async def test_a_year_in_the_name_of_the_file_tells_editions_apart(
    passage: MakePassage, result: MakeResult, ranks: tuple[int, int]
) -> None:
    old = passage("餐补办法", (P, "员工每天餐补为 30 元。"), rank=ranks[0])
    new = passage("餐补办法", (P, "员工每天餐补为 45 元。"), rank=ranks[1])
    old = replace(old, source="file:///docs/%E9%A4%90%E8%A1%A5-2030.md")
    new = replace(new, source="file:///docs/%E9%A4%90%E8%A1%A5-2032.md")
    given = await _ask("员工每天餐补多少？", result, *sorted((old, new), key=lambda one: one.rank))
    assert given.answer == "员工每天餐补为 45 元。"
    assert any("餐补-2032.md" in note and "餐补-2030.md" in note and "30 元" in note for note in given.notes)


async def test_an_edition_that_is_asked_for_is_quoted(passage: MakePassage, result: MakeResult) -> None:
    old = passage("Meal rules 2030", (P, "The daily meal allowance is 30 crowns."), rank=1)
    new = passage("Meal rules 2032", (P, "The daily meal allowance is 45 crowns."), rank=2)
    given = await _ask("What is the daily meal allowance by the meal rules of 2030?", result, old, new)
    assert "30 crowns" in given.answer
    assert "45" not in given.answer


async def test_editions_that_agree_are_no_conflict(passage: MakePassage, result: MakeResult) -> None:
    texts = [
        passage(f"餐补办法（{year} 版）", (P, "员工每天餐补为 30 元。"), rank=at) for at, year in ((1, 2030), (2, 2032))
    ]
    given = await _ask("员工每天餐补多少？", result, *texts)
    assert given.notes == ()


async def test_a_second_look_passes_over_the_own_language(passage: MakePassage, result: MakeResult) -> None:
    mixed = passage("餐补", (P, "员工每天餐补为 30 元。"), (P, "The meal allowance is 30 crowns."))
    found = result("", mixed)
    given = await answer("员工每天餐补多少？", found, HashEmbedder(), AnswerSettings(refuse_below=0), foreign_only=True)
    assert given.answer == "The meal allowance is 30 crowns."


@pytest.mark.parametrize(
    ("text", "question", "before"),
    [
        ("1936 年毕业生李明创办此社。该社的社歌由王芳谱写。另有社旗一面。", "社歌由谁谱写？", "1936"),
        (
            "Mary Hill founded the club in 1936. Its anthem was written by Ann Lee. A flag exists.",
            "anthem",
            "Mary Hill",
        ),
    ],
)
async def test_a_sentence_that_leans_comes_with_the_one_before(
    passage: MakePassage, result: MakeResult, text: str, question: str, before: str
) -> None:
    limits = AnswerSettings(refuse_below=0, sentences=1)
    given = await answer(question, result(question, passage("", (P, text))), HashEmbedder(), limits)
    assert len(given.sentences) == 2
    assert before in given.sentences[0].text


@pytest.mark.parametrize(
    ("text", "question", "alone"),
    [
        ("本社成立于 1936 年。社歌由王芳谱写。另有社旗一面。", "社歌由谁谱写？", "社歌由王芳谱写。"),
        ("本社成立于 1936 年。其他社歌由王芳谱写。另有社旗一面。", "其他社歌由谁谱写？", "其他社歌由王芳谱写。"),
        ("Clubs are free. This policy covers flags. Songs are old.", "policy flags", "This policy covers flags."),
    ],
)
async def test_a_sentence_that_stands_by_itself_comes_alone(
    passage: MakePassage, result: MakeResult, text: str, question: str, alone: str
) -> None:
    limits = AnswerSettings(refuse_below=0, sentences=1)
    given = await answer(question, result(question, passage("", (P, text))), HashEmbedder(), limits)
    assert given.answer == alone


async def test_documents_that_disagree_are_shown_side_by_side_and_the_longer_wording_is_no_other_matter(
    passage: MakePassage, result: MakeResult
) -> None:
    one = passage("办事须知", (P, "商品签收后 7 天内可以退货。"))
    other = passage("新人指南", (P, "自签收之日起 30 天内，商品可以退货，费用由买方承担。"), rank=2)
    given = await _ask("商品签收后几天内可以退货？", result, one, other)
    assert "7 天" in given.answer
    assert "30 天" in given.answer
    [note] = [note for note in given.remarks if note.kind is NoteKind.CONFLICT]
    assert len(note.citations) == 2


async def test_an_edition_with_other_words_in_the_same_place_is_overruled(
    passage: MakePassage, result: MakeResult
) -> None:
    old = passage("机房办法（2030 版）", (P, "外来人员进入机房，须由值班主管审批。"))
    new = passage("机房办法（2032 版）", (P, "外来人员进入机房，须由信息部经理审批。"), rank=2)
    given = await _ask("外来人员进入机房由谁审批？", result, old, new)
    assert "信息部经理" in given.answer
    assert "值班主管" not in given.answer
    assert any("值班主管" in note.text for note in given.remarks if note.kind is NoteKind.SUPERSEDED)
