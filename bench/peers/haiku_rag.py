"""haiku.rag: LanceDB with vectors and full-text search, fused by reciprocal ranks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import TypeVar

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.labels import DocItemLabel
from haiku.rag.client import HaikuRAG
from haiku.rag.client.documents import DocumentImport
from haiku.rag.config import AppConfig
from haiku.rag.store.models.chunk import Chunk

from bench.peers.protocol import CHUNKS_ASKED, Row, Setup, best_documents

T = TypeVar("T")

BATCH = 1000
SENTENCE = re.compile(r"(?<=[。！？\n])|(?<=[.!?] )")


class System:
    """One database; documents come with their chunks, since its chunker loads a tokenizer from the network."""

    about = (
        "`import_documents` with chunks of whole sentences (its own chunker downloads a tokenizer); embedder by the "
        "`openai` provider with `base_url` over loopback, prefixes set; hybrid search in LanceDB, whose full-text "
        "index knows no Chinese words and cannot be given a tokenizer; no vector index, as by default; no reranker"
    )
    filters = True

    def open(self, setup: Setup) -> None:
        """Make an empty database."""
        self._setup = setup
        self._loop = asyncio.new_event_loop()
        self._ids: dict[str, str] = {}
        config = AppConfig.model_validate(
            {
                "environment": "production",
                "storage": {"data_dir": str(setup.folder)},
                "embeddings": {
                    "model": {
                        "provider": "openai",
                        "name": "onboard",
                        "vector_dim": setup.embedder.dimensions,
                        "base_url": setup.embedder.url,
                        "api_key": "none",
                        "query_prefix": "query: ",
                        "document_prefix": "passage: ",
                    }
                },
            }
        )
        self._client = HaikuRAG(setup.folder / "bench.lancedb", config=config, create=True)
        self._wait(self._client.__aenter__())

    def _wait(self, work: Coroutine[object, object, T]) -> T:
        return self._loop.run_until_complete(work)

    def add(self, rows: Sequence[Row]) -> int:
        """Import documents with their chunks in batches, then vacuum, as its guide advises after bulk work."""
        chunks = 0
        for at in range(0, len(rows), BATCH):
            imports = [self._import(row) for row in rows[at : at + BATCH]]
            chunks += sum(len(one.chunks) for one in imports)
            for row, document in zip(
                rows[at : at + BATCH], self._wait(self._client.import_documents(imports)), strict=True
            ):
                self._ids[row.id] = document.id
        self._wait(self._client.vacuum())
        return chunks

    def _import(self, row: Row) -> DocumentImport:
        document = DoclingDocument(name=row.id)
        document.add_text(label=DocItemLabel.TEXT, text=row.whole)
        pieces = sentences(row.whole, self._setup.chunk_characters)
        chunks = [Chunk(content=piece, order=place) for place, piece in enumerate(pieces)]
        return DocumentImport(document, chunks, uri=row.id, title=row.title or row.id, metadata=dict(row.metadata))

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Ask for chunks; metadata is JSON in a column, so that a filter is a LIKE."""
        condition = " AND ".join(
            f"(metadata LIKE '%\"{key}\": {value},%' OR metadata LIKE '%\"{key}\": {value}}}%')"
            for key, value in where.items()
        )
        kind = "vector" if self._setup.vector_only else "hybrid"
        found = self._wait(
            self._client.search(
                query, k * CHUNKS_ASKED, search_type=kind, filter=condition or None, include_images=False
            )
        )
        return best_documents([str(one.document_uri) for one in found], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete one document after another; there is no call for many."""
        for id in ids:
            self._wait(self._client.delete_document(self._ids[id]))

    def close(self) -> None:
        """Close the database."""
        self._wait(self._client.aclose())
        self._loop.close()


def sentences(text: str, size: int) -> list[str]:
    """Join whole sentences to pieces of at most `size` characters; what is longer by itself is cut."""
    pieces = [""]
    for sentence in SENTENCE.split(text):
        for at in range(0, len(sentence), size):
            part = sentence[at : at + size]
            if len(pieces[-1]) + len(part) > size:
                pieces.append("")
            pieces[-1] += part
    return [piece for piece in pieces if piece.strip()]
