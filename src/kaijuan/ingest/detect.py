"""Which kind of document some bytes are, told by content and name together."""

from __future__ import annotations

import io
import re
import zipfile

from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    EmptyDocumentError,
    EncryptedDocumentError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.encoding import decode, peek
from kaijuan.ingest.kinds import CONTAINERS, ENDINGS, WORDS, ending, is_firm, may_pass, named_kind
from kaijuan.ingest.zip_directory import entries_listed

_PLAIN = frozenset({"txt", "text", "log"})
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SECOND_LOOK = 1 << 20
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# Signatures of what cannot be read yet: (bytes at the start, what to call it).
_BINARIES: tuple[tuple[bytes, str], ...] = (
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
_PICTURES = (
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    *(b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51"),
)
_PICTURE_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"})
_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
"""Sizes of the header that follows the first fourteen bytes; "BM" alone also begins honest words."""
_NETPBM = re.compile(rb"P[1-6]\s+(?:#[^\n]*\n\s*)*\d+\s+\d+\s")
_PACKAGES = (
    ("word/document.xml", "docx"),
    ("xl/workbook.xml", "xlsx"),
    ("ppt/presentation.xml", "pptx"),
    ("META-INF/container.xml", "epub"),
)
_MOST_PACKAGE_ENTRIES = 20_000
_OPEN_DOCUMENTS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_OPEN_DOCUMENT = re.compile(rb"application/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)\b")
_STREAMS = {
    "msg": ("__properties_version1.0",),
    "doc": ("WordDocument",),
    "xls": ("Workbook", "Book"),
    "ppt": ("PowerPoint Document",),
}
"""Names in the directory of an OLE container, which lists them in UTF-16. A message may hold the others within."""
# Possessive: with plain repeats there are 2^n ways to read n comments, and all are tried before the answer is no.
_PROLOGUE = r"(?:\s++|<\?xml[^>]*+>|<!--.*?-->)*+"
_HTML_START = re.compile(_PROLOGUE + r"<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I | re.S)
_SVG_START = re.compile(_PROLOGUE + r"(?:<!doctype\s[^>]*+>\s*+)?<svg[\s>]", re.I | re.S)
_XML_START = re.compile(r"\s*+<\?xml\s[^>]*+>", re.I)
_VTT_START = re.compile(r"WEBVTT(?:[ \t\n]|\Z)")
_MBOX_START = re.compile(r"From \S+ .*\d{4}.*\n(?:>?[!-9;-~]++:.*\n)")
_MAIL_START = re.compile(
    r"(?=(?:.*\n){0,40}?(?:from|date|message-id):)(?:(?:received|return-path|delivered-to|mime-version|message-id|"
    r"from|date|subject|to|x-[\w-]+|dkim-signature|content-type):.*\n(?:[ \t].*\n)*){2}",
    re.I,
)
_MIME_START = re.compile(r"\s*+mime-version:", re.I)


def kind_of(data: bytes, name: str) -> str:
    """Return the kind of a file by its bytes and name: a word of `kinds`, "code" or "text".

    Raises EmptyDocumentError when there is nothing but white space, BrokenDocumentError when the name promises a
    kind that the content is not (nor another that programs save under such names), EncryptedDocumentError for
    what is protected with a password, and UnsupportedDocumentError, naming the kind, for what no parser reads.
    """
    if not data.strip(b" \t\r\n\x0b\x0c\x00"):
        raise EmptyDocumentError(f"{name} is empty.")
    named = named_kind(name)
    try:
        found = _binary_kind(data, name, named) or _text_kind(data, name, named)
    except UnsupportedDocumentError as error:
        if is_firm(named):
            message = f"{name} is named like {WORDS[named]}, but cannot be one: {error.message}"
            raise BrokenDocumentError(message) from error
        raise
    if not may_pass(found, named):
        raise BrokenDocumentError(
            f"{name} is named like {WORDS[named]}, but its content is {WORDS.get(found, found)}.",
            hint="Give it the right ending, or open it in its own program and save it again.",
        )
    return found


def may_be_container(data: bytes, name: str) -> bool:
    """Say, at a glance, whether `container_of` is worth asking."""
    named = named_kind(name)
    return data.startswith((*_ZIP, _OLE)) or named in CONTAINERS or (not named and ending(name) not in _PLAIN)


def container_of(data: bytes, name: str) -> str:
    """Return the kind of a file that holds other documents, "" for one that does not or cannot be read."""
    if not may_be_container(data, name):
        return ""
    try:
        found = kind_of(data, name)
    except DocumentError:
        return ""  # said when the file itself is read
    return found if found in CONTAINERS else ""


def _binary_kind(data: bytes, name: str, named: str) -> str:
    """Return the kind of a binary format that is read, "" for text; raise for a binary format that is not."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(_ZIP):
        return _package_kind(data, name, named)
    if data.startswith(_OLE):
        return _ole_kind(data, name, named)
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if _is_picture(data):
        return "image"
    for start, words in _BINARIES:
        if data.startswith(start) and _really_binary(start, data):
            raise _unread(name, words)
    if data[4:8] == b"ftyp":
        raise _unread(name, "MP4 video or audio")
    if data.startswith(b"RIFF") and data[8:12] in {b"WAVE", b"AVI "}:
        raise _unread(name, "WAV audio" if data[8:12] == b"WAVE" else "AVI video")
    return ""


def _is_picture(data: bytes) -> bool:
    if data.startswith(_PICTURES) or (data[4:8] == b"ftyp" and data[8:12] in _PICTURE_BRANDS):
        return True
    if data.startswith(b"RIFF"):
        return data[8:12] == b"WEBP"
    if data.startswith(b"BM"):
        return int.from_bytes(data[14:18], "little") in _BMP_HEADERS
    return bool(_NETPBM.match(data[:512])) and data[:2] >= b"P4"


def _really_binary(start: bytes, data: bytes) -> bool:
    """Signatures made of letters ("BM", "MZ", "GIF8") also begin honest words."""
    return not start.isalnum() or any(byte < 9 for byte in data[:512])


def _unread(name: str, words: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError(f"{name} is {words}, which cannot be read yet.")


def _ole_kind(data: bytes, name: str, named: str) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise EncryptedDocumentError(f"{name} is protected with a password.")
    found = [kind for kind, streams in _STREAMS.items() if any(_holds(data, stream) for stream in streams)]
    if not found:
        raise UnsupportedDocumentError(f"{name} is an OLE container of an unknown kind, which cannot be read.")
    return named if named in found else found[0]


def _holds(data: bytes, stream: str) -> bool:
    # Directory entries start at multiples of 128 bytes; elsewhere the same letters may be part of a text.
    wanted = (stream + "\x00").encode("utf-16-le")
    at = data.find(wanted)
    while at >= 0:
        if at % 128 == 0:
            return True
        at = data.find(wanted, at + 1)
    return False


def _package_kind(data: bytes, name: str, named: str) -> str:
    if entries_listed(data) > _MOST_PACKAGE_ENTRIES:
        return "zip"  # no program writes so many parts, and only to look at them would take long
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = set(package.namelist())
            locked = any(entry.flag_bits & 1 for entry in package.infolist())
            kind = _open_document(package, members)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, UnicodeError) as error:
        raise BrokenDocumentError(f"{name} is a damaged zip package: {error}.") from error
    if kind:
        return kind
    if "xl/workbook.bin" in members:
        raise UnsupportedDocumentError(f"{name} is an Excel workbook (xlsb), which cannot be read yet.")
    for member, kind in _PACKAGES:
        if member in members:
            return kind
    if locked and is_firm(named):
        raise EncryptedDocumentError(f"{name} is protected with a password.")
    return "zip"


def _open_document(package: zipfile.ZipFile, members: set[str]) -> str:
    """Return the kind of an OpenDocument package, which says so in a small member of its own."""
    if "content.xml" not in members:
        return ""
    entry = package.getinfo("mimetype") if "mimetype" in members else package.getinfo("content.xml")
    with package.open(entry) as member:
        said = _OPEN_DOCUMENT.search(member.read(256)) if entry.filename == "mimetype" else None
    return _OPEN_DOCUMENTS[said[1].decode()] if said else ""


def _text_kind(data: bytes, name: str, named: str) -> str:
    head = peek(data)
    if not head:
        # A small sample may mislead (a text that begins with NUL padding): let a larger one decide, or refuse.
        try:
            head = decode(data[:_SECOND_LOOK]).text[:4096]
        except UnsupportedDocumentError as error:
            raise UnsupportedDocumentError(f"{name} is a binary file of an unknown kind.") from error
    if not head.strip() and len(data) <= 4096:
        raise EmptyDocumentError(f"{name} is empty.")
    if ending(name) == "svg" or _SVG_START.match(head):
        raise _unread(name, "an SVG image")
    return _told_by_text(head, name, named)


def _told_by_text(head: str, name: str, named: str) -> str:
    if named in {"eml", "mbox"}:
        # Old mail programs save one message with the line that begins each message of a mailbox.
        return "mbox" if _MBOX_START.match(head) and named == "mbox" else "eml"
    if named != "code" and _HTML_START.match(head):
        return "html"
    if named == "xls" and _has_tabs(head):
        return "csv"
    if named and not is_firm(named):
        return "text" if named == "zip" else named
    if is_firm(named):
        # Word and Excel also save as XML, and as a web page with its parts.
        return "xml" if _XML_START.match(head) else "eml" if _MIME_START.match(head) else "text"
    return "text" if ending(name) in _PLAIN else _unnamed(head)


def _has_tabs(head: str) -> bool:
    lines = [line for line in head.split("\n")[:-1] if line.strip()]
    return len(lines) > 1 and all("\t" in line for line in lines[:20])


def _unnamed(head: str) -> str:
    """Return the kind of a text whose name says nothing."""
    for pattern, kind in ((_XML_START, "xml"), (_VTT_START, "subtitles"), (_MBOX_START, "mbox"), (_MAIL_START, "eml")):
        if pattern.match(head):
            return kind
    return "text"


KINDS = frozenset({*ENDINGS.values(), "code", "text"})
"""Every word that `kind_of` may return."""
