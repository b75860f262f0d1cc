"""Canonical texts by blob name, the latest used ones kept in memory."""

from __future__ import annotations

from collections import OrderedDict

from kaijuan.index.ports import BlobStore


class TextShelf:
    """Reads texts from the blob store. Blobs never change, so a kept text is always right."""

    def __init__(self, blobs: BlobStore, *, max_characters: int = 32_000_000) -> None:
        self._blobs = blobs
        self._max_characters = max_characters
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    async def read(self, name: str) -> str:
        """Return the text of a blob. A text larger than the whole shelf is read but not kept."""
        if name in self._texts:
            self._texts.move_to_end(name)
            return self._texts[name]
        text = (await self._blobs.get(name)).decode()
        if len(text) <= self._max_characters and name not in self._texts:
            self._texts[name] = text
            self._characters += len(text)
            while self._characters > self._max_characters:
                _, dropped = self._texts.popitem(last=False)
                self._characters -= len(dropped)
        return text
