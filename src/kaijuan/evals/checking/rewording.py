"""The same said in a slightly other way: numbers and dates in another form, other words, less of a sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from kaijuan.core.text.simplified import SIMPLIFIED

Change = Callable[[str, random.Random], str]
"""Returns a sentence changed, or as it was where there is nothing to change."""


def _pairs(listed: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in listed.split())


_SYNONYMS_ZH = _pairs("""
    但是=不过 因此=所以 由于=因为 位于=坐落于 目前=现在 以及=和 著名=知名 非常=十分 并且=而且 担任=出任
    获得=取得 使用=采用 认为=觉得 大约=约 出生于=生于 曾经=曾 发现=察觉 制作=制造 建造=兴建 居住=生活 逐渐=渐渐
    经常=常常 必须=一定要 如果=假如 虽然=尽管 其中=当中 负责=主管 发行=推出 演出=表演 父亲=爸爸 孩子=子女
    拥有=具有 需要=要 帮助=协助 美丽=漂亮 城市=都市
""")
_SYNONYMS_EN = {
    "because": "since",
    "such as": "like",
    "located in": "situated in",
    "about": "approximately",
    "many": "numerous",
    "began": "started",
    "known as": "called",
    "used": "employed",
    "famous": "well-known",
    "although": "though",
    "large": "big",
    "received": "got",
    "usually": "normally",
    "often": "frequently",
    "therefore": "thus",
    "film": "movie",
    "wrote": "authored",
    "created": "made",
    "important": "significant",
    "however": "nevertheless",
    "moved": "relocated",
    "built": "constructed",
    "children": "kids",
    "help": "assist",
    "main": "principal",
    "several": "a number of",
    "died": "passed away",
    "nearly": "almost",
    "shows": "demonstrates",
    "obtain": "get",
}
_SAME_DIRECTION_ZH = {
    "超过": "多于",
    "增加": "增长",
    "减少": "下降",
    "至少": "最少",
    "高于": "超过",
    "低于": "少于",
    "之前": "以前",
    "之后": "以后",
    "不足": "少于",
    "提高": "提升",
}
_SAME_DIRECTION_EN = {
    "more than": "over",
    "over": "more than",
    "largest": "biggest",
    "before": "prior to",
    "increased": "rose",
    "decreased": "declined",
    "less than": "under",
    "at least": "no fewer than",
    "after": "following",
    "fewer than": "less than",
}
_MONTHS = tuple(
    _pairs("""
    January=1 February=2 March=3 April=4 May=5 June=6 July=7 August=8 September=9 October=10 November=11 December=12
