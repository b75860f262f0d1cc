"""Haystack: the pipeline of its hybrid retrieval tutorial, without the reranking model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import RecursiveDocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from bench.peers.protocol import CHUNKS_ASKED, EmbeddingModel, Row, Setup, best_documents

SEPARATORS = ["\n\n", "\n", "[。！？]", r"\. ", " "]
BATCH = 256


@component
class DocumentEmbedder:
    """Adds the given model's vectors to documents."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]  # the library is untyped from here
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Embed in batches."""
        for at in range(0, len(documents), BATCH):
            part = documents[at : at + BATCH]
            for document, row in zip(part, self._model.passages([one.content for one in part]), strict=True):
                document.embedding = row.tolist()
        return {"documents": documents}


@component
class TextEmbedder:
    """Turns the question into the given model's vector."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @component.output_types(embedding=list[float])  # type: ignore[untyped-decorator]  # the library is untyped from here
    def run(self, text: str) -> dict[str, list[float]]:
        """Embed the question."""
        return {"embedding": self._model.query(text).tolist()}


class System:
    """InMemoryDocumentStore with its BM25 and its embedding retriever, joined by reciprocal rank fusion."""

    about = (
        "`RecursiveDocumentSplitter` (characters); `InMemoryDocumentStore` with BM25 and embedding retrievers, "
        "`DocumentJoiner` (reciprocal rank fusion); disk: its `save_to_disk`"
    )
    filters = True

    def open(self, setup: Setup) -> None:
        """Build both pipelines over an empty store."""
        self._setup = setup
        self._store = InMemoryDocumentStore(shared=False)
        self._chunks: dict[str, list[str]] = {}
        self._indexing = Pipeline()
        splitter = RecursiveDocumentSplitter(
            split_length=setup.chunk_characters,
            split_overlap=setup.chunk_characters // 8,
            split_unit="char",
            separators=SEPARATORS,
        )
        self._indexing.add_component("splitter", splitter)
        self._indexing.add_component("embedder", DocumentEmbedder(setup.embedder))
        self._indexing.connect("splitter", "embedder")
        self._query = Pipeline()
        self._query.add_component("embedder", TextEmbedder(setup.embedder))
        self._query.add_component("vectors", InMemoryEmbeddingRetriever(self._store))
        self._query.connect("embedder.embedding", "vectors.query_embedding")
        if not setup.vector_only:
            self._query.add_component("words", InMemoryBM25Retriever(self._store))
            self._query.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
            self._query.connect("words", "joiner")
            self._query.connect("vectors", "joiner")
        self._writer = DocumentWriter(self._store)

    def add(self, rows: Sequence[Row]) -> int:
        """Run the indexing pipeline."""
        documents = [Document(content=row.whole, meta={**row.metadata, "document": row.id}) for row in rows]
        made = self._indexing.run({"splitter": {"documents": documents}})["embedder"]["documents"]
        self._writer.run(made)
        for one in made:
            self._chunks.setdefault(one.meta["document"], []).append(one.id)
        return len(made)

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Run the query pipeline."""
        conditions = [{"field": f"meta.{key}", "operator": "==", "value": value} for key, value in where.items()]
        options = {
            "top_k": k * CHUNKS_ASKED,
            "filters": {"operator": "AND", "conditions": conditions} if where else None,
        }
        asked = {"embedder": {"text": query}, "vectors": options}
        if not self._setup.vector_only:
            asked["words"] = {"query": query, **options}
        found = self._query.run(asked)["vectors" if self._setup.vector_only else "joiner"]["documents"]
        return best_documents([str(one.meta["document"]) for one in found], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the documents' chunks."""
        self._store.delete_documents([chunk for id in ids for chunk in self._chunks.pop(id, [])])

    def close(self) -> None:
        """Save the store, which lives in memory."""
        self._store.save_to_disk(str(self._setup.folder / "store.json"))
