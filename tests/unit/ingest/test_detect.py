import io
import zipfile

import pytest

from kaijuan.errors import (
    BrokenDocumentError,
    EmptyDocumentError,
    EncryptedDocumentError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.detect import KINDS, container_of, kind_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def ole(*streams: str) -> bytes:
    """Return the beginning of an OLE container whose directory lists these streams, an entry each 128 bytes."""
    return OLE + b"".join(stream.encode("utf-16-le").ljust(128, b"\x00") for stream in streams)


def package(*members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member in members:
            archive.writestr(member, "x")
    return out.getvalue()


def open_document(kind: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", "<x/>")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"%PDF-1.7\n...", "a.pdf", "pdf"),
        (b"%PDF-1.7\n...", "a.bin", "pdf"),
        (b"\n\n%PDF-1.4", "noname", "pdf"),
        (package("word/document.xml"), "a.docx", "docx"),
        (package("word/document.xml"), "a", "docx"),
        (b"<!DOCTYPE html><p>x", "a.txt", "html"),
        (b"<?xml version='1.0'?>\n<!-- c -->\n<html>", "a", "html"),
        ("<html>题</html>".encode("utf-16"), "a", "html"),
        (b"plain", "a.html", "html"),
        (b"# x", "a.md", "markdown"),
        (b"# x", "A.MARKDOWN", "markdown"),
        (b"# x", "a.py", "code"),
        (b"all: x", "Makefile", "code"),
        (b"FROM x", "sub/Dockerfile", "code"),
        (ole("WordDocument"), "a.doc", "doc"),
        (ole("Workbook"), "a.xls", "xls"),
        (ole("Book"), "a", "xls"),
        (ole("PowerPoint Document"), "a.ppt", "ppt"),
        # A message that holds a Word document, and the other way round.
        (ole("WordDocument", "__properties_version1.0"), "a.msg", "msg"),
        (ole("WordDocument", "__properties_version1.0"), "a.doc", "doc"),
        (ole("WordDocument", "__properties_version1.0"), "a", "msg"),
        (package("xl/workbook.xml"), "a.xlsx", "xlsx"),
        (package("xl/workbook.xml"), "a.zip", "xlsx"),
        (package("ppt/presentation.xml"), "a.pptx", "pptx"),
        (package("META-INF/container.xml"), "a.epub", "epub"),
        (open_document("text"), "a.odt", "odt"),
        (open_document("spreadsheet"), "a", "ods"),
        (open_document("presentation"), "a.odp", "odp"),
        (package("content.xml"), "a.zip", "zip"),
        (package("a.txt"), "a.zip", "zip"),
        (b"{\\rtf1 x}", "a.rtf", "rtf"),
        (b"From: a@b\n\nhi", "a.eml", "eml"),
        (b"From: a@b\nSubject: x\n\nhi", "a", "eml"),
        (b"From: a@b\nSubject: x\n\nhi", "a.txt", "text"),
        (b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nhi\n", "a.mbox", "mbox"),
        (b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nhi\n", "a", "mbox"),
        (b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nhi\n", "a.eml", "eml"),
        (b"a,b\n1,2\n", "a.csv", "csv"),
        (b"a\tb\n1\t2\n", "a.tsv", "csv"),
        (b'{"a": 1}', "a.json", "json"),
        (b'{"cells": []}', "a.ipynb", "ipynb"),
        (b"<?xml version='1.0'?><a>x</a>", "a", "xml"),
        (b"<rss><channel/></rss>", "a.rss", "xml"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nx", "a", "subtitles"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nx", "a.srt", "subtitles"),
        (b"Title\n=====\n", "a.rst", "rst"),
        (b"= Title\n", "a.adoc", "asciidoc"),
        ("中文".encode("gb18030"), "说明.txt", "text"),
        ("中文文本".encode("utf-16"), "说明.txt", "text"),
        (b"BMW builds cars", "a.txt", "text"),
        (b"MZ is two letters", "a.txt", "text"),
        (b"GIF8 is how a GIF image begins", "a.txt", "text"),
    ],
)
def test_told_by_content_and_name(data: bytes, name: str, kind: str) -> None:
    assert kind_of(data, name) == kind
    assert kind in KINDS


@pytest.mark.parametrize(
    "start",
    [
        *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"II*\x00", b"MM\x00*", b"RIFF\x00\x00\x00\x00WEBP"),
        *(
            b"\x00\x00\x00\x20ftypheic",
            b"BM\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x28\x00\x00\x00",
            b"P6 2 2 255\n",
        ),
    ],
)
def test_pictures_are_told_by_their_bytes(start: bytes) -> None:
    assert kind_of(start + bytes(30), "a") == "image"


@pytest.mark.parametrize(
    "text", [b"BMW is a maker of cars", b"GIF8 is no signature", b"P6 is a word", b"P4 and P6 2 2"]
)
def test_words_that_begin_like_pictures_are_text(text: bytes) -> None:
    assert kind_of(text, "a") == "text"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (ole("Catalog"), "a", "OLE container"),
        (package("xl/workbook.bin"), "a.xlsb", "xlsb"),
        (b"\x00\x00\x00\x20ftypisom" + bytes(30), "a", "MP4"),
        (b"RIFF\x00\x00\x00\x00WAVE" + bytes(30), "a.wav", "WAV"),
        (b"<svg xmlns='x'/>", "a", "SVG"),
        (b"\x00\x01\x02\xff" * 300, "a", "binary"),
        (b"\x7fELF" + bytes(60), "a", "program"),
    ],
)
def test_unsupported_is_named(data: bytes, name: str, words: str) -> None:
    with pytest.raises(UnsupportedDocumentError, match=words):
        kind_of(data, name)


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xff\xfe\n\x00 \x00", bytes(100)])
def test_white_space_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyDocumentError):
        kind_of(data, "a.txt")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"no zip", "a.docx"),
        (b"%PDF-1.4", "a.docx"),
        (b"PK\x03\x04 broken", "a.docx"),
        (package("xl/workbook.xml"), "a.docx"),
        (b"%PDF-1.4", "a.xlsx"),
        (b"no package", "a.pptx"),
        (b"no package", "a.epub"),
        (b"a line\nand another", "a.xls"),
        (ole("WordDocument"), "a.xls"),
        (b"only text", "a.pdf"),
        (package("word/document.xml"), "a.pdf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "a.pdf"),
        (b"\x00\x01\x02\xff" * 300, "a.pdf"),
    ],
)
def test_mislabelled_is_broken(data: bytes, name: str) -> None:
    with pytest.raises(BrokenDocumentError, match=name):
        kind_of(data, name)


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (package("word/document.xml"), "a.doc", "docx"),
        (b"{\\rtf1 x}", "a.doc", "rtf"),
        (b"<html><table><tr><td>x", "a.xls", "html"),
        (b"name\tage\nx\t1\ny\t2\n", "a.xls", "csv"),
        (package("xl/workbook.xml"), "a.xls", "xlsx"),
        (ole("Workbook"), "a.xlsx", "xls"),
        (b"<?xml version='1.0'?><Workbook/>", "a.xls", "xml"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related\n\nx", "a.doc", "eml"),
        (ole("PowerPoint Document"), "a.pptx", "ppt"),
        (package("word/document.xml"), "a.txt", "docx"),
    ],
)
def test_what_programs_save_under_a_cousins_name_is_read(data: bytes, name: str, kind: str) -> None:
    assert kind_of(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (package("a.txt"), "a.zip", "zip"),
        (package("word/document.xml"), "a.docx", ""),
        (ole("__properties_version1.0"), "a.msg", "msg"),
        (b"From: a@b\n\nhi", "a.eml", "eml"),
        (b"plain", "a.txt", ""),
        (b"", "a.eml", ""),
        (b"PK\x03\x04 broken", "a.zip", ""),
    ],
)
def test_containers_are_told(data: bytes, name: str, kind: str) -> None:
    assert container_of(data, name) == kind


def test_protected_office_files_need_a_password() -> None:
    with pytest.raises(EncryptedDocumentError):
        kind_of(ole("EncryptedPackage"), "a.docx")
