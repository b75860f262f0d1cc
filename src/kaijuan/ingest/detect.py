"""Which kind of document some bytes are, told by content and name together."""

from __future__ import annotations

import io
import re
import zipfile

from kaijuan.errors import BrokenDocumentError, EmptyDocumentError, EncryptedDocumentError, UnsupportedDocumentError
from kaijuan.ingest.encoding import decode, peek

_NAMES = {
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "dotx": "docx",
    "htm": "html",
    "html": "html",
    "xhtml": "html",
    "shtml": "html",
    "md": "markdown",
    "markdown": "markdown",
    "mkd": "markdown",
    "mdx": "markdown",
}
# Text on the outside, but its words are encoded within; as plain text it would only be noise.
_LATER = {
    "eml": "an e-mail",
    "mbox": "a mailbox",
    "mht": "a web archive",
    "mhtml": "a web archive",
    "svg": "an SVG image",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SECOND_LOOK = 1 << 20
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# Signatures of what cannot be read yet: (bytes at the start, what to call it).
_BINARIES: tuple[tuple[bytes, str], ...] = (
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"BM", "a BMP image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg audio"),
    (b"fLaC", "FLAC audio"),
    (b"%!PS", "PostScript"),
)
_PACKAGES = (
    ("word/document.xml", "docx"),
    ("xl/workbook.xml", "an Excel workbook (xlsx)"),
    ("xl/workbook.bin", "an Excel workbook (xlsb)"),
    ("ppt/presentation.xml", "a PowerPoint presentation (pptx)"),
    ("META-INF/container.xml", "an EPUB book"),
    ("content.xml", "an OpenDocument file"),
)
# Possessive: with plain repeats there are 2^n ways to read n comments, and all are tried before the answer is no.
_HTML_START = re.compile(
    r"(?:\s++|<\?xml[^>]*+>|<!--.*?-->)*+<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I | re.S
)


def kind_of(data: bytes, name: str) -> str:
    """Return "pdf", "docx", "html", "markdown" or "text" for a file's bytes and name.

    Raises EmptyDocumentError when there is nothing but white space, BrokenDocumentError when the name promises a
    PDF or DOCX and the content is something else, EncryptedDocumentError for password-protected Office files, and
    UnsupportedDocumentError, naming the kind, for what no parser reads.
    """
    if not data.strip(b" \t\r\n\x0b\x0c\x00"):
        raise EmptyDocumentError(f"{name} is empty.")
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    named = _NAMES.get(suffix, "")
    found = _binary_kind(data, name, named)
    if not found:
        found = _text_kind(data, name, named, suffix)
    if named in {"pdf", "docx"} and found != named:
        raise BrokenDocumentError(
            f"{name} is named like a {named.upper()} file, but its content is {_words(found)}.",
            hint="Give it the right ending, or open it in its own program and save it again.",
        )
    return found


def _words(kind: str) -> str:
    return {"pdf": "a PDF", "docx": "a Word document (docx)"}.get(kind, kind)


def _binary_kind(data: bytes, name: str, named: str) -> str:
    """Return the kind of a binary format that is read, "" for text; raise for a binary format that is not."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(_ZIP):
        return _package_kind(data, name, named)
    if data.startswith(_OLE):
        _refuse_ole(data, name)
    for start, words in _BINARIES:
        if data.startswith(start) and _really_binary(start, data):
            _refuse(name, named, words)
    if data[4:8] == b"ftyp":
        _refuse(
            name, named, "a HEIF image" if data[8:12] in {b"heic", b"heix", b"mif1", b"avif"} else "MP4 video or audio"
        )
    if data.startswith(b"RIFF") and data[8:12] in {b"WEBP", b"WAVE", b"AVI "}:
        _refuse(name, named, {b"WEBP": "a WebP image", b"WAVE": "WAV audio"}.get(data[8:12], "AVI video"))
    return ""


def _really_binary(start: bytes, data: bytes) -> bool:
    """Signatures made of letters ("BM", "MZ", "GIF8") also begin honest words."""
    return not start.isalnum() or any(byte < 9 for byte in data[:512])


def _refuse(name: str, named: str, words: str) -> None:
    if named in {"pdf", "docx"}:
        raise BrokenDocumentError(f"{name} is named like a {named.upper()} file, but it is {words}.")
    raise UnsupportedDocumentError(f"{name} is {words}, which cannot be read yet.")


def _refuse_ole(data: bytes, name: str) -> None:
    """Name what an OLE container holds; its directory lists stream names in UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise EncryptedDocumentError(f"{name} is protected with a password.")
    for stream, words in (
        ("WordDocument", "an old Word document (doc)"),
        ("Workbook", "an old Excel workbook (xls)"),
        ("Book", "an old Excel workbook (xls)"),
        ("PowerPoint Document", "an old PowerPoint presentation (ppt)"),
        ("__substg1.0_", "an Outlook message (msg)"),
    ):
        if stream.encode("utf-16-le") in data:
            raise UnsupportedDocumentError(f"{name} is {words}, which cannot be read yet.")
    raise UnsupportedDocumentError(f"{name} is an OLE container of an unknown kind, which cannot be read.")


def _package_kind(data: bytes, name: str, named: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = set(package.namelist())
            locked = any(entry.flag_bits & 1 for entry in package.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, UnicodeError) as error:
        raise BrokenDocumentError(f"{name} is a damaged zip package: {error}.") from error
    for member, kind in _PACKAGES:
        if member in members:
            if kind == "docx":
                return kind
            _refuse(name, named, kind)
    if locked:
        raise EncryptedDocumentError(f"{name} is a zip archive protected with a password.")
    _refuse(name, named, "a zip archive")
    return ""


def _text_kind(data: bytes, name: str, named: str, suffix: str) -> str:
    head = peek(data)
    if not head:
        # A small sample may mislead (a text that begins with NUL padding): let a larger one decide, or refuse.
        try:
            head = decode(data[:_SECOND_LOOK]).text[:4096]
        except UnsupportedDocumentError as error:
            if named in {"pdf", "docx"}:
                raise BrokenDocumentError(f"{name} is named like a {named.upper()} file, but is not one.") from error
            raise UnsupportedDocumentError(f"{name} is a binary file of an unknown kind.") from error
    if not head.strip() and len(data) <= 4096:
        raise EmptyDocumentError(f"{name} is empty.")
    if suffix in _LATER:
        raise UnsupportedDocumentError(f"{name} is {_LATER[suffix]}, which cannot be read yet.")
    if _HTML_START.match(head):
        return "html"
    return named if named in {"html", "markdown"} else "text"
