"""A text as the checker compares it: values, names, turning words and content words, in order and by clause."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

from kaijuan.answer.checking.measures import Measure, measure_after
from kaijuan.answer.checking.opposites import turns
from kaijuan.core.spans import OffsetMap, Span
from kaijuan.core.text.analyse import marked
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.expressions import number_of
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import normalise
from kaijuan.core.text.stopwords import CHINESE, ENGLISH, ENGLISH_MONTHS
from kaijuan.core.text.values import Amount, Day, values_of

LONGEST = 4000
"""Characters of a text that are read; a claim or a quote is far shorter."""
_CLAUSE = re.compile(r"[，,；;。！？!?：:](?!\d)|\.(?=\s|$)|\s[-–—]\s|——|\n")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：\n])[\s\"“‘'`(]*$")
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])(\s?)[’ʼ](?=[A-Za-z])")
_ATTRIBUTION = re.compile(
    r"\A\s*(?:(?:根据|按照|依据|依照|据|如)?[^，。《“「\d]{0,6}(?:资料|資料|文档|文檔|文件|文章|材料|内容|內容|原文|来源|文中"
    r"|证据|記載|记载|所述|介绍|报道|提供的信息)[^，。《“「\d]{0,6}[，,：:]"
    r"|(?:According to|Based on|As (?:stated|described|mentioned|noted|shown)|Per)(?: [a-z]+){0,4},"
    r"|The (?:text|source|document|passage|article|evidence|material|excerpt)s?"
    r" (?:says?|states?|mentions?|notes?|shows?)(?: that)?)\s*"
)
"""That it stands in the sources, which a claim may say of itself."""
_LATIN = re.compile(r"[a-z0-9\u00df-\u024f]+(?:[-_./'@&+#][a-z0-9\u00df-\u024f]+)*(?:\+\+|#)?")
_HAN_RUN = re.compile(f"[{HAN}]+")
_TITLE = re.compile(r"《([^《》]{1,40})》|「([^「」]{1,40})」|『([^『』]{1,40})』")
_DECADE = re.compile(
    r"(?P<century>\d{1,2})\s?世纪\s?(?P<tens>\d0)\s?年代|(?P<year>1\d\d0|20\d0)(?:年代|'?s(?![a-z]))"
    r"|(?P<spelt>[一二][零〇一二三四五六七八九]{2}[零〇])年代"
)
_ORDINAL = re.compile(
    r"第\s?(?P<han>\d{1,6}|[零〇一二三四五六七八九十百千]{1,7})(?!者)|(?<![a-z0-9.,-])(?P<latin>\d{1,4})(?:st|nd|rd|th)(?![a-z0-9])"
    r"|(?<![a-z0-9-])(?P<word>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?![a-z0-9])"
)
_ORDINAL_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CENTURY = re.compile(r"(?P<n>\d{1,2})(?:世纪|(?:st|nd|rd|th)[ -]century|(?:st|nd|rd|th) centuries)")
_JOINED = re.compile(r"\s?(?:至|到|-|~|to|and|and up to)\s?\Z")
_ABOUT = re.compile(
    r"(?:大约|大概|约|近|将近|接近|左右|上下|about|around|approximately|approx\.?|nearly|almost|roughly|some)\s*\Z"
)
_ROUGHLY = re.compile(r"\s?(?:多|余|左右|上下)")
_YEARS = range(1000, 2200)
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt"})
_BEFORE_NAME = frozenset("由被在和与对从向为给让是")
_FUNCTION_TAGS = frozenset({"uj", "ul", "uz", "ug", "ud", "uv", "u", "p", "c", "y", "e", "x", "r", "f", "o"})


class TokenKind(StrEnum):
    """What a token is compared as."""

    AMOUNT = "amount"
    DAY = "day"
    NAME = "name"
    DENIAL = "denial"
    TURN = "turn"
    """A word with an opposite, which lies on the same axis."""
    WORD = "word"


WEIGHTS = {
    TokenKind.AMOUNT: 1.5,
    TokenKind.DAY: 1.5,
    TokenKind.NAME: 1.5,
    TokenKind.DENIAL: 0.0,
    TokenKind.TURN: 0.7,
    TokenKind.WORD: 1.0,
}
"""What a token counts in the share of a claim that the evidence holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One thing said. Places count in the normalised text."""

    kind: TokenKind
    key: str
    text: str
    """As written."""
    start: int
    end: int
    clause: int
    amount: Amount | None = None
    measure: Measure | None = None
    day: Day | None = None
    axis: str = ""
    sign: int = 0
    capital: bool = False
    """Whether it begins with a capital letter, at the beginning of a sentence too."""

    @property
    def weight(self) -> float:
        """What it counts in coverage."""
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text, normalised, with its tokens in order."""

    text: str
    folded: str
    language: str
    tokens: tuple[Token, ...]
    keys: frozenset[str]


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Return the tokens of a text, as far as LONGEST characters of it."""
    text = _APOSTROPHE.sub(r"\1'", _ATTRIBUTION.sub("", text[:LONGEST], count=1))
    folded, offsets = normalise(marked(text))
    clauses = [match.end() for match in _CLAUSE.finditer(text)]
    taken = bytearray(len(folded))
    found: list[Token] = []
    for reader in (_decades, _dates, _ordinals, _values, _turning, _words):
        for token in reader(folded, taken):
            if not any(taken[token.start : token.end]):
                taken[token.start : token.end] = b"\x01" * (token.end - token.start)
                found.append(token)
    found = [_placed(token, text, offsets, clauses) for token in found if token.end > token.start]
    found.sort(key=lambda token: token.start)
    tokens = tuple(_named(found, text, offsets))
    return Reading(
        text=text,
        folded=folded,
        language=language_of(text),
        tokens=tokens,
        keys=frozenset(token.key for token in tokens),
    )


def _placed(token: Token, text: str, offsets: OffsetMap, clauses: list[int]) -> Token:
    """Return a token as it is written, with its clause."""
    origin = offsets.back(Span(token.start, token.end))
    written = origin.of(text)
    return replace(token, text=written, clause=bisect_right(clauses, origin.start), capital=written[:1].isupper())


def _token(kind: TokenKind, key: str, start: int, end: int) -> Token:
    return Token(kind=kind, key=key, text="", start=start, end=end, clause=0)


def _decades(folded: str, _: bytearray) -> Iterator[Token]:
    for match in _DECADE.finditer(folded):
        whole = match["year"] or (match["spelt"] and number_of(match["spelt"]))
        year = int(whole) if whole else (int(match["century"]) - 1) * 100 + int(match["tens"])
        yield replace(_token(TokenKind.DAY, f"@{year}s", *match.span()), day=None)
    for match in _CENTURY.finditer(folded):
        yield _token(TokenKind.DAY, f"@c{int(match['n'])}", *match.span())


def _ordinals(folded: str, taken: bytearray) -> Iterator[Token]:
    for match in _ORDINAL.finditer(folded):
        said = match["han"] or match["latin"]
        number = number_of(said) if said else _ORDINAL_WORDS.index(match["word"]) + 1
        if number is not None and not any(taken[match.start() : match.end()]):
            yield _token(TokenKind.AMOUNT, f"+#{number}", *match.span())


def _dates(folded: str, taken: bytearray) -> Iterator[Token]:
    # Read again from the normalised text, which folds to itself, so that places agree.
    values = values_of(folded)
    for day, (start, end) in zip(values.days, values.day_places, strict=True):
        if not any(taken[start:end]):
            yield replace(_token(TokenKind.DAY, _day_key(day), start, end), day=day)


def _values(folded: str, taken: bytearray) -> Iterator[Token]:
    values = values_of(folded)
    measured = [
        (amount, *_measured(folded, amount, start, end))
        for amount, (start, end) in sorted(
            zip(values.amounts, values.amount_places, strict=True), key=lambda pair: pair[1]
        )
        if not any(taken[start:end])
    ]
    for at, (amount, measure, start, end) in enumerate(measured):
        following = measured[at + 1] if at + 1 < len(measured) else None
        if measure is None and not amount.unit and following and _is_range(folded, end, following[2]):
            # 3至5天: the first end is measured as the second.
            measure = following[1]
            amount = replace(amount, unit=following[0].unit)
        yield _amount(folded, amount, measure, start, end)


def _is_range(folded: str, end: int, start: int) -> bool:
    return start - end <= 8 and _JOINED.fullmatch(folded[end:start]) is not None


def _measured(folded: str, amount: Amount, start: int, end: int) -> tuple[Measure | None, int, int]:
    if amount.unit:
        return None, start, end
    found = measure_after(folded, end)
    if found is None or folded[max(0, start - 1) : start] == "第":
        return None, start, end
    return found[0], start, found[1]


def _amount(folded: str, amount: Amount, measure: Measure | None, start: int, end: int) -> Token:
    if not amount.unit and measure is None and amount.value in _YEARS and folded[start:end].isdecimal():
        year = int(amount.value)
        return replace(
            _token(TokenKind.DAY, f"@{year}", start, end), day=Day(year=year), amount=replace(amount, measure="")
        )
    if _ABOUT.search(folded[max(0, start - 16) : start]) or _ROUGHLY.match(folded, end):
        amount = replace(amount, step=max(amount.step, _last_digit(amount.value)))
    scaled = amount.value * (measure.factor if measure else 1)
    unit = amount.unit or (measure.dimension if measure else "")
    key = f"+{scaled.normalize():f}{unit}"
    return replace(_token(TokenKind.AMOUNT, key, start, end), amount=amount, measure=measure)


def _last_digit(value: Decimal) -> Decimal:
    """Return the value of a number's last digit that is not 0: 100 for 1,300."""
    exponent = value.normalize().as_tuple().exponent
    return Decimal((0, (1,), int(exponent)))


