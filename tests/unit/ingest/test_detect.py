import io
import zipfile

import pytest

from kaijuan.errors import (
    BrokenDocumentError,
    EmptyDocumentError,
    EncryptedDocumentError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.detect import kind_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)


def package(*members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member in members:
            archive.writestr(member, "x")
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
        (b"# x", "a.py", "text"),
        ("中文".encode("gb18030"), "说明.txt", "text"),
        ("中文文本".encode("utf-16"), "说明.txt", "text"),
        (b"BMW builds cars", "a.txt", "text"),
        (b"MZ is two letters", "a.txt", "text"),
        (b"GIF8 is how a GIF image begins", "a.txt", "text"),
    ],
)
def test_told_by_content_and_name(data: bytes, name: str, kind: str) -> None:
    assert kind_of(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (OLE + "WordDocument".encode("utf-16-le"), "a.doc", "doc"),
        (OLE + "Workbook".encode("utf-16-le"), "a.xls", "xls"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "a.ppt", "ppt"),
        (package("xl/workbook.xml"), "a.xlsx", "xlsx"),
        (package("ppt/presentation.xml"), "a.pptx", "pptx"),
        (package("META-INF/container.xml"), "a.epub", "EPUB"),
        (package("a.txt"), "a.zip", "zip"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "a.png", "PNG"),
        (b"\xff\xd8\xff\xe0" + bytes(30), "a.jpg", "JPEG"),
        (b"{\\rtf1 x}", "a.rtf", "RTF"),
        (b"From: a@b\n\nhi", "a.eml", "e-mail"),
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
        (b"only text", "a.pdf"),
        (package("word/document.xml"), "a.pdf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "a.pdf"),
        (b"\x00\x01\x02\xff" * 300, "a.pdf"),
    ],
)
def test_mislabelled_is_broken(data: bytes, name: str) -> None:
    with pytest.raises(BrokenDocumentError, match=name):
        kind_of(data, name)


def test_protected_office_files_need_a_password() -> None:
    with pytest.raises(EncryptedDocumentError):
        kind_of(OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx")
