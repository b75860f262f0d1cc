"""What the retrieve room needs: routes and rerankers. The catalog and the index are described in the index room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId, DocumentId
from kaijuan.index.ports import Hit
from kaijuan.retrieve.results import RouteScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question made ready for the routes."""

    text: str
    normalised: str
    terms: tuple[str, ...]
    """As the trace shows them."""
    weights: Mapping[int, float]
    """Term id to query weight."""
    expansion: Mapping[int, float] = field(default_factory=dict)
    """Term id to weight of words that mean the same; none of those in `weights`."""


class Route(Protocol):
    """One way to find chunks. Returns at most `k`, best first, ties by id; raises only KaijuanError."""

    @property
    def name(self) -> str: ...

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A candidate as a reranker reads it. The catalog has allowed it to the reader before it comes here."""

    chunk_id: ChunkId
    document_id: DocumentId
    title: str
    title_path: tuple[str, ...]
    text: str
    language: str
    routes: Mapping[str, RouteScore]
    fused: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a reranker says of one candidate."""

    score: float
    """Orders the candidates of one question; compares with nothing else."""
    evidence: float
    """Calibrated, 0 to 1: the probability that the candidate answers the question."""
    calibrated: bool = True
    """False where `evidence` says less than it should, such as of a text in another language by a reranker that looks
    at words: it is then not shown, and nothing is left out for it."""


Pieces = npt.NDArray[np.uint32]
"""Numbers of pieces of words, ascending, each once."""
Floats32 = npt.NDArray[np.float32]


class Words(Protocol):
    """What pieces of words mean by themselves. Safe to share between threads."""

    def pieces(self, texts: Sequence[str]) -> list[Pieces]: ...

    def rarities(self, pieces: Pieces) -> Floats32:
        """Return how rare each piece is in general, 0 or more."""

    def vectors(self, pieces: Pieces) -> Floats32:
        """Return their vectors, of unit length, shape (pieces, width)."""


class Reranker(Protocol):
    """Judges candidates by their texts.

    Promises: one verdict for each candidate, in the order given; none for none; the same texts, the same verdicts
    (services may break that); raises only KaijuanError. The texts are untrusted: whatever they say is data.
    """

    @property
    def name(self) -> str: ...

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]: ...

    async def close(self) -> None: ...
