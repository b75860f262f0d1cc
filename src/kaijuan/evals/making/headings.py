"""Questions that a document asks itself (FAQ), and questions on what stands under a heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import folded
from kaijuan.evals.making.chinese.words import in_script_of, simplified
from kaijuan.evals.making.items import Draft, Kind
from kaijuan.evals.making.material import Material, Section, bare_heading

SHORTEST_TEXT, LONGEST_TEXT = 40, 700
SHORTEST_HEADING, LONGEST_HEADING = 3, 40
_SAYS_NOTHING = re.compile(
    r"\A(?:总则|附则|附录|附件|前言|引言|概述|概要|简介|介绍|目录|说明|其他|其它|备注|参考文献|参考资料"
    r"|注释|背景|总结|结论|结语|正文|摘要|目的|范围|适用范围|定义|"
    r"introduction|overview|summary|conclusions?|background|references|notes?|appendix|contents|abstract"
    r"|general|other|others|misc\w*|about|preface|"
    r"foreword|scope|purpose|definitions?|see also|external links|further reading|bibliography|sources"
    r"|links|examples?|usage|description|details|history|"
    r"acknowledge?ments?|contact|index|main page|navigation|faq|questions?)\Z",
    re.IGNORECASE,
)
_DOING = {
    *("use", "add", "create", "configure", "restrict", "set", "install", "run", "get", "make", "manage", "enable"),
    *("disable", "change", "check", "remove", "delete", "update", "upgrade", "start", "stop", "build", "open"),
    *("connect", "migrate", "restore"),
}
"""Verbs with which headings of manuals begin."""
_SENTENCE_END = re.compile(r"[.。！!；;|]\s*[”’\"')）]*\Z|[。；]")
_ASKS = re.compile(r"[?？]\s*\Z|\A(?:how|what|why|when|where|who|which|can|do|does|is|are)\b", re.IGNORECASE)
_RULES = re.compile(r"办法|规定|制度|条例|规则|细则|规程|章程|标准|守则|政策|法\Z")


def exchange_drafts(material: Material) -> Iterator[Draft]:
    """Yield the question-and-answer pairs of a document as they are."""
    for pair in material.exchanges:
        question = " ".join(pair.question.split())
        if question.endswith(("?", "？")) and 5 <= len(question) <= 200:
            yield Draft(
                kind=Kind.SINGLE,
                how="faq",
                language="zh" if language_of(question) == "zh" else "en",
                question=question,
                answers=(pair.answer,),
                evidence=(pair.evidence,),
                about=question,
            )


def heading_drafts(material: Material) -> Iterator[Draft]:
    """Yield a question for every section whose heading says what it is about; the section is the answer."""
    headings = Counter(folded(bare_heading(section.heading)) for section in material.sections)
    for section in material.sections:
        heading = bare_heading(section.heading)
        if headings[folded(heading)] == 1 and _is_telling(heading, material) and _is_answer(section, heading):
            chinese = language_of(section.text) == "zh"
            yield Draft(
                kind=Kind.SINGLE,
                how="heading",
                language="zh" if chinese else "en",
                question=_asked(heading, material.head.title, chinese=chinese),
                answers=(" ".join(section.text.split()) if not chinese else section.text,),
                evidence=(section.evidence,),
                about=heading,
            )


def _is_telling(heading: str, material: Material) -> bool:
    title = material.head.title
    return (
        SHORTEST_HEADING <= len(heading) <= LONGEST_HEADING
        and not _SAYS_NOTHING.match(heading)
        and not _ASKS.search(heading)
        and heading.casefold() != title.casefold()
        and title.casefold() not in heading.casefold()
        and len(heading.split()) <= 7
        and any(map(str.isalpha, heading))
        and not re.search(r"[|{}<>=\\/]|https?:|\.\w{2,4}\Z", heading)
    )


def _is_answer(section: Section, heading: str) -> bool:
    """Say whether a section tells something: mostly sentences, not links or names, in the heading's language."""
    text = section.text.strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not SHORTEST_TEXT <= len(text) <= LONGEST_TEXT or language_of(text) not in (language_of(heading), "zh"):
        return False
    prose = [line for line in lines if "|" not in line]
    letters = sum(map(str.isalpha, "".join(prose)))
    told = sum(bool(_SENTENCE_END.search(line)) for line in lines)
    return letters >= len(text) * 0.5 and told * 2 >= len(lines)


def _asked(heading: str, title: str, *, chinese: bool) -> str:
    named = title.strip("《》“”\"' ")
    if chinese:
        says = "是怎么规定的" if _RULES.search(simplified(named)) else "是怎么说的"
        return in_script_of(f"关于“{heading}”，《{named}》{says}？", heading)
    first = heading.split(" ", 1)[0]
    small = first.istitle() and (not _has_names(heading) or first.lower() in _DOING or first.endswith("ing"))
    lower = heading[0].lower() + heading[1:] if small else heading
    how = "how to " if first.lower() in _DOING else ""
    return f'What does the document "{named}" say about {how}{lower}?'


def _has_names(heading: str) -> bool:
    """Say whether words after the first have capitals: then the first may be part of a name."""
    return any(word[:1].isupper() for word in heading.split()[1:])
