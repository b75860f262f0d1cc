"""PDF files with a text layer: characters with their places, in reading order, page by page."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pypdfium2 as pypdfium
import pypdfium2.raw as pdfium

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError, EncryptedDocumentError
from kaijuan.ingest.parsers.contents import contents_lines
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.pdf_blocks import groups_of, hyphenated_words, written
from kaijuan.ingest.parsers.pdf_code import Typewriting
from kaijuan.ingest.parsers.pdf_furniture import furniture_of
from kaijuan.ingest.parsers.pdf_headings import Body, Bookmarks, Looks, printed_title
from kaijuan.ingest.parsers.pdf_lines import Line, LineMaker, sureness
from kaijuan.ingest.parsers.pdf_ocr import PageReader
from kaijuan.ingest.parsers.pdf_order import lines_in_order
from kaijuan.ingest.parsers.pdf_page import PageText, read_page
from kaijuan.ingest.parsers.pdf_pages import PrintedPages
from kaijuan.ingest.parsers.recognised import as_shown
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.ports import Recogniser

_MOST_PAGES = 20_000
_MOST_OUTLINE = 5_000
_WINDOW = 128
_JUNK_TITLE = re.compile(
    r"^(?:untitled.*|无标题.*|document\d*|\(anonymous\)|doi:.*|[\d\W]+|microsoft (?:word|powerpoint|excel)\b.*|"
    r".*\.(?:docx?|indd|tex|dvi|qxd|pdf|pptx?))$",
    re.I,
)
_NOTHING_SAID = re.compile(r"\((?:anonymous|unspecified|unknown|none)\)|(?:unspecified|unknown|none|null|n/a|-+)", re.I)
"""What programs write where nobody gave an author or subject."""
_SHOWN_PAGES = 20


@dataclass(slots=True)
class _Pages:
    """What reading all pages gave."""

    lines: PrintedPages = field(default_factory=PrintedPages)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    """Of the frames in which lines are upright; `sizes` are those of the pages as shown."""
    unmade: list[int] = field(default_factory=list)
    """Pages with a table of which only the lines could be kept."""
    hidden: list[str] = field(default_factory=list)


class PdfParser:
    """Parser of kind "pdf". Pages without a text layer are recognised; without a recogniser they are listed."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks, each with the places of its characters on the page."""
        source = _Source(data, name)
        reader = PageReader(self.recogniser)
        try:
            pages = _read(source, reader)
            outlines = Bookmarks(_outlines(source.document))
            metadata = _metadata(source.document)
        finally:
            source.document.close()
        if not pages.lines.lines:
            _refuse(pages, name, reader)
        pages.lines.without(furniture_of(pages.lines, pages.heights))
        _leave_out_contents(pages.lines)
        whole = _look_at(pages.lines, outlines)
        draft = Draft()
        title = str(metadata.pop("title", "")) or printed_title(pages.lines, whole.body)
        # From here on each printed line is needed once: what is written goes, so that both are never held together.
        for group in groups_of(map(whole.marked, pages.lines.used_up()), whole.body, whole.typewriting):
            made = written(group, whole.hyphenated)
            kind = BlockKind.PARAGRAPH if made.unmade else group.kind
            sure = sureness(group.lines)
            draft.add(
                kind,
                made.text,
                level=group.level,
                lines=made.lines,
                confidence=sure,
                table=made.table,
                origin=Origin(place=made.place),
            )
            if made.unmade:
                pages.unmade.append(group.lines[0].page)
            group.lines.clear()
        parsed = draft.finish("pdf", name, title=title, metadata=metadata, warnings=_warnings(pages, reader))
        shown = replace(
            as_shown(parsed, reader.frames),
            pages=len(pages.sizes),
            page_sizes=tuple(pages.sizes),
            unread_pages=tuple(sorted(pages.unread + pages.failed)),
        )
        return with_hidden(shown, pages.hidden)


