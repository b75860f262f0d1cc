"""Fixed sentences about what a language model did or did not do, by language of the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kaijuan.answer.phrases import CHINESE, ENGLISH, TRADITIONAL, Phrases, phrases_for
from kaijuan.errors import (
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
    OverlongInputError,
    UnusableReplyError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPhrases:
    """The fixed sentences of one language. Names in braces are filled in."""

    fallback: str
    """`why` is one of `reasons`."""
    reasons: Mapping[type[ModelError], str]
    unsupported: str
    """Of `count` sentences that were left out."""
    nothing_carried: str
    missing: str
    cut: str


_ZH = ModelPhrases(
    fallback="语言模型{why}，以下是文档原句。",
    reasons={
        ModelTimeoutError: "没有按时回复",
        ModelUnreachableError: "连接不上或中途断开",
        ModelBusyError: "正忙",
        ModelRefusedError: "拒绝了请求（请检查地址、模型名和密钥）",
        OverlongInputError: "读不下这么长的内容",
        UnusableReplyError: "的回复无法使用",
        ModelError: "出错了",
    },
    unsupported="有 {count} 句话在文档中找不到依据，已略去。",
    nothing_carried="语言模型写的内容在文档中找不到依据，已略去；以下是文档原句。",
    missing="文档中没有：{what}",
    cut="回答太长，没有写完。",
)
_ZH_HANT = ModelPhrases(
    fallback="語言模型{why}，以下是文件原句。",
    reasons={
        ModelTimeoutError: "沒有按時回覆",
        ModelUnreachableError: "連接不上或中途斷開",
        ModelBusyError: "正忙",
        ModelRefusedError: "拒絕了請求（請檢查位址、模型名稱和金鑰）",
        OverlongInputError: "讀不下這麼長的內容",
        UnusableReplyError: "的回覆無法使用",
        ModelError: "出錯了",
    },
    unsupported="有 {count} 句話在文件中找不到依據，已略去。",
    nothing_carried="語言模型寫的內容在文件中找不到依據，已略去；以下是文件原句。",
    missing="文件中沒有：{what}",
    cut="回答太長，沒有寫完。",
)
_EN = ModelPhrases(
    fallback="The language model {why}; these are the documents' own sentences.",
    reasons={
        ModelTimeoutError: "did not reply in time",
        ModelUnreachableError: "could not be reached or broke off",
        ModelBusyError: "is busy",
        ModelRefusedError: "refused the request (check address, model name and key)",
        OverlongInputError: "does not read that much text",
        UnusableReplyError: "gave a reply that cannot be used",
        ModelError: "failed",
    },
    unsupported="Sentences left out because the documents do not carry them: {count}.",
    nothing_carried="What the language model wrote is not carried by the documents and was left out; these are the "
    "documents' own sentences.",
    missing="Not in the documents: {what}",
    cut="The answer was too long and is not finished.",
)
_BY_LANGUAGE: Mapping[int, ModelPhrases] = {id(CHINESE): _ZH, id(TRADITIONAL): _ZH_HANT, id(ENGLISH): _EN}


def model_phrases_for(question: str) -> ModelPhrases:
    """Return the sentences in the question's language; English where there are none in it."""
    return _BY_LANGUAGE[id(phrases_for(question))]


def fallback_words(question: str, error: ModelError) -> str:
    """Say why the model did not write the answer."""
    phrases = model_phrases_for(question)
    why = next(said for kind, said in phrases.reasons.items() if isinstance(error, kind))
    return phrases.fallback.format(why=why)


def phrases_of(question: str) -> tuple[Phrases, ModelPhrases]:
    """Return both kinds of fixed sentences in the question's language."""
    return phrases_for(question), model_phrases_for(question)
