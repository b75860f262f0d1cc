"""LangChain with Chroma on disk and BM25 in memory."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_chroma import Chroma

from bench.peers.langchain_ensemble import Embedding, Ensemble
from bench.peers.protocol import Setup


class System(Ensemble):
    """The ensemble over Chroma."""

    about = (
        "`RecursiveCharacterTextSplitter`; `EnsembleRetriever` over Chroma on disk and `BM25Retriever` (rank-bm25, in "
        "memory; jieba words by `preprocess_func`)"
    )

    def open(self, setup: Setup) -> None:
        """Make an empty collection."""
        embedding = Embedding(setup.embedder)
        self.start(setup, Chroma("bench", embedding_function=embedding, persist_directory=str(setup.folder)))

    def condition(self, where: Mapping[str, int]) -> object:
        """Return Chroma's filter."""
        parts = [{key: value} for key, value in where.items()]
        return parts[0] if len(parts) == 1 else {"$and": parts}

    def close(self) -> None:
        """Chroma writes as it goes."""
