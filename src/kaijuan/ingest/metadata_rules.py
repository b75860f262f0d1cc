"""What a document says about itself, by rules: number, dates, version, issuer, authors, keywords.

Only what is sure: a labelled line ("Version: 2.1", "发布日期：2024-01-02") in the first part of a document that people
write for people, a form of its own ("国发〔2023〕12号", "doi:10.1000/182"), or a closing clause about the document
itself ("本办法自2024年7月1日起施行"). Where a document says two things, neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kaijuan.core.documents import BlockKind, Metadata, ParsedBlock, ParsedDocument, Scalar
from kaijuan.ingest.metadata_dates import DATE, read
from kaijuan.ingest.metadata_labels import LONGEST, field_of, labelled, names_in, value_of

_PROSE = frozenset({"text", "markdown", "html", "docx", "doc", "odt", "rtf", "pdf", "asciidoc", "rst", "epub"})
_SLIDES = frozenset({"pptx", "ppt", "odp"})
"""Kinds of which the first page speaks about the document. Data, code, mail and talks may speak of anything."""
_ACCOUNTS = frozenset({"docx", "doc", "odt", "rtf", "pdf", "pptx", "ppt", "odp"})
"""Kinds whose properties are often those of an account or a template: what the text says is surer."""
_HEAD_CHARACTERS = 3_000
_HEAD_BLOCKS = 60
_NAMES = frozenset({"author", "issuer", "department", "owner", "keywords"})

_HAN = "一二三四五六七八九十百千〇零"
_YEAR = r"(?:19|20)\d\d"
_NUMBERED = re.compile(rf"([一-鿿]{{1,20}}?)\s*[〔\[［(（【]\s*({_YEAR})\s*[〕\]］)）】]\s*(第?)\s*(\d{{1,5}})\s*号")
_CASE = re.compile(rf"[(（]({_YEAR})[)）]([一-鿿]{{1,4}}\d{{0,6}}[一-鿿]{{1,8}}\d{{1,7}}号)")
_ORDER = re.compile(rf"[(（]?([一-鿿]{{2,30}}令)\s?第?\s?([\d{_HAN}]{{1,8}})\s?号[)）]?")
_STANDARD = re.compile(
    r"(?:ISO|IEC|ISO/IEC|ISO/TS|ISO/TR|IEEE|EN|EN ISO|DIN|DIN EN|BS|BS EN|ASTM|GB|GB/T|GB/Z|GBZ|JB/T|YY/T|HJ|DB\d\d/T)"
    r"\s?[A-Z]?\d[\d.-]{0,14}\s?[:—–-]\s?(?:19|20)\d\d(?!\d)"
)
_ARXIV = re.compile(r"arXiv:\d{4}\.\d{4,5}(?:v\d{1,2})?", re.I)
_DOI = re.compile(r"(?:\bdoi\s?[:：]?\s?|doi\.org/)(10\.\d{4,9}/[-._;()/:a-z0-9]{1,100})", re.I)
_VERSION_LINE = re.compile(r"[(（]?(?:version|rev(?:ision)?\.?|版本|v)\s?(\d[\w.-]{0,15})[)）]?", re.I)

_EVENT = re.compile(
    rf"{DATE}[^。，,]{{0,100}}?(?P<time>第[{_HAN}]{{1,3}}次)?(?P<deed>通过|公布|发布|颁布|印发|修订|修正|修改|施行|实施)"
    r"(?=$|[\s)）;；\d自]|根据)",
    re.I,
)
_QUOTED = re.compile(r"《[^》]*》")
_MADE, _TOLD = frozenset({"通过"}), frozenset({"公布", "发布", "颁布", "印发"})
_CHANGED, _IN_FORCE = frozenset({"修订", "修正", "修改"}), frozenset({"施行", "实施"})

_DOCUMENTS = (
    "条例|规定|办法|细则|通知|意见|制度|标准|规范|规程|规则|准则|方案|章程|公告|决定|协议|合同|政策|解释|指引|指南|法"
)
_CLAUSE = re.compile(
    rf"(?:第[{_HAN}\d]{{1,8}}条|[\d.]{{1,8}}|[{_HAN}]{{1,3}}、)?\s?本({_DOCUMENTS})自(?:(?P<told>公布|发布|颁布|印发|通过)之日|{DATE})"
    r"起(?:正式)?(?:施行|实施|生效|执行|试行)(?P<rest>.{0,20})",
    re.I,
)
_UNTIL = re.compile(rf"[,，]?(?:至|有效期(?:限)?至){DATE}", re.I)
_TRAILING = re.compile(r"(?:[(（〔\[][^()（）〔〕\[\]]*[)）〕\]]|[》」\s])+$")
_SENDS = re.compile(
    rf"(?:印发|发布|公布|颁布).{{0,80}}?({_DOCUMENTS})(?:[(（][^()（）]{{0,20}}[)）])?》?的(?:通知|公告|决定)$"
)
_ENGLISH_CLAUSE = re.compile(
    r"(?:\d[\d.]{0,8}\s)?this (policy|agreement|regulation|act|standard|procedure|directive|order|rule|guideline|"
    r"notice|contract|handbook) (?:is effective|shall be effective|becomes effective|takes effect|shall take effect|"
    r"enters into force|shall enter into force|comes into force|shall come into force|comes into effect)"
    rf"(?: as of| from| on| beginning)?\s{DATE}",
    re.I,
)
_INSTITUTION = re.compile(
    r"([一-鿿]{2,30}?(?:院|部|委|委员会|总局|局|厅|政府|法院|检察院|银行|公司|中心|大学|学院|学会|协会|集团|署|办公室))"
    r"关于.{2,80}的(?:通知|意见|决定|批复|公告|通告|报告|函|复函|请示)"
)
_PASSES_ON = re.compile("转发|印发|批转")


def with_said(document: ParsedDocument) -> ParsedDocument:
    """Return the document with what its text says about it among its metadata."""
    said = _said(document) if document.kind in _PROSE | _SLIDES else {}
    told = _listed(document.metadata)
    merged = {**told, **said} if document.kind in _ACCOUNTS else {**said, **told}
    return document if merged == document.metadata else replace(document, metadata=merged)


def _listed(metadata: Metadata) -> dict[str, Scalar | tuple[str, ...]]:
    """Return metadata with keywords as a list."""
    keywords = metadata.get("keywords")
    entries = names_in("keywords", keywords) if isinstance(keywords, str) else ()
    return {**metadata, "keywords": entries} if entries else dict(metadata)


def _said(document: ParsedDocument) -> dict[str, Scalar | tuple[str, ...]]:
    head = list(_head(document))
    texts = [block.span.of(document.text)[: 2 * _HEAD_CHARACTERS] for block in head]
    lines = [line.strip() for text in texts for line in text.split("\n")]
    found: dict[str, set[str]] = {}
    for pairs in (_labels(document, head, lines), _forms(lines), _events(lines)):
        _gather(found, pairs)
    _gather(found, _title(document.title))
    _gather(found, _clauses(document, found.get("published", set())))
    sure = {field: values.copy().pop() for field, values in found.items() if len(values) == 1}
    return {field: _entries(field, value) for field, value in sure.items()}


def _entries(field: str, value: str) -> Scalar | tuple[str, ...]:
    if field == "keywords":
        return names_in(field, value)
    names = names_in(field, value) if field == "author" else ()
    return names if len(names) > 1 else value


def _gather(found: dict[str, set[str]], pairs: Iterator[tuple[str, str]]) -> None:
    """Add values of fields that no surer rule has spoken about."""
    fresh: dict[str, set[str]] = {}
    for field, value in pairs:
        fresh.setdefault(field, set()).add(value)
    for field, values in fresh.items():
        found.setdefault(field, values)


def _head(document: ParsedDocument) -> Iterator[ParsedBlock]:
    for block in document.blocks[:_HEAD_BLOCKS]:
        if block.span.start > _HEAD_CHARACTERS or (document.kind in _SLIDES and set(block.pages) - {1}):
            return
        if block.kind not in {BlockKind.CODE, BlockKind.FORMULA}:
            yield block


def _labels(document: ParsedDocument, head: list[ParsedBlock], lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        yield from labelled(line)
    for block in head:
        yield from _form(document, block)


def _form(document: ParsedDocument, block: ParsedBlock) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a table that is filled in: each label in a cell, its value in the next.

    Names are only believed beside a date, number or version: "作者 | 书名" is the head of a list of books.
    """
    if block.table is None:
        return
    cells = {
        (cell.row, cell.column): (" ".join(cell.span.of(document.text).split()), cell.column + cell.columns)
        for cell in block.table.cells
    }
    pairs = []
    for (row, _), (words, after) in cells.items():
        if (field := field_of(words)) and (value := value_of(field, cells.get((row, after), ("", 0))[0])):
            pairs.append((field, value))
    if any(field not in _NAMES for field, _ in pairs):
        yield from pairs


