"""Filters read from a question: only of fields that documents have, and only of values that they have (spec F4).

A word becomes a filter only where the question says that it means the documents ("人事部发布的制度", "in the 2023
report"), since a filter that was not meant hides the answer. Everything is written in the filter language, so that
people see and may change it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from kaijuan.core.filters import Value
from kaijuan.core.text.expressions import number_of
from kaijuan.core.text.identifiers import canonical
from kaijuan.core.text.normalise import folded
from kaijuan.retrieve.holdings import Holding, Holdings
from kaijuan.retrieve.understanding.matching import places
from kaijuan.retrieve.understanding.results import ReadFilter

YEARS = ("year", "fiscal_year", "report_year")
QUARTERS = ("quarter", "period", "report_period")
DEPARTMENTS = ("department", "dept", "team", "issuer")
VERSIONS = ("version",)
TYPES = ("type", "doc_type", "document_type", "category")
_DATES = {
    "published": re.compile(r"发布|印发|颁布|公布|出台|發布|頒布|\b(?:published|issued|released)\b"),
    "effective_from": re.compile(r"生效|施行|实施|起执行|實施|\b(?:effective|in force|came into force)\b"),
    "updated": re.compile(r"更新|修订|修訂|\b(?:updated|revised|amended)\b"),
}
_MOST_VALUES = 200
"""Values of one filter. What has more is not told apart by it."""

_YEAR = re.compile(r"(?<![\d.v-])(?:fy\s?)?((?:19|20)\d\d)(?![\d.:]|-\d)\s?(年度?|财年|財年)?")
_SINCE = re.compile(r"^\s?(?:年度?)?\s?(?:以来|以後|以后|之后|之後|起)|(?:since|after|from)\s+$")
_UNTIL = re.compile(r"^\s?(?:年度?)?\s?(?:以前|之前)|(?:before|until|prior to)\s+$")
_MEANS_YEAR = re.compile(r"(?:in|for|of|during|fy)\s*$|\b(?:the|our|year)\s+$")
_YEAR_OF = re.compile(r"^\s?(?:annual|fiscal|budget|report|edition|policy|handbook|version|results|revenue|figures)")
_QUARTER = re.compile(
    r"第?(?P<h>[一二三四1-4])季度?|(?<![a-z0-9])q(?P<q>[1-4])(?![0-9])|\b(?P<e>first|second|third|fourth) quarter\b"
)
_ENGLISH_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_QUARTER_VALUE = re.compile(r"(?:(?P<y>(?:19|20)\d\d)\D{0,2})?(?:q?(?P<n>[1-4])q?|第?(?P<h>[一二三四])季度?)(?:季度)?")
_VERSION = re.compile(
    r"(?:版本|version|ver\.?|release)\s?(?:号|is)?\s?v?(?P<a>\d+(?:\.\d+)*)"
    r"|(?<![a-z0-9.])v(?P<b>\d+(?:\.\d+)*)(?![\w.]*\d*[a-z])"
    r"|(?<![\d.])(?P<c>\d+(?:\.\d+)*)\s?版(?!权|本费)"
)
_KINDS = {
    "pdf": ("pdf",),
    "word": ("docx", "doc"),
    "excel|电子表格|spreadsheet": ("xlsx", "xls", "csv", "ods"),
    "ppt|powerpoint|幻灯片|演示文稿|slides?|presentation": ("pptx", "ppt", "odp"),
    "邮件|e-?mails?": ("eml", "msg"),
    "网页|web ?pages?": ("html",),
}
_IN_HAN = r"(?:文件|文档|文檔|表格|附件)?(?:里面?|裡|中|内|上)(?![\w]{0,1}(?:用|文|学))"
_LATEST = re.compile(
    r"最新(?!鲜|鮮)(?:的|版|版本|一版)?|现行|現行|当前有效|目前有效|(?:当前|目前)的?版本"
    r"|\b(?:latest|newest|most recent|up-to-date|currently valid)\b"
    r"|\bcurrent (?:version|edition|policy|rules?|regulations?)\b"
)
_DOCUMENT_HAN = (
    "(?:制度|规定|办法|文件|通知|手册|报告|资料|文档|政策|指南|规范|方案|合同|标准|公告|意见|细则|规章|章程|材料"
    "|说明书)"
)
_MADE_HAN = r"(?:所?(?:发布|制定|印发|出具|下发|编制|提供|公布|起草)|的)"
_BY_HAN = re.compile(rf"^{_MADE_HAN}[^，。？?]{{0,10}}?{_DOCUMENT_HAN}|^{_DOCUMENT_HAN}")
_DOCUMENT_ENGLISH = (
    r"polic(?:y|ies)|documents?|rules?|handbooks?|guidelines?|reports?|manuals?|procedures?|notices?|memos?"
)
_OF_ENGLISH = re.compile(
    rf"^(?:['’]s)?(?: department| team| division)?(?:['’]s)? (?:[a-z]+ ){{0,2}}(?:{_DOCUMENT_ENGLISH})\b"
)
_BY_ENGLISH = re.compile(rf"\b(?:{_DOCUMENT_ENGLISH})\b[a-z ]{{0,20}}\b(?:from|by|of) (?:the )?$")
_INSIDE_HAN = re.compile(r"^(?:类文件|类文档|类)?(?:里面?|中|内)")
_INSIDE_ENGLISH = re.compile(r"\b(?:in|from) (?:the |our |any )?$")

_Reader = Callable[[str, Holdings], Iterable[ReadFilter]]


def may_mean_documents(question: str) -> bool:
    """Say whether a question has any word from which a filter might be read; cheap, and asked first."""
    matched = folded(question)
    return any(
        pattern.search(matched)
        for pattern in (_YEAR, _QUARTER, _VERSION, _LATEST, _WORDS_OF_DOCUMENTS, _KIND_WORDS, _INSIDE_WORDS)
    )


def read_filters(question: str, holdings: Holdings) -> list[ReadFilter]:
    """Return the filters that a question states, at most one a field, in a fixed order."""
    matched = folded(question)
    found: dict[str, ReadFilter] = {}
    for reader in (_quarter, _year, _department, _version, _kind, _type, _latest):
        for one in reader(matched, holdings):
            found.setdefault(one.field, one)
    return list(found.values())


def _one_of(field: str, values: Sequence[Value], said: str) -> Iterator[ReadFilter]:
    if not 1 <= len(values) <= _MOST_VALUES:
        return
    written = [json.dumps(value, ensure_ascii=False) for value in values]
    text = f"{field} = {written[0]}" if len(written) == 1 else f"{field} in ({', '.join(written)})"
    yield ReadFilter(field=field, text=text, said=said.strip())


def _by_field(found: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    fields: dict[str, list[Value]] = {}
    for name, value in found:
        fields.setdefault(name, []).append(value)
    return {name: sorted(values, key=str) for name, values in fields.items()}


# --- years and quarters -----------------------------------------------------------------------------------------


def _year(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    stated = [match for match in _YEAR.finditer(question) if match[2] or _names_a_year(question, match)]
    if not stated:
        return
    stated = list(_YEAR.finditer(question))  # where one is meant so, the others are too
    said = question[stated[0].start() : stated[-1].end()]
    years = {int(match[1]) for match in stated}
    values = _by_field(holdings.values(YEARS))
    for name, known in values.items():
        yield from _within(name, known, question, stated, said)
    if values:
        return
    for name, cue in _DATES.items():
        if cue.search(question) and len(years) == len(stated) == 1 and not _open_ended(question, stated[0]):
            dated = (value for _, value in holdings.values((name,)) if isinstance(value, str))
            yield from _one_of(name, sorted(value for value in dated if _year_of(value) in years), said)


def _names_a_year(question: str, match: re.Match[str]) -> bool:
    before, after = question[: match.start()], question[match.end() :]
    return bool(
        match.group().startswith("fy")
        or _MEANS_YEAR.search(before)
        or _YEAR_OF.search(after)
        or _open_ended(question, match)
    )


def _open_ended(question: str, match: re.Match[str]) -> bool:
    before, after = question[: match.start()], question[match.end() :]
    return any(pattern.search(text) is not None for pattern in (_SINCE, _UNTIL) for text in (after[:6], before[-12:]))


def _within(
    name: str, known: Sequence[Value], question: str, stated: Sequence[re.Match[str]], said: str
) -> Iterator[ReadFilter]:
    years = {int(match[1]) for match in stated}
    wanted: Callable[[int], bool] = years.__contains__
    if len(stated) == 1:
        (year,) = years
        around = (question[stated[0].end() :][:6], question[: stated[0].start()][-12:])
        if any(_SINCE.search(text) for text in around):
            wanted = lambda value: value >= year  # noqa: E731 one of three
        elif any(_UNTIL.search(text) for text in around):
            wanted = lambda value: value < year  # noqa: E731 one of three
    elif re.search(r"[至到~—-]|\bto\b|\bbetween\b", said):
        wanted = lambda value: min(years) <= value <= max(years)  # noqa: E731 one of three
    yield from _one_of(name, [value for value in known if (read := _year_of(value)) and wanted(read)], said)


def _year_of(value: Value) -> int:
    if isinstance(value, bool):
        return 0
    found = re.match(r"(?:fy\s?)?((?:19|20)\d\d)(?:\D|$)", str(value).lower())
    return int(found[1]) if found else 0


def _quarter(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    stated = list(_QUARTER.finditer(question))
    if len(stated) != 1:
        return
    match = stated[0]
    number = int(match["q"] or 0) or _ENGLISH_ORDINALS.get(match["e"] or "", 0) or number_of(match["h"] or "") or 0
    years = {int(found[1]) for found in _YEAR.finditer(question)}
    for name, known in _by_field(holdings.values(QUARTERS)).items():
        values = [value for value in known if _is_quarter(value, number, years)]
        yield from _one_of(name, values, match.group())


def _is_quarter(value: Value, number: int, years: Collection[int]) -> bool:
    found = None if isinstance(value, bool) else _QUARTER_VALUE.fullmatch(folded(str(value)).strip())
    if found is None or (int(found["n"]) if found["n"] else number_of(found["h"])) != number:
        return False
    return not (found["y"] and years) or int(found["y"]) in years


# --- who, which version, which kind -----------------------------------------------------------------------------


def _department(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    yield from _named(question, holdings, DEPARTMENTS, _is_maker)


def _is_maker(before: str, after: str) -> bool:
    return bool(_BY_HAN.search(after) or _OF_ENGLISH.search(after) or _BY_ENGLISH.search(before))


def _type(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    yield from _named(question, holdings, TYPES, _is_place)


def _is_place(before: str, after: str) -> bool:
    return bool(_INSIDE_HAN.search(after) or _INSIDE_ENGLISH.search(before))


def _named(
    question: str, holdings: Holdings, names: Collection[str], means: Callable[[str, str], bool]
) -> Iterator[ReadFilter]:
    """Read a value that stands in the question; of several the longest, and none where two are as long."""
    for name, known in _by_field(holdings.values(names)).items():
        found: dict[str, list[Value]] = {}
        for value in known:
            word = folded(value).strip() if isinstance(value, str) else ""
            stands = (place for place in places(word, question) if len(word) > 1)
            if any(means(question[: place.start], question[place.end :]) for place in stands):
                found.setdefault(word, []).append(value)
        longest = [word for word in found if not any(word != other and word in other for other in found)]
        if len(longest) == 1:
            yield from _one_of(name, found[longest[0]], longest[0])


def _version(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    stated = list(_VERSION.finditer(question))
    numbers = {match["a"] or match["b"] or match["c"] for match in stated}
    if len(numbers) != 1:
        return
    wanted = canonical(numbers.pop())
    for name, known in _by_field(holdings.values(VERSIONS)).items():
        values = [value for value in known if not isinstance(value, bool) and _plain_version(value) == wanted]
        yield from _one_of(name, values, stated[0].group())


def _plain_version(value: Value) -> str:
    text = re.sub(r"^(?:version|ver\.?|版本|第)\s?|版$", "", folded(str(value)).strip())
    return canonical(text.removeprefix("v") if re.match(r"v\d", text) else text)


def _kind(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    there = {document.kind for document in holdings.documents}
    for word, kinds in _KINDS.items():
        match = re.search(
            rf"(?:{word})\s?{_IN_HAN}|\b(?:in|from) (?:the |our |any |which )?(?:{word})(?: files?| documents?)?\b",
            question,
        )
        present = [kind for kind in kinds if kind in there]
        if match and present and there - set(kinds):
            yield from _one_of("kind", present, match.group())
            return


_WORDS_OF_DOCUMENTS = re.compile(rf"{_DOCUMENT_HAN}|\b(?:{_DOCUMENT_ENGLISH})\b")
_KIND_WORDS = re.compile(rf"(?:{'|'.join(_KINDS)})")
_INSIDE_WORDS = re.compile(r"类?文[件档]?(?:里|中|内)|[里中内]|\b(?:in|from) ")


# --- the newest of several editions -----------------------------------------------------------------------------

_EDITION = re.compile(
    r"[（(\[【〔]?(?:第?[\d.]+[版次稿]?|v[\d.]+|\d{4}年?(?:\d{1,2}月)?(?:修订|修正)?版?|修订版?|修正|版本|edition|version"
    r"|revised|rev\.?)[)）\]】〕]?"
)
_ORDERED_BY = ("effective_from", "published", "updated", *YEARS)


def _latest(question: str, holdings: Holdings) -> Iterator[ReadFilter]:
    match = _LATEST.search(question)
    if match is None:
        return
    editions: dict[str, list[Holding]] = {}
    for document in holdings.documents:
        stem = "".join(_EDITION.sub(" ", folded(document.title)).split()).strip("-_.·")
        if len(stem) >= 3 and document.kind != "faq":
            editions.setdefault(stem, []).append(document)
    older: list[str] = []
    for several in editions.values():
        ages = [age for document in several if (age := _age(document)) is not None]
        if len(ages) == len(several) > 1:
            older += [document.document_id for document, age in zip(several, ages, strict=True) if age < max(ages)]
    if 1 <= len(older) <= _MOST_VALUES:
        ids = ", ".join(json.dumps(id) for id in sorted(older))
        yield ReadFilter(field="document_id", text=f"not document_id in ({ids})", said=match.group())


def _age(document: Holding) -> tuple[str, tuple[int, ...]] | None:
    """Return what orders editions: the date or year, then the version; None where the document says neither."""
    dates = (str(value) for name in _ORDERED_BY for value in document.values(name))
    date = next(dates, "") or next(iter(re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", document.title)), "")
    versions = [str(value) for value in document.values("version")] or re.findall(
        r"v(\d[\d.]*)", folded(document.title)
    )
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", versions[0])) if versions else ()
    return (date, numbers) if date or numbers else None
