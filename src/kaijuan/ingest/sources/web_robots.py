"""What a site asks of programs (RFC 9309, robots.txt)."""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

from kaijuan.errors import DocumentError

AGENT = "kaijuan"
MOST_ROBOTS_BYTES = 500 * 1024
_LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one site. One that cannot say what it asks for is left alone (2.3.1.4): `error` says why."""

    _read: Protego | None
    error: DocumentError | None = None

    def allow(self, address: str) -> bool:
        """Say whether an address may be fetched."""
        return self._read is not None and bool(self._read.can_fetch(address, AGENT))

    @property
    def delay(self) -> float:
        """Seconds to wait between two pages; a site can ask for a few, not for hours."""
        wanted = self._read.crawl_delay(AGENT) if self._read is not None else None
        return min(max(float(wanted or 0.0), 0.0), _LONGEST_DELAY)


def rules_from(found: bytes | DocumentError) -> Rules:
    """Return the rules in a file, or those of a site that failed to give it."""
    if isinstance(found, DocumentError):
        return Rules(None, found)
    return Rules(Protego.parse(found.decode("utf-8", "replace")))
