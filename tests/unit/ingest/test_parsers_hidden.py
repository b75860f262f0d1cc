"""What files hold and do not show is told apart from what they show."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

from kaijuan.core.documents import ParsedDocument
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.mail import EmlParser
from kaijuan.ingest.parsers.pptx import PptxParser
from kaijuan.ingest.parsers.xlsx import XlsxParser


def _page(body: str) -> ParsedDocument:
    return HtmlParser().parse(f"<html><body><p>Shown.</p>{body}</body></html>".encode(), "page.html")


@pytest.mark.parametrize(
    "body",
    [
        '<div style="display: none">secret</div>',
        '<p style="visibility:hidden">secret</p>',
        "<p hidden>secret</p>",
        '<span style="font-size:0">secret</span>',
        '<span style="font-size: 1px; line-height: 0">secret</span>',
        '<span style="color:#FFF">secret</span>',
        '<span style="color: rgb(255, 255, 255)">secret</span>',
        '<font color="white">secret</font>',
        '<div style="opacity:0">secret</div>',
        '<div style="position:absolute; left:-9999px">secret</div>',
        '<div style="display:none">se<b style="display:none">cr</b>et</div>',
    ],
)
def test_hidden_in_a_page(body: str) -> None:
    (hidden,) = _page(body).hidden
    assert re.sub(r"\s", "", hidden) == "secret"


@pytest.mark.parametrize(
    "body",
    [
        "<p>secret</p>",
        '<div style="background:#003366"><span style="color:#fff">secret</span></div>',
        '<div class="banner"><span style="color:#fff">secret</span></div>',
        '<table><tr bgcolor="navy"><td><font color="white">secret</font></td></tr></table>',
        '<p style="font-size:10px">secret</p>',
        '<p style="opacity:0.8">secret</p>',
        "<script style='display:none'>secret</script>",
    ],
)
def test_shown_in_a_page(body: str) -> None:
    assert _page(body).hidden == ()


def test_hidden_in_a_message() -> None:
    data = (
        b"From: a@x.example\r\nSubject: Hello\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        b'<html><body><p>Hi</p><div style="font-size:0">secret</div></body></html>'
    )
    assert EmlParser().parse(data, "m.eml").hidden == ("secret",)


def test_hidden_in_word() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("Shown.")
    for change in ("vanish", "white", "tiny", "black", "shaded"):
        run = document.add_paragraph().add_run(change)
        if change == "vanish":
            run.font.hidden = True
        if change in {"white", "shaded"}:
            run.font.color.rgb = docx.shared.RGBColor.from_string("FFFFFF")
        if change == "tiny":
            run.font.size = docx.shared.Pt(1)
        if change == "shaded":
            shade = docx.oxml.OxmlElement("w:shd")
            shade.set(docx.oxml.ns.qn("w:fill"), "1F3864")
            run._r.get_or_add_rPr().append(shade)
    made = io.BytesIO()
    document.save(made)
    parsed = DocxParser().parse(made.getvalue(), "a.docx")
    assert parsed.hidden == ("vanish", "white", "tiny")
    assert "vanish" not in parsed.text


def test_hidden_on_slides() -> None:
    pptx = pytest.importorskip("pptx")
    from pptx.dml.color import RGBColor
    from pptx.util import Inches, Pt

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for words in ("shown", "white", "tiny", "outside"):
        left = Inches(20) if words == "outside" else Inches(1)
        frame = slide.shapes.add_textbox(left, Inches(1), Inches(2), Inches(1)).text_frame
        run = frame.paragraphs[0].add_run()
        run.text = words
        if words == "white":
            run.font.color.rgb = RGBColor.from_string("FFFFFF")  # type: ignore[no-untyped-call]
        if words == "tiny":
            run.font.size = Pt(1)
    made = io.BytesIO()
    deck.save(made)
    assert set(PptxParser().parse(made.getvalue(), "a.pptx").hidden) == {"white", "tiny", "outside"}
    slide.background.fill.solid()
    slide.background.fill.fore_color.rgb = RGBColor.from_string("000040")  # type: ignore[no-untyped-call]
    made = io.BytesIO()
    deck.save(made)
    assert set(PptxParser().parse(made.getvalue(), "a.pptx").hidden) == {"tiny", "outside"}


def test_hidden_in_cells() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.styles import Font, PatternFill

    book = openpyxl.Workbook()
    sheet = book.active
    for row, words in enumerate(("shown", "white", "format", "painted"), 1):
        sheet.cell(row, 1, words)
    sheet.cell(2, 1).font = Font(color="FFFFFFFF")
    sheet.cell(3, 1).number_format = ";;;"
    sheet.cell(4, 1).font = Font(color="FFFFFFFF")
    sheet.cell(4, 1).fill = PatternFill("solid", fgColor="FF1F3864")
    made = io.BytesIO()
    book.save(made)
    assert zipfile.is_zipfile(made)
    assert XlsxParser().parse(made.getvalue(), "a.xlsx").hidden == ("white", "format")


def test_hidden_texts_are_bounded() -> None:
    body = "".join(f"<p hidden>{at} {'long ' * 5000}</p>" for at in range(500))
    hidden = _page(body).hidden
    assert len(hidden) == 200
    assert max(map(len, hidden)) <= 4_000
