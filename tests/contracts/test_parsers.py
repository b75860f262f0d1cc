"""Parsers against the shipped suite."""

import io
import zipfile

import docx
import pypdfium2
from reportlab.lib import pdfencrypt
from reportlab.pdfgen import canvas

from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.pdf import PdfParser
from kaijuan.ingest.parsers.record import RecordParser
from kaijuan.ingest.parsers.text import TextParser
from kaijuan.ingest.ports import Parser
from kaijuan.testing.contracts.parser import ParserContract


class TestText(ParserContract):
    def make(self) -> Parser:
        return TextParser()

    def good(self) -> bytes:
        return "第一章 总则\n\n一段话。\n\nA needle\nin hay.\n".encode()

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestRecord(ParserContract):
    def make(self) -> Parser:
        return RecordParser()

    def good(self) -> bytes:
        return "甲\n\n  needle 乙\r\n丙 ".encode()


class TestMarkdown(ParserContract):
    def make(self) -> Parser:
        return MarkdownParser()

    def good(self) -> bytes:
        return "# 题\n\n- a\n- needle\n\n| x | y |\n| - | - |\n| 1 | 2 |\n\n```\ncode\n```\n\n> 引\n".encode()

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestHtml(ParserContract):
    def make(self) -> Parser:
        return HtmlParser()

    def good(self) -> bytes:
        return (
            "<html><head><title>题</title></head><body><h1>题</h1><p>一<b>needle</b></p><ul><li>a<ul><li>b</ul></ul>"
            "<table><tr><th>x<td>y<tr><td>1<td>2</table><pre>a\n  b</pre></body></html>"
        ).encode()

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestDocx(ParserContract):
    def make(self) -> Parser:
        return DocxParser()

    def good(self) -> bytes:
        document = docx.Document()
        document.add_heading("题", 1)
        document.add_paragraph("a needle")
        document.add_paragraph("item", style="List Bullet")
        table = document.add_table(2, 2)
        for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
            cell.text = str(number)
        out = io.BytesIO()
        document.save(out)
        return out.getvalue()

    def broken(self) -> list[bytes]:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as package:
            package.writestr("word/document.xml", "<w:document")
        return [b"no zip", out.getvalue(), self.good()[:-400]]


def pdf_of(*texts: str, encrypt: object = None) -> bytes:
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(400, 400), invariant=True, encrypt=encrypt)
    for text in texts:
        page.drawString(50, 300, text)
        page.showPage()
    page.save()
    return out.getvalue()


class TestPdf(ParserContract):
    def make(self) -> Parser:
        return PdfParser()

    def good(self) -> bytes:
        return pdf_of("A needle in the hay.", "Another page.")

    def broken(self) -> list[bytes]:
        return [b"%PDF-1.7 nothing", b"no pdf", pdf_of("")]

    def encrypted(self) -> list[bytes]:
        locked = pdf_of("secret", encrypt=pdfencrypt.StandardEncryption("password", strength=128))
        with_password = pypdfium2.PdfDocument(locked, password="password")
        with_password.close()
        return [locked]
