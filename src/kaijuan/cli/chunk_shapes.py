"""What the chunk commands print as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.cli.shapes import Json, plain, version_shape
from kaijuan.core.documents import Chunk
from kaijuan.ingest.chunkers.preview import Comparison, Trial
from kaijuan.ingest.chunkers.quality import Quality
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.reading import Reading
from kaijuan.jobs.views import ChunkView, DocumentView

__all__ = ["chunk", "listed", "plain", "preview"]


def listed(view: DocumentView) -> Json:
    """`chunks list`."""
    return {
        "version": version_shape(view.version),
        "chunks": [{**_chunk(each), "text": each.span.of(view.text)} for each in view.chunks],
    }


def chunk(view: ChunkView) -> Json:
    """`chunks show`."""
    return {
        "version": version_shape(view.version),
        "chunk": {**_chunk(view.chunk), "text": view.text},
        "parent": {**_chunk(view.parent), "text": view.parent_text} if view.parent else None,
        "neighbours": [each.id for each in view.neighbours],
        "children": [each.id for each in view.children],
        "pages": list(view.pages),
        "references": list(view.references),
    }


def _chunk(each: Chunk) -> Json:
    return {
        "id": each.id,
        "level": each.level.value,
        "span": plain(each.span),
        "parent_id": each.parent_id,
        "title_path": list(each.title_path),
        "tokens": each.tokens,
        "strategy": each.strategy,
    }


def preview(readings: Sequence[Reading], compared: Sequence[Comparison | None]) -> Json:
    """`chunks preview`."""
    return {
        "documents": [
            {"source": reading.source, **_compared(reading, one)}
            for reading, one in zip(readings, compared, strict=True)
        ]
    }


def _compared(reading: Reading, one: Comparison | None) -> Json:
    if one is None or reading.document is None:
        return {"error": {"code": reading.code, "message": reading.message, "hint": reading.hint, "retry": False}}
    text = reading.document.text
    return {
        "kind": reading.kind,
        "shape": one.shape,
        "chosen": one.chosen,
        "trials": [_trial(trial, text) for trial in one.trials],
    }


def _trial(trial: Trial, text: str) -> Json:
    return {
        "strategy": trial.strategy,
        "quality": quality(trial.quality),
        "chunks": [_draft(draft, text) for draft in trial.chunks],
    }


def quality(found: Quality) -> Json:
    """Return the quality of one document's chunks."""
    return {
        "children": len(found.tokens),
        "parents": found.parents,
        "tokens": list(found.tokens),
        "cut": [{"kind": each.kind.value, "span": plain(each.span), "pieces": each.pieces} for each in found.cut],
        "parted_sentences": found.parted_sentences,
        "repeated_characters": found.repeated,
        "coverage": round(found.coverage, 6),
    }


def _draft(draft: ChunkDraft, text: str) -> Json:
    return {
        "level": draft.level.value,
        "span": plain(draft.span),
        "parent": draft.parent,
        "title_path": list(draft.title_path),
        "tokens": draft.tokens,
        "text": draft.span.of(text),
    }
