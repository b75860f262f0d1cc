"""Questions from single Chinese sentences: the value in a sentence gives way to a question word where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.evals.making.chinese.words import (
    FULL_DATE,
    MONTH_DATE,
    NUMBER,
    OWN,
    POINTING,
    RANGE,
    UNITS,
    YEAR,
    in_script_of,
    is_noun_first,
    last_word_kind,
    simplified,
)
from kaijuan.evals.making.facts import Asked, Topic
from kaijuan.evals.making.material import Statement

LONGEST, SHORTEST = 56, 9
MOST_COMMAS = 2
_CLAUSE = re.compile(r"[，,；;。：:]")
_BRACKETED = re.compile(r"\s*[（(][^（）()]*[）)]")
_RULES = re.compile(r"本(?:办法|规定|制度|手册|法|条例|规则|细则|指南|规程|章程|协议|合同|标准|方案)")
_RULE_TITLE = re.compile(
    r"办法|规定|制度|手册|法\Z|条例|规则|细则|指南|规程|章程|合同|协议|标准|流程|通知|说明|方案|政策|公告"
    r"|解释|守则|须知|安排|要求"
)
_AMOUNT = re.compile(
    rf"(?<![\d.第A-Za-z年月日#/\-－—~～至到,，头前后])(?<![月年第]\s)(?:约|大约|近"
    rf"|将近)?\s?(?P<v>(?P<n>{NUMBER})\s?(?P<unit>{UNITS}))"
    rf"(?![之/／\d]|\s?[至到~～—–\-－]|分之|半|多个|来个|名牌|人口|天气|次数|版|年级|家庭|上午|下午)(?:左右|上下)?"
)
_COUNTS = frozenset("个位名人家所座条项层本部集张场只头棵种户台辆艘架件套间首枚颗支站节册卷匹门款股")
_COUNTED_AFTER = re.compile(
    r"(?:有|为|共|达|设|含|括|辖|过|计|须|需|获|得|建|了|出|收|成|分|加|开|订|缴|供|用|余|多|少|是|约|提前|于|和)\s?\Z"
)
_DATES = (
    (re.compile(rf"(?:于|在|自|从)\s?(?P<v>{FULL_DATE}){RANGE}"), "哪一天"),
    (re.compile(rf"(?:于|在|自|从)\s?(?P<v>{MONTH_DATE}){RANGE}"), "哪年哪月"),
    (re.compile(rf"(?:于|在)\s?(?P<v>{YEAR})(?!\s?\d{{1,2}}\s?月){RANGE}"), "哪一年"),
)
_ATTRIBUTE = re.compile(
    r"(?:主线|线路|正线|站房|楼|平均|总|最|成体|一般|每|单|两)?"
    r"(?:全长|总长|长度|长|宽度?|高度?|重量?|体重|身高|体长|尾巴?长|深度?|面积|占地|建筑面积|人口|海拔"
    r"|直径|周长|容量|速度|时速|载重|装机容量|"
    r"下辖|设有|共有|共设|总共|拥有|收录|收藏|距离?|总投资|投资|造价|票房|历时|天|年产|发行|"
    r"年平均|注册资本|市值|员工|学生|教职工|馆藏|楼高|翼展|寿命|孕期|妊娠期)"
)
_SUBJECTLESS = re.compile(
    r"\A(?:并|但|而|也|又|还|则|且|却|因此|所以|于是|然后|后来|之后|其后|随后|此后|后经|由于|因为|虽然"
    r"|不过|然而|另外|此外|同时|其中|当|在此|对此|除此|"
    r"请|先|务必|是|为|有|被|将|把|向|从|以|与|和|及|曾|已|仍|再|最|更|很|非|不|无|可|能|会|要|应|须|必|共|约|大约"
    r"|全|主要|一般|通常|分别|包括|例如|比如|如|即|或|若|"
    r"位于|成立|建于|毕业|出生|生于|获|得|任|担任|开始|成为|进入|经过|根据|按照|据|\d"
    r"|[一二三四五六七八九十百千两]+[年月日个位名])"
)
_QUESTION_WORDS = re.compile(r"什么|多少|哪|谁|怎么|如何|几|吗|呢|？|\?")
_REFERRING = re.compile(
    r"前款|前条|本款|本条|前项|上款|本章|本节|另有规定|上列|下列|以下|第[一二三四五六七八九十百零\d]+[款项]"
)
_NUMBERED = re.compile(
    r"\A(?:第[一二三四五六七八九十百零千\d]+条(?:之[一二三四五六七八九十]+)?"
    r"|[（(]?[一二三四五六七八九十\d]+[）)、.．])\s*"
)
_LISTED_ITEM = re.compile(r"第\s?[（(]")
_CONDITION = re.compile(
    r"\A(?:(?:如果|若|倘若|一旦)(?P<if>[^，。；]{4,40}?)(?:时|的|的话)?|(?P<who>[^，。；]{8,44}?)的)，"
    r"(?P<then>(?:则|就)?(?P<modal>应当|应|须|必须|可以|由|先|请|按照|按|视为|责令)[^。；]{6,100})[。；]?\Z"
)
_DONE_BY = re.compile(
    r"由(?P<v>(?:(?![向报将在按经应须据])[\u4e00-\u9fff、]){2,16}?)(?:予以|共同|审查|审核|统一|协商"
    r"|另行)?(?P<verb>审批|批准|负责|承担|签字|办理"
    r"|保管|组织|支付|制定|确定|公布|开通|受理|出具)(?!人|部门|者|的)"
)
_TERM = re.compile(r"(?:内|前|后|之日起|期间|以上|以下)\Z")
_TERM_BEFORE = re.compile(r"(?:满|自|经过|届满)[^，]{0,12}\Z")
_VAGUE = re.compile(r"具体|有关|相关|其他|上级|情况|情节|必要时|特殊|[\u4e00-\u9fff]{2,6}则")
"""Beginnings of sentences that lean on the one before."""
_AGAIN = re.compile(r"[又再亦也还却更则]")
_DATED = re.compile(r"[并且]?(?:[\u4e00-\u9fff]{1,3})?[于在自]\s?")
_MEANS = re.compile(
    r"\A(?P<x>[^，。；：]{2,24}?)(?<![中所来以用])\s?(?P<how>表示|是指|意味着"
    r"|指的是)(?P<v>(?![^。；]*(?:应当|必须))[^。；]{5,100})[。；]?\Z"
)


def questions_of(statement: Statement, topic: Topic | None, title: str) -> Iterator[Asked]:
    """Yield questions about an amount, a date, who acts, what is meant or what to do, in the script of the sentence.

    Of an article, sentences whose subject is its topic; of rules and manuals, sentences that stand alone once the
    document is named; of other documents, none.
    """
    rules = topic is None and is_rules(title)
    if topic is None and not rules:
        return
    text = _standing_alone(_NUMBERED.sub("", statement.text.strip()), topic, title)
    if text is None:
        return
    found = [*_amounts(text, topic), *_dates(text, topic)]
    if rules:
        found += [*_conditions(text), *_done_by(text), *_meanings(text)]
    for asked in found:
        question = asked.question if topic is not None else _framed(asked.question, title)
        if SHORTEST <= len(question) <= LONGEST + len(title):
            yield Asked(question=in_script_of(question, text), answer=asked.answer, how=asked.how)


def is_rules(title: str) -> bool:
    """Say whether a document is rules, a manual or the like: its sentences hold because the document says so."""
    return _RULE_TITLE.search(simplified(_bare(title))) is not None


def _standing_alone(text: str, topic: Topic | None, title: str) -> str | None:
    """Return a sentence in which nothing points outside, 本作 and the like replaced by what is meant; else None."""
    if _LISTED_ITEM.search(text):
        return None
    text = _BRACKETED.sub("", text)
    plain = simplified(text)
    if _QUESTION_WORDS.search(plain) or _REFERRING.search(plain) or not 8 <= len(plain) <= 160:
        return None
    if topic is None:
        match = _RULES.search(plain)
        text = f"{text[: match.start()]}《{_bare(title)}》{text[match.end() :]}" if match else text
        if not is_noun_first(simplified(text)) and not plain.startswith(("如果", "若", "一旦", "倘若")):
            return None
    elif match := OWN.match(plain):
        text = topic.name + text[match.end() :]
    elif not re.match(rf"[《「“]?{re.escape(simplified(topic.short))}[》」”]?", plain):
        return None
    plain = simplified(text)
    conditional = plain.startswith(("如果", "若", "一旦", "倘若"))
    return None if POINTING.search(plain) or (_SUBJECTLESS.match(plain) and not conditional) else text


def _bare(title: str) -> str:
    return title.strip("《》「」 ")


def _framed(question: str, title: str) -> str:
    """Name the document in a question that does not say what it is about."""
    named = _bare(title)
    inner = named.replace("《", "〈").replace("》", "〉")
    return question if named in question else f"根据《{inner}》，{question}"


def _amounts(text: str, topic: Topic | None) -> Iterator[Asked]:
    plain = simplified(text)
    for match in _AMOUNT.finditer(plain):
        unit = match["unit"]
        if (
            match["n"] in ("0", "1")
            or (unit == "年" and len(match["n"]) > 2)
            or (unit[-1] in _COUNTS and not _COUNTED_AFTER.search(plain[: match.start()]))
        ):
            continue
        asks = "百分之多少" if unit in "%％" else f"多少{unit}"
        question = _clause_asked(text, match.span(), asks, topic)
        if question:
            yield Asked(question=question, answer=text[match.start("v") : match.end("v")], how="zh/amount")


def _dates(text: str, topic: Topic | None) -> Iterator[Asked]:
    plain = simplified(text)
    for pattern, asks in _DATES:
        for match in pattern.finditer(plain):
            question = _clause_asked(text, match.span("v"), asks, topic)
            if question:
                yield Asked(question=question, answer=text[match.start("v") : match.end("v")], how="zh/date")


def _done_by(text: str) -> Iterator[Asked]:
    for match in _DONE_BY.finditer(simplified(text)):
        question = _clause_asked(text, match.span("v"), "谁", None)
        if question:
            yield Asked(question=question, answer=text[match.start("v") : match.end("v")], how="zh/done-by")


def _meanings(text: str) -> Iterator[Asked]:
    match = _MEANS.match(simplified(text))
    if match:
        answer = text[match.start("v") : match.end("v")]
        asks = "是指什么" if match["how"] in ("是指", "指的是") else "表示什么"
        thing = text[match.start("x") : match.end("x")]
        yield Asked(question=f"{thing}{asks}？", answer=answer, how="zh/means")


_DOES = {"由": "应当如何处理", "责令": "应当如何处理", "视为": "应当如何认定", "可以": "可以怎么做"}


def _conditions(text: str) -> Iterator[Asked]:
    match = _CONDITION.match(simplified(text))
    if match is None:
        return
    group = "if" if match["if"] else "who"
    case = text[match.start(group) : match.end(group)]
    asks = _DOES.get(match["modal"], "应当怎么做")
    question = f"如果{case}，{asks}？" if group == "if" else f"{case}的，{asks}？"
    answer = text[match.start("then") : match.end("then")]
    yield Asked(question=question, answer=answer, how="zh/condition")


def _clause_asked(text: str, place: tuple[int, int], asks: str, topic: Topic | None) -> str:
    """Return the sentence up to the end of the clause of a value, with the question word in its place.

    Of an article, a later clause that names a measure is said of the topic itself: 广茂铁路 + 全长多少公里.
    """
    start, end = place
    before, after = _before(text[:start], topic, asks), _after(text, end)
    if not before or not _is_whole(before, after) or len(before) + len(after) > LONGEST - len(asks):
        return ""
    if after.startswith(("的", "时", "间", "期间")) or after.endswith("的"):
        return ""  # 一座面积…的小岛: the value is said of what follows
    if asks[0] == "哪" and bool(after) == (last_word_kind(simplified(before.rstrip("于在自从 "))) == "v"):
        return ""  # 签订于哪一天北京, 是科乐美公司于哪一年: what follows is not said of the date, or is missing
    return f"{before.rstrip()}{asks}{after.lstrip()}？"


def _after(text: str, end: int) -> str:
    """Return what goes behind the question word: the rest of its clause, and the next where it only sets a term.

    自申请日起2个月内，可以提出修改: without what may be done the question would be none.
    """
    commas = [match.start() for match in _CLAUSE.finditer(text, end)] + [len(text)]
    after = text[end : commas[0]].rstrip("。！ ")
    unfinished = _TERM.search(simplified(after)) or (not after and _TERM_BEFORE.search(simplified(text[:end])))
    return text[end : commas[1]].rstrip("。！ ") if unfinished and len(commas) > 1 else after


def _before(text: str, topic: Topic | None, asks: str) -> str:
    """Return what goes before the question word; "" where the sentence leans on another, or counts several things."""
    commas = list(_CLAUSE.finditer(text))
    clause = text[commas[-1].end() :] if commas else text
    counts_more = "、" in clause and any(map(str.isdigit, clause))  # 1座天文台、2个田径场
    if _VAGUE.match(simplified(text)) or counts_more:
        return ""
    if topic is None:
        return text
    if commas and (_ATTRIBUTE.match(simplified(clause)) or _DATED.fullmatch(clause)):
        text = topic.name + clause.removeprefix("并").removeprefix("且")
    elif commas and asks[0] != "哪":
        return ""
    return "" if _AGAIN.match(simplified(text.removeprefix(topic.name))) else text


def _is_whole(before: str, after: str) -> bool:
    clause = before[max(before.rfind("，"), before.rfind(",")) + 1 :]
    says = len(clause.strip("于在自从约近 ")) + len(after) >= 2 and len(before.strip()) >= 3
    quotes = before.count("“") + after.count("“") == before.count("”") + after.count("”")
    return says and quotes and before.count("，") <= MOST_COMMAS
