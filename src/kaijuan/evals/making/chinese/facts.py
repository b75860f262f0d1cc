"""Relations in Chinese articles, and what an article is about."""

from __future__ import annotations

import re

from kaijuan.evals.making.chinese.words import DATE, FULL_DATE, HAN, NUMBER, RANGE, simplified
from kaijuan.evals.making.facts import Fact, Relation, Sort, Topic
from kaijuan.evals.making.material import Material, Statement

_TITLE_NOTE = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_BRACKETS = r"(?:\s*[(（][^()（）]*[)）])*"
_IS = re.compile(r"(?:是|为|指的?是)(?P<np>[^，。；]{2,60})")
LONGEST_APPOSITION = 14
_SORTS = {
    Sort.PERSON:
        "演员 歌手 作家 诗人 画家 导演 政治家 政治人物 球员 运动员 教授 科学家 物理学家 化学家 数学家 "
        "历史学家 哲学家 音乐家 "

        "作曲家 军人 将领 将军 皇帝 国王 大臣 官员 商人 企业家 律师 医生 记者 主持人 模特儿 模特 声优 漫画家 "
        "小说家 女演员 男演员 艺人 进士 "

        "选手 教练 工程师 建筑师 外交官 学者 传教士 主教 僧人 公主 皇后 妃嫔 宗室 革命家 思想家 社会活动家 "
        "配音员 守门员 后卫 前锋 中场 飞行员 院士",
    Sort.WORK:
        "电影 电视剧 连续剧 剧集 小说 专辑 单曲 歌曲 游戏 漫画 动画 节目 杂志 报纸 书籍 音乐剧 歌剧 综艺节目 "
        "纪录片 戏剧 话剧 期刊 续作 喜剧",
    Sort.PLACE:
        "县 市 区 镇 乡 村 村落 城市 河流 湖泊 山 山峰 岛屿 岛 车站 机场 桥 大桥 建筑 建筑物 教堂 寺庙 寺 "
        "公园 博物馆 街道 公路 高速公路 "

        "湖 河 站 路 道 山脉 自治县 县级市 地级市 地铁站 火车站 铁路 酒店 广场 市镇 城镇 州 省 自治区 溶洞 "
        "景区 村庄 大厦 商场 屋苑",
    Sort.BODY:
        "公司 集团 大学 学院 学校 中学 小学 球队 俱乐部 乐队 组合 团体 组织 机构 协会 银行 航空公司 政党 "
        "基金会 研究所 部队 医院 企业 出版社 电视台",
}  # fmt: skip
_NOUNS = sorted(
    ((noun, sort) for sort, nouns in _SORTS.items() for noun in nouns.split()), key=lambda pair: -len(pair[0])
)


_PERSON = re.compile(
    r"(?:(?<![国世皇商厂独酒道儒佛法老大公住各])家|(?<!人|组|成|会|动)员|[歌选棋枪舵水]手|诗人|僧人"
    r"|[博硕骑]士|[律厨设]师|工程师|皇帝|国王|王妃|皇后)\Z"
)


def topic_of(material: Material) -> Topic | None:
    """Return what an article is about; None where the document is not an article about its title."""
    title = " ".join(material.head.title.split())
    short = _TITLE_NOTE.sub("", title)
    lead = next((statement for statement in material.statements if statement.lead), None)
    if lead is None or not 2 <= len(short) <= 25:
        return None
    begins = re.match(
        rf"[《「“]?{re.escape(simplified(short))}[》」”]?{_BRACKETS}(?=[，是为于位又（(在由])", simplified(lead.text)
    )
    if begins is None:
        return None
    sort, noun = _sort(simplified(lead.text)[begins.end() :], simplified(short))
    quoted = lead.text[0] in "《「"
    name = f"{lead.text[0]}{short}{'》' if lead.text[0] == '《' else '」'}" if quoted else short
    return Topic(name=name, short=short, sort=sort, noun=noun)


def _sort(text: str, name: str) -> tuple[Sort, str]:
    """Return what a name says it is (赛里木湖), else the noun that ends a phrase after 是 or a comma."""
    for noun, sort in _NOUNS:
        if sort in (Sort.PLACE, Sort.BODY) and name.endswith(noun) and len(name) > len(noun) + 1:
            return sort, noun
    said = _IS.search(text[:160])
    phrases = [said["np"]] if said else []
    # 李惠珍，香港女漫画家: of people, a phrase of its own tells as well.
    phrases += [phrase for phrase in text[:160].split("，")[1:] if len(phrase) <= LONGEST_APPOSITION]
    for at, phrase in enumerate(phrases):
        sort, noun = _sort_of(re.sub(r"之一\Z", "", phrase.strip()))
        if sort is Sort.PERSON or (sort is not Sort.OTHER and said and at == 0):
            return sort, noun
    return Sort.OTHER, ""


