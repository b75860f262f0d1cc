"""A rank that was asked for and is not there, while another of its kind is: 二线 beside 一线, "tier 2" beside "tier 1".

To embeddings and to most words such texts are alike, so that what holds for one would be given for the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kaijuan.answer.extract import Read
from kaijuan.core.text.normalise import normalise

_HAN = re.compile(
    r"(?<![这那哪每同某另第\d一二三四五六七八九十])([一二三四五六七八九十]|[甲乙丙丁戊])(线|级|类|等|档)(?!人)"
)
_WORDS = re.compile(r"\b(tier|level|class|grade|category|type|phase|zone)[ -](\d{1,2}|[a-d]|i{1,3}|iv|v)\b")


def ranked_otherwise(question: str, reads: Sequence[Read]) -> str:
    """Return the rank that a question asks for, that no text has, and that a text has another of; "" for none."""
    asked = set(_ranks(normalise(question)[0]))
    if not asked:
        return ""
    said = {rank for read in reads for rank in _ranks(read.folded)}
    kinds = {kind for kind, _, _ in said}
    missing = [whole for kind, rank, whole in sorted(asked) if kind in kinds and (kind, rank, whole) not in said]
    return missing[0] if missing else ""


def _ranks(text: str) -> Iterable[tuple[str, str, str]]:
    for found in _HAN.finditer(text):
        yield found[2], found[1], found[0]
    for found in _WORDS.finditer(text.lower()):
        yield found[1], found[2], f"{found[1]} {found[2]}"
