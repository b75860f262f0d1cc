"""The first numbers of longer vectors: a smaller index for less precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kaijuan.core.spans import Span
from kaijuan.errors import UsageError
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.ingest.ports import spans_of_each

_LEAST = 16


class TruncatedEmbedder:
    """An embedder whose vectors keep their first `dimensions` numbers, brought to length 1 again.

    Models trained for it (Kusupati et al., Matryoshka Representation Learning, 2022) lose little, others more. Wrapped
    around a cache it costs no embedding: the whole vectors are kept there.
    """

    def __init__(self, inner: Embedder, dimensions: int) -> None:
        whole = inner.info.dimensions
        if not _LEAST <= dimensions < whole:
            raise UsageError(
                f"Vectors of {whole} numbers cannot be cut to {dimensions}.",
                hint=f"embedder.dimensions may be {_LEAST} to {whole}.",
            )
        self._inner = inner
        self._dimensions = dimensions
        self._info = replace(
            inner.info,
            name=f"{inner.info.name}/{dimensions}",
            fingerprint=f"{inner.info.fingerprint}/first-{dimensions}",
            dimensions=dimensions,
        )

    @property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is."""
        return self._info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found."""
        rows = (await self._inner.embed_passages(texts))[:, : self._dimensions]
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    async def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        vector = (await self._inner.embed_query(text))[: self._dimensions]
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the spans of the inner embedder."""
        return self._inner.token_spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        """Return the spans of the inner embedder, found together where it can do that."""
        return spans_of_each(self._inner, texts)

    async def check(self, *, repair: bool) -> list[str]:
        """Let a cache inside look at itself."""
        look = getattr(self._inner, "check", None)
        return [] if look is None else list(await look(repair=repair))

    async def close(self) -> None:
        """Close the inner embedder."""
        await self._inner.close()
