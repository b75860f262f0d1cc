"""Messages of a mailbox file (mbox, RFC 4155), one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.ids import content_hash
from kaijuan.errors import DocumentError
from kaijuan.ingest.containers.member import Budget, Member

_BORDER = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\n")
_ID = re.compile(rb"^message-id:\s*<?([^\s<>]{1,200})>?", re.I | re.M)
_QUOTED = re.compile(rb"^>(>*From )", re.M)
_HEADERS = 64 * 1024


def members(data: bytes, name: str, budget: Budget) -> Iterator[Member | DocumentError]:
    """Yield each message, named by its own id, or by its content where it has none.

    The names stay the same when the mailbox grows. A message that is there twice comes once.
    """
    seen: set[str] = set()
    borders = [*_BORDER.finditer(data)]
    for border, following in zip(borders, [*borders[1:], None], strict=True):
        message = data[border.end() : following.start() if following else len(data)].rstrip(b"\r\n") + b"\n"
        if not message.strip():
            continue
        path = f"{_name(message)}.eml"
        if path in seen:
            continue
        seen.add(path)
        try:
            budget.take(f"{path} of {name}", len(message))
        except DocumentError as error:
            yield error
            continue
        yield Member(path=path, data=_QUOTED.sub(rb"\1", message))


def _name(message: bytes) -> str:
    headers = message[:_HEADERS].partition(b"\n\n")[0].partition(b"\r\n\r\n")[0]
    found = _ID.search(headers)
    if found:
        return found[1].decode("utf-8", "replace").replace("/", "_")
    return content_hash(message)[:32]
