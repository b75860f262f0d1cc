"""Kinds of questions, in both languages alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kaijuan.evals.kinds import KINDS, kind_of, kinds_of
from kaijuan.evals.sets import Query, load_set

EXAMPLES = {
    "identifier": (
        "ERR-9988 是什么意思？",
        "螺栓 M8×1.25 的扭矩",
        "GB/T 7714 的著录格式",
        "config.toml 放在哪里",
        "C919商业首飞路线",
        "what does ERR-9988 mean?",
        "how do I call read_text() on a path",
        "price of ps3 when it first came out",
        "where is config.toml",
        "upgrade from v2.3.1",
    ),
    "long": (
        "我上个月在网上买了一台洗衣机用了不到两周就坏了卖家一直推脱说不是质量问题不给退也不给修我已经联系了平台客服也没有结果现在想知道还有什么办法可以维护自己作为消费者的权益",
        "I bought a washing machine online last month and it broke in less than two weeks but the seller keeps saying "
        "that it is not a fault of theirs and refuses to mend it or to pay me back",
    ),
    "multi-constraint": (
        "哪些产品支持离线，能在国内购买，并且有中文手册？",
        "年假和病假分别有几天？",
        "合同何时生效，谁来签字？",
        "住宿标准与餐补标准有什么区别",
        "which plans work offline, can be bought in Europe, and come with a manual?",
        "both the limit for hotels and the limit for meals",
        "where did the pilgrims come from and how did they arrive",
        "difference between full backups and increments",
    ),
    "number": (
        "2023年的营收是多少",
        "第三十二条说了什么",
        "七十八岁还能投保吗",
        "营业额超过 500 万怎么报",
        "revenue in 2023",
        "who won the 1980 olympics",
        "do hotels above 600 euros need approval?",
        "what happened between FY2022 and FY2023?",
        "pistons of 145mm",
    ),
    "short": ("年假天数", "差旅报销标准", "annual leave", "backup retention policy", "O'Brien's law"),
    "question": (
        "年假有几天？",
        "怎么申请报销",
        "加班有没有工资",
        "這份合約由誰簽署？",
        "how long are full backups kept",
        "Is the second site encrypted",
        "annual leave of new staff?",
    ),
    "statement": (
        "我想了解公司给新员工提供的各种福利待遇",
        "remove special characters from column names in a spreadsheet",
        "percentage of organised sector in the economy of india",
    ),
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in EXAMPLES.items() for text in texts])
def test_the_words_tell_the_kind(kind: str, text: str) -> None:
    assert kind_of(question(text)) == kind


@pytest.mark.parametrize("text", ["那第二年呢？", "And in the second year?", "ERR-9988"])
def test_a_question_with_earlier_turns_is_a_follow_up(text: str) -> None:
    assert kind_of(question(text, history=("年假有几天？",))) == "follow-up"


@pytest.mark.parametrize(
    ("text", "languages", "crosses"),
    [
        ("年假有几天？", ["en"], True),
        ("how many days of leave", ["zh"], True),
        ("年假有几天？", ["ja", "en"], True),
        ("年假有几天？", ["zh", "en"], False),
        ("年假有几天？", ["", ""], False),
        ("年假有几天？", ["zh"], False),
        ("這份合約由誰簽署？", ["zh"], False),
        ("how many days of leave", ["en", ""], False),
        ("1998", ["zh"], False),
    ],
)
def test_cross_lingual_is_told_by_the_documents(text: str, languages: Sequence[str], crosses: bool) -> None:
    assert (kind_of(question(text), languages) == "cross-lingual") is crosses


def test_the_examples_cover_every_kind_told_by_words() -> None:
    assert set(EXAMPLES) == set(KINDS) - {"follow-up", "cross-lingual"}


def test_the_kinds_of_a_set(write_set: Callable[..., Path]) -> None:
    folder = write_set(judgements=(("q1", "d2", 1), ("q2", "d2", 1), ("q3", "d4", 1)))
    with (folder / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"_id": "q5", "text": "and then?", "history": ["how long are backups kept"]}) + "\n")
    with (folder / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("q5\td2\t1\n")
    assert kinds_of(load_set(folder)) == {
        "q1": "cross-lingual",
        "q2": "question",
        "q3": "identifier",
        "q5": "follow-up",
    }


def question(text: str, history: tuple[str, ...] = ()) -> Query:
    return Query(id="q", text=text, history=history, fields={})
