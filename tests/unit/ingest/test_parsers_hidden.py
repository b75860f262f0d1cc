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
from kaijuan.ingest.parsers.odf import OdtParser
from kaijuan.ingest.parsers.pptx import PptxParser
from kaijuan.ingest.parsers.rtf import RtfParser
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


def _rtf(body: str) -> tuple[str, ...]:
    colours = r"{\colortbl;\red255\green255\blue255;\red0\green51\blue102;}"
    return RtfParser().parse((r"{\rtf1\ansi" + colours + r"\pard Shown.\par " + body + "}").encode(), "x.rtf").hidden


@pytest.mark.parametrize(
    "body",
    [
        r"\pard {\v secret}\par",
        r"\pard {\cf1 secret}\par",
        r"\pard\fs2 secret\par",
        r"\pard\cf1\highlight1 secret\plain\par",
        r"\pard\cbpat2 dark\par\pard\cf1 secret\par",
        r"\trowd\clcbpat2\cellx1000\pard\intbl\cf0 dark\cell\row\pard\cf1 secret\par",
    ],
)
def test_hidden_in_rtf(body: str) -> None:
    assert _rtf(body) == ("secret",)


@pytest.mark.parametrize(
    "body",
    [
        r"\pard secret\par",
        r"\pard\cf2 secret\par",
        r"\pard\cbpat2\cf1 secret\par",
        r"\pard{\cf1\highlight2 secret}\par",
        r"\pard\fs16 secret\par",
        r"\trowd\clcbpat2\cellx1000\pard\intbl\cf1 secret\cell\row",
    ],
)
def test_shown_in_rtf(body: str) -> None:
    assert _rtf(body) == ()


def _odt(style: str, body: str) -> tuple[str, ...]:
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = (
        f'xmlns:office="{urn}:office:1.0" xmlns:text="{urn}:text:1.0" xmlns:style="{urn}:style:1.0" '
        f'xmlns:table="{urn}:table:1.0" xmlns:fo="{urn}:xsl-fo-compatible:1.0"'
    )
    content = (
        f'<office:document-content {spaces}><office:automatic-styles><style:style style:name="T1">{style}</style:style>'
        '<style:style style:name="Dark"><style:table-cell-properties fo:background-color="#003366"/></style:style>'
        f"</office:automatic-styles><office:body><office:text><text:p>Shown.</text:p>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        file.writestr("content.xml", content)
    return OdtParser().parse(made.getvalue(), "x.odt").hidden


_SPAN = '<text:p>See <text:span text:style-name="T1">secret</text:span></text:p>'


@pytest.mark.parametrize(
    "style",
    [
        'text:display="none"',
        'fo:color="#ffffff"',
        'fo:color="#FFFFFF" fo:background-color="#ffffff"',
        'fo:font-size="1pt"',
    ],
)
def test_hidden_in_open_document(style: str) -> None:
    assert _odt(f"<style:text-properties {style}/>", _SPAN) == ("secret",)
    assert _odt(f"<style:text-properties {style}/>", '<text:p text:style-name="T1">secret</text:p>') == ("secret",)


@pytest.mark.parametrize(
    "style", ['fo:color="#000000"', 'fo:color="#ffffff" fo:background-color="#003366"', 'fo:font-size="8pt"']
)
def test_shown_in_open_document(style: str) -> None:
    assert _odt(f"<style:text-properties {style}/>", _SPAN) == ()


def test_white_in_a_dark_cell_of_an_open_document_is_shown() -> None:
    row = f'<table:table-row><table:table-cell table:style-name="Dark">{_SPAN}</table:table-cell></table:table-row>'
    assert _odt('<style:text-properties fo:color="#ffffff"/>', f"<table:table>{row}</table:table>") == ()


def test_hidden_texts_are_bounded() -> None:
    body = "".join(f"<p hidden>{at} {'long ' * 5000}</p>" for at in range(500))
    hidden = _page(body).hidden
    assert len(hidden) == 200
    assert max(map(len, hidden)) <= 4_000
