"""What the index room needs from the outside: an engine, an embedder, blobs. The catalog has its own page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kaijuan.core.filters import Filter, Value
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError, StoreError

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimensions), rows of length 1."""
Vector = npt.NDArray[np.float32]
"""Shape (dimensions,), length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSpec:
    """What an index space was built for. Opening it for anything else is a SpaceMismatchError."""

    name: str
    """Letters, digits, dash and underscore; one knowledge base and generation."""
    dimensions: int
    model: str
    """Fingerprint of the embedding model."""
    analyser: str
    """Version of the text analyser whose terms are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One searchable chunk. `payload` holds what filters may ask for, besides the interval."""

    id: ChunkId
    vector: Vector
    terms: Mapping[int, float]
    """Term id (unsigned 32 bits) to BM25 document weight; inverse document frequency is the engine's part."""
    payload: Mapping[str, Value | tuple[str, ...]] = field(default_factory=dict)
    valid_from: int = 0
    valid_to: int = OPEN


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk and its score: cosine similarity, or the sum of weighted BM25 terms."""

    id: ChunkId
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PointHeader:
    """What `scan` tells of a point: enough to compare an index with the catalog."""

    id: ChunkId
    valid_from: int
    valid_to: int
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What an adapter can do beyond the port's promises. The contract suite and the docs table read it."""

    durable: bool
    """Survives the end of the process."""
    approximate_above: int
    """Rows from which dense search may be approximate; 0 means always exact."""


class Index(Protocol):
    """One open index space.

    Promises: searches return the exact top k among the points that pass the filter, or as many as there are,
    best first, ties by ascending id. A filter that cannot be applied raises FilterError. Filters may name
    payload fields and `valid_from`, `valid_to`. Writes are seen by the next search; `flush` makes them survive
    a power cut. Upserting an id again replaces the point. Closing or deleting the missing is quiet. Vectors of
    wrong shape, with NaN, or zero raise UsageError and write nothing of the call.
    """

    @property
    def spec(self) -> SpaceSpec: ...

    async def upsert(self, points: Sequence[Point]) -> None: ...

    async def close_interval(self, ids: Sequence[ChunkId], snapshot: int) -> None:
        """Set `valid_to` of the points to `snapshot` (OPEN opens them again)."""

    async def delete(self, ids: Sequence[ChunkId]) -> None: ...

    async def search_dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]: ...

    async def search_lexical(self, terms: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
        """Score = sum over terms of query weight * IDF(term) * document weight; only scores above 0 are hits.

        IDF = ln(1 + (N - n + 0.5) / (n + 0.5)), counted among the points visible in the snapshot that `where`
        demands (`at_snapshot`), and of the level (`LEVEL`) where it demands one, so that writing a later snapshot or
        summaries moves no score; among all points when it demands neither.
        """

    def scan(self, where: Filter) -> AsyncIterator[PointHeader]:
        """Yield the headers of all matching points in ascending order of id, in batches behind the scenes."""

    async def count(self, where: Filter) -> int: ...

    async def optimise(self) -> None:
        """Rebuild for faster search. Answers stay the same; readers are not kept waiting."""

    async def flush(self) -> None: ...

    async def close(self) -> None:
        """Release this handle. Twice is fine; use after close raises ClosedError."""


@runtime_checkable
class LooksUpSeveral(Protocol):
    """What an index may offer beside the port: several searches by words in one call."""

    async def search_lexical_each(
        self, several: Sequence[Mapping[int, float]], k: int, where: Filter
    ) -> list[list[Hit]]: ...


async def search_lexical_each(
    index: Index, several: Sequence[Mapping[int, float]], k: int, where: Filter
) -> list[list[Hit]]:
    """Return what `search_lexical` finds for each, in one call where the index offers that."""
    if isinstance(index, LooksUpSeveral):
        return await index.search_lexical_each(several, k, where)
    return list(await asyncio.gather(*(index.search_lexical(terms, k, where) for terms in several)))


class IndexStore(Protocol):
    """Holds index spaces by name."""

    @property
    def abilities(self) -> Abilities: ...

    async def open(self, spec: SpaceSpec, *, create: bool = True) -> Index:
        """Open a space; SpaceMismatchError when it was built for another model or analyser."""

    async def drop(self, name: str) -> None: ...

    async def spaces(self) -> list[str]: ...

    async def close(self) -> None: ...


@runtime_checkable
class CopiesSpaces(Protocol):
    """An index store that can write a flushed copy of a space to a folder, while it goes on answering."""

    async def copy_space(self, name: str, folder: Path) -> None:
        """Write the space to `folder`/`name`, from where a store over `folder` opens it. NotFoundError without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderInfo:
    """What an embedder is. `fingerprint` changes whenever its vectors do."""

    name: str
    fingerprint: str
    dimensions: int
    max_tokens: int
    """Longest input in tokens, all prefixes and special tokens counted in `reserved_tokens`."""
    reserved_tokens: int


class Embedder(Protocol):
    """Texts to unit vectors. Order and count are kept; the same text gives the same vector."""

    @property
    def info(self) -> EmbedderInfo: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found. A text over the limit raises OverlongInputError; nothing is cut."""

    async def embed_query(self, text: str) -> Vector:
        """Embed a question. A question over the limit is cut at its end, which `telemetry` counts."""

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the span of each of the model's tokens in `text`, in order, without prefixes.

        White space between tokens belongs to no span or to one of its neighbours.
        """

    async def close(self) -> None: ...


class BlobStore(Protocol):
    """Content-addressed bytes: the name of a blob is `content_hash` of it."""

    async def put(self, data: bytes) -> str:
        """Store and return the name. A partial write is never visible. What is there already is checked, and put
        right when it is damaged."""

    async def put_each(self, contents: Sequence[bytes]) -> list[str]:
        """`put` for several contents in one call; cheaper than as many calls. On an error any of them may be there."""

    async def get(self, name: str) -> bytes:
        """Return the bytes; NotFoundError when missing, CorruptStoreError when they do not hash to `name`."""

    async def check_each(self, names: Sequence[str]) -> list[StoreError | NotFoundError | None]:
        """Read several in full, one at a time in memory; what `get` would raise for each, None where it is whole."""

    async def get_each(self, names: Sequence[str]) -> list[bytes | StoreError | NotFoundError]:
        """`get` for several blobs in one call; what cannot be read comes as its error, in its place."""

    async def exists(self, name: str) -> bool: ...

    async def size(self, name: str) -> int:
        """Return the bytes that a blob takes in the store; 0 when it is missing."""

    async def delete(self, name: str) -> None: ...

    def names(self) -> AsyncIterator[str]: ...
