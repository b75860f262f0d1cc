"""The catalog port, its page of conversations and traces: what readers asked before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kaijuan.core.conversations import Conversation, Turn
from kaijuan.core.ids import DocumentId, KbId


class Conversations(Protocol):
    """Conversations by owner and name. Each method is one transaction; an owner sees no other's."""

    async def converse(self, kb: KbId, owner: str, name: str, *, now: float) -> Conversation:
        """Return the conversation of that name, made now if missing."""

    async def conversation(self, kb: KbId, owner: str, name: str) -> Conversation:
        """Return the conversation of that name or id; NotFoundError when the owner has none."""

    async def conversations(self, kb: KbId, owner: str) -> list[Conversation]:
        """Return all of an owner, the latest used first."""

    async def add_turn(self, conversation: str, turn: Turn) -> Turn:
        """Add a turn, numbered by the catalog; NotFoundError when the conversation has gone."""

    async def turns(self, conversation: str, *, last: int | None = None) -> list[Turn]:
        """Return the turns in order, all or the last ones."""

    async def summarise(self, conversation: str, summary: str, summed: int, documents: Sequence[DocumentId]) -> None:
        """Keep a summary of the turns up to `summed`, and what it rests on; one of fewer turns changes nothing."""

    async def pin(self, conversation: str, facts: Sequence[str]) -> None:
        """Keep these facts, in place of those that were pinned."""

    async def forget(self, kb: KbId, owner: str, name: str) -> None:
        """Delete a conversation with its turns; NotFoundError when the owner has none of that name or id."""
