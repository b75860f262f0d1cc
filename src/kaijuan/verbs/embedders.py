"""The embedder that settings name, behind a cache of vectors."""

from __future__ import annotations

from pathlib import Path

from kaijuan import registry
from kaijuan.config import EmbedderSettings
from kaijuan.index.ports import Embedder


def make_embedder(settings: EmbedderSettings, cache: Path) -> Embedder:
    """Return the configured embedder behind a cache of vectors; both keep their files in `cache`."""
    inner: Embedder = registry.load("embedder", settings.name).from_settings(settings, cache)
    cached: Embedder = registry.load("embedding_cache", "sqlite")(
        inner, cache / "embeddings.db", max_bytes=settings.cache_mb * 2**20
    )
    # Around the cache, so that whole vectors that are there are not made again.
    return shortened(cached, settings.dimensions)


def shortened(embedder: Embedder, dimensions: int) -> Embedder:
    """Return an embedder whose vectors have so many numbers; 0 leaves them as they are."""
    if not dimensions or dimensions == embedder.info.dimensions:
        return embedder
    made: Embedder = registry.load("embedder_around", "truncated")(embedder, dimensions)
    return made
