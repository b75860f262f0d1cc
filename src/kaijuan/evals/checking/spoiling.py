"""One thing of a sentence made wrong: a number, date, unit, name, negation, comparison, or two names exchanged."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kaijuan.evals.checking.material import Material, Sentence

_DATE_ZH = re.compile(r"(?<!\d)\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?|(?<!\d)\d{1,2}月\d{1,2}日")
_DATE_EN = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:\s?, \d{4})?"
    r"|\b\d{1,2} (?:January|February|March|April|June|July|August|September|October|November|December) \d{4}"
    r"|(?<=\bin )\d{4}\b|(?<=\bsince )\d{4}\b|(?<=\()\d{4}\b|(?<=\bof )(?:19|20)\d{2}\b"
)
_NUMBER = re.compile(r"(?<![\d.,A-Za-z-])\d[\d,]*(?:\.\d+)?(?![\d.]*\d)")
_COUNT_ZH = re.compile(r"[二两三四五六七八九](?=[个名位次种座家条部层])")
_COUNT_EN = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b(?! hundred| thousand| million)")
_COUNTS_EN = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {
    "zh": (
        ("公里", "米", "厘米", "英里"),
        ("公斤", "克", "吨"),
        ("小时", "分钟", "秒"),
        ("美元", "欧元", "日元", "人民币"),
        ("平方公里", "平方米", "公顷"),
        ("个月", "个星期", "天"),
    ),
    "en": (
        ("kilometres", "metres", "miles", "feet", "inches"),
        ("kilometers", "meters"),
        ("km", "cm", "mm"),
        ("kg", "tonnes", "grams"),
        ("hours", "minutes", "seconds"),
        ("days", "weeks", "months", "years"),
        ("dollars", "euros"),
        ("square miles", "square kilometres", "acres"),
    ),
}
_OPPOSITES = {
    "zh": (
        *(
            "超过=不足",
            "增加=减少",
            "最大=最小",
            "以上=以下",
            "高于=低于",
            "之前=之后",
            "上升=下降",
            "至少=至多",
            "早于=晚于",
        ),
        *(
            "大于=小于",
            "多于=少于",
            "最高=最低",
            "最早=最晚",
            "提高=降低",
            "增长=下降",
            "较大=较小",
            "更多=更少",
            "以前=以后",
        ),
        *("最长=最短", "更大=更小", "较高=较低"),
    ),
    "en": (
        *("more than=less than", "before=after", "largest=smallest", "highest=lowest", "increased=decreased"),
        *("at least=at most", "over=under", "larger=smaller", "higher=lower", "rose=fell", "longer=shorter"),
        *("above=below", "earlier=later", "increase=decrease", "greater than=less than", "most=fewest", "won=lost"),
        *("faster=slower", "longest=shortest", "oldest=youngest", "older=younger", "best=worst"),
    ),
}
_AUXILIARY = re.compile(
    r"\b(is|was|are|were|has|have|had|can|could|will|would|should|may|did|does|must)\b(?! not|n't| no\b| n't)"
)
_VERB_ZH = re.compile(
    r"(?<![但就于只还总也都可不并])是(?![否以非]|[谁何])|(?<![没未只])有(?![关时些所人的])|(?<![不只產产功性智动動效潜核才])能(?![力量源])|可以|支持|允许|包括|属于|拥有|使用|采用"
    r"|出现|成为|发现|参加|接受|需要|存在|提供|担任|获得"
)
_PAST_ZH = frozenset({"出现", "成为", "发现", "参加", "接受", "提供", "担任", "获得", "采用", "使用"})
_LIST = re.compile(r"(?:[\s,，、/;；&·]|和|与|及|以及|或|and|or|》|《)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiled:
    """A wrong claim, and the part that was changed."""

    text: str
    was: str
    now: str


Spoil = Callable[[Sentence, Material, random.Random], Spoiled | None]


def _put(text: str, start: int, end: int, now: str) -> Spoiled:
    return Spoiled(text=text[:start] + now + text[end:], was=text[start:end], now=now)


def wrong_number(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Change a digit, the size, or take another number of the passage."""
    text = sentence.text
    dates = [match.span() for match in (_DATE_ZH if material.language == "zh" else _DATE_EN).finditer(text)]
    found = [
        match
        for match in _NUMBER.finditer(text)
        if not any(start <= match.start() < end for start, end in dates) and not _is_date_like(text, match)
    ]
    if found:
        match = chance.choice(found)
        now = _other_number(match.group(), sentence, chance)
        return _put(text, *match.span(), now) if now else None
    pattern = _COUNT_ZH if material.language == "zh" else _COUNT_EN
    counted = list(pattern.finditer(text))
    if not counted:
        return None
    match = chance.choice(counted)
    digits: Sequence[str] = "二三四五六七八九" if material.language == "zh" else _COUNTS_EN
    same = {"两": "二"}.get(match.group(), match.group())
    return _put(text, *match.span(), chance.choice([one for one in digits if one != same]))


def _is_date_like(text: str, match: re.Match[str]) -> bool:
    whole = match.group().isdecimal() and len(match.group()) == 4 and 1000 <= int(match.group()) < 2200
    return whole or text[match.end() : match.end() + 1] in tuple("年月日号世代")


