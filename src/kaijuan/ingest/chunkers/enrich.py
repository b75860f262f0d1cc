"""What is searched with the chunks of a document and is no part of its text: its summary, descriptions, contexts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.describe import described
from kaijuan.ingest.chunkers.situate import names_of, situated
from kaijuan.ingest.chunkers.summary import summary
from kaijuan.ingest.ports import ChunkDraft, Facts, Tokenizer
from kaijuan.ingest.settings import ChunkSettings

_REVISIONS = {"summaries": "summary-1", "descriptions": "describe-1", "contexts": "situate-1"}
"""By setting; raised when the rules say something else."""
_MOST_HEADINGS = 12
_LONGEST_HEADING = 60


def enrichment(settings: ChunkSettings) -> str:
    """Return the fingerprint of all that the settings add; "" for nothing."""
    words = [word for name, word in _REVISIONS.items() if getattr(settings, name)]
    if settings.summaries:
        words.append(f"{settings.summary_chunks}/{settings.summary_tokens}")
    return ";".join(words)


def enriched(
    settings: ChunkSettings,
    facts: Facts,
    text: str,
    blocks: Sequence[Block],
    drafts: Sequence[ChunkDraft],
    tokenizer: Tokenizer,
) -> list[ChunkDraft]:
    """Return the drafts with contexts, and in front of them the document's own where it has enough children."""
    made = list(drafts)
    if settings.descriptions or settings.contexts:
        made = _with_contexts(settings, facts, text, blocks, made)
    children = sum(draft.level is ChunkLevel.CHILD for draft in made)
    if not settings.summaries or children < settings.summary_chunks:
        return made
    excluded = [draft.span for draft in made if draft.level is ChunkLevel.EXCLUDED]
    own = _document(settings, text, blocks, tokenizer, excluded)
    return made if own is None else [own, *(_below(draft) for draft in made)]


def _below(draft: ChunkDraft) -> ChunkDraft:
    """Hang a draft one place later: a parent under the document, a child under its parent."""
    if draft.parent is None:
        return replace(draft, parent=0) if draft.level is ChunkLevel.PARENT else draft
    return replace(draft, parent=draft.parent + 1)


def _document(
    settings: ChunkSettings, text: str, blocks: Sequence[Block], tokenizer: Tokenizer, excluded: Sequence[Span]
) -> ChunkDraft | None:
    def size(said: str) -> int:
        return len(tokenizer.token_spans(said))

    spans = summary(text, blocks, settings.summary_tokens, size, excluded)
    headings = [" ".join(block.span.of(text).split()) for block in blocks if block.kind is BlockKind.HEADING]
    outline = [heading for heading in dict.fromkeys(headings) if len(heading) <= _LONGEST_HEADING][:_MOST_HEADINGS]
    said = "\n".join(span.of(text) for span in spans) or "\n".join(outline)
    if not said:
        return None
    whole = trim(text, Span(blocks[0].span.start, blocks[-1].span.end))
    return ChunkDraft(
        level=ChunkLevel.DOCUMENT,
        span=whole,
        parent=None,
        title_path=(),
        tokens=size(said),
        search_text=said,
        context=" · ".join(outline) if spans else "",
    )


def _with_contexts(
    settings: ChunkSettings, facts: Facts, text: str, blocks: Sequence[Block], drafts: Sequence[ChunkDraft]
) -> list[ChunkDraft]:
    names = names_of(text) if settings.contexts else []
    made = []
    for draft in drafts:
        if draft.level is not ChunkLevel.CHILD:
            made.append(draft)
            continue
        said = []
        if settings.contexts:
            said.append(situated(facts, draft.title_path, names, draft.span.of(text)))
        if settings.descriptions:
            said.append(described(text, _touching(blocks, draft.span), draft.span, facts.language))
        made.append(replace(draft, context="\n".join(part for part in said if part)))
    return made


def _touching(blocks: Sequence[Block], span: Span) -> Sequence[Block]:
    """Return the blocks that share characters with a span: blocks are disjoint and in order."""
    first = bisect_right(blocks, span.start, key=lambda block: block.span.end)
    last = bisect_left(blocks, span.end, key=lambda block: block.span.start)
    return blocks[first:last]
