"""A question that goes on from the one before, made to stand by itself, by rule.

"那北京呢？" after a question about Shanghai puts Beijing in its place; "它什么时候生效？" gets the topic before it.
What stands by itself is left alone. Words are moved, never made up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.language import language_of
from kaijuan.index.ports import Embedder

LONGEST = 200
"""Characters of a question that may lean on another one."""
_SHORT = 12
"""Characters of a Chinese question that can hardly stand by itself without a noun of its own."""
_OWN = 3
"""Words of its own with which a question stands by itself, however it begins."""
_MOST_TOPIC = 6
"""Words of the topic that are carried over."""
_INSTEAD_ZH = re.compile(
    r"\A(?:那|那么|那麼|那如果|如果|要是|换成|換成|改成|还有|還有)?\s*[，,]?\s*"
    r"(?P<what>[^，。？?！!]{1,30}?)\s*(?:呢|的话呢|的話呢)\s*[？?]?\Z"
)
_INSTEAD_EN = re.compile(
    r"\A(?:and|but|so|ok(?:ay)?,?)?\s*(?:what|how)\s+about\s+(?:for\s+|in\s+|with\s+)?(?P<what>.{1,60}?)\s*\?*\Z"
    r"|\Aand\s+(?:for\s+|in\s+|with\s+|of\s+)?(?P<other>[^?]{1,40}?)\s*\?+\Z",
    re.IGNORECASE,
)
_POINTS_ZH = re.compile(
    r"(?:它们|它們|他们|他們|她们|她們|它|他|她|这个|這個|那个|那個|这些|這些|那些|这种|這種|该|該|其中|其他|上述"
    r"|前者|后者|後者|这里|這裡|那里|那裡)"
)
_OPENS_ZH = re.compile(
    r"\A(?:那|那么|那麼|然后|然後|还有|還有|为什么|為什麼|为何|怎么办|怎麼辦|具体|具體|比如|例如|多久|多少钱"
    r"|什么时候|什麼時候|谁|誰)"
)
_POINTS_EN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|ones|former|latter"
    r"|same|such)\b",
    re.IGNORECASE,
)
_OPENS_EN = re.compile(
    r"\A(?:and|but|so|then|also|why|how (?:much|many|long|often|come)|when|who|where|which)\b(?=.{0,25}\Z)",
    re.IGNORECASE,
)
_THERE_IS = re.compile(
    r"\b(?:is|are|was|were|do|does|did)\s+there\b|\bthere\s+(?:is|are|was|were)\b|\bthat\b(?=\s+\w+s\b)", re.IGNORECASE
)
_EMPTY_EN = re.compile(
    r"what|which|who|when|where|why|how|much|many|long|often|tell|me|about|more|please|explain|also|does|do|is|are|the"
    r"|an?|of|in|for|to|and|or|can|could|should|would|will|its?|they|them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """A question by itself. `how` is "" where it stayed, else what was done: instead, topic, model, choice."""

    text: str
    how: str = ""


async def standalone(question: str, before: Sequence[str], embedder: Embedder) -> Standalone:
    """Return what a question asks when nobody heard the ones before; `before` are those, standalone, oldest first."""
    asked = question.strip()
    if not before or not asked or len(asked) > LONGEST:
        return Standalone(text=question)
    last = before[-1].strip()
    instead = instead_of(asked)
    if instead:
        put = await _put_in_place(instead, last, embedder)
        return Standalone(text=put, how="instead")
    if leans(asked):
        topic = topic_of(last, asked)
        if topic:
            return Standalone(text=_with_topic(topic, asked), how="topic")
    return Standalone(text=question)


def instead_of(question: str) -> str:
    """Return what is asked about in place of something before: 北京 for 那北京呢, "" for other questions."""
    found = _INSTEAD_ZH.match(question) or _INSTEAD_EN.match(question)
    if found is None:
        return ""
    what = (found.groupdict().get("what") or found.groupdict().get("other") or "").strip()
    return "" if not what or leans_only(what) else what


def leans_only(words: str) -> bool:
    """Say whether words name nothing of their own: 这个, "that one"."""
    rest = _POINTS_ZH.sub("", words) if language_of(words) == "zh" else _POINTS_EN.sub("", words)
    return not any(map(str.isalnum, rest))


def leans(question: str) -> bool:
    """Say whether a question points at something before it, or is too bare to stand by itself."""
    if language_of(question) == "zh":
        if _POINTS_ZH.search(_opening_off(question)):
            return True
        own = len(_content(question))
        return (len(question) <= _SHORT and own < 2) or (
            own < _OWN + question.startswith("那") and bool(_OPENS_ZH.search(question))
        )
    pointing = _POINTS_EN.search(_THERE_IS.sub(" ", question)) is not None
    opening = _OPENS_EN.search(question) is not None and len(_content(question)) < _OWN
    return pointing or opening or all(map(_EMPTY_EN.fullmatch, re.findall(r"[a-z]+", question.lower())))


def _opening_off(question: str) -> str:
    """Return a question without the 那 that only joins it to the talk: 那年休假要提前几天申请."""
    return re.sub(r"\A(?:那么|那麼|那)(?![个個些种種里裡])", "", question)


def topic_of(last: str, question: str) -> list[str]:
    """Return the words of the question before that say what it is about, and that the new one does not say itself."""
    said = question.lower()
    words = [span.of(last) for span in _content(last)]
    return [word for word in dict.fromkeys(words) if word.lower() not in said][:_MOST_TOPIC]


def _content(text: str) -> list[Span]:
    """Return the content words of a text, codes and dates whole, in order and apart."""
    spans: list[Span] = []
    # Whole codes before their parts.
    for term in sorted(analyse(text), key=lambda term: (term.kind is not TermKind.CODE, -len(term.span), term.span)):
        if term.weak or term.kind not in _NAMING:
            continue
        if term.kind is TermKind.WORD and (_ASKING.fullmatch(term.span.of(text)) or len(term.span) < 2):
            continue
        if not any(span.intersect(term.span) for span in spans):
            spans.append(term.span)
    return sorted(spans)


_NAMING = frozenset({TermKind.WORD, TermKind.CODE, TermKind.DATE, TermKind.NUMBER})
_ASKING = re.compile(
    r"什么|什麼|多少|多久|怎么|怎麼|怎样|如何|为什么|為什麼|哪里|哪裡|哪些|哪个|几个|是否|请问|請問|告诉|告訴|可以|需要|应该|應該"
    r"|what|which|who|whom|whose|when|where|why|how|much|many|long|often|tell|please|does|did|can|could|should|would"
    r"|is|are|was|were|the|for|and|of|in|to",
    re.IGNORECASE,
)


def _with_topic(topic: Sequence[str], question: str) -> str:
    chinese = language_of(question) == "zh"
    words = " ".join(topic)
    return f"{_HAN_GAP.sub('', words)}{'：' if chinese else ': '}{question}"


_HAN_GAP = re.compile(f"(?<=[{HAN}]) (?=[{HAN}])")


async def _put_in_place(what: str, last: str, embedder: Embedder) -> str:
    """Return the last question with the words most like `what` replaced by it."""
    windows = [span for span in _windows(last) if span.of(last).lower() != what.lower()]
    if not windows:
        return f"{last} {what}"
    # Two cities are more alike than a city and a rule: meaning tells which words the new ones stand for.
    texts = list(dict.fromkeys([what, *(span.of(last) for span in windows)]))
    vectors = await embedder.embed_passages(texts)
    place = {text: at for at, text in enumerate(texts)}
    likeness = [float(np.dot(vectors[0], vectors[place[span.of(last)]])) for span in windows]
    chosen = windows[int(np.argmax(likeness))]
    before = last[: chosen.start]
    # "after ten years" after "after": said once.
    first, _, rest = what.partition(" ")
    repeated = rest and before.lower().rstrip().endswith(f" {first.lower()}")
    return f"{before}{rest if repeated else what}{last[chosen.end :]}"


def _windows(text: str) -> list[Span]:
    """Return the content words of a text, and what up to three of them in a row make together."""
    words = _content(text)
    return [
        Span(words[first].start, words[last].end)
        for first in range(len(words))
        for last in range(first, min(first + _LONGEST_WINDOW, len(words)))
        if not text[words[first].start : words[last].end].count("\n")
        and all(words[at + 1].start - words[at].end <= 1 for at in range(first, last))
    ]


_LONGEST_WINDOW = 3
