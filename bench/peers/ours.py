"""Kaijuan by its public interface: a JSONL corpus is added, `search` is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from bench.peers.embedding import SyntheticModel
from bench.peers.embedding_server import onboard
from bench.peers.protocol import CHUNKS_ASKED, EmbeddingModel, Row, Setup, Vectors, best_documents
from kaijuan.config import Config
from kaijuan.core.filters import Eq
from kaijuan.core.spans import Span
from kaijuan.index.ports import Embedder, EmbedderInfo
from kaijuan.ingest.ports import spans_of_each
from kaijuan.sync import Kaijuan
from kaijuan.testing.embedders import HashEmbedder


class Given:
    """The given model as our embedder; tokens are counted by the onboard one, or a stub for synthetic texts."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        synthetic = isinstance(model, SyntheticModel)
        self._tokens: Embedder = HashEmbedder(dimensions=model.dimensions) if synthetic else onboard()

    @property
    def info(self) -> EmbedderInfo:
        return self._tokens.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._model.passages(texts)

    async def embed_query(self, text: str) -> Vectors:
        return self._model.query(text)

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._tokens.token_spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        return spans_of_each(self._tokens, texts)

    async def close(self) -> None:
        await self._tokens.close()


class System:
    """One knowledge base; `cut=False`, as no peer leaves weak passages out either."""

    about = "defaults; `search(cut=False)`, dense and lexical routes fused"
    filters = True

    def open(self, setup: Setup) -> None:
        """Make an empty home."""
        self._folder = setup.folder
        plain = {"dense_weight": 1.0, "languages_apart": False, "rerank": False}
        wanted = {"retrieve": plain, "routes": {"exact": False}} if setup.vector_only else {}
        self._base = Kaijuan(
            setup.folder / "home", config=Config.model_validate(wanted), embedder=Given(setup.embedder)
        )

    def add(self, rows: Sequence[Row]) -> int:
        """Write the rows as a corpus beside the home, and add it."""
        corpus = self._folder.parent / f"{self._folder.name}.jsonl"
        with corpus.open("w", encoding="utf-8") as file:
            for row in rows:
                line = {"_id": row.id, "title": row.title, "text": row.text, **row.metadata}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._corpus = corpus
        report = self._base.add(corpus)
        if report.failed:
            raise RuntimeError(f"{len(report.failed)} documents failed: {report.failed[0]}")
        return report.chunks

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Ask for passages and name their documents."""
        filters = [Eq(field, value) for field, value in where.items()]
        found = self._base.search(query, k=k * CHUNKS_ASKED, filters=filters, cut=False)
        return best_documents([unquote(one.source.rpartition("#")[2]) for one in found.passages], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove the documents in one run."""
        sources = {unquote(one.source.rpartition("#")[2]): one.source for one in self._base.list()}
        self._base.remove([sources[id] for id in ids])

    def close(self) -> None:
        """Close the base; the runner ends what serves its index, which would wait for others first."""
        self._base.close()
