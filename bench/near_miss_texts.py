"""Texts that differ from one another in one exact thing: an identifier, a number, a denial. Made by rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, product

_STEMS = ("XXL", "XXM", "XML", "XL", "XXS", "XLS", "XSL", "LXL", "XMM", "XXX")
_ENDS = ("JOB", "JOBS", "JAB", "JOT", "LOB", "TASK", "MQ", "RPC", "API", "SSO")
_SIZES = (3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 42, 45)
_PITCHES = ("0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.5", "3", "3.5")
_STANDARDS = (
    *(7714, 7713, 7741, 1771, 7715, 7174, 7711, 2260, 9704, 9705),
    *(9714, 7719, 1774, 7417, 2206, 2620, 9740, 9470, 9407, 4970),
)
_YEARS = (1987, 2005, 2012, 2014, 2015, 2025, 2051, 1915, 2105, 2016, 2017, 2018, 2019, 2020, 2021)


def families() -> Iterator[tuple[str, str]]:
    """Yield (identifier, what it is): 1,000 in all, every family full of near misses."""
    yield from ((f"ERR-{number}", "故障代码") for number in range(9800, 10_000))
    yield from ((f"{middle}-{end}", "调度组件") for middle, end in product(_STEMS, _ENDS))
    yield from ((f"M{size}×{pitch}", "螺栓") for size, pitch in product(_SIZES, _PITCHES))
    yield from ((f"v{a}.{b}.{c}", "固件版本") for a, b, c in product((1, 2, 3, 12, 23), range(8), range(5)))
    yield from ((f"GB/T {number}-{year}", "国家标准") for number, year in product(_STANDARDS, _YEARS))


_DONE = ("get", "set", "parse", "build", "fetch", "load", "render", "update", "remove", "resolve")
_TO = ("User", "Order", "Token", "Cache", "Session", "Index", "Route", "Frame", "Batch", "Query")
_OF = ("Name", "List", "State", "Limit", "Count", "Path", "Hash", "Time", "Scope", "Level")


def names_in_programs() -> Iterator[tuple[str, str]]:
    """Yield (name, text about it): 4,000 in all, each among three twins that fold to nearly the same words.

    The texts are Chinese and English by turns, and differ in nothing but the name.
    """
    for number, (verb, noun, tail) in enumerate(product(_DONE, _TO, _OF)):
        stems = (f"{verb}{noun}{tail}", f"{verb}_{noun.lower()}_{tail.lower()}")
        for place, name in enumerate(stem + plural for stem in stems for plural in ("", "s")):
            chinese = (number + place) % 2 == 0
            yield (
                name,
                (
                    f"内部接口 {name} 由平台组维护，调用前要先登录，失败时会重试三次。"
                    if chinese
                    else f"Notes on {name}: the platform team keeps it; it needs a login and is tried three times."
                ),
            )


NAME_CHINESE = "同事问{}是谁在维护，失败了会重试几次"
NAME_ENGLISH = "my colleague asked who looks after {} and how often it is tried"


CHINESE = (
    "我们昨天下午在二号车间巡检的时候，值班的同事说显示屏上出现了 {}，当时大家都不太确定应该先停机还是先通知供应商，"
    "请问负责现场处理的工程师这种情况下应该先查看哪一份资料，之后又该由谁来保存记录？"
)
ENGLISH = (
    "During the inspection of the second hall yesterday afternoon the colleague on duty noticed {} on the panel, and"
    " nobody was quite sure whether to stop the line or to call the supplier first, so which document should the"
    " engineer read before anything else, and who keeps the record of what was done?"
)


def asked_for(identifier: str, number: int) -> dict[str, str]:
    """Return the ways in which the identifier is asked for; every fourth one bare too."""
    bare = {"bare": identifier} if number % 4 == 0 else {}
    return bare | {"chinese": CHINESE.format(identifier), "english": ENGLISH.format(identifier)}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two texts that differ in one thing, each with the question that it alone answers."""

    kind: str
    """"number zh", "negation en" and so on."""
    texts: tuple[str, str]
    questions: tuple[str, str]


