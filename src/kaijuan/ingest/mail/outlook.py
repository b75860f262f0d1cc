"""Outlook messages ([MS-OXMSG]) through olefile: properties, recipients, attachments, messages within."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from kaijuan.errors import BrokenDocumentError, DocumentError
from kaijuan.ingest.encoding import decode, normal_newlines
from kaijuan.ingest.mail.message import Attachment, Body, Mail, iso_date, to_mime
from kaijuan.ingest.parsers.code_pages import codec_of

_DEEPEST = 10
_PROPERTIES = "__properties_version1.0"
_HEADER, _INNER_HEADER, _PART_HEADER = 32, 24, 8
_UNICODE, _STRING8, _BINARY = "001F", "001E", "0102"
_SUBJECT, _HEADERS, _ID, _BODY, _HTML, _RTF = "0037", "007D", "1035", "1000", "1013", "1009"
_SENDER, _SENDER_ADDRESS, _SMTP = "0C1A", "0C1F", "5D01"
_SENT, _RECEIVED, _PAGE, _HTML_PAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
_KIND, _METHOD, _HIDDEN = 0x0C15, 0x3705, 0x7FFE
_EMBEDDED = 5
_DATE_LINE = re.compile(r"^Date:\s*(.+)$", re.M | re.I)


def read_outlook(data: bytes, name: str) -> Mail:
    """Return the message of an Outlook file. Raises BrokenDocumentError when it is none."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            if not container.exists(_PROPERTIES):
                raise BrokenDocumentError(f"{name} is no Outlook message.")
            return _Storage(container, ()).mail(_HEADER, 0)
    except (
        OSError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        struct.error,
        RecursionError,
    ) as error:
        raise BrokenDocumentError(f"{name} is a damaged Outlook message: {error}.") from error


