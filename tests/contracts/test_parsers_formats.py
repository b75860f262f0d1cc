"""Parsers of Office files, mail, books, markup and data against the shipped suite."""

from tests import sample_files

from kaijuan.ingest.parsers.code import CodeParser
from kaijuan.ingest.ports import Parser
from kaijuan.testing.contracts.parser import ParserContract


class TestCode(ParserContract):
    def make(self) -> Parser:
        return CodeParser()

    def good(self) -> bytes:
        return sample_files.CODE

    def broken(self) -> list[bytes]:
        return [bytes(range(256)) * 20]