def _day_key(day: Day) -> str:
    return "@" + "-".join(str(part) if part is not None else "" for part in (day.year, day.month, day.day)).rstrip("-")


def _turning(folded: str, _: bytearray) -> Iterator[Token]:
    for turn in turns(folded):
        kind = TokenKind.TURN if turn.axis else TokenKind.DENIAL
        key = f"!{turn.axis}{turn.sign}" if turn.axis else "!"
        yield replace(_token(kind, key, turn.start, turn.end), axis=turn.axis, sign=turn.sign)


def _words(folded: str, taken: bytearray) -> Iterator[Token]:
    for match in _LATIN.finditer(folded):
        word = match.group()
        if word in ENGLISH or word in ENGLISH_MONTHS or (len(word) == 1 and word.isalpha()):
            continue
        yield _token(TokenKind.WORD, _stem(word), *match.span())
    for run in _free_runs(folded, taken):
        at = run.start
        for word, tag in _tagged(run.of(folded)):
            end = at + len(word)
            if tag in _NAME_TAGS and len(word) > 2 and word[0] in _BEFORE_NAME:
                # The tagger takes 由马云 for one name.
                word, at = word[1:], at + 1
            if tag in _NAME_TAGS and len(word) > 1:
                yield _token(TokenKind.NAME, word, at, end)
            elif word not in CHINESE and tag not in _FUNCTION_TAGS:
                yield _token(TokenKind.WORD, word, at, end)
            at = end


