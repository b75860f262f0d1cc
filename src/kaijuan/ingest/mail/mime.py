"""E-mail files (RFC 5322, MIME) to messages, in whatever charset, also where headers break the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses

from kaijuan.errors import BrokenDocumentError, DocumentError
from kaijuan.ingest.encoding import Decoded, codec_named, decode, normal_newlines
from kaijuan.ingest.mail.message import Attachment, Body, Mail, iso_date

_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_ENCRYPTED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"})
_MOST_PARTS = 2_000
_MBOX_LINE = re.compile(rb"\A\s*From \S[^\n]*\n")
_ANYTHING = frozenset({"cp1252", "ascii", "iso8859-1"})
"""What programs write when they do not know; every byte is a character of these."""
_ENDINGS = {"message/rfc822": ".eml", "application/pdf": ".pdf", "text/calendar": ".ics", "text/html": ".html"}


def read_mime(data: bytes, name: str) -> Mail:
    """Return the message of an e-mail file. Raises BrokenDocumentError when it is none."""
    try:
        root = message_from_bytes(_MBOX_LINE.sub(b"", data, count=1), policy=policy.compat32)
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:
        raise BrokenDocumentError(f"{name} is no readable e-mail: {error}.") from error
    if not root.keys():
        raise BrokenDocumentError(f"{name} is no e-mail: it has no headers.")
    found = _Found()
    for part in _leaves(root, name):
        _sort(part, found)
    return Mail(
        subject=_header(root, "Subject"),
        sender=", ".join(_people(root, "From")) or _header(root, "From"),
        to=tuple(_people(root, "To")),
        copies=tuple(_people(root, "Cc")),
        sent=iso_date(_header(root, "Date")),
        id=_header(root, "Message-ID").strip("<> "),
        bodies=tuple(found.bodies.values()),
        attachments=tuple(found.attachments),
        encrypted=found.encrypted and not found.bodies,
        warnings=tuple(found.warnings),
    )


@dataclass(slots=True)
class _Found:
    bodies: dict[int, Body] = field(default_factory=dict)
    """By a number that all forms of the same text share."""
    attachments: list[Attachment] = field(default_factory=list)
    encrypted: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Leaf:
    part: Message
    group: int
    related: bool
    """Whether it stands beside a page that shows it."""


def _leaves(root: Message, name: str) -> Iterator[_Leaf]:
    """Yield the parts that hold something. A message inside the message is one such part."""
    waiting = [_Leaf(root, 0, False)]
    count = 0
    while waiting:
        leaf = waiting.pop()
        count += 1
        if count > _MOST_PARTS:
            raise BrokenDocumentError(f"{name} has more than {_MOST_PARTS:,} parts.")
        part = leaf.part
        # Asked for the payload of a leaf, the library decodes it by whatever charset is declared, and may raise.
        inner = part.get_payload() if part.is_multipart() else None
        if part.get_content_type() == "message/rfc822" or not isinstance(inner, list):
            yield leaf
            continue
        kind = part.get_content_type()
        parts = [at for at in inner if isinstance(at, Message)]
        same = kind == "multipart/alternative"
        related = leaf.related or kind == "multipart/related"
        base = count * _MOST_PARTS
        waiting.extend(
            _Leaf(at, leaf.group or base if same or leaf.group else base + number, related)
            for number, at in reversed(list(enumerate(parts)))
        )


def _sort(leaf: _Leaf, found: _Found) -> None:
    part = leaf.part
    kind = part.get_content_type()
    given = _file_name(part)
    attached = part.get_content_disposition() == "attachment"
    if kind in _SIGNATURES:
        return
    if kind in _ENCRYPTED:
        found.encrypted = True
        return
    if kind in {"text/plain", "text/html"} and not attached and not given:
        before = found.bodies.get(leaf.group, Body())
        text = _text(part, found)
        found.bodies[leaf.group] = (
            Body(plain=before.plain, html=text) if kind == "text/html" else Body(plain=text, html=before.html)
        )
        return
    shown = leaf.related or (part.get_content_disposition() == "inline" and part.get("Content-ID"))
    if kind.startswith("image/") and shown and not attached:
        return
    data = _bytes(part)
    if data:
        number = len(found.attachments) + 1
        found.attachments.append(Attachment(name=given or f"part {number}{_ENDINGS.get(kind, '')}", data=data))


def _bytes(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload() if part.is_multipart() else None
        first = inner[0] if isinstance(inner, list) and inner else None
        return first.as_bytes() if isinstance(first, Message) else b""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _text(part: Message, found: _Found) -> str:
    try:
        decoded = _decoded(_bytes(part), part.get_content_charset() or "")
    except DocumentError:
        found.warnings.append("A part of the text could not be decoded.")
        return ""
    found.warnings.extend(decoded.warnings)
    return decoded.text


def _decoded(data: bytes, charset: str) -> Decoded:
    """Return text in the charset it was declared to be in, where that says something and fits."""
    codec = codec_named(charset) if charset else ""
    if codec and codec not in _ANYTHING:
        try:
            return Decoded(text=normal_newlines(data.decode(codec)).replace("\x00", ""), encoding=codec)
        except (UnicodeError, LookupError):
            pass
    return decode(data, declared=charset)


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""  # a name in a charset that does not exist
    return _shown(name) if name else ""


def _people(root: Message, name: str) -> Iterator[str]:
    try:
        people = getaddresses([_header(root, name)])
    except RecursionError:  # of a spoiled header: the library calls itself for each group within a group
        return
    for person, address in people:
        shown = " ".join(person.split())
        if shown or address:
            yield f"{shown} <{address}>" if shown and address else shown or address


def _header(root: Message, name: str) -> str:
    # Raw, because bytes that should have been encoded are lost in what the library shows.
    value = next((str(value) for key, value in root.raw_items() if key.lower() == name.lower()), None)
    return _shown(value) if value is not None else ""


def _shown(value: object) -> str:
    """Return a header's value with encoded words decoded; bytes that should have been encoded are guessed."""
    raw = str(value)
    try:
        parts = decode_header(raw)
    except (ValueError, LookupError, AttributeError, HeaderParseError):
        parts = [(raw, None)]
    text = "".join(_piece(piece, charset) for piece, charset in parts)
    return " ".join(text.split())


def _piece(piece: bytes | str, charset: str | None) -> str:
    data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
    if charset in {None, "unknown-8bit"} and data.isascii():
        return data.decode("ascii")
    try:
        return _decoded(data, charset or "").text
    except DocumentError:
        return data.decode("latin-1")