""")
)
_DIGITS_ZH = "〇一二三四五六七八九"
_BY_1000 = {"公里": "米", "千米": "米", "公斤": "克", "千克": "克", "吨": "公斤", "km": "metres", "kg": "grams"}
_BY_60 = {"小时": "分钟", "分钟": "秒", "hours": "minutes", "minutes": "seconds"}


def reworded(text: str, language: str, kind: str, chance: random.Random) -> str:
    """Return a sentence said a little differently; a change that suits the kind of fault comes first."""
    own = _OWN.get(kind, {}).get(language)
    if own:
        text = own(text, chance)
    if chance.random() < 0.15:
        return text
    changes = list(_ZH if language == "zh" else _EN)
    chance.shuffle(changes)
    for change in changes[: chance.randint(1, 3)]:
        text = change(text, chance)
    return text


def _swap_words(table: dict[str, str], most: int, *, latin: bool) -> Change:
    def change(text: str, chance: random.Random) -> str:
        words = [word for word in table if re.search(rf"\b{word}\b" if latin else word, text)]
        chance.shuffle(words)
        for word in words[:most]:
            pattern = rf"\b{word}\b" if latin else word
            text = re.sub(pattern, table[word], text, count=1)
        return text

    return change


def _without_brackets(text: str, _: random.Random) -> str:
    return re.sub(r"\s?[（(][^（()）]{1,60}[)）]", "", text)


def _prefixed_zh(text: str, chance: random.Random) -> str:
    return chance.choice(("根据资料，", "资料显示，", "据记载，", "文中提到，")) + text


def _prefixed_en(text: str, chance: random.Random) -> str:
    first = text[0].lower() if text.split()[0] in ("The", "In", "A", "It", "He", "She", "They", "This") else text[0]
    return chance.choice(("According to the text, ", "The source says that ", "As stated, ")) + first + text[1:]


def _fewer_clauses(mark: str, end: str) -> Change:
    def change(text: str, chance: random.Random) -> str:
        clauses = text[:-1].split(mark)
        if len(clauses) < 3:
            return text
        drop = chance.choice((0, -1))
        kept = clauses[1:] if drop == 0 else clauses[:-1]
        shorter = mark.join(kept).strip()
        return shorter[0].upper() + shorter[1:] + end if len(shorter) > 12 else text

    return change


def _simplified(text: str, _: random.Random) -> str:
    return "".join(SIMPLIFIED.get(character, character) for character in text)


def _year_to_end(text: str, _: random.Random) -> str:
    found = re.match(r"^In (\d{4}),? (.+)\.$", text)
    return f"{found[2][0].upper()}{found[2][1:]} in {found[1]}." if found else text


def _contracted(text: str, _: random.Random) -> str:
    return re.sub(r"\b(is|was|were|are|did|does|do|has|have|had|could|would) not\b", r"\1n't", text)


def _grouped(text: str, _: random.Random) -> str:
    """Write numbers of five digits and more with commas, or without those they have."""
    if re.search(r"\d,\d{3}", text):
        return re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return re.sub(r"(?<![\d.])\d{5,9}(?![\d.])", lambda match: f"{int(match.group()):,}", text)


def _in_tens_of_thousands(text: str, chance: random.Random) -> str:
    """Write 1.2万 as 12000 and 120000 as 12万, 50% as 百分之五十."""

    def whole(match: re.Match[str]) -> str:
        value = float(match[1]) * (10_000 if match[2] == "万" else 100_000_000)
        return f"{value:.0f}" if value < 1e12 else match.group()

    spelt = re.sub(r"(?<![\d.至到~-])(\d+(?:\.\d+)?)([万亿])(?![亿\d])", whole, text)
    if spelt != text:
        return spelt
    spelt = re.sub(r"(?<![\d.])(\d{1,4})0000(?!\d)", r"\1万", text)
    if spelt != text:
        return spelt
    return re.sub(r"(?<![\d.])([1-9])0%", lambda match: f"百分之{_DIGITS_ZH[int(match[1])]}十", _grouped(text, chance))


def _other_number_en(text: str, chance: random.Random) -> str:
    spelt = re.sub(r"(?<![\d.,-])(?<!to )(\d+(?:\.\d+)?) million", lambda match: f"{float(match[1]) * 1e6:,.0f}", text)
    if spelt != text:
        return spelt
    spelt = re.sub(r"(\d)%", r"\1 percent", text)
    return spelt if spelt != text else re.sub(r"(\d) (?:percent|per cent)\b", r"\1%", _grouped(text, chance))


def _other_date_zh(text: str, chance: random.Random) -> str:
    whole = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")
    if whole.search(text):
        style = chance.choice(("{0}-{1:02}-{2:02}", "{0}/{1}/{2}", "{0} 年 {1} 月 {2} 日"))
        return whole.sub(lambda match: style.format(*map(int, match.groups())), text)
    decade = re.sub(r"20世纪(\d)0年代", r"19\g<1>0年代", text)
    if decade != text:
        return decade
    return re.sub(r"(?<!\d)(\d{4})年", lambda match: "".join(_DIGITS_ZH[int(one)] for one in match[1]) + "年", text)


def _other_date_en(text: str, chance: random.Random) -> str:
    names = "|".join(_MONTHS)
    american = re.compile(rf"({names}) (\d{{1,2}})\s?, (\d{{4}})")
    british = re.compile(rf"(\d{{1,2}}) ({names}) (\d{{4}})")
    if american.search(text):
        if chance.random() < 0.5:
            return american.sub(r"\2 \1 \3", text)
        return american.sub(lambda one: f"{one[3]}-{_MONTHS.index(one[1]) + 1:02}-{int(one[2]):02}", text)
    if british.search(text):
        return british.sub(r"\2 \1, \3", text)
    return _year_to_end(text, chance)


def _other_unit(text: str, _: random.Random) -> str:
    for table, factor in ((_BY_1000, 1000), (_BY_60, 60)):
        for unit, smaller in table.items():
            found = re.search(rf"(?<![\d.,至到-])(?<!to )(\d{{1,3}})(\s?){unit}(?![a-z\u5c0f每])", text)
            if found:
                value = int(found[1]) * factor
                return f"{text[: found.start()]}{value}{found[2]}{smaller}{text[found.end() :]}"
    return text


_ZH: tuple[Change, ...] = (
    _swap_words(_SYNONYMS_ZH, 2, latin=False),
    _swap_words(_SYNONYMS_ZH, 1, latin=False),
    _without_brackets,
    _prefixed_zh,
    _fewer_clauses("，", "。"),
    _simplified,
)
_EN: tuple[Change, ...] = (
    _swap_words(_SYNONYMS_EN, 2, latin=True),
    _swap_words(_SYNONYMS_EN, 1, latin=True),
    _without_brackets,
    _prefixed_en,
    _fewer_clauses(", ", "."),
    _year_to_end,
    _contracted,
)
_OWN: dict[str, dict[str, Change]] = {
    "number": {"zh": _in_tens_of_thousands, "en": _other_number_en},
    "date": {"zh": _other_date_zh, "en": _other_date_en},
    "unit": {"zh": _other_unit, "en": _other_unit},
    "negation": {"en": _contracted},
    "comparison": {
        "zh": _swap_words(_SAME_DIRECTION_ZH, 1, latin=False),
        "en": _swap_words(_SAME_DIRECTION_EN, 1, latin=True),
    },
}
