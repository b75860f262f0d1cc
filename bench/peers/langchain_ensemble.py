"""What both LangChain set-ups share: splitter, BM25 retriever, ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import NAMESPACE_URL, uuid5

import rjieba
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from bench.peers.protocol import CHUNKS_ASKED, EmbeddingModel, Row, Setup, best_documents

# The list that LangChain's page on languages without word boundaries gives.
SEPARATORS = ["\n\n", "\n", " ", ".", ",", "\u200b", "\uff0c", "\u3001", "\uff0e", "\u3002", ""]
BATCH = 4096


class Embedding(Embeddings):
    """The given model as LangChain's embeddings."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages."""
        return [row.tolist() for row in self._model.passages(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return [float(value) for value in self._model.query(text)]


def words(text: str) -> list[str]:
    """Cut into words, for BM25Retriever's documented `preprocess_func`; its default splits at blanks only."""
    return [word.lower() for word in rjieba.cut(text) if word.strip()]


class Ensemble:
    """EnsembleRetriever over a vector store and a BM25Retriever, which lives in memory and cannot be changed."""

    filters = True

    def start(self, setup: Setup, store: VectorStore) -> None:
        """Begin with an empty store."""
        self._setup = setup
        self._store = store
        self._kept: dict[str, Document] = {}
        self._bm25: BM25Retriever | None = None
        self._splitter = RecursiveCharacterTextSplitter(
            chunk_size=setup.chunk_characters, chunk_overlap=setup.chunk_characters // 8, separators=SEPARATORS
        )

    def add(self, rows: Sequence[Row]) -> int:
        """Split, embed, store; then build BM25."""
        whole = [Document(page_content=row.whole, metadata={**row.metadata, "document": row.id}) for row in rows]
        chunks = self._splitter.split_documents(whole)
        # Qdrant takes numbers and UUIDs only.
        ids = [str(uuid5(NAMESPACE_URL, f"{one.metadata['document']}#{place}")) for place, one in enumerate(chunks)]
        for at in range(0, len(chunks), BATCH):
            self._store.add_documents(chunks[at : at + BATCH], ids=ids[at : at + BATCH])
        self._kept.update(zip(ids, chunks, strict=True))
        self._build_bm25()
        return len(chunks)

    def _build_bm25(self) -> None:
        if not self._setup.vector_only:
            self._bm25 = BM25Retriever.from_documents(list(self._kept.values()), preprocess_func=words)

    def condition(self, where: Mapping[str, int]) -> object:
        """Return the store's filter."""
        raise NotImplementedError

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Ask the ensemble; BM25Retriever has no filter, so with one the vector store is asked alone."""
        asked = k * CHUNKS_ASKED
        options = {"k": asked, **({"filter": self.condition(where)} if where else {})}
        retriever: BaseRetriever = self._store.as_retriever(search_kwargs=options)
        if self._bm25 is not None and not where:
            self._bm25.k = asked
            retriever = EnsembleRetriever(retrievers=[self._bm25, retriever], weights=[0.5, 0.5])
        return best_documents([str(one.metadata["document"]) for one in retriever.invoke(query)], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the documents' chunks and build BM25 anew."""
        gone = set(ids)
        chunks = [id for id, chunk in self._kept.items() if chunk.metadata["document"] in gone]
        for at in range(0, len(chunks), BATCH):
            self._store.delete(chunks[at : at + BATCH])
        for id in chunks:
            del self._kept[id]
        self._build_bm25()
