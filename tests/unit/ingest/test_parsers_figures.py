"""Pictures in Office files and books: their words, where they come from, and what is left silent."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import openpyxl
import pptx
import pytest
from docx.shared import Inches as DocxInches
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx.util import Inches
from tests import sample_files
from tests.picture_files import page, saved

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.ingest.parsers import figure_words
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.epub import EpubParser
from kaijuan.ingest.parsers.figure_words import FigureReader
from kaijuan.ingest.parsers.odf import OdpParser, OdsParser, OdtParser
from kaijuan.ingest.parsers.pptx import PptxParser
from kaijuan.ingest.parsers.xlsx import XlsxParser
from kaijuan.ingest.ports import PageImage, ReadsPictures, RecognisedLine
from kaijuan.ingest.recognising import PictureError
from kaijuan.testing.contracts.parser import check_document


class Reader:
    """Says how large each picture is, at its upper and lower half."""

    fingerprint = "size"

    def __init__(self, confidence: float = 0.9) -> None:
        self.read = 0
        self._confidence = confidence

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        self.read += 1
        height, width = image.shape[:2]
        return [
            RecognisedLine(
                text=text,
                corners=((0, top), (width, top), (width, top + height / 3), (0, top + height / 3)),
                confidence=self._confidence,
            )
            for text, top in (("below it", height / 2), (f"picture {width}", 0))
        ]


def picture(width: int) -> io.BytesIO:
    return io.BytesIO(saved(page("x", size=(width, 100), left=10, top=10)))


def word() -> bytes:
    document = docx.Document()
    document.add_paragraph("Before the picture.")
    for width in (200, 300, 200):
        document.add_picture(picture(width), width=DocxInches(2))
    document.add_paragraph("Behind the picture.")
    return written(document.save)


def slides() -> bytes:
    deck = pptx.Presentation()
    for width in (200, 300):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = "A slide"
        slide.shapes.add_picture(picture(width), 0, 0, Inches(2))
        slide.shapes.add_picture(picture(200), 0, Inches(3), Inches(2))
    return written(deck.save)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = "words"
    for row, width in ((4, 200), (9, 300)):
        sheet.add_image(SheetImage(picture(width)), f"B{row}")
    return written(book.save)


def written(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def odf(kind: str, body: str) -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{urn}:1.0"'
        for name, urn in (
            *(("office", "office"), ("text", "text"), ("draw", "drawing"), ("table", "table")),
            *(("svg", "svg-compatible"), ("style", "style")),
        )
    )
    content = (
        f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    members = {f"Pictures/{width}.png": picture(width).getvalue() for width in (200, 300)}
    kinds = f"application/vnd.oasis.opendocument.{kind}".encode()
    return sample_files.zipped({"mimetype": kinds, "content.xml": content.encode(), **members})


def frame(width: int) -> str:
    return f'<draw:frame><draw:image xlink:href="Pictures/{width}.png"/></draw:frame>'


FRAMES = frame(200) + frame(300)
ODT = odf("text", f"<text:p>words {frame(200)}</text:p><text:p>more {frame(300)}</text:p>")
ODS = odf(
    "spreadsheet",
    f'<table:table table:name="s"><table:table-row><table:table-cell><text:p>a</text:p>{FRAMES}'
    "</table:table-cell></table:table-row></table:table>",
)
ODP = odf(
    "presentation",
    f"<draw:page><draw:frame><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame>{FRAMES}</draw:page>",
)


def book() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="o/c.opf"/></rootfiles></container>'
    )
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="t/a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    chapter = (
        "<html><body><p>words</p><img src='../i/200.png'/><p>more</p><img src='../i/300.png' alt=''/></body></html>"
    )
    return sample_files.zipped(
        {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": container.encode(),
            "o/c.opf": opf.encode(),
            "o/t/a.xhtml": chapter.encode(),
            "o/i/200.png": picture(200).getvalue(),
            "o/i/300.png": picture(300).getvalue(),
        }
    )


FILES: tuple[tuple[type[ReadsPictures], Callable[[], bytes], tuple[str, str]], ...] = (
    (DocxParser, word, ("word/media/image1.png", "word/media/image2.png")),
    (PptxParser, slides, ("ppt/media/image1.png", "ppt/media/image2.png")),
    (XlsxParser, workbook, ("xl/media/image1.png", "xl/media/image2.png")),
    (OdtParser, lambda: ODT, ("Pictures/200.png", "Pictures/300.png")),
    (OdsParser, lambda: ODS, ("Pictures/200.png", "Pictures/300.png")),
    (OdpParser, lambda: ODP, ("Pictures/200.png", "Pictures/300.png")),
    (EpubParser, book, ("o/i/200.png", "o/i/300.png")),
)


def parsed(kind: type[ReadsPictures], data: bytes, reader: Reader | None) -> ParsedDocument:
    parser = kind()
    assert isinstance(parser, ReadsPictures)
    parser.recogniser = reader
    document: ParsedDocument = parser.parse(data, "a.file")  # type: ignore[attr-defined]  # a parser, which is another port
    check_document(document)
    return document


def figures(document: ParsedDocument) -> list[tuple[str, ParsedBlock]]:
    return [(block.span.of(document.text), block) for block in document.blocks if block.kind is BlockKind.FIGURE]


@pytest.mark.parametrize(("kind", "make", "parts"), FILES, ids=lambda value: getattr(value, "__name__", ""))
def test_words_of_pictures_name_the_part(
    kind: type[ReadsPictures], make: Callable[[], bytes], parts: tuple[str, str]
) -> None:
    reader = Reader()
    data = make()
    found = figures(parsed(kind, data, reader))
    assert [text for text, _ in found] == ["picture 200\nbelow it", "picture 300\nbelow it"]
    assert [block.place.rpartition(", ")[2] or block.place for _, block in found] == list(parts)
    assert [round(block.confidence, 3) for _, block in found] == [0.9, 0.9]
    assert reader.read == 2, "a picture that comes again is read again"
    assert figures(parsed(kind, data, None)) == []


def test_a_description_stands_before_the_words() -> None:
    document = docx.Document(io.BytesIO(word()))
    document.element.body.findall(".//{*}docPr")[1].set("descr", "What people see in it")
    texts = [text for text, _ in figures(parsed(DocxParser, written(document.save), Reader()))]
    assert texts == ["picture 200\nbelow it", "What people see in it\npicture 300\nbelow it"]


def test_a_damaged_picture_costs_nothing_else() -> None:
    data = sample_files.zipped({"Pictures/200.png": b"\x89PNG\r\n\x1a\nbroken"})
    assert FigureReader(Reader()).read(data) == figure_words.SILENT
    torn = word().replace(saved(page("x", size=(200, 100), left=10, top=10))[:200], bytes(200))
    texts = [text for text, _ in figures(parsed(DocxParser, torn, Reader()))]
    assert "picture 300\nbelow it" in texts


def test_bullets_and_unsure_words_are_silent() -> None:
    reader = Reader()
    assert FigureReader(reader).read(saved(Image.new("RGB", (20, 20)))) == figure_words.SILENT
    assert reader.read == 0
    assert FigureReader(Reader(confidence=0.4)).read(picture(200).getvalue()) == figure_words.SILENT


def test_there_is_a_number_of_pictures_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_words, "_MOST_PICTURES", 1)
    document = parsed(DocxParser, word(), Reader())
    assert len(figures(document)) == 1
    assert any("1 picture" in warning for warning in document.warnings)


class Tired:
    fingerprint = "tired"

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        raise PictureError("no more")


def test_a_recogniser_that_fails_costs_its_words_only() -> None:
    parser = DocxParser()
    parser.recogniser = Tired()
    document = parser.parse(word(), "a.docx")
    assert "Behind the picture." in document.text
    assert any("2 pictures" in warning for warning in document.warnings)