class _Source:
    """A document, opened anew every so many pages: the library keeps what it has read of each of them."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self.document = _open(data, name)

    def page(self, index: int) -> Any:
        """Return a page, to be closed by the caller; pages must be asked for in order."""
        if index and index % _WINDOW == 0:
            self.document.close()
            self.document = _open(self._data, self._name)
        return self.document[index]


def _open(data: bytes, name: str) -> Any:
    try:
        document = pypdfium.PdfDocument(data)
    except pypdfium.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY} or "password" in str(error).lower():
            raise EncryptedDocumentError(f"{name} is protected with a password.") from error
        said = str(error).rstrip(".")
        raise BrokenDocumentError(f"{name} is not a readable PDF: {said}.") from error
    if not 0 < len(document) <= _MOST_PAGES:
        count = len(document)
        document.close()
        raise BrokenDocumentError(f"{name} has {count} pages.")
    return document


def _read(source: _Source, reader: PageReader) -> _Pages:
    """Read page by page; a page that cannot be loaded is counted and named, never skipped in silence."""
    pages = _Pages()
    maker = LineMaker()
    for index in range(len(source.document)):
        number = index + 1
        try:
            text = _read_page(source, index, reader)
        except pypdfium.PdfiumError:
            pages.failed.append(number)
            text = PageText(width=0.0, height=0.0, runs=[], unread=False)
        if text.unread:
            pages.unread.append(number)
        pages.heights.append(text.height)
        pages.hidden += text.hidden
        width, height = reader.size(number, text.width, text.height)
        pages.sizes.append((maker.number(width), maker.number(height)))
        lines = lines_in_order(text.runs, text.graphics, number, maker)
        pages.lines.append(reader.with_figures(number, lines, maker))
    return pages


class _Texts:
    """The texts of all lines, to be walked over as often as needed."""

    def __init__(self, pages: PrintedPages) -> None:
        self._pages = pages

    def __iter__(self) -> Iterator[str]:
        return (line.text for lines in self._pages for line in lines)


def _leave_out_contents(pages: PrintedPages) -> None:
    gone = contents_lines(_Texts(pages))
    if gone:
        number = itertools.count()
        pages.without([{at for at in range(len(lines)) if next(number) in gone} for lines in pages])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What only a look at the whole document tells."""

    body: Body
    typewriting: Typewriting
    hyphenated: frozenset[str]
    """Words that are written with a hyphen inside a line."""
    bookmarks: Bookmarks

    def marked(self, lines: list[Line]) -> list[Line]:
        """Return the lines of a page, those marked that bookmarks point to."""
        self.bookmarks.mark(lines)
        return lines


def _look_at(pages: PrintedPages, bookmarks: Bookmarks) -> _Whole:
    looks, typewriting = Looks(), Typewriting()
    words: set[str] = set()
    found = count = 0
    for lines in pages:
        looks.see(lines)
        typewriting.see(lines)
        words |= hyphenated_words(lines)
        found += bookmarks.mark(lines)
        count += 1 if lines else 0
    body = looks.body(outlined=bookmarks.are_enough(found, count))
    return _Whole(body=body, typewriting=typewriting, hyphenated=frozenset(words), bookmarks=bookmarks)


def _read_page(source: _Source, index: int, reader: PageReader) -> PageText:
    page = source.page(index)
    try:
        return reader.read(page, index + 1, read_page(page))
    finally:
        page.close()


def _refuse(pages: _Pages, name: str, reader: PageReader) -> None:
    if pages.unread and not reader.is_on:
        raise EmptyDocumentError(
            f"{name} seems to be scanned: none of its {len(pages.sizes)} pages has a text layer.",
            hint="Turn text recognition on: set ingest.recogniser to onboard.",
        )
    if reader.frames:
        raise EmptyDocumentError(f"{name} is scanned, and no words can be recognised on its pages.")
    if pages.failed:
        raise BrokenDocumentError(f"None of the pages of {name} can be read.")
    raise EmptyDocumentError(f"{name} has no text on its pages.")


def _warnings(pages: _Pages, reader: PageReader) -> Iterator[str]:
    if reader.frames:
        yield f"Pages without a usable text layer were read by text recognition (OCR): {_list(list(reader.frames))}."
    if pages.unread:
        why = "no time was left, see ingest.recognise_seconds" if reader.late else "ingest.recogniser is off"
        why = why if reader.late or not reader.is_on else "they cannot be drawn"
        yield f"Pages without a text layer were not read ({why}): {_list(pages.unread)}."
    yield from reader.warnings()
    if pages.failed:
        yield f"Damaged pages could not be read: {_list(pages.failed)}."
    if pages.unmade:
        yield f"Tables whose cells could not be told are kept as lines of text: pages {_list(pages.unmade)}."


def _list(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN_PAGES]))
    return shown if len(numbers) <= _SHOWN_PAGES else f"{shown} and {len(numbers) - _SHOWN_PAGES} more"


def _outlines(document: Any) -> dict[int, dict[str, int]]:
    """Return the bookmarks: for each page the titles and their levels."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    try:
        for count, mark in enumerate(document.get_toc(max_depth=6)):
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            if count >= _MOST_OUTLINE:
                break
            if page is not None:
                found[page + 1].setdefault(mark.get_title(), mark.level + 1)
    except (pypdfium.PdfiumError, UnicodeDecodeError, ValueError):
        return found  # a broken outline costs heading levels, not text
    return found


def _metadata(document: Any) -> dict[str, Scalar | tuple[str, ...]]:
    try:
        raw = document.get_metadata_dict(skip_empty=True)
    except (pypdfium.PdfiumError, UnicodeDecodeError):
        return {}
    values: dict[str, Scalar | tuple[str, ...]] = {}
    for key, name in (("Title", "title"), ("Author", "author"), ("Subject", "subject"), ("Keywords", "keywords")):
        text = " ".join(_printable(raw.get(key, "")).split())
        if text and not _NOTHING_SAID.fullmatch(text) and not (name == "title" and _JUNK_TITLE.match(text)):
            values[name] = text
    for key, name in (("CreationDate", "created"), ("ModDate", "modified")):
        if date := re.match(r"D:(\d{4})(\d{2})(\d{2})", raw.get(key, "")):
            values[name] = "-".join(date.groups())
    return values


def _printable(text: str) -> str:
    return "".join(
        char for char in text if unicodedata.category(char) not in {"Cc", "Cs", "Cn", "Co"} or char in "\t\n"
    )