class _Storage:
    """A message inside a container: the file itself, or one attached to it."""

    def __init__(self, container: Any, path: tuple[str, ...]) -> None:
        self._container = container
        self._path = path
        entries = container.listdir(streams=True, storages=True)
        depth = len(path)
        self._children = sorted(
            {entry[depth] for entry in entries if tuple(entry[:depth]) == path and len(entry) > depth}
        )

    def mail(self, header: int, depth: int) -> Mail:
        numbers = self._numbers(header)
        codec = codec_of(numbers.get(_PAGE) or numbers.get(_HTML_PAGE) or 0)
        known = _PAGE in numbers or _HTML_PAGE in numbers
        to, copies = self._recipients(codec, known)
        said = self._text(_HEADERS, codec, known)
        moment = _moment(numbers.get(_SENT) or numbers.get(_RECEIVED) or 0)
        dated = _DATE_LINE.search(said)
        return Mail(
            subject=" ".join(self._text(_SUBJECT, codec, known).split()),
            sender=self._sender(codec, known),
            to=to,
            copies=copies,
            sent=moment or (iso_date(dated[1]) if dated else ""),
            id=self._text(_ID, codec, known).strip("<> "),
            bodies=(self._body(codec, known, codec_of(numbers.get(_HTML_PAGE) or 65001)),),
            attachments=tuple(self._attachments(codec, known, depth)),
        )

    def _numbers(self, header: int) -> dict[int, int]:
        """Return the properties of fixed size by their id."""
        stream = self._read(_PROPERTIES)
        found = {}
        for at in range(header, len(stream) - 15, 16):
            kind, tag, _, value = struct.unpack_from("<HHIQ", stream, at)
            if kind in {0x0003, 0x000B, 0x0040, 0x0002}:
                found[tag] = value & 0xFFFFFFFF if kind != 0x0040 else value
        return found

    def _read(self, stream: str) -> bytes:
        path = [*self._path, stream]
        return bytes(self._container.openstream(path).read()) if self._container.exists(path) else b""

    def _text(self, tag: str, codec: str, known: bool) -> str:
        if data := self._read(f"__substg1.0_{tag}{_UNICODE}"):
            return normal_newlines(data.decode("utf-16-le", "replace")).replace("\x00", "")
        return _decoded(self._read(f"__substg1.0_{tag}{_STRING8}"), codec, known)

    def _body(self, codec: str, known: bool, page_codec: str) -> Body:
        page = self._read(f"__substg1.0_{_HTML}{_BINARY}")
        html = _decoded(page, page_codec, bool(page)) if page else self._text(_HTML, codec, known)
        plain = self._text(_BODY, codec, known)
        if not plain.strip() and not html.strip():
            plain = _rich_text(self._read(f"__substg1.0_{_RTF}{_BINARY}"))
        return Body(plain=plain, html=html)

    def _sender(self, codec: str, known: bool) -> str:
        name = " ".join(self._text(_SENDER, codec, known).split())
        address = self._text(_SMTP, codec, known) or self._text(_SENDER_ADDRESS, codec, known)
        return _person(name, address)

    def _recipients(self, codec: str, known: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        to: list[str] = []
        copies: list[str] = []
        for part in (child for child in self._children if child.startswith("__recip_version1.0_")):
            inner = _Storage(self._container, (*self._path, part))
            kind = inner._numbers(_PART_HEADER).get(_KIND, 1)
            name = " ".join(inner._text("3001", codec, known).split())
            address = inner._text("39FE", codec, known) or inner._text("3003", codec, known)
            if shown := _person(name, address):
                (copies if kind == 2 else to).append(shown)
        return tuple(to), tuple(copies)

    def _attachments(self, codec: str, known: bool, depth: int) -> Iterator[Attachment]:
        parts = [child for child in self._children if child.startswith("__attach_version1.0_")]
        for number, part in enumerate(parts, 1):
            inner = _Storage(self._container, (*self._path, part))
            numbers = inner._numbers(_PART_HEADER)
            name = next(filter(None, (inner._text(tag, codec, known).strip() for tag in ("3707", "3704", "3001"))), "")
            if numbers.get(_METHOD) == _EMBEDDED:
                if depth < _DEEPEST:
                    embedded = _Storage(self._container, (*self._path, part, "__substg1.0_3701000D"))
                    mail = embedded.mail(_INNER_HEADER, depth + 1)
                    title = name or mail.subject or f"part {number}"
                    yield Attachment(name=f"{title}.eml", data=to_mime(mail, depth=depth))
                continue
            data = inner._read(f"__substg1.0_3701{_BINARY}")
            # Pictures inside the text are hidden, or named by the text by their id.
            shown = numbers.get(_HIDDEN) or (inner._text("3712", codec, known) and _is_image(name))
            if data and not shown:
                yield Attachment(name=name or f"part {number}", data=data)


def _is_image(name: str) -> bool:
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf"))


def _person(name: str, address: str) -> str:
    address = address.strip()
    # Inside an organisation Exchange writes a path in its directory in place of an address.
    address = "" if address.upper().startswith("/O=") else address
    if not address or address == name:
        return name or address
    return f"{name} <{address}>" if name else address


def _decoded(data: bytes, codec: str, known: bool) -> str:
    if not data:
        return ""
    if known:
        try:
            return normal_newlines(data.decode(codec)).replace("\x00", "")
        except UnicodeError:
            pass  # programs often name the page of the computer, not of the text
    try:
        return decode(data, declared=codec).text
    except DocumentError:
        return normal_newlines(data.decode(codec, "replace")).replace("\x00", "")


def _moment(ticks: int) -> str:
    """Return a moment counted in 100 nanoseconds since 1601 in ISO 8601, "" for none."""
    if not ticks:
        return ""
    try:
        return (datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)).isoformat(timespec="seconds")
    except OverflowError:
        return ""


def _rich_text(packed: bytes) -> str:
    from kaijuan.ingest.mail.compressed_rtf import unpacked
    from kaijuan.ingest.parsers.rtf import RtfParser

    data = unpacked(packed)
    try:
        return RtfParser().parse(data, "body").text if data.strip() else ""
    except DocumentError:
        return ""  # a message without a body is still a message
