"""Short names that a document explains, by rule: "全称（以下简称“简称”）", "Full Name (FN)", "FN (Full Name)".

English pairs are matched as Schwartz and Hearst do ("A simple algorithm for identifying abbreviation definitions in
biomedical text", PSB 2003): the letters of the short name are looked for in the full name from its end. In Chinese
the characters of the short name must stand in the full name in their order, or a word must say that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.glossary import LONGEST_TERM, Abbreviation
from kaijuan.core.spans import Span
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.stopwords import CHINESE, ENGLISH

MOST = 300
"""Of one document; a list of a thousand is a dictionary."""
_LONGEST_INSIDE = 80
"""Characters between brackets that are looked at."""
_BEFORE = 120
"""Characters before a bracket that a full name may stand in."""
_LONGEST_HAN = 30
_SHORTEST_SHORT, _LONGEST_SHORT = 2, 12

_BRACKETS = re.compile(rf"[（(]([^（()）\n]{{2,{_LONGEST_INSIDE}}})[)）]")
_SAYS_SO = re.compile(
    r"^(?:以下|下文|下称|简称|以下统称|下统称|统称|又称|缩写|英文缩写|簡稱|以下簡稱|下稱|hereinafter|hereafter|abbreviated|"
    r"abbreviation|short|known as|also known as)"
)
_LEAD = re.compile(
    r"^(?:以下|下文|后文|後文)?(?:均|统一|統一)?(?:简称|簡稱|下称|下稱|称|稱|统称|統稱|又称|又稱|英文缩写|缩写|縮寫)(?:为|為|作|是)?\s*[:：]?\s*"
    r"|^(?:hereinafter|hereafter|abbreviated|short)\s*(?:referred to as|called|as|for|to)?\s*[:：]?\s*(?:the\s+)?",
    re.IGNORECASE,
)
_QUOTES = "“”\"'‘’「」『』《》〈〉＂` "
_SPLIT = re.compile(r"[”\"’」』》]?\s*(?:或|、|，|,|;|；| or )\s*[“\"‘「『《]?")
_LATIN_SHORT = re.compile(r"[A-Z][A-Za-z0-9&/.-]{1,9}|[a-z]{1,2}[A-Z]{1,6}")
_HAN_RUN = re.compile(rf"[{HAN}]+")
_QUOTED_END = re.compile(rf"《([^《》\n]{{2,{_LONGEST_HAN + 10}}})》$|“([^“”\n]{{2,{_LONGEST_HAN}}})”$")
_HAN_END = re.compile(rf"[{HAN}A-Za-z0-9·]{{2,{_LONGEST_HAN}}}$")
_WORDS_END = re.compile(r"[A-Za-z][A-Za-z0-9'’&/-]*(?:[ \u00a0][A-Za-z0-9][A-Za-z0-9'’&/-]*){0,11}$")
_ROLES = frozenset(
    """
    公司 本公司 甲方 乙方 丙方 丁方 双方 各方 发行人 本办法 本条例 本规定 本制度 本法 本细则 本标准 本协议 本合同 合同
    协议 条例 办法 规定 制度 标准 集团 本集团 项目 本项目 平台 产品 系统 用户 客户 员工 本行 银行 基金 本基金 管理人
    上市公司 标的公司 company client customer agreement contract party parties user employer employee policy act program
    project
    """.split()  # noqa: SIM905 fifty strings in a list are harder to read
)
"""What contracts call whom they speak of: a short name in that text and nowhere else."""
_VERBS = frozenset(
    """
    采用 使用 签订 提供 建立 实施 执行 通过 根据 按照 包括 称为 支持 基于 利用 引入 推出 开展 实现 部署
    """.split()  # noqa: SIM905 as above
)


def abbreviations(text: str) -> tuple[Abbreviation, ...]:
    """Return what `text` explains, each pair once, in the order of its first place. Linear in the length of `text`."""
    found: dict[tuple[str, str], Abbreviation] = {}
    for match in _BRACKETS.finditer(text):
        for short, long in _pairs(text[max(0, match.start() - _BEFORE) : match.start()], match[1].strip()):
            if _sound(short, long):
                places = (text.rfind(name, max(0, match.start() - _BEFORE), match.start()) for name in (long, short))
                start = next((at for at in places if at >= 0), match.start())
                span = Span(start, match.end())
                found.setdefault((short, long), Abbreviation(short=short, long=long, span=span))
        if len(found) >= MOST:
            break
    return tuple(found.values())


def _sound(short: str, long: str) -> bool:
    fits = _SHORTEST_SHORT <= len(short) <= _LONGEST_SHORT and len(short) < len(long) <= LONGEST_TERM
    return fits and short.lower() not in _ROLES and "\x00" not in short + long


def _pairs(before: str, inside: str) -> Iterator[tuple[str, str]]:
    """Yield (short, long) for what stands in brackets and the text before them."""
    before = before.rstrip()
    if _SAYS_SO.match(inside.lower()):
        named = _LEAD.sub("", inside, count=1).strip(_QUOTES)
        for short in _SPLIT.split(named):
            if (short := short.strip(_QUOTES)) and (long := _full_name(before, short, said=True)):
                yield short, long
        return
    if _LATIN_SHORT.fullmatch(inside) and _has_capitals(inside):
        if long := _full_name(before, inside, said=False):
            yield inside, long
        return
    *names, last = (part.strip(_QUOTES) for part in re.split(r"[,，;；、]", inside))
    if names and _LATIN_SHORT.fullmatch(last) and _has_capitals(last) and _letters_fit(last, names[0]) == names[0]:
        yield last, names[0]
        if long := _full_name(before, last, said=False):
            yield last, long
        return
    yield from _turned(before, inside)


def _turned(before: str, inside: str) -> Iterator[tuple[str, str]]:
    """Yield pairs where the short name comes first: "SLA（Service Level Agreement，服务级别协议）"."""
    found = re.search(r"(?<![A-Za-z0-9])([A-Z][A-Za-z0-9&/-]{1,9})$", before)
    if found is None or not _has_capitals(found[1]):
        return
    for part in re.split(r"[,，;；、]", inside)[:3]:
        name = part.strip(_QUOTES)
        if _WORDS_END.fullmatch(name) and _letters_fit(found[1], name) == name:
            yield found[1], name
        elif _HAN_RUN.fullmatch(name) and 4 <= len(name) <= 16:
            # 4 characters and more: "API（接口）" may as well be a remark.
            yield found[1], name


def _full_name(before: str, short: str, *, said: bool) -> str:
    """Return the full name at the end of `before`, "" where it cannot be told."""
    if quoted := _QUOTED_END.search(before):
        name = quoted[1] or quoted[2]
        return name if said or _HAN_RUN.search(name) else ""
    if _HAN_RUN.fullmatch(short[:1]):
        return _han_name(before, short, said=said)
    if words := _WORDS_END.search(before):
        return _letters_fit(short, words.group())
    if (run := _HAN_RUN.search(before[-_LONGEST_HAN:][::-1])) and run.start() == 0:
        return _last_words(run.group()[::-1])
    return ""


def _han_name(before: str, short: str, *, said: bool) -> str:
    found = _HAN_END.search(before)
    if found is None:
        return ""
    run = found.group()
    start = _in_order(short, run)
    if start is not None:
        return run[start:]
    # Not made of its characters (中国人民银行, 央行): only where nothing else stands before it.
    bounded = found.start() == 0 or not before[found.start() - 1].isalnum()
    return run if said and bounded and len(run) < _LONGEST_HAN and not _has_function_word(run) else ""


def _in_order(short: str, run: str) -> int | None:
    """Return the last place in `run` from which it holds the characters of `short` in their order, or None."""
    at = len(run)
    for character in reversed(short):
        at = run.rfind(character, 0, at)
        if at < 0:
            return None
    return at


def _letters_fit(short: str, words: str) -> str:
    """Return the shortest end of `words` that `short` abbreviates (Schwartz and Hearst), "" for none."""
    letters = [letter for letter in short.lower() if letter.isalnum()]
    most = min(len(letters) + 5, 2 * len(letters))
    pieces = words.split()
    words = " ".join(pieces[-most:])
    text, at = words.lower(), len(words)
    for number, letter in enumerate(reversed(letters), 1):
        first = number == len(letters)
        at -= 1
        while at >= 0 and (text[at] != letter or (first and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    name = words[at:]
    enough = len(name.split()) >= 2 or len(name) >= 2 * len(short)
    return name if enough and name.split()[0].lower() not in ENGLISH else ""


def _last_words(run: str) -> str:
    """Return the words at the end of a run of Han characters that make up one name: those after a function word."""
    # Late: loading the dictionary takes a tenth of a second.
    import rjieba

    name = ""
    for word in reversed(list(rjieba.cut(run))):
        if word in CHINESE or word in _VERBS or len(name) + len(word) > 16:
            break
        name = word + name
    return name if len(name) >= 4 else ""


def _has_function_word(run: str) -> bool:
    import rjieba

    return any(word in CHINESE or word in _VERBS for word in rjieba.cut(run))


def _has_capitals(short: str) -> bool:
    return sum(letter.isupper() for letter in short) >= 2
