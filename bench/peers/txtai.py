"""txtai: hybrid=True over stored content, long texts cut by its Segmentation pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from txtai import Embeddings
from txtai.pipeline import Segmentation

from bench.peers.protocol import CHUNKS_ASKED, EmbeddingModel, Row, Setup, Vectors, best_documents

CANDIDATES = 1000
"""What a filtered query fetches before the filter: the documented parameter of `similar`. Its default is ten times the
limit, 300 here."""
PREFIXES = {"query": "query: ", "data": "passage: "}


class System:
    """Faiss, BM25 and SQLite in one Embeddings index."""

    about = (
        '`Segmentation(chunker="recursive")`; `Embeddings(hybrid=True, content=True)`: Faiss, BM25 (Unicode word '
        "rules; Chinese by its documented `regexp`, single Han characters), SQLite; filters in SQL after "
        f"{CANDIDATES} candidates of `similar`"
    )
    filters = True

    def open(self, setup: Setup) -> None:
        """Make an empty index."""
        self._setup = setup
        self._chunks: dict[str, list[str]] = {}
        self._segment = Segmentation(chunker="recursive", tokenizer="character", chunk_size=setup.chunk_characters)
        tokens = {"regexp": r"\p{Han}|[^\W\p{Han}]+"}
        self._index = Embeddings(
            method="external",
            transform=transform(setup.embedder),
            instructions=PREFIXES,
            content=True,
            hybrid=not setup.vector_only,
            **(
                {}
                if setup.vector_only
                else {"scoring": {"method": "bm25", "terms": True, "normalize": True, "tokenizer": tokens}}
            ),
        )

    def add(self, rows: Sequence[Row]) -> int:
        """Cut and index all documents, and save."""
        self._index.index(self._pieces(rows))
        self._index.save(str(self._setup.folder / "index"))
        return sum(map(len, self._chunks.values()))

    def _pieces(self, rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, str | int]]]:
        for row in rows:
            texts = self._segment(row.whole)
            ids = self._chunks[row.id] = [f"{row.id}#{place}" for place in range(len(texts))]
            yield from ((id, {"text": text, **row.metadata}) for id, text in zip(ids, texts, strict=True))

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Search by text; with a filter, by SQL."""
        if where:
            conditions = " and ".join(f"{field} = {value}" for field, value in where.items())
            sql = f"select id from txtai where similar(:query, {CANDIDATES}) and {conditions}"  # fields are ours
            found = self._index.search(sql, k * CHUNKS_ASKED, parameters={"query": query})
        else:
            found = self._index.search(query, k * CHUNKS_ASKED)
        return best_documents([str(one["id"]).rpartition("#")[0] for one in found], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the documents' chunks."""
        self._index.delete([chunk for id in ids for chunk in self._chunks.pop(id, [])])

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def transform(model: EmbeddingModel) -> object:
    """Return the function that txtai calls for vectors; the instruction before a text tells its kind."""

    def vectors(texts: Sequence[str]) -> Vectors:
        asked, given = PREFIXES["query"], PREFIXES["data"]
        if all(text.startswith(asked) for text in texts):
            return np.stack([model.query(text.removeprefix(asked)) for text in texts])
        return model.passages([text.removeprefix(given) for text in texts])

    return vectors