def _forms(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what has a form of its own and stands alone in a line."""
    for line in lines:
        for doi in _DOI.findall(line):
            yield "doi", doi.rstrip(".,;)").lower()
        if len(line) > LONGEST:
            continue
        if number := _own_number(line):
            yield "document_number", number
        if version := _VERSION_LINE.fullmatch(line):
            yield "version", version[1]


def _own_number(line: str) -> str:
    if found := _NUMBERED.fullmatch(line):
        return f"{found[1]}〔{found[2]}〕{found[3]}{found[4]}号"
    if found := _CASE.fullmatch(line):
        return f"（{found[1]}）{found[2]}"
    if found := _ORDER.fullmatch(line):
        return f"{found[1]}第{found[2]}号"
    if found := _STANDARD.fullmatch(line):
        return found[0]
    return found[0] if (found := _ARXIV.match(line)) else ""


def _events(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the dates of lines that tell a document's history: "（1993年12月29日…通过 2023年12月29日…第二次修订）"."""
    made: list[str] = []
    told: list[str] = []
    changed: list[tuple[str, str]] = []
    for line in lines:
        line = _QUOTED.sub("", line).lstrip("(（")
        events = list(_EVENT.finditer(line))
        if not events or events[0].start() > 0:
            continue
        for event in events:
            day, deed = read(event), event["deed"]
            if not day:
                continue
            if deed in _IN_FORCE:
                yield "effective_from", day
            elif deed in _CHANGED:
                changed.append((day, (event["time"] or "") + deed))
            else:
                (told if deed in _TOLD else made).append(day)
    if told or made:
        yield "published", min(told or made)
    if changed:
        day, deed = max(changed)
        yield "updated", day
        yield "version", deed


def _title(title: str) -> Iterator[tuple[str, str]]:
    found = _INSTITUTION.fullmatch(title)
    if found and not _PASSES_ON.search(found[1]):
        yield "issuer", found[1]
    if standard := _STANDARD.match(title):
        yield "document_number", standard[0]


def _clauses(document: ParsedDocument, published: set[str]) -> Iterator[tuple[str, str]]:
    """Yield from when to when the document says it holds; clauses about another document do not count."""
    title = _TRAILING.sub("", document.title)
    for block in document.blocks:
        for line in block.span.of(document.text).split("\n"):
            if (clause := _CLAUSE.match(line)) and _is_called(title, clause[1]):
                yield from _validity(clause, published)
            elif (english := _ENGLISH_CLAUSE.match(line)) and english[1].lower() in title.lower() and read(english):
                yield "effective_from", read(english)


def _is_called(title: str, noun: str) -> bool:
    """Say whether a document of this title calls itself so: 本办法, also below a notice that sends 《…办法》 out."""
    sent = _SENDS.search(title)
    return title.endswith(noun) or (noun == "法" and title.endswith("法典")) or (sent is not None and sent[1] == noun)


def _validity(clause: re.Match[str], published: set[str]) -> Iterator[tuple[str, str]]:
    start = read(clause)
    if clause["told"] and len(published) == 1:
        (start,) = published
    if start:
        yield "effective_from", start
    if (until := _UNTIL.match(clause["rest"])) and (end := read(until)):
        yield "effective_to", end
