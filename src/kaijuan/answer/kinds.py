"""Sentences about another kind of the thing asked for: annual leave where sick leave is asked for, 年假 where 病假 is.

To embeddings both are nearly alike, and most of their words are the same. They are told apart only where the documents
speak of the kind asked for too: otherwise it may go by another name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from kaijuan.answer.extract import Read, Scored
from kaijuan.answer.question import Question
from kaijuan.core.text.analyse import Term, TermKind, analyse

_HAN_KIND = re.compile(
    r"([^\W\d_a-zA-Z请請休放度销銷续續免收缴繳付计計消自公经經个個这這该該各本])"
    r"(假|费|費|险|險|税|稅|奖|獎|证|證|票|库|庫|岗|崗|备份|備份|补贴|補貼|补助|補助|津贴|津貼|预算|預算|合同|账户|帳戶|密码|密碼)"
)
"""What Chinese words end with that name a kind of something, and the character before it, which tells the kind."""
_BETWEEN = re.compile(r"[ \t\n-]")

Kind = tuple[str, str]
"""What tells the kind, and the thing: ("sick", "leav"), ("病", "假")."""


def without_other_kinds(question: Question, scored: Sequence[Scored], reads: Sequence[Read]) -> list[Scored]:
    """Return the units without those that speak of other kinds of what is asked for only; all where none would stay."""
    asked = set(_kinds(question.text))
    kinds = [kind for kind in asked if any(_speaks_of(kind, read) for read in reads)]
    kept = [item for item in scored if not any(_of_another(kind, asked, item.read) for kind in kinds)]
    return kept or list(scored)


def is_unspoken(question: Question, best: Read, reads: Sequence[Read]) -> bool:
    """Say whether the best unit is about the thing asked for (leave), no text has the word for the kind of it that is
    asked for (parental), and the unit speaks of other kinds (annual).

    The kind may go by another name there, or the documents may say nothing of it.
    """
    asked = {kind for kind in _kinds(question.text) if kind[0] >= "\u3400" or kind[0] in question.weights}
    return any(_of_another(kind, asked, best) and not any(_has(kind[0], read) for read in reads) for kind in asked)


def _of_another(kind: Kind, asked: Collection[Kind], read: Read) -> bool:
    if not _has(kind[1], read) or _has(kind[0], read):
        return False
    said = [one for one in _said(read) if one[1] == kind[1]]
    return bool(said) and not any(one in asked for one in said)


def _speaks_of(kind: Kind, read: Read) -> bool:
    # Cheap first: most texts do not have both.
    return _has(kind[0], read) and _has(kind[1], read) and kind in _said(read)


def _has(key: str, read: Read) -> bool:
    return key in read.folded if key >= "\u3400" else key in read.terms or key in read.context


def _said(read: Read) -> set[Kind]:
    return {*_kinds(read.unit.quote), *_kinds(read.unit.context)}


def _kinds(text: str) -> Iterator[Kind]:
    """Yield the kinds of things that a text names: words side by side, and what Chinese words end with."""
    for match in _HAN_KIND.finditer(text):
        yield match[1], match[2]
    words = [term for term in analyse(text) if term.kind is TermKind.WORD and not term.weak]
    # Codes are told apart elsewhere.
    latin = [term for term in words if term.text.isascii() and term.text.isalpha()]
    for left, right in pairwise(sorted(latin, key=lambda term: term.span)):
        if _side_by_side(left, right, text):
            yield left.text, right.text


def _side_by_side(left: Term, right: Term, text: str) -> bool:
    return left.span.end < right.span.start and _BETWEEN.fullmatch(text[left.span.end : right.span.start]) is not None
