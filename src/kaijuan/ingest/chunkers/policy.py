"""Which strategy cuts which document: what the settings say of its kind or shape, else what is best by rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import get_args

from kaijuan.core.documents import Block, ParsedBlock
from kaijuan.core.ids import stable_id
from kaijuan.ingest.chunkers.shapes import shape_of
from kaijuan.ingest.ports import Chunker, NeedsSimilarity, Similarity
from kaijuan.ingest.settings import ChunkSettings, CutSettings, Shape

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
    """A table from kind and shape to strategy. Asked first the kind, then the shape, then the one for all."""

    def __init__(self, settings: ChunkSettings, load: Load, similarity: Similarity | None = None) -> None:
        self._settings = settings
        self._load = load
        self._similarity = similarity
        self._made: dict[str, Chunker] = {}

    def given(self, similarity: Similarity) -> ChunkPolicy:
        """Return the same policy, whose chunkers can ask how like texts are."""
        return ChunkPolicy(self._settings, self._load, similarity)

    def shape_of(self, kind: str, text: str, blocks: Sequence[Block | ParsedBlock]) -> str:
        """Return shape and revision. Always looked for, so that another policy need not look again."""
        return f"{shape_of(kind, text, blocks)}.{REVISION}"

    def is_current(self, kind: str, shape: str) -> bool:
        """Say whether the shape was found by these rules, or makes no difference."""
        return shape.endswith(f".{REVISION}") or not self._shapes_matter(kind)

    def chunker_for(self, kind: str, shape: str) -> Chunker:
        """Return the chunker for a kind and a word of `shape_of`."""
        word = self.strategy(kind, shape.partition(".")[0])
        if word not in self._made:
            made = self._load(word)(self._sizes)
            if isinstance(made, NeedsSimilarity):
                made.similarity = self._similarity
            self._made[word] = made
        return self._made[word]

    def strategy(self, kind: str, shape: str) -> str:
        """Return the name of the strategy for a kind and a bare shape."""
        settings = self._settings
        named = settings.by_kind.get(kind) or next((s for name, s in settings.by_shape.items() if name == shape), "")
        word = named or settings.strategy
        if word != AUTO:
            return word
        return next((best for name, best in BEST.items() if name == shape), BEST["prose"])

    @property
    def fingerprint(self) -> str:
        """Name all that any document's cutting may depend on: for what is made of many documents at once."""
        words = sorted({self.strategy(kind, shape) for kind in ("", *self._settings.by_kind) for shape in SHAPES})
        table = self._settings.model_dump_json(include={"strategy", "by_kind", "by_shape"})
        parts = [self._load(word)(self._sizes).fingerprint for word in words]
        return f"policy-{REVISION}-{stable_id('policy', table, *parts)[:12]}"

    @cached_property
    def _sizes(self) -> CutSettings:
        return self._settings.sizes()

    def _shapes_matter(self, kind: str) -> bool:
        return len({self.strategy(kind, shape) for shape in SHAPES}) > 1


SHAPES: tuple[Shape, ...] = get_args(Shape)
