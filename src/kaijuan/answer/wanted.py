"""What kind of value a question asks for (a time, a number of something, a price), and whether a text has one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.answer.marks import has_mark, mark_asked

YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_TIME = re.compile(r"\+\d+[年月日号世天点]")
_WHEN = re.compile(
    r"什么时候|甚麼時候|什麼時候|何时|何時|哪一?[年月日天]|[几幾][月日号號点點]"
    r"|\bwhen\b|\b(?:what|which) (?:year|date|day|month|century)\b",
    re.IGNORECASE,
)
_PRICE = re.compile(
    r"多少钱|多少錢|多少元|售价|售價|价格|價格|价钱|價錢|\bprices?\b"
    r"|\bhow much (?:do|does|did|is|are|will|would|should)\b.*\b(?:costs?|pay|paid|charge|charged|fees?)\b",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"(?:多少|[几幾])(?P<unit>[天年个個位种種次岁歲条條项項名家元人米里公千吨度本部层層座所件张張台股分倍小节節颗顆])?"
    r"|多[长長久大高远遠宽寬深重]"
    r"|\bhow (?:many|much|long|often|far|old|tall|high|big|large|fast)\b|\bwhat (?:percentage|number|amount|share)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"\bhow many (?:different |other |more |of the |of )?(?P<thing>[a-z]{3,}(?:[ -][a-z]{3,}){0,2}"
    r"(?= (?:do|does|did|is|are|was|were|can|could|may|must|should|will|would|has|have|had|in|on|at|of|for|per)\b)"
    r"|[a-z]{3,})",
    re.IGNORECASE,
)
"""What is counted: all words up to the verb ("vacation days do"), since a text may name only one of them."""
_STEM = 5
"""Letters of an English noun by which it is known in singular and plural."""
_LIKE = {unit: group for group in ("名人位个個", "天日", "岁歲", "年载", "条條项項") for unit in group}
"""Units that count the same things."""
_PEOPLE = frozenset("名人")
_MONEY = re.compile(
    r"[¥￥$€£]|\d\s*(?:万|亿|千|百)?(?:元|块|塊|圆|圓|美元|欧元|港元)|[一二三四五六七八九十百千万亿]元|免费|免費"
    r"|\b(?:yuan|rmb|cny|usd|eur|gbp|dollars?|euros?|pounds?|cents?|free)\b|\d\s*(?:usd|eur|rmb|cny)"
    r"|\d\s*%|\bper ?cent\b|百分之|[\d一二两兩三四五]\s*(?:倍|成|折)|\b(?:double|twice)\b",
    re.IGNORECASE,
)
"""Sums, and shares of one: overtime is paid at 150 percent."""
_NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelv thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenti thirti forti fifti sixti seventi eighti nineti hundr thousand million billion once twice doubl"
    " half dozen sever mani few daili weekli month annual no none everi"
)
"""English number words, and what is said in place of a number, without endings."""
_ENGLISH = frozenset(_NUMERALS.split())
_COUNTED = re.compile(
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|[a-z]+ty|hundred|thousand"
    r"|million|several|dozens?|both|no)\b)(?=(?P<things>[^,.;，。；]{0,24}))",
    re.DOTALL,
)
_HAN_NUMERAL = re.compile(r"[一二两三四五六七八九十百千万亿半]")


_NO_YEAR = re.compile(r"(?<!\d)(?!(?:1[5-9]|20)\d\d(?!\d))\d+")


def counts(terms: Mapping[str, int], text: str) -> bool:
    """Say whether a text in whatever language has a number that is no year."""
    return bool(_NO_YEAR.search(text) or _HAN_NUMERAL.search(text)) or not _ENGLISH.isdisjoint(terms)


_NAMES_A_TIME = re.compile(
    r"\d\s*[:：]\s*\d\d|\d\s*(?:年|月|日|号|號|点|點|时|時|世纪|世紀)|[一二三四五六七八九十]+(?:月|日|号|號|点|點)"
    r"|(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]|每[年月周週日天晚]|[早晚中]上|凌晨|上午|下午|中午|月底|月初|年底|年初|当[天日]|當[天日]"
    r"|[之以]?前|[之以]?[后後]|期间|期間|时期|時期|朝|代|时$|時$|立即|随时|隨時|提前"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|midnight|noon|morning|evening"
    r"|afternoon|night|spring|summer|autumn|winter|century|centuries|era|age|before|after|during|until|till|since"
    r"|when|whenever|while|once|every|each|daily|weekly|monthly|yearly|annually|immediately|ahead|within|today|now"
    r"|first|last|end|beginning|start|early|late|ago|next|later|soon|anytime|\d+(?:st|nd|rd|th)|\d+ ?[ap]\.?m)\b",
    re.IGNORECASE,
)
"""What a text has that says when, in whatever way. Wide: only what says nothing of time at all is left."""


class ValueKind(StrEnum):
    """What a value is. A count is a number of the things that the next word names; a mark is a phone number, a site,
    an address for mail or a code."""

    TIME = "time"
    NUMBER = "number"
    PRICE = "price"
    COUNT = "count"
    MARK = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What kind of value is asked for, perhaps of one unit (几天: 天)."""

    kind: ValueKind
    unit: str = ""

    @property
    def strict(self) -> bool:
        """Whether a text without such a value can hardly be the answer: the others are also said in other ways."""
        people = self.kind is ValueKind.NUMBER and self.unit in _PEOPLE
        return self.kind in (ValueKind.PRICE, ValueKind.COUNT, ValueKind.MARK) or people

    def timeless(self, terms: Mapping[str, int], text: str) -> bool:
        """Say whether a time is asked for and a text with these terms and this normalised form names none, however
        loosely."""
        return self.kind is ValueKind.TIME and not self.met(terms, text) and not _NAMES_A_TIME.search(text)

    def met(self, terms: Mapping[str, int], text: str) -> bool:
        """Say whether a text with these terms and this normalised form has such a value."""
        match self.kind:
            case ValueKind.PRICE:
                return _MONEY.search(text) is not None
            case ValueKind.TIME:
                return any(key[0] == "@" or YEAR.fullmatch(key) or _TIME.search(key) for key in terms)
            case ValueKind.MARK:
                return has_mark(self.unit, text)
            case ValueKind.COUNT:
                stems = self.unit.split()
                return any(stem in match["things"] for match in _COUNTED.finditer(text) for stem in stems)
            case ValueKind.NUMBER if self.unit:
                units = _LIKE.get(self.unit, self.unit)
                return any(key[0] == "+" and key[-1] in units for key in terms)
            case ValueKind.NUMBER:
                return any(map(str.isdigit, text)) or not _ENGLISH.isdisjoint(terms) or bool(_HAN_NUMERAL.search(text))


def wanted(text: str) -> Wanted | None:
    """Return the kind of value that a question asks for, as far as its question word tells."""
    if mark := mark_asked(text):
        return Wanted(kind=ValueKind.MARK, unit=mark)
    if _PRICE.search(text):
        return Wanted(kind=ValueKind.PRICE)
    if _WHEN.search(text):
        return Wanted(kind=ValueKind.TIME)
    if match := _HOW_MANY.search(text):
        stems = [word[:_STEM] for word in re.split(r"[ -]", match["thing"].lower())]
        return Wanted(kind=ValueKind.COUNT, unit=" ".join(stems))
    if match := _HOW_MUCH.search(text):
        return Wanted(kind=ValueKind.NUMBER, unit=match["unit"] or "")
    return None
