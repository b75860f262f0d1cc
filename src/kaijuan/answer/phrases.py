"""Every fixed sentence an answer may show, by language of the question."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.core.text.language import language_of
from kaijuan.core.text.simplified import SIMPLIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The fixed sentences of one language. Names in braces are filled in."""

    refusal: str
    empty: str
    clarify: str
    closest: str
    missing_identifier: str
    missing_name: str
    missing_number: str
    missing_part: str
    overruled: str
    """What an older edition says otherwise."""
    disagree: str
    """What two documents say otherwise than each other."""
    stale: str
    """That a cited document does not hold; `standings` say why."""
    standings: tuple[tuple[str, str], ...]
    """How a passage's validity begins, and what it is called."""
    low_confidence: str
    pair: str
    """A cell of a table below its header."""
    pairs: str
    """Between such cells."""

    def standing(self, validity: str) -> str:
        """Return why something does not hold, from a passage's validity; "" for what holds."""
        for begins, words in self.standings:
            if validity.startswith(begins):
                return words.format(detail=validity[len(begins) :].strip().removeprefix("by "))
        return ""


CHINESE = Phrases(
    refusal="知识库中没有找到能回答这个问题的内容。",
    empty="知识库中没有与这个问题相关的内容。",
    clarify="请说得具体一些：您想了解哪件事、哪个文件或哪个名称？",
    closest="最接近的文档是《{title}》，但其中没有答案。",
    missing_identifier="知识库中没有找到标识“{text}”。",
    missing_name="依据中没有出现“{text}”。",
    missing_number="依据中没有出现“{text}”。",
    missing_part="没有找到能回答“{text}”的内容。",
    overruled="文档之间说法不一：以较新的《{newer}》为准；较早的《{older}》的说法是“{quote}”。",
    disagree="文档之间说法不一，无法判断以哪个为准：《{one}》说“{says}”；《{other}》说“{quote}”。",
    stale="所引《{title}》{standing}。",
    standings=(
        ("expired", "已于 {detail} 失效"),
        ("superseded", "已被《{detail}》取代"),
        ("not in force yet", "自 {detail} 起才生效"),
    ),
    low_confidence="依据不够充分，请对照原文核实。",
    pair="{header}：{value}",
    pairs="；",
)
TRADITIONAL = Phrases(
    refusal="知識庫中沒有找到能回答這個問題的內容。",
    empty="知識庫中沒有與這個問題相關的內容。",
    clarify="請說得具體一些：您想了解哪件事、哪個文件或哪個名稱？",
    closest="最接近的文件是《{title}》，但其中沒有答案。",
    missing_identifier="知識庫中沒有找到識別碼「{text}」。",
    missing_name="依據中沒有出現「{text}」。",
    missing_number="依據中沒有出現「{text}」。",
    missing_part="沒有找到能回答「{text}」的內容。",
    overruled="文件之間說法不一：以較新的《{newer}》為準；較早的《{older}》的說法是「{quote}」。",
    disagree="文件之間說法不一，無法判斷以哪個為準：《{one}》說「{says}」；《{other}》說「{quote}」。",
    stale="所引《{title}》{standing}。",
    standings=(
        ("expired", "已於 {detail} 失效"),
        ("superseded", "已被《{detail}》取代"),
        ("not in force yet", "自 {detail} 起才生效"),
    ),
    low_confidence="依據不夠充分，請對照原文核實。",
    pair="{header}：{value}",
    pairs="；",
)
ENGLISH = Phrases(
    refusal="The knowledge base does not say.",
    empty="The knowledge base holds nothing on this question.",
    clarify="Please be more specific: which thing, document or name do you mean?",
    closest='The closest document is "{title}", but it does not hold the answer.',
    missing_identifier='The identifier "{text}" was not found in the knowledge base.',
    missing_name='"{text}" does not appear in the evidence.',
    missing_number='"{text}" does not appear in the evidence.',
    missing_part='Nothing was found that answers "{text}".',
    overruled='Documents disagree: the newer "{newer}" is followed; the older "{older}" says "{quote}".',
    disagree='Documents disagree, and nothing tells which is right: "{one}" says "{says}"; "{other}" says "{quote}".',
    stale='The cited "{title}" {standing}.',
    standings=(
        ("expired", "expired on {detail}"),
        ("superseded", 'has been superseded by "{detail}"'),
        ("not in force yet", "comes into force on {detail} only"),
    ),
    low_confidence="The evidence is thin: please check it against the source.",
    pair="{header}: {value}",
    pairs="; ",
)
_TRADITIONAL_FROM = 2
"""Characters in traditional form from which a Chinese question is taken to be written in it: a few are in both."""


def phrases_for(question: str) -> Phrases:
    """Return the sentences in the question's language; English where there are none in it."""
    if language_of(question) != "zh":
        return ENGLISH
    traditional = sum(character in SIMPLIFIED for character in question)
    return TRADITIONAL if traditional >= _TRADITIONAL_FROM else CHINESE