def _sort_of(phrase: str) -> tuple[Sort, str]:
    """Return what the noun at the end of a phrase is."""
    for noun, sort in _NOUNS:
        if phrase.endswith(noun):
            return sort, noun
    return (Sort.PERSON, "人物") if _PERSON.search(phrase) else (Sort.OTHER, "")


def facts_of(material: Material, topic: Topic) -> list[Fact]:
    """Return the facts that an article states about its topic, each relation once."""
    found: dict[str, Fact] = {}
    for statement in material.statements:
        start = _about(topic, statement)
        if start is None:
            continue
        plain = simplified(statement.text)[start:]
        for relation in RELATIONS:
            if relation.name in found or (relation.sorts and topic.sort not in relation.sorts):
                continue
            if relation.lead_only and not statement.lead:
                continue
            match = next(filter(None, (pattern.search(plain) for pattern in relation.patterns)), None)
            if match and _sound(match["v"]):
                value = (
                    statement.text[start + match.start("v") : start + match.end("v")].strip(" ，").removesuffix("所")
                )
                found[relation.name] = Fact(topic=topic, relation=relation, value=value, statement=statement)
    return list(found.values())


_GOES_ON = (
    "，|是|为|位于|地处|坐落|座落|于|由|在|建于|建成|成立|创|始|原名|原称|全长|总长|面积|占地|总面积"
    "|人口|海拔|毕业|出生|生于|祖籍|籍贯|属|隶属|"
    "又|简称|俗|别名|别称|亦|分布|产于|原产|栖息|主要|体长|总部|首府|省会|被|曾|共有|拥有|包括|分为|指"
    "|字|本名|最早|最初|最先|首先|正式"
)
"""How a sentence goes on whose subject is the name itself, and not something of it (中国人, 余杭站南侧广场)."""


def _about(topic: Topic, statement: Statement) -> int | None:
    """Return where a sentence goes on after its subject, where that is the topic."""
    short = re.escape(simplified(topic.short))
    match = re.match(rf"[《「“]?{short}[》」”]?(?P<rest>){_BRACKETS}(?={_GOES_ON})", simplified(statement.text))
    return match.end("rest") if match else None


def _sound(value: str) -> bool:
    value = value.strip()
    balanced = all(value.count(left) == value.count(right) for left, right in ("（）", "()", "《》", "「」", "“”"))
    return 1 < len(value) <= 60 and balanced


def _r(
    name: str,
    pattern: str | tuple[str, ...],
    question: str,
    sorts: str = "",
    words: str = "",
    **more: object,
) -> Relation:
    return Relation(
        name=name,
        patterns=tuple(map(re.compile, (pattern,) if isinstance(pattern, str) else pattern)),
        question=question,
        sorts=frozenset(Sort(sort) for sort in sorts.split()),
        words=tuple(words.split("|")) if words else (),
        **more,  # type: ignore[arg-type] # the optional fields, as they are
    )


_WITHIN = r"[^。；]{0,60}?"
_CLAUSE = rf"(?:\A{_BRACKETS}|，)"
"""The beginning of a clause, so that what follows is said of the topic itself: not 湖面海拔, 广场面积."""
_CLAUSE_END = r"(?=[，。；,;（(]|\Z)"
_BY = [
    "执导",
    "导演",
    "编剧",
    "创作",
    "撰写",
    "创办",
    "创立",
    "创建",
    "设计",
    "发明",
    "发现",
    "主演",
    "作曲",
    "作词",
    "演唱",
    "开发",
    "出版",
    "制作",
    "主持",
    "建造",
    "监制",
    "编写",
]
_CALLED = {
    "又称": "又称什么",
    "又名": "又名什么",
    "俗称": "俗称什么",
    "俗名": "的俗名是什么",
    "别名": "的别名是什么",
    "别称": "的别称是什么",
    "亦称": "亦称什么",
    "简称": "的简称是什么",
    "原名": "原名什么",
    "本名": "的本名是什么",
    "全称": "的全称是什么",
    "旧称": "旧称什么",
}


