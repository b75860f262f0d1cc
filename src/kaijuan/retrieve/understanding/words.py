"""What was understood, in sentences for whoever asked; in Chinese for Chinese questions."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from kaijuan.retrieve.understanding.results import Understanding

_SAID = MappingProxyType(
    {
        "zh": {
            "filters": "按问题中的“{said}”只查找了 {text} 的文档（--no-filters 可去掉）。",
            "editions": "按问题中的“{said}”略去了较旧的版本（--no-filters 可去掉）。",
            "relaxed": "没有文档符合问题中的“{said}”（{text}），因此查找了全部文档。",
            "expanded": "同时查找了：{words}。",
            "spelling": "没有文档用到“{was}”，同时查找了“{words}”。",
            "standalone": "按“{text}”查找。",
            "variants": "同时按这些说法查找：{words}。",
        },
        "en": {
            "filters": "“{said}” in the question: only documents with {text} were searched (--no-filters for all).",
            "editions": "“{said}” in the question: older editions were left out (--no-filters for all).",
            "relaxed": "No document fits “{said}” in the question ({text}), so all were searched.",
            "expanded": "Also searched: {words}.",
            "spelling": "No document has “{was}”; “{words}” was searched too.",
            "standalone": "Searched as “{text}”.",
            "variants": "Also searched in other words: {words}.",
        },
    }
)


def sentences(understanding: Understanding, question: str, language: str) -> Iterator[str]:
    """Yield what a reader should know: other wording, filters that were read, words searched besides."""
    say = _SAID["zh" if language == "zh" else "en"]
    if understanding.standalone:
        yield say["standalone"].format(text=understanding.standalone)
    for one in understanding.filters:
        kind = "relaxed" if understanding.relaxed else "editions" if one.field == "document_id" else "filters"
        yield say[kind].format(said=one.said, text=one.text)
    beside = dict.fromkeys(one.words for one in understanding.expansions if one.by != "spelling")
    if beside:
        yield say["expanded"].format(words="、".join(beside) if language == "zh" else ", ".join(beside))
    for mended in understanding.expansions:
        if mended.by == "spelling":
            yield say["spelling"].format(was=mended.span.of(question), words=mended.words)
    # A passage that might answer is made up, and nothing to show beside found ones.
    wordings = [f"“{one.text}”" for one in understanding.variants if one.kind != "hyde"]
    if wordings:
        yield say["variants"].format(words="、".join(wordings) if language == "zh" else ", ".join(wordings))
    if understanding.clarification is not None:
        choices = (" / ").join(understanding.clarification.choices)
        yield f"{understanding.clarification.question} {choices}"
