"""Questions that compare editions: asked of each edition by itself, so that each is answered in its own words."""

from __future__ import annotations

import re

_COMPARES = re.compile(
    r"比较|比較|对比|對比|相比|区别|區別|差别|差別|差异|差異|不同|变化|變化|变动|變動|改了|变了|变成|有何变|调整|調整"
    r"|\bcompar\w*|\bdiffer\w*|\bversus\b|\bvs\b\.?|\bchang\w*|\bbetween\b",
    re.IGNORECASE,
)
_EDITION = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?![\d.])\s*(?:年度?|版|年版)?"
    r"|(?<![\w.])[vV](?P<version>\d+(?:\.\d+)+)(?![\w.])"
    r"|(?:第|version\s+)(?P<number>\d{1,2}|[一二三四五六七八九十])(?:版|\b)",
    re.IGNORECASE,
)
_AROUND = re.compile(
    r"请|帮我|一下|分别|之间|(?:有|发生了?|做了?)(?:什么|哪些|何|多大|怎样的?)|是(?:什么|多少)|[？?。.!！]|的(?=\s*(?:的|$))"
    r"|\b(?:please|the|of|in|from|for|to|and|what|is|are|was|were|has|have|how|did|do|does|between|with|editions?|versions?|rules?)\b",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"\s*(?:和|与|與|跟|同|及|到|至|、|,|，|/|&|-|–|\band\b|\bto\b|\bwith\b|\bvs\b\.?)\s*")
_FEWEST = 2
"""Letters of what is left of the question when editions and words of comparing are taken out."""
_MOST = 4


def by_edition(text: str) -> list[str]:
    """Return one question for each edition that a comparison names; nothing for other questions."""
    found = list(_EDITION.finditer(text))
    names = list(dict.fromkeys(match.group().strip() for match in found))
    years = {match["year"] or match["version"] or match["number"] for match in found}
    if not 2 <= len(years) <= _MOST or not _COMPARES.search(text):
        return []
    rest = _EDITION.sub(" \0 ", text)
    # What joins the editions goes with them: "2022 and 2024" leaves no "and".
    rest = re.sub(rf"\0{_JOINTS.pattern}(?=\0)", "", rest).replace("\0", " ")
    rest = _AROUND.sub(" ", _COMPARES.sub(" ", rest))
    rest = " ".join(rest.split()).strip("的,，、 ")
    if sum(map(str.isalnum, rest)) < _FEWEST:
        return []
    distinct = {re.sub(r"\D", "", name) or name: name for name in reversed(names)}
    return [f"{name} {rest}" for name in sorted(distinct.values())]