def _by_relations() -> list[Relation]:
    who = r"(?P<v>(?!.{0,3}[此该这其])[^，。；由（(\d于在]{2,24}?)"
    when = r"(?:(?:于|在)[^，。；]{2,16}?|\d{4}年)?(?:所|联合|共同|负责|亲自)?"
    return [
        _r(
            f"{verb}-by",
            rf"{_WITHIN}(?<![自理])由{who}(?<!资助)(?<!印刷){when}{verb}(?!人|者|权|社|商)",
            f"{{x}}由谁{verb}？",
            sorts="work body place other",
            words=verb,
            noun={"执导": "{x}的导演", "导演": "{x}的导演", "编剧": "{x}的编剧", "创办": "{x}的创办人"}.get(verb, ""),
        )
        for verb in _BY
    ]


def _called_relations() -> list[Relation]:
    return [
        _r(
            f"called-{word}",
            rf"{_WITHIN}(?<!以下)(?<!或){word}(?:是|为|：|叫|做|作)?(?P<v>(?!这|该"
            rf"|此)[^，。；（(()）：]{{2,24}}?)(?=[，。；）)]|[（(][^（()）]*[)）][，。；是为])",
            f"{{x}}{asked}？",
            words="俗称|俗名|别名|又名|又称|亦称|别称|原名|本名|简称|全称|旧称",
            lead_only=True,
        )
        for word, asked in _CALLED.items()
    ]


_DATED = {
    "成立": "body place",
    "建立": "body place",
    "创立": "body",
    "创办": "body work",
    "创刊": "work",
    "建成": "place",
    "通车": "place",
    "启用": "place body",
    "发行": "work",
    "上映": "work",
    "首播": "work",
    "开业": "place body",
    "落成": "place",
    "竣工": "place",
    "发售": "work",
    "播出": "work",
    "出版": "work",
    "设立": "body place",
    "开通": "place",
}


def _dated_relations() -> list[Relation]:
    relations = []
    for verb, sorts in _DATED.items():
        relations.append(
            _r(
                f"{verb}-on",
                (
                    rf"{_WITHIN}(?:于|在)(?P<v>{DATE}){RANGE}(?:[^，。；\d]{{0,8}}?)?(?:正式|首次"
                    rf"|在{HAN}{{2,6}})?{verb}{_CLAUSE_END}",
                    rf"{_WITHIN}(?<!重新)(?<!{HAN}重){verb}于(?P<v>{DATE}){RANGE}",
                ),
                f"{{x}}是什么时候{verb}的？",
                sorts=sorts,
                words=f"{verb}|创|建|成立|发行|播",
                compared=(f"{{a}}和{{b}}，哪一个{verb}得更早？", f"{{a}}和{{b}}，哪一个{verb}得更晚？"),
            )
        )
    return relations


