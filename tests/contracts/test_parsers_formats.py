"""Parsers of Office files, mail, books, markup and data against the shipped suite."""

from tests import ole_files, sample_files

from kaijuan.ingest.parsers.asciidoc import AsciiDocParser
from kaijuan.ingest.parsers.code import CodeParser
from kaijuan.ingest.parsers.csv_table import CsvParser
from kaijuan.ingest.parsers.doc import DocParser
from kaijuan.ingest.parsers.epub import EpubParser
from kaijuan.ingest.parsers.json_text import JsonParser
from kaijuan.ingest.parsers.mail import EmlParser, MsgParser
from kaijuan.ingest.parsers.notebook import NotebookParser
from kaijuan.ingest.parsers.odf import OdpParser, OdsParser, OdtParser
from kaijuan.ingest.parsers.ppt import PptParser
from kaijuan.ingest.parsers.pptx import PptxParser
from kaijuan.ingest.parsers.rst import RstParser
from kaijuan.ingest.parsers.rtf import RtfParser
from kaijuan.ingest.parsers.subtitles import SubtitleParser
from kaijuan.ingest.parsers.xls import XlsParser
from kaijuan.ingest.parsers.xlsx import XlsxParser
from kaijuan.ingest.parsers.xml_text import XmlParser
from kaijuan.ingest.ports import Parser
from kaijuan.testing.contracts.parser import ParserContract


class TestCode(ParserContract):
    def make(self) -> Parser:
        return CodeParser()

    def good(self) -> bytes:
        return sample_files.CODE

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestXlsx(ParserContract):
    def make(self) -> Parser:
        return XlsxParser()

    def good(self) -> bytes:
        return sample_files.xlsx()

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"[Content_Types].xml": b"<Types/>"})]

    def encrypted(self) -> list[bytes]:
        return [sample_files.zipped({"xl/workbook.xml": b"<x/>"}, locked=True)]


class TestXls(ParserContract):
    def make(self) -> Parser:
        return XlsParser()

    def good(self) -> bytes:
        return sample_files.xls()

    def broken(self) -> list[bytes]:
        return [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), sample_files.xls()[:3000]]


class TestCsv(ParserContract):
    def make(self) -> Parser:
        return CsvParser()

    def good(self) -> bytes:
        return b'name,n\nneedle,1\n"a, b\nc",2\n'

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestRst(ParserContract):
    def make(self) -> Parser:
        return RstParser()

    def good(self) -> bytes:
        return sample_files.RST

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestAsciiDoc(ParserContract):
    def make(self) -> Parser:
        return AsciiDocParser()

    def good(self) -> bytes:
        return sample_files.ASCIIDOC

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]


class TestJson(ParserContract):
    def make(self) -> Parser:
        return JsonParser()

    def good(self) -> bytes:
        return sample_files.JSON

    def broken(self) -> list[bytes]:
        return [b"{", b"[1, 2", b"[" * 100_000]


class TestXml(ParserContract):
    def make(self) -> Parser:
        return XmlParser()

    def good(self) -> bytes:
        return sample_files.XML

    def broken(self) -> list[bytes]:
        return [b"<a>", b"<a></b>", bytes(range(256)) * 20]


class TestSubtitle(ParserContract):
    def make(self) -> Parser:
        return SubtitleParser()

    def good(self) -> bytes:
        return sample_files.VTT

    def broken(self) -> list[bytes]:
        return [b"no times at all"]


class TestNotebook(ParserContract):
    def make(self) -> Parser:
        return NotebookParser()

    def good(self) -> bytes:
        return sample_files.NOTEBOOK

    def broken(self) -> list[bytes]:
        return [b"{}", b"[]", b"{"]


class TestEpub(ParserContract):
    def make(self) -> Parser:
        return EpubParser()

    def good(self) -> bytes:
        return sample_files.epub()

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"META-INF/container.xml": b"<container/>"})]


class TestRtf(ParserContract):
    def make(self) -> Parser:
        return RtfParser()

    def good(self) -> bytes:
        return sample_files.RTF

    def broken(self) -> list[bytes]:
        return [b"no rtf", b"{\\rtf1"]


class TestEml(ParserContract):
    def make(self) -> Parser:
        return EmlParser()

    def good(self) -> bytes:
        return sample_files.EML

    def broken(self) -> list[bytes]:
        return [b"no headers at all", b"\n\nbody"]

    def encrypted(self) -> list[bytes]:
        return [b"From: a@b\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime\n\nMIIB\n"]


class TestPptx(ParserContract):
    def make(self) -> Parser:
        return PptxParser()

    def good(self) -> bytes:
        return sample_files.pptx_file()

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"ppt/presentation.xml": b"<p/>"})]


class TestOdt(ParserContract):
    def make(self) -> Parser:
        return OdtParser()

    def good(self) -> bytes:
        return sample_files.ODT

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"content.xml": b"<x/>"})]

    def encrypted(self) -> list[bytes]:
        manifest = b"<m><file-entry><encryption-data/></file-entry></m>"
        return [sample_files.zipped({"content.xml": b"???", "META-INF/manifest.xml": manifest})]


class TestOds(ParserContract):
    def make(self) -> Parser:
        return OdsParser()

    def good(self) -> bytes:
        return sample_files.ODS

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"content.xml": b"<x/>"})]

    def encrypted(self) -> list[bytes]:
        manifest = b"<m><file-entry><encryption-data/></file-entry></m>"
        return [sample_files.zipped({"content.xml": b"???", "META-INF/manifest.xml": manifest})]


class TestOdp(ParserContract):
    def make(self) -> Parser:
        return OdpParser()

    def good(self) -> bytes:
        return sample_files.ODP

    def broken(self) -> list[bytes]:
        return [b"PK\x03\x04" + bytes(60), sample_files.zipped({"content.xml": b"<x/>"})]

    def encrypted(self) -> list[bytes]:
        manifest = b"<m><file-entry><encryption-data/></file-entry></m>"
        return [sample_files.zipped({"content.xml": b"???", "META-INF/manifest.xml": manifest})]


class TestDoc(ParserContract):
    def make(self) -> Parser:
        return DocParser()

    def good(self) -> bytes:
        return ole_files.doc([("题", "\r", {"style": 1}), ("needle", "\r", {})])

    def broken(self) -> list[bytes]:
        return [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), b"none"]


class TestPpt(ParserContract):
    def make(self) -> Parser:
        return PptParser()

    def good(self) -> bytes:
        return ole_files.ppt([("题", ["甲"], "needle", "注")])

    def broken(self) -> list[bytes]:
        return [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), b"none"]


class TestMsg(ParserContract):
    def make(self) -> Parser:
        return MsgParser()

    def good(self) -> bytes:
        return ole_files.msg({0x0037: "题", 0x1000: "needle"})

    def broken(self) -> list[bytes]:
        return [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), b"none"]
