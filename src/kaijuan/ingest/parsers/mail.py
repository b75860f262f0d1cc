"""E-mail and Outlook messages as documents. What is attached to them comes as documents of their own (see sources)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError, EncryptedDocumentError
from kaijuan.ingest.mail.message import Body, Mail
from kaijuan.ingest.mail.mime import read_mime
from kaijuan.ingest.mail.outlook import read_outlook
from kaijuan.ingest.parsers.described import filled
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.html_blocks import path_in, pieces_of
from kaijuan.ingest.parsers.html_tree import tree_of
from kaijuan.ingest.parsers.joining import join_lines
from kaijuan.ingest.parsers.pieces import Piece, write_pieces
from kaijuan.ingest.parsers.text import is_wrapped, paragraphs
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_html import unseen_in_page

_QUOTED = re.compile(r"\s{0,3}>")
_MARK = re.compile(r"^\s{0,3}>\s?")
_LIST_LINE = re.compile(r"\s*(?:[-*•·●○■□–]\s|\(?\d{1,3}[.)、）]|[（(][一二三四五六七八九十\d]{1,3}[)）])")
_MOST_SHOWN = 50


class EmlParser:
    """Parser of kind "eml"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return subject, people, date and text; people and dates are metadata too."""
        return _document(read_mime(data, name), "eml", name)


class MsgParser:
    """Parser of kind "msg"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the same as of an e-mail file."""
        return _document(read_outlook(data, name), "msg", name)


def _document(mail: Mail, kind: str, name: str) -> ParsedDocument:
    if mail.encrypted:
        raise EncryptedDocumentError(f"{name} is an encrypted message.")
    bodies = [piece for body in mail.bodies for piece in _body(body)]
    if not mail.subject and not bodies and not mail.attachments:
        raise EmptyDocumentError(f"{name} is a message without a subject and without text.")
    draft = Draft()
    draft.add(BlockKind.HEADING, mail.subject, level=1, origin=Origin(place="header"))
    draft.add(BlockKind.LIST, "\n".join(_facts(mail)), origin=Origin(place="header"))
    write_pieces(draft, bodies, within="body")
    metadata = filled(
        author=mail.sender, recipients=(*mail.to, *mail.copies)[:_MOST_SHOWN], sent=mail.sent, message_id=mail.id
    )
    made = draft.finish(kind, name, title=mail.subject, metadata=metadata, warnings=mail.warnings)
    return with_hidden(made, (text for body in mail.bodies for text in _hidden(body)))


def _facts(mail: Mail) -> Iterator[str]:
    for label, value in (
        ("From", mail.sender),
        ("To", ", ".join(mail.to[:_MOST_SHOWN])),
        ("Cc", ", ".join(mail.copies[:_MOST_SHOWN])),
        ("Date", mail.sent.replace("T", " ")),
        ("Attachments", ", ".join(attachment.name for attachment in mail.attachments[:_MOST_SHOWN])),
    ):
        if value:
            yield f"{label}: {value}"


def _body(body: Body) -> list[Piece]:
    """Return the pieces of one text: the page where it has a table, or where nothing else came; else the plain form."""
    plain = list(text_pieces(body.plain))
    if not body.html.strip():
        return plain
    try:
        root = tree_of(body.html)
        page = pieces_of(root, dropped=_is_hidden, place_of=path_in(root))
    except BrokenDocumentError:
        return plain
    return page if not plain or any(piece.kind is BlockKind.TABLE for piece in page) else plain


def _hidden(body: Body) -> Iterator[str]:
    if body.html.strip():
        with suppress(BrokenDocumentError):
            yield from unseen_in_page(tree_of(body.html))


def _is_hidden(node: object) -> bool:
    style = getattr(node, "get", lambda *_: "")("style") or ""
    return "display:none" in style.replace(" ", "").lower()


def text_pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of a plain message: paragraphs put together, lists, and what is quoted from before."""
    for part in paragraphs(text):
        lines = [line.rstrip() for line in part.strip("\n").split("\n")]
        if all(_QUOTED.match(line) for line in lines):
            inner = [_MARK.sub("", line) for line in lines]
            yield Piece(BlockKind.QUOTE, join_lines(inner) if is_wrapped(inner) else "\n".join(inner))
        elif len(lines) > 1 and all(_LIST_LINE.match(line) for line in lines):
            yield Piece(BlockKind.LIST, "\n".join(lines))
        else:
            yield Piece(BlockKind.PARAGRAPH, join_lines(lines) if is_wrapped(lines) else "\n".join(lines))
