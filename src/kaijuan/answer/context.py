"""What the writing model is shown of the passages: within a budget of tokens, fenced, labelled, nothing twice.

What stands in a document can neither close its block nor open another: the fence holds a hash of all that is inside,
which no document can know, and marks that models or our own parser read as signs are spelt apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kaijuan.answer.extract import Read, coverage, rarities, read_units
from kaijuan.answer.question import Question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.chat import tokens
from kaijuan.core.ids import VersionId
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import keys_of
from kaijuan.retrieve.results import Passage

ALIKE = 0.85
"""Share of terms in common from which one of two passages says nothing new."""
GAP = " … "
_LABEL = 120
_FRAME = 40
"""Tokens of a block's label, about."""
_CONTROL = re.compile(r"<\||\|>|\[/?INST\]|<</?SYS>>|</?s>|</?think>|</?tool_call>", re.IGNORECASE)
_TAG = re.compile(r"<(?=\s*/?\s*(?:doc|document|system|user|assistant|instruction|question)\b)", re.IGNORECASE)
_NUMBERED = re.compile(r"\[\s*\^?(\d{1,3}(?:\s*[,，\-–]\s*\d{1,3})*)\s*\]|【\s*(\d{1,3})\s*】")
_SIGNALS = re.compile(r"\bNOT_FOUND\b|\bMISSING(?=:)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a block says of its version beside title and section."""

    version: int = 0
    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """One passage as the model sees it. `number` is what it cites by; `passage` its place in the search result."""

    number: int
    passage: int
    spans: tuple[Span, ...]
    """What of the version's text is shown."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All blocks in the order shown, and the text of them together."""

    blocks: tuple[ContextBlock, ...]
    fence: str
    text: str
    tokens: int
    repeated: tuple[int, ...] = ()
    """Places of passages that were left out because others say the same."""
    cut: tuple[int, ...] = ()
    """Places of passages that were left out or trimmed for want of room."""

    def passage_of(self, number: int) -> int:
        """Return the place of the passage that a number stands for; KeyError for a number that was not given."""
        return {block.number: block.passage for block in self.blocks}[number]


def assemble(
    questions: Sequence[Question],
    passages: Sequence[Passage],
    settings: AnswerSettings,
    *,
    budget: int,
    labels: Mapping[VersionId, Label] | None = None,
) -> Context:
    """Return the context for a question in at most about `budget` tokens, the best passages first and last.

    Passages are given whole while they fit; otherwise the sentences that share most with the question, with the ones
    beside them, and of passages that lose out entirely nothing.
    """
    repeated = _repeated(passages)
    kept = [at for at in range(len(passages)) if at not in repeated]
    whole = {at: [passages[at].span] for at in kept if passages[at].text.strip()}
    cost = {at: tokens(passages[at].text) + _FRAME for at in whole}
    cut: tuple[int, ...] = ()
    spans = whole
    if sum(cost.values()) > budget:
        reads = {at: read_units(units_of(passages[at], at, settings)) for at in whole}
        spans = _trimmed(questions, reads, passages, budget)
        cut = tuple(at for at in kept if spans.get(at) != whole.get(at))
    shown = {at: _shown(passages[at], parts) for at, parts in spans.items()}
    fence = f"doc-{hashlib.blake2b(repr(sorted(shown.items())).encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
    order = _best_at_both_ends(sorted(shown))
    blocks = tuple(
        ContextBlock(number=number, passage=at, spans=tuple(spans[at]), text=shown[at])
        for number, at in enumerate(order, start=1)
    )
    text = "\n".join(_block(block, passages[block.passage], fence, labels or {}) for block in blocks)
    return Context(
        blocks=blocks, fence=fence, text=text, tokens=tokens(text), repeated=tuple(sorted(repeated)), cut=cut
    )


def escaped(text: str) -> str:
    """Return text of a document in which nothing is a sign to a model, to its server, or to the reader of markers."""
    safe = _CONTROL.sub(lambda found: " ".join(found.group()), text)
    safe = _TAG.sub("< ", safe)
    safe = _NUMBERED.sub(lambda found: f"({found.group(1) or found.group(2)})", safe)
    return _SIGNALS.sub(lambda found: found.group().lower(), safe)


def _repeated(passages: Sequence[Passage]) -> set[int]:
    """Return the places of passages that say nearly the same as one before them."""
    terms = [frozenset(keys_of(passage.text)[0]) for passage in passages]
    gone: set[int] = set()
    for at, here in enumerate(terms):
        earlier = (terms[before] for before in range(at) if before not in gone)
        if here and any(_alike(here, other) for other in earlier):
            gone.add(at)
    return gone


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not other or any(any(map(str.isdigit, key)) for key in one ^ other):
        return False
    return len(one & other) / len(one | other) >= ALIKE


def _trimmed(
    questions: Sequence[Question], reads: Mapping[int, Sequence[Read]], passages: Sequence[Passage], budget: int
) -> dict[int, list[Span]]:
    """Return the spans to show by passage: the best units with their neighbours, while there is room."""
    everything = [read for part in reads.values() for read in part]
    tables = [rarities(question, everything) for question in questions]
    ranked = sorted(
        (
            (-_worth(read, at, place, passages[at], [coverage(table, [read]) for table in tables]), at, place)
            for at, part in reads.items()
            for place, read in enumerate(part)
        ),
    )
    spans: dict[int, list[Span]] = {}
    room = budget
    for _, at, place in ranked:
        part = reads[at]
        wanted = [part[near].unit for near in (place, place - 1, place + 1) if 0 <= near < len(part)]
        for unit in wanted:
            adding = [unit.span, *([unit.header] if unit.header else [])]
            merged = _merged([*spans.get(at, []), *adding])
            before = _cost(passages[at], spans.get(at, []))
            price = _cost(passages[at], merged) - before
            if price <= room:
                spans[at], room = merged, room - price
        if room < _FRAME:
            break
    return spans


def _worth(read: Read, at: int, place: int, passage: Passage, coverages: Sequence[float]) -> float:
    # The beginning of a passage is where its parent was found to begin: of equals it says more.
    return max(coverages, default=0.0) + 0.3 * read.unit.found + 0.2 * passage.relevance - 0.05 * at - 0.001 * place


def _cost(passage: Passage, spans: Sequence[Span]) -> int:
    return sum(tokens(_of(passage, span)) + 2 for span in spans) + (_FRAME if spans else 0)


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end + 1:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _of(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.span.start : span.end - passage.span.start]


def _shown(passage: Passage, spans: Sequence[Span]) -> str:
    text = GAP.join(_of(passage, span).strip() for span in spans)
    before = GAP if spans[0].start > passage.span.start else ""
    after = GAP if spans[-1].end < passage.span.end else ""
    return escaped(f"{before}{text}{after}").strip()


def _best_at_both_ends(ranked: Sequence[int]) -> list[int]:
    """Return best, third, fifth, ..., fourth, second: models read the middle least (Liu et al., TACL 2024)."""
    return [*ranked[0::2], *reversed(ranked[1::2])]


def _block(block: ContextBlock, passage: Passage, fence: str, labels: Mapping[VersionId, Label]) -> str:
    label = labels.get(passage.version_id, Label())
    section = " › ".join(passage.title_path[-2:])
    facts = (
        ("title", passage.title),
        ("section", section if section != passage.title else ""),
        ("date", label.date),
        ("version", str(label.version) if label.version > 1 else ""),
        ("note", passage.validity),
    )
    told = "".join(f' {name}="{_attribute(value)}"' for name, value in facts if value)
    return f'<{fence} id="{block.number}"{told}>\n{block.text}\n</{fence}>'


def _attribute(value: str) -> str:
    line = " ".join(escaped(value).split())[:_LABEL]
    return line.replace('"', "'").replace("<", "‹").replace(">", "›")
