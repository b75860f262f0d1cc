"""Scanned and mixed PDFs: which pages are recognised, where their words stand, and what happens without time."""

from __future__ import annotations

import io

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas
from tests.picture_files import han_font, page, saved, scan

from kaijuan import registry
from kaijuan.core.documents import BlockKind, PageBox, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.parsers.pdf import PdfParser
from kaijuan.ingest.parsers.pdf_doubts import Doubts, likeness
from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.pdf_ocr import drawn
from kaijuan.ingest.parsers.pdf_page import PageText
from kaijuan.ingest.ports import PageImage, RecognisedLine, Recogniser
from kaijuan.ingest.recognising import TimeUsedUpError
from kaijuan.testing.contracts.parser import check_document

LINES = (
    "Every employee has fifteen days of leave a year, which",
    "may be taken at once or in parts. Days that are left at",
    "the end of a year are lost in March of the next one.",
)
TEXT = " ".join(LINES)
SIZE = (1240, 900)


@pytest.fixture(scope="module")
def onboard() -> Recogniser:
    made: Recogniser = registry.load("recogniser", "onboard")(2)
    return made


@pytest.fixture
def parser(onboard: Recogniser) -> PdfParser:
    made = PdfParser()
    made.recogniser = onboard
    return made


def paper(*drawn: object) -> bytes:
    """Return a PDF of A5 pages; each is a picture, or words as text, or both."""
    out = io.BytesIO()
    sheet = canvas.Canvas(out, pagesize=(446.4, 324), invariant=True)
    for parts in drawn:
        for part in parts if isinstance(parts, tuple) else (parts,):
            if isinstance(part, Image.Image):
                sheet.drawImage(ImageReader(part), 0, 0, 446.4, 324)
            else:
                text = sheet.beginText(40, 280)
                text.setFont("Helvetica", 11)
                words, mode = part if isinstance(part, list) else (part, 0)
                text.setTextRenderMode(mode)
                text.textLines(words)
                sheet.drawText(text)
        sheet.showPage()
    sheet.save()
    return out.getvalue()


def box_of(document: ParsedDocument, word: str) -> PageBox:
    start = document.text.index(word)
    span = Span(start, start + len(word))
    found = [box for block in document.blocks for line in block.lines if (box := line.box_of(span))]
    assert len(found) == 1
    return found[0]


def test_a_scan_is_read_with_its_places(parser: PdfParser, onboard: Recogniser) -> None:
    data = scan(page(*LINES, size=SIZE))
    document = parser.parse(data, "scan.pdf")
    check_document(document)
    assert document.text == TEXT
    assert document.unread_pages == ()
    assert any("OCR" in warning for warning in document.warnings)
    assert 0.9 < document.blocks[0].confidence < 1
    opened = pypdfium2.PdfDocument(data)
    image, scale = drawn(opened[0], *opened[0].get_size())
    for word in ("employee", "fifteen", "parts", "March"):
        box = box_of(document, word)
        left, top, right, bottom = (int(side / scale) for side in (box.x0 - 2, box.y0, box.x1 + 2, box.y1))
        part = Image.fromarray(image).crop((left, top, right, bottom))
        framed = Image.new("RGB", (part.width + 80, part.height + 80), "white")
        framed.paste(part, (40, 40))
        assert word in saved_words(onboard, framed)
    opened.close()


def saved_words(onboard: Recogniser, image: Image.Image) -> str:
    return " ".join(line.text for line in onboard.recognise(np.asarray(image)))


def test_the_same_scan_gives_the_same_document(parser: PdfParser) -> None:
    data = scan(page(*LINES, size=SIZE))
    assert parser.parse(data, "scan.pdf") == parser.parse(data, "scan.pdf")


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_scan_the_wrong_way_round_is_read(parser: PdfParser, turn: int) -> None:
    image = page(*LINES, size=SIZE).rotate(turn, expand=True)
    document = parser.parse(scan(image), "scan.pdf")
    check_document(document)
    assert document.text == TEXT
    assert document.page_sizes == ((round(image.width * 0.36, 1), round(image.height * 0.36, 1)),)


def test_pages_go_on_from_each_other(parser: PdfParser) -> None:
    document = parser.parse(scan(page(*LINES[:2], size=SIZE), page(*LINES[2:], size=SIZE)), "scan.pdf")
    assert document.pages == 2
    assert {box_of(document, "employee").page, box_of(document, "March").page} == {1, 2}


def test_only_pages_without_text_are_recognised(parser: PdfParser) -> None:
    words = "This page has a text layer that is as good as any.\nNobody needs to look at it."
    document = parser.parse(paper(words, page(*LINES, size=SIZE), words), "mixed.pdf")
    assert document.text.count("text layer") == 2
    assert "fifteen days" in document.text
    assert next(warning for warning in document.warnings if "OCR" in warning).endswith(": 2.")
    sure = {line.box.page: block.confidence for block in document.blocks for line in block.lines}
    assert sure[1] == sure[3] == 1
    assert sure[2] < 1


def test_a_good_layer_over_a_scan_is_kept(parser: PdfParser) -> None:
    document = parser.parse(paper((page(*LINES, size=SIZE), ["\n".join(LINES), 3])), "layer.pdf")
    assert document.blocks[0].confidence == 1
    assert "fifteen days" in document.text
    assert not any("OCR" in warning for warning in document.warnings)