def _other_number(number: str, sentence: Sentence, chance: random.Random) -> str:
    others = {
        match.group()
        for one in sentence.around
        if one != sentence.text
        for match in _NUMBER.finditer(one)
        if not _is_date_like(one, match)
    }
    near = sorted(others - {match.group() for match in _NUMBER.finditer(sentence.text)})
    if near and chance.random() < 0.3:
        return chance.choice(near)
    if chance.random() < 0.25 and "," not in number and "." not in number:
        return number + "0"
    places = [at for at, character in enumerate(number) if character.isdigit()]
    at = chance.choice(places)
    digits = [one for one in "123456789" if one != number[at]]
    return number[:at] + chance.choice(digits) + number[at + 1 :]


def wrong_date(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Change the year, month or day of a date."""
    pattern = _DATE_ZH if material.language == "zh" else _DATE_EN
    found = list(pattern.finditer(sentence.text))
    if not found:
        return None
    match = chance.choice(found)
    numbers = list(re.finditer(r"\d+", match.group()))
    part = chance.choice(numbers)
    value = int(part.group())
    if len(part.group()) == 4:
        now = value + chance.choice([-20, -10, -3, -2, -1, 1, 2, 3, 10])
    else:
        top = 12 if match.group()[part.end() :].startswith("月") else 28
        now = chance.choice([one for one in range(1, top + 1) if one != value])
    start = match.start() + part.start()
    return _put(sentence.text, start, start + len(part.group()), str(now))


def wrong_unit(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Put another unit of the same kind."""
    found = [
        (match, group)
        for group in _UNITS[material.language]
        for unit in group
        for match in re.finditer(rf"(?<=[\d十百千万亿])\s?{unit}(?![a-z制])", sentence.text)
    ]
    if not found:
        return None
    match, group = chance.choice(found)
    was = match.group().strip()
    if material.language == "zh" and was == "米" and sentence.text[match.start() - 1] in "千百":
        return None
    now = chance.choice([one for one in group if one != was])
    return _put(sentence.text, match.end() - len(was), match.end(), now)


def wrong_name(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Put a name that the passage does not have."""
    if not sentence.names:
        return None
    was = chance.choice(sentence.names)
    passage = " ".join((sentence.title, *sentence.around))
    near = [
        name
        for name in chance.sample(material.names, min(60, len(material.names)))
        if name not in passage and name not in was and was not in name and abs(len(name) - len(was)) <= 4
    ]
    if not near:
        return None
    at = sentence.text.index(was)
    return _put(sentence.text, at, at + len(was), chance.choice(near))


def denied(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Deny what is said, or say what is denied."""
    return _denied_en(sentence.text, chance) if material.language == "en" else _denied_zh(sentence.text, chance)


def _denied_en(text: str, chance: random.Random) -> Spoiled | None:
    has = re.search(r"\b(is|was|are|were|did|does|do|could|can|would|will|has|have|had) not ", text)
    if has:
        return _put(text, has.end() - 4, has.end(), "")
    found = _AUXILIARY.search(text)
    return _put(text, found.end(), found.end(), chance.choice((" not", " not", " never"))) if found else None


def _denied_zh(text: str, chance: random.Random) -> Spoiled | None:
    has = re.search(r"(?:不(?=[是能会支允可])|没有(?=[被得出发])|并未|从未|尚未)", text)
    if has:
        return _put(text, *has.span(), "")
    found = list(_VERB_ZH.finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    word, start = match.group(), match.start()
    if word in _PAST_ZH:
        return _put(text, start, start, chance.choice(("没有", "未", "并未")))
    plain = {"有": ("没",), "是": ("不",)}.get(word, ("不", "并不"))
    return _put(text, start, start, chance.choice(plain))


def turned(sentence: Sentence, material: Material, chance: random.Random) -> Spoiled | None:
    """Put the opposite of a comparison."""
    pairs = [tuple(pair.split("=")) for pair in _OPPOSITES[material.language]]
    found = [
        (match, other)
        for pair in pairs
        for word, other in (pair, pair[::-1])
        for match in re.finditer(rf"\b{word}\b" if material.language == "en" else word, sentence.text)
    ]
    found = [one for one in found if one[0].group() not in ("over", "under") or _before_number(sentence.text, one[0])]
    if not found:
        return None
    match, other = chance.choice(found)
    return _put(sentence.text, *match.span(), other)


def _before_number(text: str, match: re.Match[str]) -> bool:
    return re.match(r" \$?\d", text[match.end() :]) is not None


def exchanged(sentence: Sentence, _: Material, chance: random.Random) -> Spoiled | None:
    """Put two names of the sentence in each other's place; two of one list would say the same."""
    text = sentence.text
    places = sorted((text.index(name), name) for name in sentence.names)
    pairs = [
        (one, other)
        for at, one in enumerate(places)
        for other in places[at + 1 :]
        if one[0] + len(one[1]) <= other[0]
        and not _LIST.fullmatch(text[one[0] + len(one[1]) : other[0]])
        and not (one[1] in other[1] or other[1] in one[1])
    ]
    if not pairs:
        return None
    (first, one), (second, other) = chance.choice(pairs)
    between = text[first + len(one) : second]
    now = text[:first] + other + between + one + text[second + len(other) :]
    return Spoiled(text=now, was=f"{one} … {other}", now=f"{other} … {one}")


SPOILS: dict[str, Spoil] = {
    "number": wrong_number,
    "date": wrong_date,
    "unit": wrong_unit,
    "name": wrong_name,
    "negation": denied,
    "comparison": turned,
    "exchanged": exchanged,
}
