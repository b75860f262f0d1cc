"""Parsers of Office files, mail, books, markup and data against the shipped suite."""

from tests import sample_files

from kaijuan.ingest.parsers.code import CodeParser
from kaijuan.ingest.parsers.csv_table import CsvParser
from kaijuan.ingest.parsers.xls import XlsParser
from kaijuan.ingest.parsers.xlsx import XlsxParser
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
