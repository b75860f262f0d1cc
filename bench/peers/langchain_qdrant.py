"""LangChain with Qdrant's local mode on disk and BM25 in memory."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient, models

from bench.peers.langchain_ensemble import Embedding, Ensemble
from bench.peers.protocol import Setup


class System(Ensemble):
    """The ensemble over Qdrant local, since its own sparse model has to be downloaded."""

    about = (
        "`RecursiveCharacterTextSplitter`; `EnsembleRetriever` over Qdrant local mode on disk and `BM25Retriever` "
        "(rank-bm25, in memory; jieba words by `preprocess_func`); `RetrievalMode.HYBRID` would download a sparse model"
    )

    def open(self, setup: Setup) -> None:
        """Make an empty collection."""
        self._client = QdrantClient(path=str(setup.folder))
        embedding = Embedding(setup.embedder)
        size = models.VectorParams(size=setup.embedder.dimensions, distance=models.Distance.COSINE)
        self._client.create_collection("bench", vectors_config=size)
        store = QdrantVectorStore(
            self._client, collection_name="bench", embedding=embedding, validate_collection_config=False
        )
        self.start(setup, store)

    def condition(self, where: Mapping[str, int]) -> object:
        """Return Qdrant's filter."""
        return models.Filter(
            must=[
                models.FieldCondition(key=f"metadata.{key}", match=models.MatchValue(value=value))
                for key, value in where.items()
            ]
        )

    def close(self) -> None:
        """Release the folder."""
        self._client.close()
