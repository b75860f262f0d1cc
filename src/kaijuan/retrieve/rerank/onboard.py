"""The onboard reranker: features of question and text, weighed by a small model that ships with the package."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from kaijuan.core.ids import ChunkId
from kaijuan.retrieve.ports import Reading, Verdict
from kaijuan.retrieve.rerank.features import Facts, features_of
from kaijuan.retrieve.rerank.model import Model, shipped
from kaijuan.retrieve.rerank.terms import Numbers, Text, read_question, read_text

_KEPT = 4096
"""Texts kept as numbers, a few kilobytes each: those found again cost nothing to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    text: Text
    title: Numbers
    path: Numbers


class OnboardReranker:
    """Judges forty candidates in some milliseconds, without a network; chunks never change, so their terms are kept.

    `embedder` names the embedding model: what its cosines mean was learned for it, or is left out.
    """

    name = "onboard"

    def __init__(self, embedder: str = "", model: Model | None = None) -> None:
        self._model = model or shipped()
        self._embedder = embedder
        self._texts: OrderedDict[ChunkId, _Kept] = OrderedDict()
        self._using = threading.Lock()

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        """Return a verdict for each candidate."""
        return await asyncio.to_thread(self._judged, question, candidates)

    async def close(self) -> None:
        """Forget the texts."""
        with self._using:
            self._texts.clear()

    def _judged(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        if not candidates:
            return []
        rows = features_of(read_question(question), [self._facts(candidate) for candidate in candidates])
        scores = self._model.scores(rows)
        chances = self._model.chances(rows, scores, self._embedder)
        return [
            Verdict(score=round(float(score), 9), evidence=round(float(chance), 6))
            for score, chance in zip(scores, chances, strict=True)
        ]

    def _facts(self, candidate: Reading) -> Facts:
        kept = self._read(candidate)
        dense = [at.score for route, at in candidate.routes.items() if route.startswith("dense")]
        lexical = candidate.routes.get("lexical")
        return Facts(
            document=candidate.document_id,
            text=kept.text,
            title=kept.title,
            path=kept.path,
            dense=max(dense, default=None),
            lexical=lexical.score if lexical else None,
            fused=candidate.fused,
        )

    def _read(self, candidate: Reading) -> _Kept:
        with self._using:
            kept = self._texts.get(candidate.chunk_id)
            if kept is not None:
                self._texts.move_to_end(candidate.chunk_id)
                return kept
        kept = _Kept(
            text=read_text(candidate.text),
            title=read_text(candidate.title).words,
            path=read_text(" ".join(candidate.title_path)).words,
        )
        with self._using:
            self._texts[candidate.chunk_id] = kept
            if len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return kept
