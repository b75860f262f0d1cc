"""The chain of the audit log: each line's hash covers the line before, so that none is changed or dropped unseen."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kaijuan.core.identity import AuditEvent
from kaijuan.core.ids import content_hash

START = "0" * 64
"""What stands for the hash before the first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What checking a log found."""

    lines: int
    broken_at: int | None
    """Sequence of the first line that does not fit; None where all do."""
    last: str
    """Hash of the last line. Kept elsewhere, it proves later that no line was dropped at the end."""


def chained(event: AuditEvent, before: AuditEvent | None) -> AuditEvent:
    """Return the event as the line after `before`."""
    placed = replace(
        event,
        sequence=before.sequence + 1 if before else 1,
        previous=before.hash if before else START,
    )
    return replace(placed, hash=_hash(placed))


def check(events: Iterable[AuditEvent]) -> Chain:
    """Check lines in order of sequence, from the first on."""
    lines, sequence, last, broken = 0, 0, START, None
    for event in events:
        lines += 1
        fits = event.sequence == sequence + 1 and event.previous == last and event.hash == _hash(event)
        if not fits and broken is None:
            broken = event.sequence
        sequence, last = event.sequence, event.hash
    return Chain(lines=lines, broken_at=broken, last=last)


def _hash(event: AuditEvent) -> str:
    told = [
        *(event.sequence, event.at, event.tenant, event.who, event.key, event.action, event.resource),
        *(event.decision, event.snapshot, event.request, event.detail, event.previous),
    ]
    return content_hash(json.dumps(told, ensure_ascii=True).encode())
