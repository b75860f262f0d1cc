"""Which kind of question one is, told by rule from its words, its history and the language of what it looks for.

A question has one kind, the first of `KINDS` that fits, so that the kinds of a set add up to the set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from kaijuan.core.text.analyse import Term, TermKind, analyse
from kaijuan.core.text.characters import HAN, KANA
from kaijuan.core.text.language import language_of
from kaijuan.evals.sets import EvalSet, Query

KINDS = MappingProxyType(
    {
        "follow-up": "the set gives earlier turns of the conversation",
        "cross-lingual": "every relevant document is in another language than the question",
        "identifier": "names a code, version, path, address or file name",
        "long": "more than 30 words, a Han character counted as half a word",
        "multi-constraint": "joins three or more clauses, compares, or asks two things at once",
        "number": "holds a number, a date or an amount",
        "short": "keywords: at most 6 words, neither a question word nor a question mark",
        "question": "a plain question: a question word or a question mark",
        "statement": "everything else",
    }
)
"""Kinds in the order in which they are tried, and the rule of each."""

LONG_WORDS = 30.0
SHORT_WORDS = 6.0
HAN_WORDS = 0.5
"""Words that a Han character or kana counts as."""
JOINTS = 2
"""Joints between clauses from which a question has several constraints."""

_UNSPACED = re.compile(f"[{HAN}{KANA}]")
_LATIN_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ASKING = re.compile(
    r"什么|甚么|什麼|甚麼|谁|誰|哪|几(?![何乎])|幾(?!何|乎)|多少|多久|多大|多长|多長|多高|多远|怎|如何|为何|為何|何[时時地人种種处處]"
    r"|是否|能否|可否|有没有|有沒有|[吗嗎呢]\s*[？?。]?\s*$"
    r"|\b(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.IGNORECASE,
)
_STARTS_ASKING = re.compile(
    r"\s*(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|has|have|had|may|might)\b", re.IGNORECASE
)
_MARK = re.compile(r"[?？]")
_JOINT = re.compile(
    r"(?<!\d),|,(?!\d)|[，；;、]|并且|而且|以及|同时|並且|同時|[和与與及且或](?=.)|\b(?:and|or|but|while|whereas)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:both|either|neither|versus|vs|compared? (?:to|with)|difference between|as well as|respectively)\b"
    r"|分别|分別|相比|区别|區別|差别(?!化)|差別(?!化)|既.{1,20}又|同时满足|同時滿足",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[^\W\d_]\w*(?:[._/\\@:#]+\w+)+|\w+(?:\(\)|_\w+)", re.ASCII)
"""Letters joined by more than hyphens: config.toml, read_text, a/b, kai@juan."""
_NO_NAME = re.compile(
    r"(?:(?:fy|cy|q[1-4]|h[12])[-/'’]?)+(?:\d{2}|\d{4})?|\d{4}[-/ ]?(?:fy|q[1-4]|h[12])"
    r"|[\d.,x×*]+(?:[a-zµ°]{1,4}|[a-z]+/[a-z]+)?|\d+(?:st|nd|rd|th|s)|(?-i:[A-Za-z]?[a-z]+)[-'’ ](?:19|20)\d{2}",
    re.IGNORECASE,
)
"""Periods of accounts, amounts, ordinals and years look like codes and name nothing."""
_CAPITALS = re.compile(r"[A-Z]{2}|[A-Z]+[/-][A-Z]")
_NUMBER = re.compile(r"\d|第[一二三四五六七八九十百]|[〇零一二三四五六七八九十百千万萬亿億]{2,}")


def kind_of(query: Query, languages: Collection[str] = ()) -> str:
    """Return the kind of a question; `languages` are those of its relevant documents, where they are known."""
    if query.history:
        return "follow-up"
    asked, known = language_of(query.text), {language for language in languages if language}
    # Where one of them is in its own language, nothing has to be found across languages.
    if asked and known and asked not in known:
        return "cross-lingual"
    return _kind_by_words(query.text)


def kinds_of(data: EvalSet) -> Mapping[str, str]:
    """Return the kind of every judged question of a set, by its id. Reads the corpus once."""
    languages = _languages(data)
    return {
        query.id: kind_of(query, {languages.get(document, "") for document in data.grades[query.id]})
        for query in data.judged
    }


def _kind_by_words(text: str) -> str:
    terms = analyse(text)
    asking = len(_ASKING.findall(text))
    size = _size(text)
    is_question = bool(asking or _MARK.search(text) or _STARTS_ASKING.match(text))
    fits = {
        "identifier": any(_is_identifier(text, term) for term in terms),
        "long": size > LONG_WORDS,
        "multi-constraint": _has_several(text, asking),
        "number": _holds_number(text, terms),
        "short": size <= SHORT_WORDS and not is_question,
        "question": is_question,
    }
    return next((kind for kind, fit in fits.items() if fit), "statement")


def _size(text: str) -> float:
    spaced = _UNSPACED.sub(" ", text)
    return len(_UNSPACED.findall(text)) * HAN_WORDS + len(_LATIN_WORD.findall(spaced))


def _is_identifier(text: str, term: Term) -> bool:
    if term.kind is not TermKind.CODE:
        return False
    whole = term.span.of(text)
    # A name and a number apart are one name only in capitals: GRB 090423, but not "print 6" or "season 9".
    if _NO_NAME.fullmatch(whole) or (" " in whole and not _CAPITALS.match(whole)):
        return False
    named = any(map(str.isdigit, whole)) and any(map(str.isalpha, whole))
    return named or bool(_JOINED.fullmatch(whole))


def _has_several(text: str, asking: int) -> bool:
    return asking > 1 or len(_JOINT.findall(text.strip(" ，,。.;；"))) >= JOINTS or bool(_SEVERAL.search(text))


def _holds_number(text: str, terms: list[Term]) -> bool:
    return bool(_NUMBER.search(text)) or any(term.kind is TermKind.DATE for term in terms)


def _languages(data: EvalSet) -> Mapping[str, str]:
    """Return the language of every relevant document."""
    wanted = {document for judged in data.grades.values() for document in judged}
    found = {}
    with data.corpus.open(encoding="utf-8-sig") as file:
        for line in file:
            if line.strip():
                row = json.loads(line)
                if (id := str(row["_id"])) in wanted:
                    found[id] = language_of(f"{row.get('title') or ''}\n{row.get('text') or ''}")
    return found
