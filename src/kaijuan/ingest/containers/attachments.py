"""What is attached to a message, as documents beside it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from kaijuan.errors import DocumentError
from kaijuan.ingest.containers.member import Budget, Member
from kaijuan.ingest.mail.message import Mail
from kaijuan.ingest.mail.mime import read_mime
from kaijuan.ingest.mail.outlook import read_outlook


def mime_attachments(data: bytes, name: str, budget: Budget) -> Iterator[Member | DocumentError]:
    """Yield what is attached to an e-mail file."""
    yield from _attached(read_mime, data, name, budget)


def outlook_attachments(data: bytes, name: str, budget: Budget) -> Iterator[Member | DocumentError]:
    """Yield what is attached to an Outlook message."""
    yield from _attached(read_outlook, data, name, budget)


def _attached(
    read: Callable[[bytes, str], Mail], data: bytes, name: str, budget: Budget
) -> Iterator[Member | DocumentError]:
    try:
        mail = read(data, name)
    except DocumentError:
        return  # said when the message itself is read
    seen: dict[str, int] = {}
    for attachment in mail.attachments:
        path = posixpath.basename(attachment.name.replace("\\", "/").replace("\x00", "")) or "part"
        seen[path] = seen.get(path, 0) + 1
        path = path if seen[path] == 1 else f"{path}~{seen[path]}"
        try:
            budget.take(f"{path} of {name}", len(attachment.data))
        except DocumentError as error:
            yield error
            continue
        yield Member(path=path, data=attachment.data)
