"""Words that deny, and words of opposite direction, as both languages have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Turn(NamedTuple):
    """A word that turns a statement round. `axis` is what its opposite lies on, "" for a plain negation."""

    start: int
    end: int
    axis: str
    sign: int


_AXES = {
    "change": (
        "增加|增长|上升|提高|提升|升高|上涨|上调|扩大|攀升;;increas\\w*|rise|rises|rose|risen|rising|grow|grows|grew|grown|growing|growth|gain\\w*|climb\\w*",
        "减少|下降|降低|下跌|跌至|下调|缩小|下滑;;decreas\\w*|decline\\w*|declining|fall|falls|fell|fallen|falling|drop|drops|dropped|dropping|reduc\\w*|shrink\\w*|shrank",
    ),
    "bound": (
        "不[得能可应会]?[少低小早]于|至少|最少|起码|以上|超过|超出|高于|大于|多于|逾"
        ";;at least|(?:no|not) (?:less|fewer) than|(?:more|greater|higher|larger) than|over|above|exceed\\w*",
        "不[得能可应会]?[多高大晚]于|不[得能可应会]?超[过出]|至多|最多|以下|以内|低于|小于|少于|不足|不到|未满|不满"
        ";;at most|(?:no|not) more than|(?:less|fewer|lower|smaller) than|under|below|up to",
    ),
    "order": (
        "之前|以前|早于|前夕|在此前;;before|prior to|earlier|until|early",
        "之后|以后|晚于|此后|随后;;after|following|later|since|late",
    ),
    "extreme": (
        "最大|最高|最长|最快|最强|最好|最早|最先;;largest|biggest|highest|longest|fastest|strongest|best|earliest|most|maximum|greatest",
        "最小|最低|最短|最慢|最弱|最差|最晚|最后;;smallest|lowest|shortest|slowest|weakest|worst|latest|least|minimum|fewest",
    ),
    "age": ("较老|年长|更老;;older|oldest|elder", "较年轻|年幼|更年轻;;younger|youngest|newer|newest"),
    "size": (
        "较大|较高|较多|更大|更高|更多|更长|更快;;larger|bigger|higher|longer|faster|stronger|better|greater|more",
        "较小|较低|较少|更小|更低|更少|更短|更慢;;smaller|lower|shorter|slower|weaker|worse|fewer|less",
    ),
    "winning": (
        "战胜|击败|打败|取胜|获胜|胜利|赢得|赢;;win|wins|won|winning|victory|victories|succeed\\w*",
        "战败|落败|败给|负于|失败|输给;;lose|loses|lost|losing|defeats? (?:by|to|at)|fail\\w*",
    ),
    "permission": (
        "允许|准许|可以;;allow\\w*|permit\\w*",
        "禁止|不允许|不准|不许|不得|不可以|严禁"
        ";;forbid\\w*|forbade|prohibit\\w*|ban|bans|banned|(?:is|are|was|were) not (?:allowed|permitted)|must not",
    ),
    "support": (
        "支持|赞成|同意;;support\\w*|favou?r\\w*|agree\\w*|accept\\w*",
        "反对|拒绝|否决;;oppos\\w*|reject\\w*|refus\\w*|disagree\\w*|den(?:y|ies|ied)",
    ),
    "presence": (
        "拥有|包括|包含;;includ\\w*|contain\\w*",
        "缺乏|缺少|不包括|不包含|除外;;exclud\\w*|lack\\w*|except",
    ),
    "trade": ("买入|购买|购入|进口;;buy\\w*|bought|import\\w*", "卖出|出售|售出|出口;;sell\\w*|sold|export\\w*"),
    "start": (
        "开始|成立|建立|创立|开放|开启;;start\\w*|begin\\w*|began|begun|open|opens|opened|founded|established",
        "结束|解散|关闭|停止|终止;;end|ends|ended|clos\\w*|dissolv\\w*|ceas\\w*|stopped",
    ),
    "truth": ("属实|正确;;true|correct|possible", "虚假|错误;;false|incorrect|wrong|impossible"),
    "compass": (
        "东部|东面|以东|北部|北面|以北;;northern|eastern|north|east",
        "西部|西面|以西|南部|南面|以南;;southern|western|south|west",
    ),
}
"""Of each axis the words of one direction and of the other: Chinese, and after ";;" English, as patterns over
normalised text."""


def _words(pattern: str) -> str:
    """Bound the English alternatives by what is no letter; Chinese words need no bounds, but the longest first."""
    han, _, latin = pattern.partition(";;")
    chinese = "|".join(sorted(han.split("|"), key=len, reverse=True))
    return f"{chinese}|(?<![a-z0-9'])(?:{latin})(?![a-z0-9])"


_TURNS = tuple(
    (axis, sign, re.compile(_words(pattern)))
    for axis, pair in _AXES.items()
    for sign, pattern in zip((1, -1), pair, strict=True)
)
_DENIES_HAN = re.compile(
    "(?:并|绝|决|从|毫|尚|仍|还|均|都)?(?:没有|没(?!落|收|入)|未(?!来|必|知|婚|央|成年)|无(?!论|锡|线|双|限|数|疑|比|人机|产|偿|锋|名|形)"
    "|不(?!同|断|少|仅|久|过|但|管|论|良|锈|单|惜|等|料|妨|愧|丹|得不|可或缺|可避免|可思议)|非(?!常|洲|法|凡|遗|得|正式|典)|勿|别(?=再|把|让))"
)
_DENIES_LATIN = re.compile(
    r"(?<![a-z0-9])(?:not(?! only| just| merely| necessarily)|no(?!\.| \d)|never|none|neither|nor"
    r"|without|cannot|can't|hardly|unable)(?![a-z0-9])|(?<=[a-z])\s?n't(?![a-z])"
)


def turns(folded: str) -> Iterator[Turn]:
    """Yield the turning words of a normalised text in order, none of them within another."""
    found = [Turn(*match.span(), axis, sign) for axis, sign, pattern in _TURNS for match in pattern.finditer(folded)]
    found += [Turn(*match.span(), "", -1) for match in _DENIES_HAN.finditer(folded)]
    found += [Turn(*match.span(), "", -1) for match in _DENIES_LATIN.finditer(folded)]
    end = 0
    for turn in sorted(found, key=lambda turn: (turn.start, -turn.end)):
        if turn.start >= end:
            yield turn
            end = turn.end
