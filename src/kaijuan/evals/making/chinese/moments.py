"""Questions whose answer holds for a moment or a span of time, from Chinese sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.evals.making.chinese.words import NUMBER, POINTING, UNITS, first_word_kind, in_script_of, simplified
from kaijuan.evals.making.facts import Asked, Sort, Topic
from kaijuan.evals.making.material import Statement

_BRACKETED = re.compile(r"\s*[（(][^（）()]*[）)]")
_WHEN = r"(?P<when>(?:1[0-9]{3}|20[0-9]{2})\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?|底|初|末)?)"
_AS_OF = re.compile(
    rf"\A(?:截至|截止|截止到|截至到|到){_WHEN}(?:为?止)?，?(?P<rest>(?![时前后以之])[^。；]{{0,30}}?)(?:约"
    rf"|近|超过)?(?P<v>{NUMBER}\s?(?P<unit>{UNITS}))(?P<t>[^，。；\d]{{0,20}})(?=[，。；]|\Z)"
)
_ASKS = {
    "获得": "获得了什么",
    "荣获": "荣获了什么",
    "赢得": "赢得了什么",
    "夺得": "夺得了什么",
    "获颁": "获颁什么",
    "当选为?": "当选为什么",
    "出任": "出任什么职务",
    "担任": "担任什么职务",
    "升任": "升任什么职务",
    "就任": "就任什么职务",
    "被任命为": "被任命为什么",
    "推出": "推出了什么",
    "发行": "发行了什么",
    "出版": "出版了什么",
    "发表": "发表了什么",
    "创办": "创办了什么",
    "创立": "创立了什么",
    "成立": "成立了什么",
    "加入": "加入了哪里",
    "考入": "考入了哪里",
    "转投": "转投哪里",
    "加盟": "加盟哪里",
    "收购": "收购了什么",
    "改名为": "改名为什么",
    "更名为": "更名为什么",
    "改称": "改称什么",
    "升格为": "升格为什么",
    "被评为": "被评为什么",
    "被列为": "被列为什么",
    "移居": "移居到哪里",
    "迁往": "迁往哪里",
    "迁至": "迁至哪里",
    "毕业于": "毕业于哪里",
    "就读于": "就读于哪里",
    "主演": "主演了什么",
    "创作": "创作了什么",
    "嫁给": "嫁给了谁",
    "迎娶": "迎娶了谁",
}
_EVENT = re.compile(
    rf"(?:\A|(?<=，))(?:于|在)?{_WHEN}(?:，)?(?P<s>[^，。；\d]{{0,12}}?)(?P<verb>{'|'.join(_ASKS)})(?:了)?("
    rf"?P<v>(?!的|同意|批准|于|在|时任|由)[^，。；]{{2,34}}?)(?=[，。；]|\Z|并|而(?!且)|出任|担任|出道"
    rf"|为(?!\w{0, 4}[年月])|至\d)"
)


def timed_questions(statement: Statement, topic: Topic | None) -> Iterator[tuple[Asked, str]]:
    """Yield questions about an article's topic, or about who is named, with the moment that they name."""
    text = _BRACKETED.sub("", statement.text.strip())
    plain = simplified(text)
    match = _AS_OF.match(plain)
    if match and not POINTING.search(match["rest"] + match["t"]):
        rest = text[match.start("rest") : match.end("rest")]
        tail = text[match.start("t") : match.end("t")]
        own = first_word_kind(simplified(rest)) in _NAMES or (topic is not None and topic.short in rest)
        if own or topic is not None:
            subject = "" if own or topic is None else topic.name
            asks = "百分之多少" if match["unit"] in "%％" else f"多少{match['unit']}"
            question = f"截至{match['when']}，{subject}{rest}{asks}{tail}？"
            yield _asked(question, text[match.start("v") : match.end("v")], "zh/as-of", text), match["when"]
    if topic is None:
        return
    for match in _EVENT.finditer(plain):
        found = _event(match, text, topic)
        if found:
            yield found


def _event(match: re.Match[str], text: str, topic: Topic) -> tuple[Asked, str] | None:
    """Return the question about one event, where its subject is left out or is the topic."""
    subject, value = match["s"], match["v"]
    short = simplified(topic.short)
    own = subject in (
        "",
        short,
        "正式",
        "首次",
        "再次",
        "他",
        "她",
        "再",
        "又",
        "先后",
        "获",
        "并",
        "开始",
        f"《{short}》",
    )
    begins = match.start() == 0 or simplified(text).startswith((short, f"《{short}》"))
    if not own or not begins or POINTING.search(value) or not _whole(value) or _UNTOLD.search(value):
        return None
    if subject in ("他", "她") and topic.sort is not Sort.PERSON:
        return None
    asks = next(asks for verb, asks in _ASKS.items() if re.fullmatch(verb, match["verb"]))
    question = f"{topic.name}在{match['when']}{asks}？"
    return _asked(question, text[match.start("v") : match.end("v")].strip(), "zh/event", text), match["when"]


_NAMES = frozenset({"ns", "nr", "nt", "nrt"})


_UNTOLD = re.compile(r"(?:推荐|同意|批准|支持|邀请|机会|好评|\d班)\Z|同意|批准|\A文章.{4}")
"""Ends of clauses that say that something was let happen, not what."""


def _whole(value: str) -> bool:
    return all(value.count(left) == value.count(right) for left, right in ("《》", "「」", "“”", "（）"))


def _asked(question: str, answer: str, how: str, text: str) -> Asked:
    return Asked(question=in_script_of(question, text), answer=answer, how=how)