_PLACES_ZH = ("北京", "上海", "广州", "深圳", "成都", "杭州", "武汉", "西安", "南京", "重庆", "长沙", "青岛", "厦门")
_PLACES_EN = (
    *("Boston", "Denver", "Austin", "Seattle", "Dallas", "Chicago", "Miami"),
    *("Phoenix", "Atlanta", "Portland", "Houston", "Detroit", "Memphis"),
)
_NUMBERS_ZH = (
    ("年满 {n} 岁的居民可以在{place}的社区中心办理老年卡。", "{place} {n} 岁的人能办老年卡吗？", (18, 19), (60, 65)),
    ("{place}分公司的差旅住宿上限为每晚 {n} 元。", "去{place}出差住一晚 {n} 元的酒店能报吗？", (500, 600), (450, 480)),
    ("{place}仓库的货物须在 {n} 天内取走。", "货物放在{place}仓库 {n} 天可以吗？", (7, 10), (14, 15)),
    ("{place}门店对消费满 {n} 元的顾客免费送货。", "在{place}买了 {n} 元的东西送货收钱吗？", (99, 199), (1000, 1500)),
)
_NUMBERS_EN = (
    (
        "Residents of {place} aged {n} may apply for the travel card.",
        "Can I get the {place} travel card at {n}?",
        (18, 19),
        (60, 65),
    ),
    (
        "The hotel limit for trips to {place} is {n} dollars a night.",
        "Is a {n} dollar hotel in {place} covered?",
        (150, 160),
        (200, 250),
    ),
    (
        "Goods stored in {place} must be collected within {n} days.",
        "May goods stay {n} days in the {place} store?",
        (7, 10),
        (14, 15),
    ),
    (
        "The {place} shop delivers free of charge from {n} euros.",
        "Is delivery free for {n} euros in {place}?",
        (49, 59),
        (100, 120),
    ),
)
_NEGATIONS_ZH = (
    (
        "{place}门店支持七天无理由退货。",
        "{place}门店不支持七天无理由退货。",
        "{place}哪里支持无理由退货？",
        "{place}哪里不支持无理由退货？",
    ),
    (
        "{place}的员工宿舍允许养宠物。",
        "{place}的员工宿舍不允许养宠物。",
        "{place}允许养宠物的宿舍",
        "{place}不允许养宠物的宿舍",
    ),
    ("{place}线路的车票含餐费。", "{place}线路的车票不含餐费。", "{place}含餐费的车票", "{place}不含餐费的车票"),
    (
        "{place}办事处可以受理发票补开。",
        "{place}办事处不能受理发票补开。",
        "{place}可以补开发票的地方",
        "{place}不能补开发票的地方",
    ),
)
_NEGATIONS_EN = (
    (
        "The {place} store accepts returns without a receipt.",
        "The {place} store does not accept returns without a receipt.",
        "Which {place} store accepts returns without receipt?",
        "Which {place} store does not accept returns without receipt?",
    ),
    (
        "Breakfast is included at the {place} hotel.",
        "Breakfast is not included at the {place} hotel.",
        "{place} hotel with breakfast included",
        "{place} hotel where breakfast is not included",
    ),
    (
        "Pets are allowed in the {place} apartments.",
        "Pets are not allowed in the {place} apartments.",
        "Where are pets allowed in {place}?",
        "Where are pets not allowed in {place}?",
    ),
    (
        "The {place} plan covers dental care.",
        "The {place} plan does not cover dental care.",
        "Which plan in {place} covers dental care?",
        "Which plan in {place} does not cover dental care?",
    ),
)


def pairs(count: int = 200) -> list[Pair]:
    """Return pairs of numbers and of denials in both languages, as many of each."""
    share = count // 4
    made: list[Pair] = []
    for language, places, templates in (("zh", _PLACES_ZH, _NUMBERS_ZH), ("en", _PLACES_EN, _NUMBERS_EN)):
        numbered = (
            (text, asked, two, place)
            for text, asked, *choices in templates
            for two, place in zip(cycle(choices), places, strict=False)
        )
        for text, asked, two, place in islice(numbered, share):
            made.append(
                Pair(
                    kind=f"number {language}",
                    texts=tuple(text.format(n=n, place=place) for n in two),  # type: ignore[arg-type] # two of them
                    questions=tuple(asked.format(n=n, place=place) for n in two),  # type: ignore[arg-type]
                )
            )
    for language, places, denials in (("zh", _PLACES_ZH, _NEGATIONS_ZH), ("en", _PLACES_EN, _NEGATIONS_EN)):
        denied = (tuple(part.format(place=place) for part in template) for template in denials for place in places)
        for yes, no, asks, denies in islice(denied, share):
            made.append(Pair(kind=f"negation {language}", texts=(yes, no), questions=(asks, denies)))
    return made
