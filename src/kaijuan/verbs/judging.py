"""The verb that puts any texts in order for a question, with the configured reranker."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from kaijuan.core.ids import ChunkId, DocumentId, stable_id
from kaijuan.core.text.language import language_of
from kaijuan.errors import UsageError
from kaijuan.retrieve.ports import Reading
from kaijuan.retrieve.results import RouteScore
from kaijuan.verbs.wiring import Wired


class Judging(Wired):
    """Texts that are no documents."""

    async def rerank(self, question: str, texts: Sequence[str]) -> builtins.list[float]:
        """Return how well each text answers the question, 0 to 1, in the order given.

        UsageError where no reranker is configured.
        """
        self._check_open()
        reranker = self._models.reranker(self.embedder, self.chat)
        if reranker is None:
            raise UsageError("No reranker is configured.", hint="Set reranker.name.")
        if not texts:
            return []
        # What rerankers know of passages: how near each is to the question, by the embedding model.
        rows = await self.embedder.embed_passages(builtins.list(texts))
        cosines = rows @ await self.embedder.embed_query(question)
        order = sorted(range(len(texts)), key=lambda at: (-float(cosines[at]), at))
        ranks = {at: rank for rank, at in enumerate(order, start=1)}
        readings = [
            Reading(
                # Rerankers keep what they made of a chunk by its id: equal ids must mean equal texts, call after call.
                chunk_id=ChunkId(stable_id("text", text)),
                document_id=DocumentId(str(at)),
                title="",
                title_path=(),
                text=text,
                language=language_of(text),
                routes={"dense": RouteScore(ranks[at], float(cosines[at]))},
                fused=float(cosines[at]),
            )
            for at, text in enumerate(texts)
        ]
        return [verdict.evidence for verdict in await reranker.rerank(question, readings)]
