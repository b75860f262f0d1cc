"""A retriever for LangChain: `pip install 'kaijuan[langchain]'`.

    from kaijuan.client import Client
    from kaijuan.frameworks.langchain import KaijuanRetriever

    retriever = KaijuanRetriever(base=Client("http://127.0.0.1:8470", kb="handbook"), k=5)
    retriever.invoke("How long are backups kept?")

`metadata` of each document says where its words stand: source, title, pages, span, ids and score.
"""

from __future__ import annotations

from typing import Any

from kaijuan.errors import MissingExtraError
from kaijuan.frameworks.found import passages

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtraError("LangChain is not installed.", hint="pip install 'kaijuan[langchain]'") from error


class KaijuanRetriever(BaseRetriever):
    """Finds passages in a knowledge base: `base` is kaijuan.sync.Kaijuan or kaijuan.client.Client."""

    base: Any
    k: int = 5
    """How many passages at most; `invoke(question, k=...)` for one question."""
    filters: tuple[str, ...] = ()
    """In the filter language: `kind = pdf and created >= 2024-01-01`."""
    as_of: int | float | str | None = None
    """A snapshot number, or a date or time: the state of that moment is searched."""
    cut: bool = False
    """Leave weak passages out, so that fewer than `k` may come."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **_: Any
    ) -> list[Document]:
        del run_manager
        found = passages(
            self.base,
            query,
            k=self.k if k is None else k,
            filters=list(self.filters),
            as_of=self.as_of,
            cut=self.cut,
        )
        return [Document(id=one.id, page_content=one.text, metadata=one.metadata) for one in found]
