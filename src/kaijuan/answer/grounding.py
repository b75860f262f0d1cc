"""From a sentence that a model wrote to the exact words that carry it, or to the finding that nothing does."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kaijuan.answer.checking import Claim, Verdict, check_claims
from kaijuan.answer.context import Context, ContextBlock
from kaijuan.answer.draft import Raw
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import Unit, units_of
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.bm25 import idf
from kaijuan.core.text.normalise import folded
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.results import Passage

_OTHERS = 2
"""Other blocks that a sentence is held against when those that it names do not carry it."""
_FOREIGN = 0.2
"""Share of a claim's words below which the unit that carries it is looked for by meaning."""
_ADDS = 0.25
"""Share of a claim's words that a second unit must add to be cited too."""
_MOST_UNITS = 60
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"'，。；）】]+|[\w.+-]+@[\w-]+\.[\w.-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where a sentence rests: places of passages with exact spans of their versions, or none."""

    places: tuple[tuple[int, Span], ...]
    verdict: Verdict

    @property
    def carried(self) -> bool:
        """Say whether it may be shown."""
        return bool(self.places) and self.verdict.supported


class Grounding:
    """Holds the sentences of one reply against the passages that its model was shown."""

    def __init__(
        self, context: Context, passages: Sequence[Passage], embedder: Embedder, settings: AnswerSettings
    ) -> None:
        self._blocks = {block.number: block for block in context.blocks}
        self._passages, self._embedder, self._settings = passages, embedder, settings

    async def ground(self, raw: Raw) -> Ground:
        """Return where a sentence rests.

        What it names is tried first, each document by itself and then all together; where they do not carry it, or
        none is named, those that share most words with it. A marker that names the wrong document is so put right.
        """
        named = [self._blocks[number] for number in raw.numbers if number in self._blocks]
        ranked = await asyncio.to_thread(self._ranked, raw.text)
        others = [block for block in ranked if block not in named][: _OTHERS if named else _OTHERS + 1]
        groups = [[block] for block in named]
        if len(named) > 1:
            groups.append(named)
        first = await self._checked(raw.text, groups)
        carrying = [
            group[0] for group, verdict in zip(groups, first, strict=True) if verdict.supported and len(group) == 1
        ]
        if carrying:
            verdict = max((one for one in first if one.supported), key=lambda one: one.score)
            return Ground(places=await self._places(raw.text, carrying), verdict=verdict)
        if len(named) > 1 and first[-1].supported:
            return Ground(places=await self._places(raw.text, named), verdict=first[-1])
        second = await self._checked(raw.text, [[block] for block in others])
        for block, verdict in zip(others, second, strict=True):
            if verdict.supported:
                return Ground(places=await self._places(raw.text, [block]), verdict=verdict)
        best = max((*first, *second), key=lambda one: one.score, default=Verdict(supported=False, score=0.0))
        return Ground(places=(), verdict=best)

    async def _checked(self, text: str, groups: Sequence[Sequence[ContextBlock]]) -> list[Verdict]:
        claims = [Claim(text=text, evidence=tuple(self._evidence(block) for block in group)) for group in groups]
        verdicts = await check_claims(claims, self._embedder) if claims else []
        return [
            verdict
            if self._addresses_known(text, claim)
            else Verdict(supported=False, score=0.0, faults=verdict.faults)
            for claim, verdict in zip(claims, verdicts, strict=True)
        ]

    @staticmethod
    def _addresses_known(text: str, claim: Claim) -> bool:
        """Say whether every link and mail address stands in the evidence: a foreign one could lead people anywhere."""
        evidence = folded("\n".join(claim.evidence))
        return all(folded(found.group().rstrip(".,;:!?。，")) in evidence for found in _ADDRESS.finditer(text))

    def _evidence(self, block: ContextBlock) -> str:
        """Return what a document says in its own words, with its headings, which its sentences go on from."""
        passage = self._passages[block.passage]
        heading = " › ".join(dict.fromkeys(name for name in (passage.title, *passage.title_path) if name))
        shown = "\n".join(_of(passage, span) for span in block.spans)
        return f"{heading}\n{shown}" if heading else shown

    def _ranked(self, text: str) -> list[ContextBlock]:
        """Return the blocks that share words with a sentence, most first."""
        wanted = set(keys_of(text)[0])
        shares = {number: self._share(wanted, self._terms[number]) for number in self._blocks}
        order = sorted(shares, key=lambda number: (-shares[number], number))
        return [self._blocks[number] for number in order]

    @cached_property
    def _terms(self) -> Mapping[int, frozenset[str]]:
        return {number: frozenset(keys_of(self._evidence(block))[0]) for number, block in self._blocks.items()}

    @cached_property
    def _units(self) -> Mapping[int, list[tuple[Unit, frozenset[str]]]]:
        found: dict[int, list[tuple[Unit, frozenset[str]]]] = {}
        for number, block in self._blocks.items():
            units = units_of(self._passages[block.passage], block.passage, self._settings)
            inside = [unit for unit in units if any(span.contains(unit.span) for span in block.spans)]
            found[number] = [(unit, frozenset(keys_of(unit.quote)[0])) for unit in inside[:_MOST_UNITS]]
        return found

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        everything = [terms for units in self._units.values() for _, terms in units]
        held: dict[str, int] = {}
        for terms in everything:
            for term in terms:
                held[term] = held.get(term, 0) + 1
        return {term: idf(len(everything), count) for term, count in held.items()}

    def _share(self, wanted: set[str], held: frozenset[str]) -> float:
        """Return which share of a claim's words, by rarity, a text holds."""
        weights = {term: self._weights.get(term, 0.0) for term in wanted}
        whole = sum(weights.values())
        return sum(weights[term] for term in wanted & held) / whole if whole else 0.0

    async def _places(self, text: str, blocks: Sequence[ContextBlock]) -> tuple[tuple[int, Span], ...]:
        """Return the units of each block that say what the sentence says: the best one, and one that adds much."""
        places: dict[tuple[int, Span], None] = {}
        for block in blocks:
            chosen = await asyncio.to_thread(self._best_units, text, block)
            if not chosen:
                chosen = await self._nearest(text, block)
            for unit in chosen:
                places[(block.passage, unit.span)] = None
                if unit.header is not None:
                    places[(block.passage, unit.header)] = None
        return tuple(places)

    def _best_units(self, text: str, block: ContextBlock) -> list[Unit]:
        wanted = set(keys_of(text)[0])
        units = self._units[block.number]
        scored = sorted(((-self._share(wanted, terms), len(unit.span), at) for at, (unit, terms) in enumerate(units)))
        if not scored or -scored[0][0] < _FOREIGN:
            return []
        best, terms = units[scored[0][2]]
        chosen = [best]
        rest = wanted - terms
        for _, _, at in scored[1:]:
            unit, more = units[at]
            adds = sum(self._weights.get(term, 0.0) for term in rest & more)
            whole = sum(self._weights.get(term, 0.0) for term in wanted)
            if adds >= _ADDS * whole and unit.span.intersect(best.span) is None:
                chosen.append(unit)
                break
        return sorted(chosen, key=lambda unit: unit.span)

    async def _nearest(self, text: str, block: ContextBlock) -> list[Unit]:
        """Return the unit nearest in meaning: a sentence in another language shares no words."""
        units = [unit for unit, _ in self._units[block.number]]
        if not units:
            passage = self._passages[block.passage]
            return [_whole(passage, block)]
        room = self._embedder.info.max_tokens - self._embedder.info.reserved_tokens
        texts = [unit.quote[:room] for unit in units]
        distinct = list(dict.fromkeys(texts))
        vectors = await self._embedder.embed_passages(distinct)
        asked = await self._embedder.embed_query(text)
        cosines = vectors @ asked
        return [units[texts.index(distinct[int(np.argmax(cosines))])]]


def _of(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.span.start : span.end - passage.span.start]


def _whole(passage: Passage, block: ContextBlock) -> Unit:
    from kaijuan.core.documents import BlockKind

    span = block.spans[0]
    return Unit(
        passage=block.passage,
        span=span,
        kind=BlockKind.PARAGRAPH,
        quote=_of(passage, span),
        context=passage.title,
        header=None,
        header_quote="",
        found=True,
    )
