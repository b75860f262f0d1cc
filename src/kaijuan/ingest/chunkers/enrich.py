"""What is searched with the chunks of a document and is no part of its text: its summary, descriptions, contexts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.ids import stable_id
from kaijuan.core.spans import Span, trim
from kaijuan.ingest import prompts
from kaijuan.ingest.chunkers.describe import described
from kaijuan.ingest.chunkers.situate import names_of, situated
from kaijuan.ingest.chunkers.summary import summary
from kaijuan.ingest.ports import ChunkDraft, Facts, Tokenizer, WrittenShelf
from kaijuan.ingest.settings import ChunkSettings

_REVISIONS = {"summaries": "summary-1", "descriptions": "describe-1", "contexts": "situate-1"}
"""By setting; raised when the rules say something else."""
_WRITTEN = "written-1"
"""Where a model writes contexts. Not which model, nor what it wrote: that comes in a run of its own."""
_MOST_HEADINGS = 12
_LONGEST_HEADING = 60


def enrichment(settings: ChunkSettings) -> str:
    """Return the fingerprint of all that the settings add; "" for nothing."""
    words = [word for name, word in _REVISIONS.items() if getattr(settings, name) not in (False, "off")]
    if settings.contexts == "model":
        words.append(_WRITTEN)
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
    written: WrittenShelf | None = None,
) -> list[ChunkDraft]:
    """Return the drafts with contexts, and in front of them the document's own where it has enough children."""
    made = list(drafts)
    if settings.descriptions or settings.contexts != "off":
        shelf = written if settings.contexts == "model" else None
        made = _with_contexts(settings, facts, text, blocks, made, shelf)
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
    settings: ChunkSettings,
    facts: Facts,
    text: str,
    blocks: Sequence[Block],
    drafts: Sequence[ChunkDraft],
    shelf: WrittenShelf | None,
) -> list[ChunkDraft]:
    names = names_of(text) if settings.contexts != "off" else []
    keys = {
        at: context_key(facts.title, draft.title_path, draft.span.of(text))
        for at, draft in enumerate(drafts)
        if draft.level is ChunkLevel.CHILD
    }
    known = shelf.known(list(keys.values())) if shelf is not None else {}
    made = []
    for at, draft in enumerate(drafts):
        if at not in keys:
            made.append(draft)
            continue
        said = []
        if settings.contexts != "off":
            said.append(known.get(keys[at]) or situated(facts, draft.title_path, names, draft.span.of(text)))
        if settings.descriptions:
            said.append(described(text, _touching(blocks, draft.span), draft.span, facts.language))
        made.append(replace(draft, context="\n".join(part for part in said if part)))
    return made


def context_key(title: str, path: Sequence[str], body: str) -> str:
    """Return what a written sentence is kept by: the passage and its place, whatever else the document says.

    So it stays with a passage that did not change, when the document changes elsewhere or is cut anew and back.
    """
    return stable_id("context", prompts.mark("context"), title, *path, "", body)


def _touching(blocks: Sequence[Block], span: Span) -> Sequence[Block]:
    """Return the blocks that share characters with a span: blocks are disjoint and in order."""
    first = bisect_right(blocks, span.start, key=lambda block: block.span.end)
    last = bisect_left(blocks, span.end, key=lambda block: block.span.start)
    return blocks[first:last]