def _free_runs(folded: str, taken: bytearray) -> Iterator[Span]:
    """Yield the runs of ideographs of which nothing is read yet."""
    for match in _HAN_RUN.finditer(folded):
        start = match.start()
        for at in range(match.start(), match.end() + 1):
            if at == match.end() or taken[at]:
                if at > start:
                    yield Span(start, at)
                start = at + 1


@lru_cache(maxsize=8192)
def _tagged(run: str) -> tuple[tuple[str, str], ...]:
    # Imported late: loading the dictionary takes a tenth of a second.
    import rjieba

    return tuple(rjieba.tag(run, True))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if not word.isalpha():
        return word.replace("-", "").replace("'", "")
    from snowballstemmer.english_stemmer import EnglishStemmer

    # A new stemmer for each new word: the object is not safe between threads.
    stem: str = EnglishStemmer().stemWord(word)
    return stem


def _named(tokens: list[Token], text: str, offsets: OffsetMap) -> Iterator[Token]:
    """Yield the tokens, with words that are names by their capital letter, their title marks or their digits."""
    titles = [Span(*match.span()) for match in _TITLE.finditer(text)]
    for at, token in enumerate(tokens):
        if token.kind is not TokenKind.WORD:
            yield token
            continue
        origin = offsets.back(Span(token.start, token.end))
        titled = any(title.contains(origin) for title in titles)
        coded = any(map(str.isdigit, token.key)) and any(map(str.isalpha, token.key))
        capital = token.capital and _is_name(tokens, at, text, origin)
        yield replace(token, kind=TokenKind.NAME) if titled or coded or capital else token


def _is_name(tokens: list[Token], at: int, text: str, origin: Span) -> bool:
    """Say whether a word with a capital is a name: within a sentence, in capitals, or before another such word."""
    if not _SENTENCE_START.search(text[max(0, origin.start - 6) : origin.start]):
        return True
    if len(origin) > 1 and origin.of(text).isupper():
        return True
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and following.capital and following.start - tokens[at].end <= 1