RELATIONS: tuple[Relation, ...] = (
    _r(
        "born-on",
        (
            rf"{_WITHIN}(?:出生于|生于)(?P<v>{DATE}){RANGE}",
            rf"{_WITHIN}(?<!\d)(?P<v>{FULL_DATE})(?:出生|生)(?=于|在|，|。)",
            rf"(?<=[（(])[^）)]{{0,12}}?(?P<v>{FULL_DATE})\s?[－—–\-～~][^（(]{{0,20}}[）)]",
            rf"(?<=[（(])[^）)]{{0,12}}?(?P<v>{FULL_DATE})\s?[－—–\-～~]?\s?[，,]?[）)]",
        ),
        "{x}是什么时候出生的？",
        sorts="person",
        words="生于|出生",
        compared=("{a}和{b}，谁出生得更早？", "{a}和{b}，谁出生得更晚？"),
    ),
    _r(
        "born-in",
        rf"{_WITHIN}(?:出生于|生于|出生在)(?:{DATE}(?:的"
        rf"|，)?)?(?P<v>(?!{DATE}){HAN}[^，。；\d]{{1,18}}?)(?=[，。；]|并|的一?[个户]|一个)",
        "{x}出生于哪里？",
        sorts="person",
        words="生于|出生|祖籍|籍贯",
    ),
    _r(
        "native-of",
        rf"{_WITHIN}(?:祖籍|籍贯)(?:是|为)?(?P<v>{HAN}{{2,14}}){_CLAUSE_END}",
        "{x}的祖籍是哪里？",
        sorts="person",
        words="祖籍|籍贯",
    ),
    _r(
        "educated-at",
        rf"{_WITHIN}毕业于(?P<v>[^，。；\d]{{3,24}}?){_CLAUSE_END}",
        "{x}毕业于哪里？",
        sorts="person",
        words="毕业|就读|大学|学院|中学|学校",
    ),
    _r(
        "courtesy-name",
        rf"{_WITHIN}，字(?P<v>{HAN}{{1,3}}(?:，一字{HAN}{{1,3}})?){_CLAUSE_END}",
        "{x}的字是什么？",
        sorts="person",
        words="字",
    ),
    *_called_relations(),
    *_by_relations(),
    *_dated_relations(),
    _r(
        "located-in",
        rf"{_WITHIN}(?:位于|坐落于|座落于|地处|座落在|坐落在)(?P<v>(?![今现])[^，。；（(的]{{3,40}}?)(?=[，"
        rf"。；,;（(的]|\Z)",
        "{x}位于哪里？",
        sorts="place body other",
        words="位于|地处|坐落|座落",
    ),
    _r(
        "found-in",
        rf"{_WITHIN}(?:分布于|分布在|产于|主要分布于|原产于|栖息于|栖息在)(?P<v>[^。；（(]{{3,60}}?)(?=。"
        rf"|；|的一[种个属]|，(?:{HAN}{{0,3}}(?:生|栖|体|常|多|为|是|目前|一般|属))|（)",
        "{x}分布在哪里？",
        sorts="other",
        words="分布|产于|栖息",
    ),
    _r(
        "length",
        rf"{_CLAUSE}(?:全长|总长|总长度|全线长|长度)(?:约|为|达|大约)*(?P<v>{NUMBER}\s?(?:公里|千米|米"
        rf"|公尺|英里)){_CLAUSE_END}",
        "{x}全长多少？",
        sorts="place",
        words="全长|总长|长度",
        compared=("{a}和{b}，哪一个更短？", "{a}和{b}，哪一个更长？"),
    ),
    _r(
        "area",
        rf"{_CLAUSE}(?:总?面积|占地面积|占地)(?:约|为|达|大约|有)*(?P<v>{NUMBER}\s?(?:平方公里|平方千米"
        rf"|平方米|公顷|亩|平方公尺|平方英里))",
        "{x}的面积是多少？",
        sorts="place body",
        words="面积|占地",
    ),
    _r(
        "population",
        rf"{_CLAUSE}(?:总?人口)(?:数|总数)?(?:约|为|达|大约|有)*(?P<v>{NUMBER}\s?人?){_CLAUSE_END}",
        "{x}有多少人口？",
        sorts="place",
        words="人口|居民",
    ),
    _r(
        "height",
        rf"{_CLAUSE}(?:海拔|海拔高度|主峰海拔|标高)(?:约|为|达|大约|高)*(?P<v>{NUMBER}\s?(?:米|公尺"
        rf"|英尺)){_CLAUSE_END}",
        "{x}的海拔是多少？",
        sorts="place other",
        words="海拔|标高",
    ),
    _r(
        "size",
        rf"{_CLAUSE}体长(?:约|为|达|大约|可达|可以达到)*(?P<v>{NUMBER}(?:\s?[至到~～—–\-]\s?{NUMBER})?\s?(?"
        rf":厘米|公分|米|毫米|公尺)(?:[至到]{NUMBER}(?:厘米|公分|米|毫米|公尺))?){_CLAUSE_END}",
        "{x}的体长是多少？",
        sorts="other",
        words="体长|身长",
    ),
    _r(
        "seat",
        rf"{_WITHIN}总部(?:位于|设在|设于|在)(?P<v>[^，。；（(的]{{2,24}}?)(?=[，。；（(的]|\Z)",
        "{x}的总部在哪里？",
        sorts="body other",
        words="总部",
    ),
    _r(
        "consists-of",
        r"[^。；]{0,20}?(?<!被)(?:由(?P<v>[^。；（(]{4,50}?[和及与、][^，。；（(]{2,20}?)(?:共同)?(?"
        r":组成|构成))(?!的)",
        "{x}由什么组成？",
        words="组成|构成",
    ),
    _r(
        "definition",
        rf"\A[^，。；]{{0,40}}?{_BRACKETS}(?:，(?:简称|又称|又名|俗称|英文"
        rf"|原名)[^，。；]{{1,20}})?，?(?:是|指|是指|指的是)(?P<v>(?:[一1]?[种个位座部所家条名]"
        rf"|{HAN}{{2}})[^，。；]{{6,80}}?)(?=，|。|；|\Z)",
        "{x}是什么？",
        lead_only=True,
    ),
)