def test_a_bad_layer_over_a_scan_is_not(parser: PdfParser) -> None:
    garbage = "Evcry cmpl0yce hus fiftccn", "xq zzk wvvt ppqr ddkl ssrt", "mmnb vvcx zzlk jjhg ffds qqwr ttzp"
    document = parser.parse(paper((page(*LINES, size=SIZE), ["\n".join(garbage), 3])), "layer.pdf")
    assert document.text == TEXT


@pytest.mark.parametrize(
    ("words", "doubted"),
    [
        (TEXT * 2, False),
        ("第七条 员工每年享有十五天带薪年假，可以一次休完，也可以分几次休。" * 3, False),
        ("BSK-774 RTX 12.5 mm " * 12, False),
        (TEXT.translate({code: (code - 97 + 3) % 26 + 97 for code in range(97, 123)}) * 2, True),
        (TEXT.replace("e", "\ue012") * 2, True),
    ],
)
def test_layers_that_make_no_words_are_doubted(words: str, doubted: bool) -> None:
    """What fonts with wrong maps give: other letters, or characters without a meaning."""
    run = Run(chars=list(words), lefts=[], rights=[], x0=0, y0=0, x1=1, y1=1, size=10, bold=False)
    assert Doubts().about(PageText(width=400, height=600, runs=[run], unread=False)) is doubted


def test_likeness() -> None:
    assert likeness("abc def", "ABC, def!") == 1
    assert likeness("abc", "xyz") == 0
    assert likeness("", "") == 1


def test_a_picture_of_words_on_a_page_of_text_is_a_figure(parser: PdfParser) -> None:
    out = io.BytesIO()
    sheet = canvas.Canvas(out, pagesize=(446.4, 324), invariant=True)
    sheet.drawString(40, 290, "A page with a text layer and a picture on it, which says more.")
    sheet.drawImage(ImageReader(page("Pump station seven", size=(500, 160), left=40, top=50)), 60, 120, 200, 64)
    sheet.drawString(40, 60, "Words below the picture close the page.")
    sheet.save()
    document = parser.parse(out.getvalue(), "figure.pdf")
    check_document(document)
    kinds = [(block.kind, block.span.of(document.text)) for block in document.blocks]
    assert (BlockKind.FIGURE, "Pump station seven") in kinds
    assert [kind for kind, _ in kinds].index(BlockKind.FIGURE) == 1
    box = box_of(document, "seven")
    assert 60 < box.x0 < box.x1 < 260
    assert 324 - 184 < box.y0 < box.y1 < 324 - 120


def test_chinese_scans_have_few_wrong_characters(parser: PdfParser) -> None:
    lines = (
        "第七条　员工每年享有十五天带薪年假，可以一次休完，",
        "也可以分几次休。当年未休完的年假，在次年三月底作废。",
        "第八条　病假须在当日上午九时以前向部门主管报告。",
    )
    image = page(*lines, size=SIZE, font=han_font(34), step=64).rotate(
        0.6, fillcolor="white", resample=Image.Resampling.BICUBIC
    )
    text = parser.parse(scan(image), "scan.pdf").text
    wanted, found = ("".join(text.split()) for text in ("".join(lines), text))
    assert Levenshtein.distance(wanted, found) <= 0.04 * len(wanted)


class Short:
    """Has time for one page."""

    fingerprint = "short"

    def __init__(self) -> None:
        self._read = 0

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        self._read += 1
        if self._read > 1:
            raise TimeUsedUpError("no time")
        return [RecognisedLine(text="the first page", corners=((10, 10), (300, 10), (300, 50), (10, 50)))]


def test_pages_for_which_no_time_is_left_are_listed() -> None:
    parser = PdfParser()
    parser.recogniser = Short()
    document = parser.parse(scan(*[page("x", size=(300, 300))] * 3), "long.pdf")
    assert document.pages == 3
    assert document.unread_pages == (2, 3)
    assert any("recognise_seconds" in warning and "2, 3" in warning for warning in document.warnings)


def test_a_scan_without_words_says_so(parser: PdfParser) -> None:
    with pytest.raises(EmptyDocumentError, match="no words can be recognised"):
        parser.parse(scan(Image.effect_noise((600, 400), 90).convert("RGB")), "photo.pdf")


async def test_a_parser_process_is_given_the_recogniser() -> None:
    """The whole way: the process, its limit of memory, and the frames between."""
    pool = ParserPool(
        registry.targets("parser"),
        seconds=120,
        memory_mb=1200,
        recogniser=registry.recogniser("onboard"),
        recognise_seconds=600,
    )
    try:
        image = page(*LINES, size=SIZE)
        assert (await pool.parse("pdf", scan(image), "scan.pdf")).text == TEXT
        assert (await pool.parse("image", saved(image), "scan.png")).text == TEXT
        assert pool.peak_mb < 1200
    finally:
        await pool.close()


async def test_without_a_recogniser_a_scan_says_what_to_do() -> None:
    pool = ParserPool(registry.targets("parser"), seconds=60, memory_mb=600, recogniser=registry.recogniser("off"))
    try:
        with pytest.raises(EmptyDocumentError) as caught:
            await pool.parse("pdf", scan(page(*LINES, size=SIZE)), "scan.pdf")
        assert "ingest.recogniser" in caught.value.hint
    finally:
        await pool.close()
