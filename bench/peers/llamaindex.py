"""LlamaIndex: QueryFusionRetriever over a Chroma vector index and a BM25Retriever, as its BM25 page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import chromadb
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, Document
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore

from bench.peers.protocol import CHUNKS_ASKED, EmbeddingModel, Row, Setup, best_documents

# The documented parameter takes a pattern, no function: Han characters one by one, other words whole.
TOKENS = r"(?u)[\u3400-\u9fff]|[^\W\u3400-\u9fff]+"
CHARACTERS_PER_TOKEN = 3
BATCH = 64


class Embedding(BaseEmbedding):
    """The given model as LlamaIndex's embedding."""

    _model: EmbeddingModel = PrivateAttr()

    def __init__(self, model: EmbeddingModel) -> None:
        super().__init__(model_name="onboard", embed_batch_size=BATCH)
        self._model = model

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [row.tolist() for row in self._model.passages(texts)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(value) for value in self._model.query(query)]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class System:
    """Nodes in Chroma on disk and in a docstore; BM25 over the docstore, made anew after changes."""

    about = (
        "`SentenceSplitter`; `QueryFusionRetriever` (reciprocal rank fusion) over Chroma on disk and `BM25Retriever` "
        "(bm25s; `token_pattern` of single Han characters and whole words)"
    )
    filters = True

    def open(self, setup: Setup) -> None:
        """Make an empty index."""
        self._setup = setup
        client = chromadb.PersistentClient(path=str(setup.folder / "chroma"))
        self._docstore = SimpleDocumentStore()
        context = StorageContext.from_defaults(
            vector_store=ChromaVectorStore(chroma_collection=client.get_or_create_collection("bench")),
            docstore=self._docstore,
        )
        self._index = VectorStoreIndex(
            nodes=[],
            storage_context=context,
            embed_model=Embedding(setup.embedder),
            store_nodes_override=True,
            insert_batch_size=2048,
        )
        # The splitter counts tokens of tiktoken: about three characters of these texts each.
        size = setup.chunk_characters // CHARACTERS_PER_TOKEN
        self._splitter = SentenceSplitter(chunk_size=size, chunk_overlap=size // 8)

    def add(self, rows: Sequence[Row]) -> int:
        """Split, embed and insert all nodes; then build BM25."""
        documents = [
            Document(
                doc_id=row.id,
                text=row.whole,
                metadata=dict(row.metadata),
                excluded_embed_metadata_keys=list(row.metadata),
            )
            for row in rows
        ]
        nodes = self._splitter.get_nodes_from_documents(documents)
        self._index.insert_nodes(nodes)
        self._build_bm25()
        return len(nodes)

    def _build_bm25(self) -> None:
        if not self._setup.vector_only:
            self._bm25 = BM25Retriever.from_defaults(docstore=self._docstore, token_pattern=TOKENS)

    def search(self, query: str, k: int, where: Mapping[str, int]) -> list[str]:
        """Fuse both retrievers' lists; with a filter, only the index's retriever is asked."""
        asked = k * CHUNKS_ASKED
        filters = MetadataFilters(filters=[ExactMatchFilter(key=key, value=value) for key, value in where.items()])
        vectors: BaseRetriever = self._index.as_retriever(similarity_top_k=asked, filters=filters if where else None)
        if not self._setup.vector_only and not where:
            self._bm25.similarity_top_k = min(asked, len(self._docstore.docs))
            vectors = QueryFusionRetriever(
                [vectors, self._bm25],
                # Asked for even where no further questions are to be made.
                llm=MockLLM(),
                similarity_top_k=asked,
                num_queries=1,
                mode=FUSION_MODES.RECIPROCAL_RANK,
                use_async=False,
            )
        return best_documents([str(found.node.ref_doc_id) for found in vectors.retrieve(query)], k)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the documents' nodes from the index and the docstore."""
        gone = set(ids)
        nodes: list[BaseNode] = [node for node in self._docstore.docs.values() if node.ref_doc_id in gone]
        self._index.delete_nodes([node.node_id for node in nodes], delete_from_docstore=True)
        self._build_bm25()

    def close(self) -> None:
        """Keep what Chroma does not: docstore and BM25."""
        self._docstore.persist(str(self._setup.folder / "docstore.json"))
        if not self._setup.vector_only:
            self._bm25.persist(str(self._setup.folder / "bm25"))
