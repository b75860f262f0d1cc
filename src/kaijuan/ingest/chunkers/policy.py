"""Which strategy cuts which document: what the settings say of its kind or shape, else what is best by rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import get_args
from urllib.parse import unquote

from kaijuan.core.documents import Block, ParsedBlock
from kaijuan.core.ids import stable_id
from kaijuan.ingest.chunkers.by_block import MixedChunker
from kaijuan.ingest.chunkers.enrich import enriched, enrichment
from kaijuan.ingest.chunkers.shapes import shape_of
from kaijuan.ingest.ports import (
    ChunkDraft,
    Chunker,
    Facts,
    Judge,
    NeedsJudge,
    NeedsSimilarity,
    Similarity,
    Tokenizer,
    WrittenShelf,
)
from kaijuan.ingest.settings import ChunkSettings, CutSettings, Shape
from kaijuan.ingest.sources.patterns import PathFilter

AUTO = "auto"
REVISION = 1
"""Raised when the rules for shapes say something else of a document. Documents whose shape matters are cut anew."""
BEST: Mapping[Shape, str] = {
    "code": "code",
    "faq": "faq",
    "prose": "recursive",
    "slides": "structural",
    "statute": "legal",
    "table": "table",
}
"""What `auto` means."""
Load = Callable[[str], Callable[[CutSettings], Chunker]]
"""From a strategy's name to the class of its chunker; UsageError when there is none."""


class ChunkPolicy:
    """A table from address, kind and shape to strategy. Asked in this order, then the one for all."""

    def __init__(
        self,
        settings: ChunkSettings,
        load: Load,
        similarity: Similarity | None = None,
        judge: Judge | None = None,
        written: WrittenShelf | None = None,
    ) -> None:
        self._settings = settings
        self._load = load
        self._similarity = similarity
        self._judge = judge
        self._written = written
        self._made: dict[str, Chunker] = {}
        self._places = [(PathFilter([pattern]), word) for pattern, word in settings.by_source.items()]

    def given(self, similarity: Similarity) -> ChunkPolicy:
        """Return the same policy, whose chunkers can ask how like texts are."""
        return ChunkPolicy(self._settings, self._load, similarity, self._judge, self._written)

    @property
    def limit(self) -> int:
        """Most tokens of a child."""
        return self._settings.max_tokens

    @property
    def enrichment(self) -> str:
        """Name what is searched with chunks and is no part of their text."""
        return enrichment(self._settings)

    def enriched(
        self, facts: Facts, text: str, blocks: Sequence[Block], drafts: Sequence[ChunkDraft], tokenizer: Tokenizer
    ) -> list[ChunkDraft]:
        """Add what is searched with chunks and is no part of their text."""
        return enriched(self._settings, facts, text, blocks, drafts, tokenizer, self._written)

    def shape_of(self, kind: str, text: str, blocks: Sequence[Block | ParsedBlock]) -> str:
        """Return shape and revision. Always looked for, so that another policy need not look again."""
        return f"{shape_of(kind, text, blocks)}.{REVISION}"

    def is_current(self, kind: str, shape: str) -> bool:
        """Say whether the shape was found by these rules, or makes no difference."""
        return shape.endswith(f".{REVISION}") or not self._shapes_matter(kind)

    def chunker_for(self, kind: str, shape: str, source: str = "", named: str = "") -> Chunker:
        """Return the chunker for a document of a kind and a word of `shape_of`."""
        word = self.strategy(kind, shape.partition(".")[0], source, named)
        if word not in self._made:
            made = self._chunker(word)
            if isinstance(made, NeedsSimilarity):
                made.similarity = self._similarity
            if isinstance(made, NeedsJudge):
                made.judge = self._judge
            self._made[word] = made
        return self._made[word]

    def _chunker(self, word: str) -> Chunker:
        main = self._load(word)(self._sizes)
        others: dict[str, Chunker] = {
            kind: self._load(own)(self._sizes) for kind, own in self._settings.by_block.items() if own != word
        }
        return MixedChunker(main, others) if others else main

    def strategy(self, kind: str, shape: str, source: str = "", named: str = "") -> str:
        """Return the name of the strategy for a kind and a bare shape."""
        settings = self._settings
        word = (
            named
            or (self._by_source(source) if source and self._places else "")
            or settings.by_kind.get(kind)
            or next((s for name, s in settings.by_shape.items() if name == shape), "")
            or settings.strategy
        )
        if word != AUTO:
            return word
        return next((best for name, best in BEST.items() if name == shape), BEST["prose"])

    def _by_source(self, source: str) -> str:
        _, _, path = unquote(source).partition("://")
        return next((word for place, word in self._places if place.takes(path.lstrip("/"))), "")

    @property
    def fingerprint(self) -> str:
        """Name all that any document's cutting may depend on: for what is made of many documents at once."""
        settings = self._settings
        words = {self.strategy(kind, shape) for kind in ("", *settings.by_kind) for shape in SHAPES}
        words |= {word for word in settings.by_source.values() if word != AUTO}
        table = settings.model_dump_json(include={"strategy", "by_kind", "by_shape"})
        added = {name for name in ("by_base", "by_source", "by_block") if getattr(settings, name)}
        parts = [self._chunker(word).fingerprint for word in sorted(words)]
        if added:
            parts.append(settings.model_dump_json(include=added))
        if self.enrichment:
            parts.append(self.enrichment)
        return f"policy-{REVISION}-{stable_id('policy', table, *parts)[:12]}"

    @cached_property
    def _sizes(self) -> CutSettings:
        return self._settings.sizes()

    def _shapes_matter(self, kind: str) -> bool:
        return len({self.strategy(kind, shape) for shape in SHAPES}) > 1


SHAPES: tuple[Shape, ...] = get_args(Shape)
