"""What kind of question is asked, by the words that ask. Detectors are independent; several may see something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class QuestionKind(StrEnum):
    """Kinds of questions (spec F5)."""

    LOOKUP = "lookup"
    """A fact in one place; the default."""
    HOW_TO = "how-to"
    COMPARE = "compare"
    AGGREGATE = "aggregate"
    """Over many documents: how many, which all, the most."""
    RELATION = "relation"
    """How things or people hang together."""
    SUMMARY = "summary"
    """What a document or the whole base is about."""
    CALCULATION = "calculation"
    """A number that must be worked out."""
    DEFINITION = "definition"
    CHIT_CHAT = "chit-chat"
    OUT_OF_SCOPE = "out of scope"
    """What no documents answer: the weather now, a poem to be written."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_PATTERNS: Mapping[QuestionKind, re.Pattern[str]] = MappingProxyType(
    {
        QuestionKind.CHIT_CHAT: _any(
            r"\s*(?:你好|您好|嗨|哈[喽啰]|早上好|下午好|晚上好|谢谢|多谢|感谢你?|辛苦了|再见|拜拜|你是谁|你叫什么(?:名字)?"
            r"|你会什么|你能做什么|在吗|好的|哈+|嗯+|hi|hello|hey|good (?:morning|afternoon|evening)"
            r"|thanks?(?: you)?(?: (?:a lot|so much))?|bye|goodbye|how are you|who are you|what(?:'s| is) your name"
            r"|what can you do|ok(?:ay)?)(?:[啊呀哦了吧吗呢]|\s+(?:there|all|everyone))*[\s,，.。!！?？~～]*",
        ),
        QuestionKind.OUT_OF_SCOPE: _any(
            r"(?:今天|明天|现在|后天)[^，。？]{0,8}(?:天气|气温|几点|星期几)",
            r"(?:写|作|编)(?:一)?(?:首|篇)[^，。]{0,12}(?:诗|歌|作文|小说|情书)",
            r"讲(?:个|一个)笑话|股价(?:现在|今天)|(?:现在|今天)的?(?:股价|汇率)",
            r"\bweather\b[^.?]{0,20}\b(?:today|tomorrow|now)\b|\bwhat time is it\b",
            r"\bwrite (?:me )?a (?:poem|song|story|joke)\b|\btell me a joke\b",
        ),
        QuestionKind.COMPARE: _any(
            r"区别|差别|差异|不同之处|有(?:什么|何|哪些)不同|对比|比较|相比|哪个更|哪一个更|优缺点",
            r"\b(?:differences? (?:between|in)|compar(?:e|ed|ison|ing)|versus|vs\.?|better than|as opposed to"
            r"|(?:which|what) is (?:better|faster|cheaper|larger|higher)|pros and cons)\b",
        ),
        QuestionKind.RELATION: _any(
            r"(?:什么|何种|甚麼)(?:关系|關係|联系|聯繫)|之间的(?:关系|联系)|隶属(?:于|关系)|上下级|谁是[^，。？]{1,20}的(?:上级|负责人|老板)",
            r"\brelation(?:ship)?s? (?:between|of|to)\b|\bhow (?:is|are) [^?]{1,60} (?:related|connected|linked) to\b",
            r"\bwho (?:owns|reports to|manages|supervises)\b|\bsubsidiar(?:y|ies) of\b",
        ),
        QuestionKind.CALCULATION: _any(
            r"计算|算一下|算出|折合|换算|加起来|相差多少|差多少|增长率|同比|环比|百分之几",
            r"\d\s*[+×*÷/]\s*\d+\s*(?:=|等于|是多少|[?？]|\Z)",
            r"\b(?:calculate|compute|work out|percentage (?:change|increase|decrease)|growth rate|convert \d)\b",
        ),
        QuestionKind.SUMMARY: _any(
            r"总结|概括|综述|主要(?:内容|讲|说|观点)|讲了(?:什么|哪些)|大意|摘要",
            r"\bsummar(?:y|i[sz]e)\b|\boverview of\b|\bmain (?:points|ideas|themes|topics)\b|\bgist of\b",
        ),
        QuestionKind.AGGREGATE: _any(
            r"一共|总共|合计|总数|所有的?|全部|列出|列举|汇总|总结|概括|分别是|各是|平均|排名|趋势|有哪些|哪几[个种类项]",
            r"最(?:多|少|高|低|大|小|长|短|早|晚)|多少(?:个|种|类|家|份|篇)",
            r"\b(?:list (?:all|the)|all (?:the )?|how many|total|sum of|average|summari[sz]e|overview|most|least"
            r"|trends?|highest|lowest|largest|smallest|what are the|which (?:ones|are))\b",
        ),
        QuestionKind.HOW_TO: _any(
            r"怎么办|(?:怎么|怎样|如何|怎麼|怎樣)(?!样|回事|看待|评价|理解|樣)|步骤|流程|办理|操作方法|教程|该做什么",
            r"\bhow (?:do|does|can|could|should|to|would)\b|\bsteps? (?:to|for)\b|\bprocedure for\b",
            r"\bwhat (?:should|must|can) (?:i|we) do\b",
        ),
        QuestionKind.DEFINITION: _any(
            r"(?:什么|何|甚麼|什麼)(?:是|叫|为|謂|谓)|是什么(?:意思|东西|概念)?[？?。\s]*$|的(?:定义|含义|意思)|指的?是什么",
            r"是指什么|全称(?:是|叫)|\bwhat (?:is|are) (?:an? )?[\w -]{1,40}\?*$|\bmeaning of\b",
            r"\bdefin(?:e|ition of)\b|\bwhat does [\w -]{1,40} (?:mean|stand for)\b",
        ),
    }
)
_FOLDS_TO_WHOLE = frozenset({QuestionKind.CHIT_CHAT})
LONGEST = 2000
"""Characters looked at; what asks stands in the first or last of them."""


def detect(kind: QuestionKind, text: str) -> bool:
    """Say whether one detector sees its kind."""
    if kind is QuestionKind.LOOKUP:
        return True
    pattern = _PATTERNS[kind]
    looked_at = text[:LONGEST]
    return bool(pattern.fullmatch(looked_at) if kind in _FOLDS_TO_WHOLE else pattern.search(looked_at))


def kinds_of(text: str) -> tuple[QuestionKind, ...]:
    """Return the kinds that a question shows, the one that decides first; at least `lookup`."""
    return tuple(kind for kind in (*_PATTERNS, QuestionKind.LOOKUP) if detect(kind, text))
