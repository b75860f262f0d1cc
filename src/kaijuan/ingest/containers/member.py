"""What a container holds, and how much of it may be unpacked."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.errors import OversizeDocumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One document inside a container. `path` names it there, with "/" between folders."""

    path: str
    data: bytes


@dataclass(slots=True, kw_only=True)
class Budget:
    """What is left to unpack of one file, everything inside it included."""

    max_bytes: int
    """Largest member."""
    bytes_left: int
    members_left: int

    def take(self, path: str, size: int) -> None:
        """Count a member before it is unpacked. Raises OversizeDocumentError when it is too much."""
        if size > self.max_bytes:
            raise OversizeDocumentError(f"{path} would unpack to {size:,} bytes, more than {self.max_bytes:,}.")
        if self.members_left <= 0:
            raise OversizeDocumentError(f"{path} was left out: its archive holds too many files.", hint=_SPLIT)
        if size > self.bytes_left:
            raise OversizeDocumentError(f"{path} was left out: its archive would unpack to too much.", hint=_SPLIT)
        self.members_left -= 1
        self.bytes_left -= size

    @property
    def is_spent(self) -> bool:
        """Whether no member fits any more."""
        return self.members_left <= 0 or self.bytes_left <= 0


_SPLIT = "Unpack it, or raise ingest.max_unpacked_bytes or ingest.max_members."
