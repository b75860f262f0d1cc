"""What the chunk commands print as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.cli.shapes import Json, path_of, plain, version_shape
from kaijuan.core.chunk_work import ChunkWork
from kaijuan.core.documents import Chunk
from kaijuan.ingest.chunkers.preview import Comparison, Trial
from kaijuan.ingest.chunkers.quality import Quality
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.reading import Reading
from kaijuan.jobs.rework import Worked
from kaijuan.jobs.views import ChunkView, DocumentView
from kaijuan.jobs.work_views import WorkView

__all__ = ["chunk", "listed", "plain", "preview", "work", "worked"]


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
        "origin": each.origin,
        "search_text": each.search_text,
        "context": each.context,
    }


def worked(done: Worked) -> Json:
    """`chunks split`, `merge`, `edit`, `exclude`, `alias`, `restore` and `strategy`."""
    return {
        "snapshot": done.report.snapshot,
        "version": version_shape(done.version),
        "work": [_work(one) for one in done.work],
        "ended": [_work(one) for one in done.ended],
        "chunks": [{**_chunk(each), "text": each.span.of(done.text)} for each in done.chunks],
    }


def work(view: WorkView) -> Json:
    """One entry of `chunks history` and `chunks list --manual`."""
    return {
        **_work(view.work),
        "state": view.state.value,
        "why": view.why,
        "source": view.source,
        "path": path_of(view.source),
        "title": view.title,
    }


def _work(one: ChunkWork) -> Json:
    return {
        "id": one.id,
        "document_id": one.document_id,
        "kind": one.kind.value,
        "span": plain(one.passage.span),
        "quote": one.passage.quote,
        "cuts": list(one.cuts),
        "said": one.said,
        "by": one.by,
        "note": one.note,
        "at": one.at,
        "valid_from": one.valid_from,
        "valid_to": one.valid_to,
        "ended_by": one.ended_by,
        "ended_at": one.ended_at,
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
