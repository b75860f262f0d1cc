"""The exact route: chunks that hold an identifier of the question to the letter (spec G1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kaijuan.core.filters import Filter
from kaijuan.core.text.analyse import WEIGHTS, Term, TermKind, analyse
from kaijuan.core.text.bm25 import numbered
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.ports import Query

# 3.5kg, 8:30, 1,000 and 19th are amounts; v2.3.1 and ERR-9988 are names.
_AMOUNT = re.compile(r"#(?:\d[\d,:/-]*(?:\.\d+)?[a-z%°µμ℃]{0,5}|[^\d]*)")
# XXL-JOB and MAX_RETRIES are names; e-mail, T-shirt and TCP/IP are words.
_CAPITALS = re.compile(r"[A-Z]{2,}(?:[-_][A-Z]{2,})+")
# retry_backoff, os.path_sep
_UNDERSCORED = re.compile(r"[A-Za-z.:]*[A-Za-z](?:_+[A-Za-z.:]*[A-Za-z])+")
# getUserName and parseURL are names of code; iPhone and macOS are words.
_CAMEL = re.compile(r"[a-z]{2,}(?=[A-Z](?:[A-Z]*[a-z]|[A-Z]{2}))[A-Za-z]+")
# NullPointerException is one, GitHub and McDonald are not.
_HUMPS = re.compile(r"[A-Z]+[a-z]+(?:[A-Z]+[a-z]+){2,}")
# Whatever is written as code is meant to the letter: `chmod`, DataFrame().
_AS_CODE = re.compile(r"`([A-Za-z]{2,})(?:\(\))?`|(?<![\w.])([A-Za-z]{2,})\(\)")
# Names in programs that have a digit or an underscore: read_2nd_page, getUserV2, os.path_sep; not iPhone15 or B2B.
_IN_PROGRAMS = re.compile(
    r"[A-Za-z_][\w.:]*[^\W_]_+[^\W_][\w.:]*|(?:[\w.:]*[.:])?[a-z][a-z0-9]+[A-Z](?:[A-Z]*[a-z]|[A-Z]{2})[A-Za-z0-9]+",
    re.ASCII,
)


class ExactRoute:
    """Asks the index for the codes of the question alone; silent where it has none."""

    name = "exact"

    def __init__(self, index: Index) -> None:
        self._index = index

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return at most `k` chunks with one of the identifiers, those with most and rarest first."""
        wanted = identifiers(query.text)
        return await self._index.search_lexical(numbered(wanted), k, where) if wanted else []


def identifiers(text: str) -> Mapping[str, float]:
    """Return the terms of the identifiers in a question with their weights: codes, versions, models, names in programs.

    An identifier within a longer one is no wish of its own (GB/T in GB/T 7714-2015).
    """
    terms = analyse(text)
    weights: dict[str, float] = {}
    for term in (*_whole(terms, text), *_single(terms, text)):
        weights[term.text] = WEIGHTS[TermKind.CODE]
        if term.kind is not TermKind.CODE:
            continue
        # GB/T 7714 asks for its editions too, which know it as their lead.
        weights["<" + term.text[1:]] = WEIGHTS[TermKind.LEAD]
    return weights


def program_names(text: str) -> tuple[str, ...]:
    """Return the names in programs that a question has, as they are written there, in their order, each once."""
    terms = analyse(text)
    codes = _whole(terms, text)
    named = [term for term in codes if _IN_PROGRAMS.fullmatch(term.span.of(text))]
    # The letters of a name with digits are a word too.
    named += [term for term in _single(terms, text) if not _within(term, codes)]
    found = sorted({term.span for term in named}, key=lambda span: span.start)
    return tuple(dict.fromkeys(span.of(text) for span in found))


def _whole(terms: Sequence[Term], text: str) -> list[Term]:
    codes = [term for term in terms if term.kind is TermKind.CODE and _is_name(term, text)]
    return [term for term in codes if not _within(term, codes)]


def _is_name(term: Term, text: str) -> bool:
    written = term.span.of(text)
    if _CAPITALS.fullmatch(written):
        # In a question all in capitals they tell nothing.
        return text.strip() == written or any(letter.isalpha() and not letter.isupper() for letter in text)
    if _UNDERSCORED.fullmatch(written):
        return True
    digits = any(map(str.isdigit, written))
    # "season 8" is a way to say a number, "Windows 11" is a name.
    # Nor does a name begin with a word like "noticed" in "noticed M3×0.5".
    spoken = " " in written and written.split()[0].islower()
    return digits and not spoken and _AMOUNT.fullmatch(term.text) is None


def _single(terms: Sequence[Term], text: str) -> list[Term]:
    """Return the terms of names in programs that are one word of letters, each as it is written but for its case."""
    as_code = {match.span(match.lastindex or 0) for match in _AS_CODE.finditer(text)}
    named: dict[tuple[int, int], Term] = {}
    for term in terms:
        place = (term.span.start, term.span.end)
        written = term.span.of(text)
        if term.kind not in (TermKind.WORD, TermKind.FORM) or not written.isascii() or not written.isalpha():
            continue
        # The form follows the word and is nearer to the letter: the word lacks its ending.
        if place in as_code or _CAMEL.fullmatch(written) or _HUMPS.fullmatch(written):
            named[place] = term if place not in named or term.kind is TermKind.FORM else named[place]
    return list(named.values())


def _within(term: Term, others: Sequence[Term]) -> bool:
    return any(other.span != term.span and other.span.contains(term.span) for other in others)
