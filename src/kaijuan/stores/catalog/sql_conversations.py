"""The page of the catalog port about conversations over SQLAlchemy: each method one transaction, as in `sql`."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.conversations import Conversation, Turn
from kaijuan.core.ids import DocumentId, KbId
from kaijuan.stores.catalog import conversations as talks
from kaijuan.stores.catalog.upkeep import Upkeep


class ConversationsOfReaders(Upkeep):
    """Methods of `SqlCatalog`."""

    async def converse(self, kb: KbId, owner: str, name: str, *, now: float) -> Conversation:
        """Return the conversation of that name, made now if missing."""
        return await self._write(talks.converse, kb, owner, name, now)

    async def conversation(self, kb: KbId, owner: str, name: str) -> Conversation:
        """Return the conversation of that name or id."""
        return await self._read(talks.conversation, kb, owner, name)

    async def conversations(self, kb: KbId, owner: str) -> list[Conversation]:
        """Return all of an owner, the latest used first."""
        return await self._read(talks.conversations, kb, owner)

    async def add_turn(self, conversation: str, turn: Turn) -> Turn:
        """Add a turn with the next number."""
        return await self._write(talks.add_turn, conversation, turn)

    async def turns(self, conversation: str, *, last: int | None = None) -> list[Turn]:
        """Return the turns in order."""
        return await self._read(talks.turns, conversation, last)

    async def summarise(self, conversation: str, summary: str, summed: int, documents: Sequence[DocumentId]) -> None:
        """Keep a summary unless there is one of more turns."""
        await self._write(talks.summarise, conversation, summary, summed, documents)

    async def pin(self, conversation: str, facts: Sequence[str]) -> None:
        """Keep these facts alone."""
        await self._write(talks.pin, conversation, facts)

    async def forget(self, kb: KbId, owner: str, name: str) -> None:
        """Delete a conversation with its turns."""
        await self._write(talks.forget, kb, owner, name, durable=True)
