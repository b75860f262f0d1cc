"""Damage that spoiling files of every kind (bench.fuzz_parsers) found, each as small as it can be."""

import encodings.aliases
import io
import json
from typing import Any

import olefile
import pytest
import xlrd
import xlwt
from bench.fuzz_parsers import ends
from bench.spoiling import spoiled
from tests.seed_files import SAMPLES
from xlrd.formula import FormulaError

from kaijuan import registry
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.mail.mime import read_mime
from kaijuan.ingest.parsers import ole_properties
from kaijuan.ingest.parsers.notebook import NotebookParser
from kaijuan.ingest.parsers.xls import XlsParser


def notebook(**changes: object) -> str:
    cell = {"cell_type": "code", "source": "x = 1", "outputs": [{"output_type": "error", "ename": "E", "evalue": "v"}]}
    book = {"cells": [{"cell_type": "markdown", "source": "needle"}, cell | changes], "metadata": {}, "nbformat": 4}
    return NotebookParser().parse(json.dumps(book).encode(), "a.ipynb").text


@pytest.mark.parametrize("outputs", [5, "text", {"a": 1}, [{"output_type": {"a": 1}, "text": "printed"}], [[]]])
def test_results_of_a_cell_of_another_type(outputs: object) -> None:
    assert notebook(outputs=outputs).startswith("needle\n\nx = 1")


def test_authors_of_another_type() -> None:
    book = {"cells": [{"cell_type": "markdown", "source": "needle"}], "metadata": {"authors": 7}}
    assert NotebookParser().parse(json.dumps(book).encode(), "a.ipynb").text == "needle"


def test_a_header_whose_encoded_word_is_cut_is_shown_as_it_is() -> None:
    mail = read_mime(b"From: =?utf-8?B?aaaaaaaaaaaaaaaaa?= <a@example.org>\nSubject: s\n\nneedle", "a.eml")
    assert mail.subject == "s"
    assert "<a@example.org>" in mail.sender


@pytest.mark.parametrize("data", [b"abc \xff\xfe", b"--\xe4\xb8", "中文一段".encode(), b"\x81\x30\x81" * 9])
def test_any_name_of_an_encoding_may_be_declared(data: bytes) -> None:
    for name in {*encodings.aliases.aliases.values(), "hex", "\udc96", "a\0b", "x" * 5000, "unicode-escape"}:
        assert decode(data, declared=name).text


def test_a_header_in_an_encoding_of_broken_letters() -> None:
    mail = read_mime(b"From: a@example.org\nSubject: =?ut\x96-8?Q?s=E4?=\n\nneedle", "a.eml")
    assert mail.sender == "a@example.org"


def test_a_part_in_an_encoding_that_is_no_name() -> None:
    head = b"From: a@example.org\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
    part = b'Content-Type: text/plain; charset="gb\x00k"\n\nneedle \xd6\xd0\xce\xc4\n--b--\n'
    assert "needle" in read_mime(head + part, "a.eml").bodies[0].plain


@pytest.mark.parametrize(("name", "seed"), [("a.ppt", "ppt/16"), ("a.zip", "zip/248")])
async def test_samples_once_spoiled_in_ways_that_nobody_foresaw(name: str, seed: str) -> None:
    pool = ParserPool(registry.targets("parser"), seconds=60, memory_mb=600)
    try:
        assert [end.fault for end in await ends(spoiled(SAMPLES[name], seed), name, pool) if end.fault] == []
    finally:
        await pool.close()


def test_a_code_page_that_is_a_list_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Damaged:
        codepage = (1, 2)
        title = b"needle"
        author = ("a",)

    class Container:
        def __init__(self, *_: object) -> None: ...
        def __enter__(self) -> "Container":
            return self

        def __exit__(self, *_: object) -> None: ...
        def get_metadata(self) -> Damaged:
            return Damaged()

    monkeypatch.setattr(olefile, "OleFileIO", Container)
    assert ole_properties.properties_of(b"") == {"title": "needle"}


def test_a_formula_that_the_library_gives_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(**_: object) -> None:
        raise FormulaError("Unexpected token")

    monkeypatch.setattr(xlrd, "open_workbook", given_up)
    with pytest.raises(BrokenDocumentError, match="damaged workbook"):
        XlsParser().parse(b"x", "a.xls")


def test_a_workbook_that_names_a_format_without_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    # Found by bench/fuzz_parsers.
    opened = xlrd.open_workbook

    def without_codes(**how: Any) -> Any:
        book = opened(**how)
        for number_format in book.format_map.values():
            number_format.format_str = None
        return book

    monkeypatch.setattr(xlrd, "open_workbook", without_codes)
    book = xlwt.Workbook()
    sheet = book.add_sheet("s")
    sheet.write(0, 0, "needle")
    sheet.write(1, 0, 0.5)
    out = io.BytesIO()
    book.save(out)
    document = XlsParser().parse(out.getvalue(), "a.xls")
    assert "needle" in document.text
    assert "0.5" in document.text


def test_a_workbook_whose_only_cells_are_far_apart() -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("s")
    sheet.write(0, 0, "needle")
    sheet.write(65_535, 255, "corner")
    out = io.BytesIO()
    book.save(out)
    document = XlsParser().parse(out.getvalue(), "a.xls")
    assert "needle" in document.text
    assert "corner" in document.text
