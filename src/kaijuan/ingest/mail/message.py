"""One message, whatever it was stored as."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, parsedate_to_datetime

_BOUNDARY = "kaijuan-part"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One part of the text in its forms; a form that did not come is empty."""

    plain: str = ""
    html: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message. Pictures inside the text and signatures are no attachments."""

    subject: str = ""
    sender: str = ""
    to: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    sent: str = ""
    """ISO 8601, "" when it is not known."""
    id: str = ""
    """As the sending program gave it, without angle brackets."""
    bodies: tuple[Body, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    encrypted: bool = False
    warnings: tuple[str, ...] = ()


def iso_date(said: str) -> str:
    """Return the date of a mail header in ISO 8601, "" when it is none."""
    try:
        return parsedate_to_datetime(said).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def to_mime(mail: Mail, *, depth: int = 0) -> bytes:
    """Return a message as an e-mail file. The same message always gives the same bytes."""
    made = EmailMessage()
    for name, value in (("Subject", mail.subject), ("From", mail.sender), ("To", ", ".join(mail.to))):
        if value:
            made[name] = " ".join(value.split())
    if mail.sent:
        made["Date"] = format_datetime(datetime.fromisoformat(mail.sent))
    if mail.id:
        made["Message-ID"] = f"<{mail.id}>"
    body = mail.bodies[0] if mail.bodies else Body()
    made.set_content(body.html or body.plain, subtype="html" if body.html else "plain", cte="base64")
    for attachment in mail.attachments:
        made.add_attachment(attachment.data, maintype="application", subtype="octet-stream", filename=attachment.name)
    if mail.attachments:
        # Left to itself, the library draws a border by chance.
        made.set_boundary(f"{_BOUNDARY}-{depth}")
    return made.as_bytes()
