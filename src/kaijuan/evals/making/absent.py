"""Questions near to what the documents say whose answer they do not hold.

Three ways: something that is often told of such a thing but not of this one; a person put together from two names; a
code, version or year that nobody wrote about. Each names what must be absent, and the pipeline looks for it in every
document before the question is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.core.ids import stable_id
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.evals.making.chinese.words import in_script_of, simplified
from kaijuan.evals.making.combined import Article
from kaijuan.evals.making.facts import Sort
from kaijuan.evals.making.items import Absence, Draft, Evidence, Kind
from kaijuan.evals.making.material import Material, bare_heading
from kaijuan.evals.making.wording import worded


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """Something that may be asked of a sort of thing, and the words of which a text that tells it has one."""

    question: str
    words: tuple[str, ...]
    sorts: frozenset[Sort]
    nouns: frozenset[str] = frozenset()
    """Kinds of the sort that it is asked of; none means all."""
    needs: str = ""
    """A relation that must be told: nobody asks why somebody died who may be alive."""


def _a(question: str, words: str, sorts: str, nouns: str = "", needs: str = "") -> Attribute:
    return Attribute(
        question=question,
        words=tuple(words.split("|")),
        sorts=frozenset(Sort(sort) for sort in sorts.split()),
        nouns=frozenset(nouns.split()),
        needs=needs,
    )


ENGLISH = (
    _a("How tall was {x}?", "tall|height|feet|ft|inches|cm|metre|meter", "person"),
    _a(
        "What was the name of {x}'s mother?",
        "mother|parents|daughter of|son of|née|born to|child of|children of",
        "person",
    ),
    _a("Which languages did {x} speak?", "language|fluent|speak|spoke|bilingual|polyglot", "person"),
    _a(
        "How many brothers and sisters did {x} have?",
        "brother|sister|sibling|eldest|youngest|son of|daughter of|children|only child",
        "person",
    ),
    _a(
        "What was the cause of {x}'s death?",
        "killed|cause|illness|cancer|attack|suicide|murder",
        "person",
        "",
        "died-on",
    ),
    _a("What was the budget of {x}?", "budget|cost|million|expens", "work", "film movie"),
    _a("How much did {x} earn at the box office?", "box office|gross|earn|million|revenue", "work", "film movie"),
    _a("How long is {x} in minutes?", "minute|hour|runtime|running time|length", "work", "film movie"),
    _a("Who was the cinematographer of {x}?", "cinematograph|camera|photograph|shot by", "work", "film movie"),
    _a("Who edited {x}?", "edit", "work", "film movie"),
    _a(
        "How many copies did {x} sell?",
        "copies|sold|sales|certified|platinum|gold",
        "work",
        "album single song novel book game",
    ),
    _a("Who is the mayor of {x}?", "mayor|council|governor|government", "place", "village town city municipality"),
    _a(
        "What is the postal code of {x}?",
        "postal|zip|postcode|code",
        "place",
        "village town city municipality hamlet suburb commune",
    ),
    _a(
        "At what elevation does {x} lie?",
        "elevation|altitude|above sea|metres|meters|feet|height",
        "place",
        "village town city municipality hamlet mountain lake",
    ),
    _a(
        "How many employees does {x} have?",
        "employ|staff|workforce|personnel|people",
        "body",
        "company manufacturer publisher retailer firm airline bank brand network corporation label",
    ),
    _a(
        "Who is the chief executive of {x}?",
        "ceo|chief executive|president|chairman|director|head",
        "body",
        "company manufacturer publisher retailer firm airline bank corporation",
    ),
    _a("How many students does {x} have?", "students|pupils|enrol|enroll", "body", "university college school"),
    _a("What is the motto of {x}?", "motto|slogan", "body", "university college school club organization"),
)
CHINESE = (
    _a("{x}的身高是多少？", "身高|公分|厘米|高大|身长", "person"),
    _a("{x}的母亲叫什么名字？", "母|妈|之子|之女|儿子|女儿|长子|次子|父", "person"),
    _a("{x}有几个兄弟姐妹？", "兄|弟|姐|妹|独生|排行|长子|次子|独子|独女", "person"),
    _a("{x}的配偶是谁？", "妻|夫|婚|嫁|娶|配偶|伴侣|太太|未婚", "person"),
    _a("{x}的血型是什么？", "血型|型血", "person", "演员 歌手 模特儿 艺人 女演员 男演员 运动员 球员 主持人 声优"),
    _a("{x}毕业于哪所学校？", "毕业|就读|大学|学院|中学|学校|小学|求学|留学|深造|学士|硕士|博士", "person"),
    _a("{x}的票房收入是多少？", "票房|收入|卖座", "work", "电影 纪录片"),
    _a("{x}的片长是多少分钟？", "片长|分钟|小时|时长", "work", "电影 纪录片"),
    _a("{x}的制作成本是多少？", "成本|预算|耗资|投资|斥资", "work", "电影 电视剧 游戏 动画 连续剧"),
    _a("{x}一共卖出了多少份？", "销量|卖出|售出|销售|份", "work", "游戏 专辑 单曲 小说 漫画 杂志"),
    _a(
        "{x}的邮政编码是多少？",
        "邮政编码|邮编|邮递区号",
        "place",
        "县 市 区 镇 乡 村 村落 城市 县级市 地级市 市镇 城镇 村庄",
    ),
    _a(
        "{x}的常住人口有多少？",
        "人口|居民|人居住|住民",
        "place",
        "县 市 区 镇 乡 村 村落 城市 县级市 地级市 市镇 城镇 村庄 岛屿 岛",
    ),
    _a("{x}最高点的海拔是多少？", "海拔|高度|标高|公尺|米", "place", "县 市 区 镇 乡 岛屿 岛 山 山峰 山脉"),
    _a("{x}的平均水深是多少？", "水深|深度|深达|最深|米深", "place", "湖 湖泊 河 河流"),
    _a("{x}每天的客流量有多少？", "客流|旅客|乘客|人次", "place", "车站 地铁站 火车站 机场 铁路"),
    _a(
        "{x}的造价是多少？",
        "造价|耗资|投资|斥资|费用|资金|经费",
        "place",
        "桥 大桥 建筑 建筑物 机场 博物馆 铁路 公路 高速公路 大厦 酒店",
    ),
    _a("{x}有多少名员工？", "员工|雇员|职员|雇佣|人员", "body", "公司 集团 企业 银行 航空公司 出版社 电视台 医院"),
    _a("{x}的注册资本是多少？", "注册资本|资本额|资本|资金", "body", "公司 集团 企业 银行 航空公司"),
    _a("{x}现有多少名学生？", "学生|在校生|生员|学员", "body", "大学 学院 学校 中学 小学"),
    _a("{x}的校训是什么？", "校训", "body", "大学 学院 学校 中学 小学"),
)
WORKPLACE_ENGLISH = {
    "parking spaces": "parking|car park",
    "the pension plan": "pension|retirement",
    "the dress code": "dress|clothing|attire",
    "stock options": "stock option|equity|share option",
    "the canteen": "canteen|cafeteria|meal|lunch",
    "company cars": "company car|vehicle|fleet",
    "moving expenses": "relocation|moving|removal",
    "gym membership": "gym|fitness|sports",
    "pets in the office": "pet|dog|animal",
    "smoking": "smok|tobacco|vap",
    "language courses": "language course|language class",
    "business cards": "business card",
    "jury duty": "jury",
    "bicycles": "bicycle|bike|cycling",
    "whistleblowing": "whistle",
}
WORKPLACE_CHINESE = {
    "产假": "产假|生育|分娩|陪产",
    "停车位": "停车|车位",
    "企业年金": "年金|养老",
    "着装要求": "着装|穿着|服装|工装",
    "股票期权": "期权|股权|股票",
    "员工食堂": "食堂|餐厅|用餐",
    "公司班车": "班车|通勤车",
    "搬家补贴": "搬家|搬迁|安家",
    "健身补贴": "健身|运动",
    "吸烟管理": "吸烟|抽烟|香烟|禁烟",
    "名片印制": "名片",
    "租车费用": "租车|自驾|私车",
    "签证费用": "签证|护照",
    "行李托运费": "行李|托运",
    "出国出差": "出国|境外|国外|海外|护照",
    "宠物": "宠物|动物",
    "实习生管理": "实习",
}
_RULES = re.compile(
    r"employee handbook|staff handbook|polic(?:y|ies)\b|员工手册|办法|制度|规定|守则|员工", re.IGNORECASE
)
_FAMILY_NAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁于蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_QUALIFIED = re.compile(r"[(（].*[)）]\Z|,")
_DIGITS = re.compile(r"\d+")


def absent_attributes(article: Article) -> Iterator[Draft]:
    """Ask of a topic what its article, and every other that names it, does not tell."""
    chinese = article.head.language == "zh"
    evidence = article.facts[0].statement.evidence if article.facts else None
    if evidence is None:
        return
    for attribute in CHINESE if chinese else ENGLISH:
        if article.topic.sort not in attribute.sorts or (attribute.nouns and article.topic.noun not in attribute.nouns):
            continue
        if attribute.needs and attribute.needs not in {fact.relation.name for fact in article.facts}:
            continue
        question = in_script_of(attribute.question, evidence.quote) if chinese else attribute.question
        yield _draft(
            "absent-attribute",
            article.head.language,
            question.format(x=article.topic.name),
            evidence,
            Absence(subject=article.topic.short, words=attribute.words),
            about=article.topic.name,
        )


def absent_people(articles: Sequence[Article], seed: int) -> Iterator[Draft]:
    """Ask a real question of a person who does not occur: the name is put together from two that do."""
    people = [article for article in articles if article.topic.sort is Sort.PERSON and _is_name(article)]
    ordered = sorted(people, key=lambda article: stable_id("names", seed, article.head.id))
    for one, other in zip(ordered, ordered[1:] + ordered[:1], strict=True):
        if one.head.language != other.head.language or one.head.id == other.head.id:
            continue
        name = _joined(one.topic.short, other.topic.short, one.head.language)
        asked = next((fact for fact in one.facts if fact.relation.name != "definition"), None)
        if not name or asked is None:
            continue
        yield _draft(
            "absent-person",
            one.head.language,
            worded(asked.relation.question, asked).format(x=name),
            asked.statement.evidence,
            Absence(phrases=(name,)),
            about=name,
        )


def _is_name(article: Article) -> bool:
    name = article.topic.short
    if article.head.language == "zh":
        return 2 <= len(name) <= 3 and simplified(name[0]) in _FAMILY_NAMES and not _QUALIFIED.search(name)
    words = name.split()
    return len(words) == 2 and all(word[:1].isupper() and word.isalpha() for word in words)


def _joined(one: str, other: str, language: str) -> str:
    if language == "zh":
        name = other[0] + one[1:]
        return name if name not in (one, other) else ""
    first, last = one.split()[0], other.split()[-1]
    name = f"{first} {last}"
    return name if name not in (one, other) else ""


def absent_codes(drafts: Sequence[Draft], seed: int) -> Iterator[Draft]:
    """Turn the code or version in a real question into a near one that nobody wrote about."""
    for draft in drafts:
        if draft.how.split("/")[-1] not in ("means", "condition"):
            continue  # elsewhere the code is but one of several things that the answer hangs on
        for term in analyse(draft.question):
            text = term.span.of(draft.question)
            if term.kind is not TermKind.CODE or not _is_swappable(text):
                continue
            changed = _near(text, seed)
            question = draft.question.replace(text, changed)
            yield _draft(
                "absent-code", draft.language, question, draft.evidence[0], Absence(phrases=(changed,)), about=changed
            )
            break


def _is_swappable(text: str) -> bool:
    digits = _DIGITS.findall(text)
    return bool(digits) and len(digits[-1]) >= 3 and any(map(str.isalpha, text)) and " " not in text and len(text) <= 24


def _near(code: str, seed: int) -> str:
    """Return a code that differs in its last two digits."""
    last = list(_DIGITS.finditer(code))[-1]
    kept, turned = last.group()[:-2], int(last.group()[-2:])
    changed = (turned + 3 + int(stable_id("code", seed, code)[:4], 16) % 60) % 100
    return f"{code[: last.start()]}{kept}{changed:02}{code[last.end() :]}"


def absent_topics(material: Material) -> Iterator[Draft]:
    """Ask a handbook or policy about matters of the workplace that no document mentions."""
    title = material.head.title.strip("《》“”\"' ")
    if not _RULES.search(title) or not material.sections:
        return
    chinese = material.head.language == "zh"
    evidence = material.sections[0].evidence
    about = bare_heading(material.sections[0].heading)
    for topic, words in (WORKPLACE_CHINESE if chinese else WORKPLACE_ENGLISH).items():
        question = (
            f"《{title}》对{topic}是怎么规定的？" if chinese else f'What does the document "{title}" say about {topic}?'
        )
        question = in_script_of(question, about) if chinese else question
        absence = Absence(subject="", words=tuple(words.split("|")))
        yield _draft("absent-topic", material.head.language, question, evidence, absence, about=f"{title} {topic}")


def _draft(how: str, language: str, question: str, evidence: Evidence, absence: Absence, *, about: str) -> Draft:
    return Draft(
        kind=Kind.UNANSWERABLE,
        how=how,
        language=language,
        question=question,
        answers=(),
        evidence=(evidence,),
        about=about,
        absent=absence,
    )
