"""What is attached to a message, as documents beside it.

Reading a message is work that a hostile one can make long, so it is done where a limit of time and memory holds:
`attached` is the task for a parser process.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from kaijuan.errors import DocumentError, ParseMemoryError, ParseTimeoutError
from kaijuan.ingest.containers.member import Budget, Member
from kaijuan.ingest.mail.mime import read_mime
from kaijuan.ingest.mail.outlook import read_outlook

TASK = "kaijuan.ingest.containers.attachments:attached"
_READERS = {"eml": read_mime, "msg": read_outlook}

_MAY_HOLD_FILES = re.compile(rb"multipart/|message/|name[\s*0-9]{0,9}=|disposition", re.IGNORECASE)
"""What no message with a file lacks. Most have none, and are not read twice to learn that."""

Attached = Callable[[bytes, str, str], Sequence[tuple[str, bytes]]]
"""Bytes, file name and kind of a message to the names and bytes of what is attached; raises DocumentError."""


def attached(data: bytes, *, file: str, kind: str) -> list[tuple[str, bytes]]:
    """Return names and bytes of what is attached to a message, as plain data."""
    return [(one.name, one.data) for one in _READERS[kind](data, file).attachments]


def members(data: bytes, name: str, budget: Budget, *, kind: str, read: Attached) -> Iterator[Member | DocumentError]:
    """Yield what is attached to a message of a kind, read by `read`."""
    if kind == "eml" and not _MAY_HOLD_FILES.search(data):
        return
    try:
        found = read(data, name, kind)
    except (ParseTimeoutError, ParseMemoryError) as error:
        yield error
        return
    except DocumentError:
        return  # said when the message itself is read
    seen: dict[str, int] = {}
    for named, content in found:
        path = posixpath.basename(named.replace("\\", "/").replace("\x00", "")) or "part"
        seen[path] = seen.get(path, 0) + 1
        path = path if seen[path] == 1 else f"{path}~{seen[path]}"
        try:
            budget.take(f"{path} of {name}", len(content))
        except DocumentError as error:
            yield error
            continue
        yield Member(path=path, data=content)
