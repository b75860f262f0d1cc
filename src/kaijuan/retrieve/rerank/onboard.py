"""The onboard reranker: features of question and text, weighed by a small model that ships with the package."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kaijuan.core.ids import ChunkId
from kaijuan.core.text.language import language_of
from kaijuan.retrieve.ports import Pieces, Reading, Verdict, Words
from kaijuan.retrieve.rerank.features import Facts, features_of
from kaijuan.retrieve.rerank.model import Model, shipped
from kaijuan.retrieve.rerank.terms import Floats, Numbers, Text, code_likeness, read_question, read_text

_KEPT = 4096
"""Texts kept as numbers, a few kilobytes each: those found again cost nothing to read."""
_NONE: Pieces = np.zeros(0, dtype=np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    text: Text
    title: Numbers
    path: Numbers
    pieces: Pieces
    pieces_above: Pieces
    code: float


class OnboardReranker:
    """Judges forty candidates in some milliseconds, without a network; chunks never change, so their terms are kept.

    `embedder` names the embedding model: what its cosines mean was learned for it, or is left out. Without `words`
    texts are compared by their terms alone.
    """

    name = "onboard"

    def __init__(self, embedder: str = "", words: Words | None = None, model: Model | None = None) -> None:
        self._model = model or shipped()
        self._embedder = embedder
        self._words = words
        self._texts: OrderedDict[ChunkId, _Kept] = OrderedDict()
        self._using = threading.Lock()

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        """Return a verdict for each candidate."""
        return await asyncio.to_thread(self._judged, question, candidates)

    async def close(self) -> None:
        """Forget the texts."""
        with self._using:
            self._texts.clear()

    def features(self, question: str, candidates: Sequence[Reading]) -> Floats:
        """Return what the model looks at, one row a candidate: what training reads too."""
        kept = self._read(candidates)
        asked = read_question(question, self._words)
        facts = [_facts(candidate, known) for candidate, known in zip(candidates, kept, strict=True)]
        return features_of(asked, facts, self._words)

    def _judged(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        if not candidates:
            return []
        rows = self.features(question, candidates)
        scores = self._model.scores(rows)
        chances = self._model.chances(rows, scores, self._embedder)
        asked = language_of(question)
        return [
            Verdict(
                score=round(float(score), 9),
                evidence=round(float(chance), 6),
                # Most of what is looked at is words, which two languages do not share.
                calibrated=not (asked and one.language and one.language != asked),
            )
            for one, score, chance in zip(candidates, scores, chances, strict=True)
        ]

    def _read(self, candidates: Sequence[Reading]) -> list[_Kept]:
        with self._using:
            known = {one.chunk_id: self._texts[one.chunk_id] for one in candidates if one.chunk_id in self._texts}
        missing = [one for one in candidates if one.chunk_id not in known]
        made = dict(zip((one.chunk_id for one in missing), self._made(missing), strict=True))
        with self._using:
            for one in candidates:
                self._texts[one.chunk_id] = known.get(one.chunk_id) or made[one.chunk_id]
                self._texts.move_to_end(one.chunk_id)
            while len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return [known.get(one.chunk_id) or made[one.chunk_id] for one in candidates]

    def _made(self, candidates: Sequence[Reading]) -> list[_Kept]:
        above = [" ".join(dict.fromkeys((one.title, *one.title_path))) for one in candidates]
        texts = [one.text for one in candidates]
        pieces = self._words.pieces([*texts, *above]) if self._words else [_NONE] * (2 * len(texts))
        heads: dict[str, Numbers] = {}
        return [
            _Kept(
                text=read_text(one.text),
                title=_words_of(one.title, heads),
                path=_words_of(" ".join(one.title_path), heads),
                pieces=pieces[place],
                pieces_above=pieces[len(texts) + place],
                code=code_likeness(one.text),
            )
            for place, one in enumerate(candidates)
        ]


def _words_of(head: str, known: dict[str, Numbers]) -> Numbers:
    """Return the words of a heading, which many chunks share."""
    if head not in known:
        known[head] = np.unique(read_text(head).words)
    return known[head]


def _facts(candidate: Reading, kept: _Kept) -> Facts:
    dense = [at.score for route, at in candidate.routes.items() if route.startswith("dense")]
    lexical = candidate.routes.get("lexical")
    return Facts(
        document=candidate.document_id,
        text=kept.text,
        title=kept.title,
        path=kept.path,
        pieces=kept.pieces,
        pieces_above=kept.pieces_above,
        code=kept.code,
        dense=max(dense, default=None),
        lexical=lexical.score if lexical else None,
        fused=candidate.fused,
    )
