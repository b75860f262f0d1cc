"""Canonical texts by blob name, the latest used ones kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from kaijuan.errors import NotFoundError, StoreError
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
        return self._keep(name, (await self._blobs.get(name)).decode())

    async def read_each(self, names: Sequence[str]) -> list[str | StoreError | NotFoundError]:
        """Return several texts at once; what cannot be read comes as its error, in its place."""
        missing = [name for name in dict.fromkeys(names) if name not in self._texts]
        found: dict[str, str | StoreError | NotFoundError] = {}
        for name, data in zip(missing, await self._blobs.get_each(missing) if missing else [], strict=True):
            found[name] = self._keep(name, data.decode()) if isinstance(data, bytes) else data
        return [found[name] if name in found else await self.read(name) for name in names]

    def _keep(self, name: str, text: str) -> str:
        if len(text) <= self._max_characters and name not in self._texts:
            self._texts[name] = text
            self._characters += len(text)
            while self._characters > self._max_characters:
                _, dropped = self._texts.popitem(last=False)
                self._characters -= len(dropped)
        return text
