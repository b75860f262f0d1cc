"""What text of a chunk is embedded: its own, under the title and headings as far as the model has room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from kaijuan import telemetry
from kaijuan.core.documents import Chunk, Version
from kaijuan.index.ports import Embedder, Vectors

_JOINT = " > "
_SEAM = 2
"""Tokens kept free for the joint of prefix and text, whose tokens may differ a little from those of its parts."""


class Passages:
    """Makes the texts to embed for the chunks of one version after another.

    A prefix has at most `prefix_tokens` tokens, and never so many that prefix and chunk together pass the model's
    limit; one that had to be shortened is counted in telemetry ("embed.prefix_shortened"). The chunk's own text is
    never cut. `measured` says that chunks were measured in this model's tokens; otherwise they are counted again.
    """

    def __init__(self, embedder: Embedder, prefix_tokens: int, *, measured: bool = True) -> None:
        self._embedder = embedder
        self._measured = measured
        self._most = prefix_tokens
        self._room = embedder.info.max_tokens - embedder.info.reserved_tokens - _SEAM
        # Chunks of one section share their prefix; measuring it once saves the tokenizer most of its work.
        self._prefix = lru_cache(maxsize=256)(self._shortened)

    def text(self, version: Version, chunk: Chunk, body: str) -> str:
        """Return what is embedded for a chunk that is found by `body`, its own text or another."""
        own = self._measured and chunk.tokens and not chunk.search_text
        tokens = chunk.tokens if own else len(self._embedder.token_spans(body))
        names = tuple(_names(version.title, chunk.title_path))
        room = max(self._room - tokens, 0)
        if chunk.context:
            # Between names and text, with the names' share of room still theirs.
            context = self._fitting(chunk.context, max(room - self._most, 0))
            body = f"{context}\n{body}" if context else body
            room -= len(self._embedder.token_spans(context)) + 1 if context else 0
        prefix, whole = self._prefix(names, min(self._most, max(room, 0)))
        if not whole:
            telemetry.count("embed.prefix_shortened")
        return f"{prefix}\n{body}" if prefix else body

    def _shortened(self, names: tuple[str, ...], most: int) -> tuple[str, bool]:
        kept = list(names)
        while len(kept) > 1 and self._tokens(kept) > most:
            # The innermost heading says most about the chunk and the title next most: those between go first.
            del kept[1 if len(kept) > 2 else 0]
        text = _JOINT.join(kept)
        spans = self._embedder.token_spans(text)
        if len(spans) > most:
            text = text[: spans[most - 1].end] if most else ""
        return text.strip(), len(kept) == len(names) and len(spans) <= most

    def _fitting(self, text: str, most: int) -> str:
        spans = self._embedder.token_spans(text)
        if len(spans) <= most:
            return text
        telemetry.count("embed.context_shortened")
        return text[: spans[most - 1].end].strip() if most else ""

    def _tokens(self, names: Sequence[str]) -> int:
        return len(self._embedder.token_spans(_JOINT.join(names)))


def _names(title: str, path: Sequence[str]) -> Iterator[str]:
    before = ""
    for name in (title, *path):
        # A document's first heading is often its title again.
        if name.strip() and name != before:
            yield name
        before = name


def blocking_similarity(embedder: Embedder, batch: int) -> Callable[[Sequence[str], int], Sequence[float]]:
    """Return what says how like each text is to one some places later, for threads beside the running event loop.

    Called on the loop's own thread it would wait for itself, so it raises RuntimeError there.
    """
    loop = asyncio.get_running_loop()

    def similarity(texts: Sequence[str], apart: int) -> Sequence[float]:
        if _is_on(loop):
            raise RuntimeError("vectors are waited for on the thread that makes them")
        vectors = asyncio.run_coroutine_threadsafe(embedded(embedder, texts, batch), loop).result()
        return [float(value) for value in (vectors[:-apart] * vectors[apart:]).sum(axis=1)]

    return similarity


def _is_on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


async def embedded(embedder: Embedder, texts: Sequence[str], batch: int) -> Vectors:
    """Return the vectors of the texts in order, asked for in batches."""
    parts = [await embedder.embed_passages(texts[at : at + batch]) for at in range(0, len(texts), batch)]
    return np.concatenate(parts) if parts else np.zeros((0, embedder.info.dimensions), dtype=np.float32)
