"""Question-and-answer pairs written with markers (问：… 答：…, Q: … A: …): what is asked, where the answer is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kaijuan.core.spans import Span, trim

_MARKER = re.compile(
    r"^[^\S\n]*(?:(?P<asks>(?:问题?|問題?|Q(?:uestion)?)[^\S\n]*\d{0,3})|(?:(?:答案?|回答|A(?:nswer)?)[^\S\n]*\d{0,3}))"
    r"[^\S\n]*[:：.、][^\S\n]*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question with its answer. The answer is empty where the next block holds it."""

    question: str
    answer: Span


def exchanges(text: str, asked: str = "") -> list[Exchange]:
    """Return the pairs in `text`, without markers; none unless it begins with a question's marker.

    `asked` is a question that the text before left open; an answer's marker is then enough. Spans count in `text`.
    """
    marks = list(_MARKER.finditer(text))
    if not marks or text[: marks[0].start()].strip() or not (marks[0]["asks"] or asked):
        return []
    found: list[Exchange] = []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        body = trim(text, Span(mark.end(), end))
        if mark["asks"]:
            asked = body.of(text)
            found.append(Exchange(question=asked, answer=Span(end, end)))
        else:
            found.append(Exchange(question=asked, answer=body))
    answered = {pair.question for pair in found if len(pair.answer)}
    return [pair for pair in found if len(pair.answer) or pair.question not in answered]
