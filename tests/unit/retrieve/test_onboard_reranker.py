"""The shipped onboard reranker: near misses, evidence, and that it says the same each time."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from kaijuan.core.ids import ChunkId, DocumentId
from kaijuan.errors import ModelError
from kaijuan.models.embedders.e5_words import E5Words
from kaijuan.retrieve.ports import Reading, Words
from kaijuan.retrieve.rerank import onboard
from kaijuan.retrieve.rerank.model import read_model, shipped
from kaijuan.retrieve.rerank.onboard import OnboardReranker
from kaijuan.retrieve.results import RouteScore

MODEL = "multilingual-e5-small"


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Words:
    """Return the word vectors that the reranker has unless none are there."""
    return E5Words(tmp_path_factory.mktemp("words"))


def reading(text: str, *, cosine: float = 0.85, lexical: float = 9.0, title: str = "", language: str = "zh") -> Reading:
    """Return a candidate that both routes found."""
    return Reading(
        chunk_id=ChunkId(text),
        document_id=DocumentId(text),
        title=title,
        title_path=(),
        text=text,
        language=language,
        routes={"dense": RouteScore(1, cosine), "lexical": RouteScore(1, lexical)},
        fused=0.9,
    )


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("年满18岁可以申请吗", "年满18岁的员工可以申请。", "年满19岁的员工可以申请。"),
        ("不支持离线安装的版本", "标准版不支持离线安装。", "标准版支持离线安装。"),
        ("哪些版本支持离线安装", "企业版支持离线安装。", "企业版不支持离线安装。"),
        ("ERR-9988 怎么处理", "遇到 ERR-9988 请重启网关。", "遇到 ERR-9989 请重启网关。"),
        ("Which plan does not support it?", "The basic plan does not support it.", "The basic plan does support it."),
        ("timeout of 30 seconds", "The timeout is 30 seconds.", "The timeout is 60 seconds."),
        ("2023年报销标准", "2023年报销标准为每天200元。", "2022年报销标准为每天200元。"),
    ],
)
async def test_near_misses_come_second_wherever_they_stood(words: Words, question: str, right: str, wrong: str) -> None:
    for texts in ((right, wrong), (wrong, right)):
        verdicts = await OnboardReranker(MODEL, words).rerank(question, [reading(text) for text in texts])
        best = max(range(2), key=lambda place: verdicts[place].score)
        assert texts[best] == right


async def test_evidence_tells_what_answers_from_what_does_not(words: Words) -> None:
    answer = reading("员工入职满一年后，每年享有十二天带薪年假。", cosine=0.91, lexical=18.0)
    others = [reading(f"食堂第 {number} 窗口周日休息。", cosine=0.78, lexical=0.4) for number in range(9)]
    best, *rest = await OnboardReranker(MODEL, words).rerank("入职满一年后每年有几天带薪年假？", [answer, *others])
    assert best.evidence > 0.7
    assert max(verdict.evidence for verdict in rest) < 0.2


@pytest.mark.parametrize(
    ("question", "own", "other", "languages"),
    [
        ("试用期有多长？", "试用期为三个月。", "The probation period is three months.", ("zh", "en")),
        (
            "How long is the probation period?",
            "The probation period is three months.",
            "试用期为三个月。",
            ("en", "zh"),
        ),
    ],
)
async def test_what_is_in_another_language_has_no_calibrated_evidence_in_either_direction(
    words: Words, question: str, own: str, other: str, languages: tuple[str, str]
) -> None:
    """Words count for nothing there: the right text had an evidence of one in a hundred and was called weak."""
    texts = [reading(own, language=languages[0]), reading(other, language=languages[1])]
    mine, theirs = await OnboardReranker(MODEL, words).rerank(question, texts)
    assert (mine.calibrated, theirs.calibrated) == (True, False)


async def test_what_was_kept_and_what_is_read_anew_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onboard, "_KEPT", 2)
    candidates = [reading(text) for text in ("十二天年假", "ERR-9988 means dry", "支持离线安装", "不支持离线安装")]
    small = OnboardReranker(MODEL)
    first = await small.rerank("支持离线安装吗", candidates)
    assert await small.rerank("支持离线安装吗", candidates) == first
    assert await OnboardReranker(MODEL).rerank("支持离线安装吗", candidates) == first


def test_the_record_of_training_names_no_set_that_is_for_evaluation_only() -> None:
    record = json.loads(resources.files("kaijuan.retrieve.rerank").joinpath("reranker.json").read_text("utf-8"))
    assert set(record["never_trained_on"]) == {"rgb_news_zh", "financebench_en"}
    assert not set(record["trained_on"]) & set(record["never_trained_on"])
    assert shipped().calibrations.keys() == {MODEL, "any"}


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(ModelError):
        read_model({"order": [{"feature": "unheard of", "weight": 1.0}], "calibrations": {}})
