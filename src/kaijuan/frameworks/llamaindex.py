"""A retriever for LlamaIndex: `pip install 'kaijuan[llamaindex]'`.

    from kaijuan.client import Client
    from kaijuan.frameworks.llamaindex import KaijuanRetriever

    retriever = KaijuanRetriever(Client("http://127.0.0.1:8470", kb="handbook"), k=5)
    retriever.retrieve("How long are backups kept?")

`metadata` of each node says where its words stand: source, title, pages, span, ids and score.
"""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.errors import MissingExtraError
from kaijuan.frameworks.found import Base, passages

try:
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise MissingExtraError("LlamaIndex is not installed.", hint="pip install 'kaijuan[llamaindex]'") from error


class KaijuanRetriever(BaseRetriever):
    """Finds passages in a knowledge base: `base` is kaijuan.sync.Kaijuan or kaijuan.client.Client."""

    def __init__(
        self,
        base: Base,
        *,
        k: int = 5,
        filters: Sequence[str] = (),
        as_of: int | float | str | None = None,
        cut: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """`filters` are in the filter language, `as_of` is a snapshot number, or a date or time.

        `cut` leaves weak passages out, so that fewer than `k` may come.
        """
        self._base = base
        self._k = k
        self._filters = list(filters)
        self._as_of = as_of
        self._cut = cut
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        asked = query_bundle.query_str
        found = passages(self._base, asked, k=self._k, filters=self._filters, as_of=self._as_of, cut=self._cut)
        # What says where words stand is for people: a model or an embedder is not to read it as text.
        return [
            NodeWithScore(
                node=TextNode(
                    id_=one.id,
                    text=one.text,
                    metadata=one.metadata,
                    excluded_embed_metadata_keys=sorted(one.metadata),
                    excluded_llm_metadata_keys=sorted(one.metadata.keys() - {"title"}),
                ),
                score=one.score,
            )
            for one in found
        ]
