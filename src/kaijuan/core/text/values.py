"""Numbers and dates by value: 1,361万 and 13.61 million are one amount, 2021年7月23日 and July 23, 2021 one day.

Only the forms that answers and documents use; what is not understood is left to the comparison of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType

from kaijuan.core.text.analyse import marked
from kaijuan.core.text.expressions import number_of
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.stopwords import ENGLISH_MONTHS

Place = tuple[int, int]
_NUMBER_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
)

_SCALES = MappingProxyType(
    {
        "万亿": 10**12,
        "千亿": 10**11,
        "百亿": 10**10,
        "十亿": 10**9,
        "亿": 10**8,
        "千万": 10**7,
        "百万": 10**6,
        "十万": 10**5,
        "万": 10**4,
        "千": 10**3,
        "百": 10**2,
        "trillion": 10**12,
        "billion": 10**9,
        "million": 10**6,
        "thousand": 10**3,
        "tn": 10**12,
        "bn": 10**9,
        "mn": 10**6,
        "b": 10**9,
        "m": 10**6,
        "k": 10**3,
    }
)
_CURRENCIES = MappingProxyType(
    {
        name: code
        for code, names in {
            "USD": "us$ $ usd 美元 美金 dollar dollars",
            "CNY": "¥ rmb cny 人民币 元 yuan",
            "EUR": "€ eur 欧元 euro euros",
            "GBP": "£ gbp 英镑 pound pounds",
            "HKD": "hk$ hkd 港元 港币",
            "JPY": "jpy 日元 yen",
        }.items()
        for name in names.split()
    }
)
_PERCENT = MappingProxyType(
    dict.fromkeys(("%", "percent", "per cent", "个百分点", "percentage points", "percentage point"), Decimal(1))
    | {"‰": Decimal("0.1")}
)
_WORDS = MappingProxyType(
    {
        word: value
        for value, word in enumerate(
            _NUMBER_WORDS.split(),
            start=2,
        )
    }
)
_DIGITS = "零〇一二两三四五六七八九"
_HAN = "\u4e00-\u9fff"
_HAN_NUMERAL = f"[{_DIGITS}十百千万亿]"
_HAN_SCALE = "万亿|千亿|百亿|十亿|亿|千万|百万|十万|万|千|百"
_LATIN_SCALE = "trillion|billion|million|thousand|tn|bn|mn"
_NUM = r"(?>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?>(?:\.\d+)?)(?!\.?\d)"
"""Digits with thousands commas and a decimal point; a version (1.2.3) is none."""


def _any(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_BEFORE = _any(("us$", "hk$", "$", "¥", "€", "£", "人民币", "rmb", "cny", "usd", "eur", "gbp"))
_AFTER = _any(name for name in (*_CURRENCIES, *_PERCENT) if not name.endswith("$") and name not in "¥€£")
_AMOUNT = re.compile(
    rf"(?P<sign>(?<![\w.)])-\s?)?(?P<open>\(\s?)?(?:(?P<before>{_BEFORE})\s?(?P<inner>\(|-)?)?"
    rf"(?<![a-z\d.])(?<![a-z]-)(?P<n>{_NUM})"
    rf"(?:\s?(?P<han>{_HAN_SCALE})|\s?(?P<latin>{_LATIN_SCALE})(?![a-z])|(?P<letter>[bmk])(?![a-z0-9]))?"
    rf"(?:\s?(?P<after>{_AFTER})(?![a-z]))?(?P<close>\s?\))?"
)
_FRACTION = re.compile(rf"百分之(?P<n>{_HAN_NUMERAL}+)(?:点(?P<rest>[{_DIGITS}]+))?")
_COUNTED = (
    "年月日天周岁个名位人次条章节款项页层楼号届期版卷集回批级类种台辆艘架份倍成吨米元角分小点家座所件张股颗场只"
    "部支首幅栋"
)
"""What follows a numeral written in ideographs where it is a number and not part of a word."""
_NUMERAL = re.compile(
    rf"(?<!{_HAN_NUMERAL})(?!十分(?![钟之])){_HAN_NUMERAL}{{1,18}}(?=[{_COUNTED}])|(?<![{_HAN}])[{_DIGITS}十]{{2,}}(?![{_HAN}])"
)
_WORD = re.compile(rf"(?<![a-z0-9-])(?P<n>{_any(_WORDS)})(?![a-z0-9])(?:[- ](?P<latin>{_LATIN_SCALE}))?")
_MEASURE = re.compile(rf"\s?([{_HAN}]|[a-z]+)")
_APPROXIMATE = re.compile(
    r"大约|大概|约|超过|超|近|逾|达|共|多达|将近|不到|≈|~"
    r"|\b(?:about|approximately|approx|around|over|more than|nearly|almost|roughly|some)\b"
)
_MOST_MEASURE = 4
"""Ideographs that may follow the number in an answer that is nothing but an amount; or one Latin word of
_LONGEST_WORD."""
_LONGEST_WORD = 12
_TELLING = 3
"""Digits from which a number is known again without what it counts."""
_YEARS = range(1000, 2200)

_MONTHS = _any(ENGLISH_MONTHS)
_PART = rf"(?:\d{{1,2}}|[{_DIGITS}十]{{1,3}})"
_DATE = re.compile(
    rf"(?<!\d)(?P<y1>\d{{4}}|[{_DIGITS}]{{4}})\s?年"
    rf"(?:\s?(?P<m1>{_PART})\s?月(?:\s?(?P<d1>{_PART})\s?[日号])?)?"
    rf"|(?<![\d{_DIGITS}十])(?P<m2>{_PART})\s?月\s?(?P<d2>{_PART})\s?[日号]"
    r"|(?<![\d./-])(?P<y3>\d{4})(?P<j>[-/.])(?P<m3>\d{1,2})(?P=j)(?P<d3>\d{1,2})(?![\d]|[-/.]\d)"
    r"|(?<![\d./-])(?P<m4>\d{1,2})/(?P<d4>\d{1,2})/(?P<y4>\d{4})(?![\d]|/\d)"
    rf"|(?<![a-z0-9])(?P<m5>{_MONTHS})\.?\s?(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:\s?,?\s(?P<y5>\d{{4}})(?!\d))?"
    rf"|(?<![a-z0-9.])(?P<d6>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m6>{_MONTHS})(?![a-z])"
    r"(?:\.?,?\s(?P<y6>\d{4})(?!\d))?"
    rf"|(?<![a-z0-9])(?P<m7>{_MONTHS})\.?,?\s(?P<y7>\d{{4}})(?!\d)"
)


GAP = "\x00"
_GAPS = re.compile(f"{GAP}+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number as said. `step` is the value of its last digit, which rounding left open; 0 for a plain integer."""

    value: Decimal
    step: Decimal = Decimal(0)
    unit: str = ""
    """"%", a currency's code, or ""."""
    measure: str = ""
    """The ideograph or Latin word after it: what is counted."""
    bracketed: bool = False
    """Alone in brackets, which in accounts means a negative number."""

    def is_said_by(self, other: Amount) -> bool:
        """Say whether `other` gives this amount, or a more exact one that rounds to it."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        if not self._counts_alike(other):
            return False
        candidates = {other.value, -other.value} if other.bracketed or self.bracketed else {other.value}
        return any(abs(value - self.value) * 2 <= self.step for value in candidates)

    def _counts_alike(self, other: Amount) -> bool:
        digits = len(self.value.normalize().as_tuple().digits)
        stem = self.measure[:4]  # so that singular and plural count as one
        return not stem or digits >= _TELLING or other.measure[:4] == stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A date, as far as it is said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def is_said_by(self, other: Day) -> bool:
        """Say whether `other` gives all that this date says."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine is None or mine == its for mine, its in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The numbers and dates of a text. `rest` is the text with a GAP for each of them.

    Places count in `folded(marked(text))`, as core/text has them, and are in the order of what they belong to.
    """

    amounts: tuple[Amount, ...]
    days: tuple[Day, ...]
    rest: str
    amount_places: tuple[Place, ...] = ()
    day_places: tuple[Place, ...] = ()


@lru_cache(maxsize=4096)
def values_of(text: str) -> Values:
    """Return the numbers and dates that a text says, one kind of writing after the other."""
    shown = folded(marked(text))
    days: list[tuple[Day, Place]] = []
    for match in _DATE.finditer(shown):
        if day := _day(match):
            days.append((day, match.span()))
            shown = _blanked(shown, match.span())
    amounts: list[tuple[Amount, Place]] = []
    for reader in (_percents, _figures, _numerals, _number_words):
        for amount, place in reader(shown):
            amounts.append((amount, place))
            shown = _blanked(shown, place)
    return Values(
        amounts=tuple(amount for amount, _ in amounts),
        days=tuple(day for day, _ in days),
        rest=_GAPS.sub(GAP, " ".join(shown.split())),
        amount_places=tuple(place for _, place in amounts),
        day_places=tuple(place for _, place in days),
    )


def amount_of(answer: str) -> Amount | None:
    """Return the amount, if an answer is nothing else: about 2,500万人次 is, 3 of them left is not."""
    values = values_of(answer)
    if len(values.amounts) != 1 or values.days:
        return None
    before, _, after = values.rest.partition(GAP)
    named = _APPROXIMATE.sub("", before).removesuffix("第").strip()
    return None if named or not _is_measure(after.strip(" .。,")) else values.amounts[0]


def day_of(answer: str) -> Day | None:
    """Return the date, if an answer is nothing else."""
    values = values_of(answer)
    alone = len(values.days) == 1 and not values.amounts
    return values.days[0] if alone and not values.rest.strip(f" .。,{GAP}") else None


def says_amount(text: str, wanted: Amount) -> bool:
    """Say whether a text gives this amount; a number that could be a year is also found in dates."""
    values = values_of(text)
    if any(wanted.is_said_by(amount) for amount in values.amounts):
        return True
    year = not wanted.unit and not wanted.measure and wanted.value in _YEARS
    return year and any(day.year == wanted.value for day in values.days)


def says_day(text: str, wanted: Day) -> bool:
    """Say whether a text gives this date, or a more exact one that falls into it; a year is also found as a number."""
    values = values_of(text)
    if any(wanted.is_said_by(day) for day in values.days):
        return True
    bare = wanted.month is None and wanted.year is not None
    return bare and any(amount.value == wanted.year and not amount.unit for amount in values.amounts)


def _is_measure(rest: str) -> bool:
    if not rest.isascii():
        return len(rest.replace(" ", "")) <= _MOST_MEASURE
    return len(rest) <= _LONGEST_WORD and (rest.isalpha() or not rest)


def _blanked(text: str, place: Place) -> str:
    return text[: place[0]] + GAP * (place[1] - place[0]) + text[place[1] :]


def _day(match: re.Match[str]) -> Day | None:
    found = {name: value for name, value in match.groupdict().items() if value is not None}
    parts = {name[0]: ENGLISH_MONTHS.get(value) or number_of(value) for name, value in found.items() if name != "j"}
    month, day = parts.get("m"), parts.get("d")
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    return Day(year=parts.get("y"), month=month, day=day)


def _percents(text: str) -> Iterator[tuple[Amount, Place]]:
    for match in _FRACTION.finditer(text):
        whole = number_of(match["n"])
        if whole is not None:
            rest = "".join(str(number_of(digit)) for digit in match["rest"] or "")
            value = Decimal(f"{whole}.{rest}" if rest else whole)
            step = Decimal(10) ** -len(rest) if rest else Decimal(0)
            yield Amount(value=value, step=step, unit="%"), match.span()


def _figures(text: str) -> Iterator[tuple[Amount, Place]]:
    held: tuple[Amount, Place, int] | None = None
    for match in _AMOUNT.finditer(text):
        amount, (start, end) = _figure(text, match), match.span()
        scale = _SCALES[match["han"]] if match["han"] else 0
        if held is not None and held[1][1] == start and not held[0].unit and held[2] > scale > 0:
            # Two parts of one number, written with its scales: 3亿5000万.
            amount, start = replace(amount, value=held[0].value + amount.value), held[1][0]
        elif held is not None:
            yield held[0], held[1]
        held = amount, (start, end), scale
    if held is not None:
        yield held[0], held[1]


def _figure(text: str, match: re.Match[str]) -> Amount:
    digits = Decimal(match["n"].replace(",", ""))
    letter = match["letter"] if match["before"] else None
    word = match["han"] or match["latin"] or letter
    scale = Decimal(_SCALES[word]) if word else Decimal(1)
    unit, share = _unit(match)
    exponent = int(digits.as_tuple().exponent)
    step = Decimal((0, (1,), exponent)) * scale * share if word or exponent < 0 else Decimal(0)
    negative = bool(match["sign"]) or match["inner"] == "-"
    return Amount(
        value=digits * scale * share * (-1 if negative else 1),
        step=step,
        unit=unit,
        measure="" if unit else _measure(text, match),
        bracketed=bool((match["open"] or match["inner"] == "(") and match["close"]) and not negative,
    )


def _unit(match: re.Match[str]) -> tuple[str, Decimal]:
    """Return the unit, and what the number is multiplied by to be in it."""
    if match["after"] in _PERCENT:
        return "%", _PERCENT[match["after"]]
    name = match["after"] or match["before"]
    return (_CURRENCIES[name] if name else ""), Decimal(1)


def _measure(text: str, match: re.Match[str]) -> str:
    if match["letter"] and not match["before"]:
        return match["letter"]  # 5m without a currency: a measure, not a scale
    return _counted(text, match.start("n"), match.end())


def _counted(text: str, start: int, end: int) -> str:
    """Return what is counted; an ordinal (第16届) counts something else than a number does (16届)."""
    found = _MEASURE.match(text, end)
    ordinal = "第" if text[start - 1 : start] == "第" else ""
    return ordinal + found[1] if found else ordinal


def _numerals(text: str) -> Iterator[tuple[Amount, Place]]:
    for match in _NUMERAL.finditer(text):
        value = number_of(match[0])
        if value is not None:
            yield Amount(value=Decimal(value), measure=_counted(text, *match.span())), match.span()


def _number_words(text: str) -> Iterator[tuple[Amount, Place]]:
    for match in _WORD.finditer(text):
        scale = Decimal(_SCALES[match["latin"]]) if match["latin"] else Decimal(0)
        value = _WORDS[match["n"]] * (scale or Decimal(1))
        yield Amount(value=value, step=scale, measure=_counted(text, *match.span())), match.span()
