"""What every system is asked to do, and what it is given. Standard library only: peers' environments import this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimensions), rows of length 1."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One document of a corpus. Peers index `whole`, since they know no title."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, str | int]

    @property
    def whole(self) -> str:
        """Title and text, as one."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class EmbeddingModel(Protocol):
    """The embedder that all systems are given."""

    @property
    def dimensions(self) -> int: ...

    @property
    def url(self) -> str:
        """Address of the same embedder by OpenAI's protocol, for a system that takes nothing else."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; what is too long for the model loses its end."""

    def query(self, text: str) -> Vectors:
        """Embed a question: shape (dimensions,)."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a system is opened with."""

    folder: Path
    """Empty at first; everything that the system keeps on disk goes there."""
    embedder: EmbeddingModel
    chunk_characters: int
    """Chunks are to have about this many characters."""
    vector_only: bool = False
    """Search by vectors alone, where the system can: for comparing with exact neighbours."""


class System(Protocol):
    """One library in its best documented hybrid set-up for one machine without services."""

    about: str
    """What is run, in one line for the table."""
    filters: bool
    """Whether the set-up can filter by metadata."""

    def open(self, setup: Setup) -> None: ...

    def add(self, rows: Sequence[Row]) -> int:
        """Index the documents and return the number of chunks; what follows is ready to search."""

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Return the ids of at most `k` documents, best first, each by its best chunk. `where` names fields and the
        value that each must have."""

    def delete(self, ids: Sequence[str]) -> None: ...

    def close(self) -> None: ...


def best_documents(chunks: Sequence[str], k: int) -> list[str]:
    """Return the documents of ranked chunks, each once, at most `k`."""
    return list(dict.fromkeys(chunks))[:k]


CHUNKS_ASKED = 3
"""Chunks asked for one document wanted, since a document may come with several."""
