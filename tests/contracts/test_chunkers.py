"""Every chunker against the shared contract."""

from kaijuan.ingest.chunkers.recursive import RecursiveChunker
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.testing.contracts.chunker import ChunkerContract


class TestRecursive(ChunkerContract):
    limit = 448

    def make(self) -> RecursiveChunker:
        return RecursiveChunker(ChunkSettings())


class TestRecursiveInSmallPieces(ChunkerContract):
    limit = 24

    def make(self) -> RecursiveChunker:
        settings = ChunkSettings(child_tokens=16, max_tokens=24, parent_tokens=60, window_chars=1000)
        return RecursiveChunker(settings)
