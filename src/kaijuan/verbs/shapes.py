"""The JSON shapes of `--json` and of the service. They are a public interface: fields are added, never renamed or
removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from kaijuan.core.documents import Chunk, PageBox, Version
from kaijuan.core.spans import Span
from kaijuan.errors import KaijuanError

if TYPE_CHECKING:
    from kaijuan.answer.results import Answer, AnswerSentence
    from kaijuan.core.citations import Citation
    from kaijuan.core.reviews import Review
    from kaijuan.core.snapshots import Snapshot
    from kaijuan.jobs.desk import SeenBoilerplate, SeenDuplicate
    from kaijuan.jobs.doctor import DoctorReport
    from kaijuan.jobs.report import RunReport
    from kaijuan.jobs.views import DocumentView
    from kaijuan.retrieve.editions import Chain
    from kaijuan.retrieve.explain import Explanation
    from kaijuan.retrieve.results import Passage, RouteScore, SearchResult
    from kaijuan.retrieve.understanding.results import Understanding
    from kaijuan.verbs.citing import OpenedCitation

Json = dict[str, object]

SCORE_DECIMALS = 6
BOX_DECIMALS = 2
TIME_DECIMALS = 3
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})
_NAMES: dict[type, tuple[str, ...]] = {}
"""Fields by dataclass: to ask for them takes as long as to read them."""


def plain(value: object) -> object:  # noqa: PLR0911 one return a kind of value
    """Return a value as JSON would have it: dataclasses by field, spans as [start, end]."""
    if type(value) in _AS_IT_IS:  # most are, and the questions below take their time
        return value
    if isinstance(value, Span):
        return [value.start, value.end]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [plain(item) for item in value]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    return value


def fields_of(value: object) -> Json:
    """Return a dataclass's fields as JSON would have them."""
    kind = type(value)
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(value))  # type: ignore[arg-type]
    return {name: plain(getattr(value, name)) for name in _NAMES[kind]}


def path_of(source: str) -> str | None:
    """Return the path of the file that a source address names, decoded; None for other sources."""
    parts = urlsplit(source)
    return unquote(parts.path, errors="surrogateescape") if parts.scheme == "file" else None


def error_shape(error: KaijuanError) -> Json:
    """The shape of every failure."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint, "retry": error.retry}}


def run_shape(report: RunReport) -> Json:
    """`add`, `remove`: what became of the sources."""
    return {
        "run_id": report.run_id,
        "snapshot": report.snapshot,
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": [
            {"source": item.source, "path": path_of(item.source), "code": item.code, "message": item.message}
            for item in report.failed
        ],
        "held": [
            {"source": item.source, "path": path_of(item.source), "review": item.review, "reasons": item.reasons}
            for item in report.held
        ],
        "rejected": report.rejected,
        "removed_sources": list(report.removed_sources),
        "moved": [{"before": one.before, "after": one.after} for one in report.moved],
        "snapshots": list(report.snapshots),
        "salvaged": report.salvaged,
        "documents": report.documents,
        "chunks": report.chunks,
        "seconds": round(report.seconds, TIME_DECIMALS),
    }


def search_shape(result: SearchResult) -> Json:
    """`search`."""
    return {
        "query": result.query,
        "snapshot": result.snapshot,
        "passages": [passage_shape(passage) for passage in result.passages],
        "understanding": understanding_shape(result.trace.understanding),
        "timings_ms": _times(result.timings_ms),
    }


def understanding_shape(understanding: Understanding) -> Json:
    """What was understood of a question, of `search` and `explain`; without times, which differ from run to run."""
    shape = fields_of(understanding)
    shape["steps"] = [{"name": step.name, "state": step.state} for step in understanding.steps]
    return shape


def answer_shape(answer: Answer) -> Json:
    """`ask`."""
    return {
        "question": answer.question,
        "status": plain(answer.status),
        "answer": answer.answer,
        "sentences": [_sentence(item) for item in answer.sentences],
        "citations": [citation_shape(citation) for citation in answer.citations],
        "notes": list(answer.notes),
        "remarks": plain(answer.remarks),
        "missing_parts": list(answer.missing_parts),
        "structured": plain(answer.structured),
        "clarification": plain(answer.clarification),
        "rounds": plain(answer.rounds),
        "confidence": answer.confidence,
        "cache": answer.cache,
        "snapshot": answer.snapshot,
        "model": answer.model,
        "fallback": answer.fallback,
        "usage": plain(answer.usage),
        "trace_id": answer.trace_id,
        "timings_ms": _times(answer.timings_ms),
    }


def _sentence(sentence: AnswerSentence) -> Json:
    support = None if sentence.support is None else round(sentence.support, SCORE_DECIMALS)
    return {
        "text": sentence.text,
        "citations": list(sentence.citations),
        "support": support,
        "faults": plain(sentence.faults),
    }


def explanation_shape(explanation: Explanation) -> Json:
    """`explain`."""
    return {
        "question": explanation.question,
        "snapshot": explanation.snapshot,
        "targets": [{**fields_of(target), "path": path_of(target.source)} for target in explanation.targets],
        "routes": plain(explanation.trace.routes),
        "understanding": understanding_shape(explanation.trace.understanding),
        "timings_ms": _times(explanation.trace.timings_ms),
    }


def version_shape(version: Version) -> Json:
    """One line of `list`; also the head of `show`."""
    return {
        "document_id": version.document_id,
        "version_id": version.id,
        "number": version.number,
        "source": version.source,
        "path": path_of(version.source),
        "title": version.title,
        "kind": version.kind,
        "language": version.language,
        "pages": version.pages,
        "metadata": plain(version.metadata),
        "warnings": list(version.warnings),
        "content_hash": version.content_hash,
        "created_at": version.created_at,
        "valid_from": version.valid_from,
        "valid_to": version.valid_to,
    }


def view_shape(view: DocumentView) -> Json:
    """`show`."""
    return {
        "version": version_shape(view.version),
        "text": view.text,
        "blocks": [
            {
                "id": block.id,
                "kind": block.kind.value,
                "level": block.level,
                "span": plain(block.span),
                "title_path": list(block.title_path),
                "pages": list(block.pages),
                "place": block.place,
                "syntax": block.syntax,
            }
            for block in view.blocks
        ],
        "chunks": [
            {
                "id": chunk.id,
                "level": chunk.level.value,
                "span": plain(chunk.span),
                "parent_id": chunk.parent_id,
                "title_path": list(chunk.title_path),
                "tokens": chunk.tokens,
                "mark": chunk.mark,
            }
            for chunk in view.chunks
        ],
        "history": [version_shape(version) for version in view.history],
    }


def list_shape(versions: Iterable[Version]) -> Json:
    """`list`."""
    return {"documents": [version_shape(version) for version in versions]}


def chains_shape(chains: Iterable[Chain]) -> Json:
    """`editions`: chains by title, of each the oldest edition first."""
    return {
        "chains": [
            {
                "current": [one.version.document_id for one in chain.current],
                "editions": [
                    {
                        **version_shape(one.version),
                        "label": one.label,
                        "effective_from": one.effective_from,
                        "effective_to": one.effective_to,
                        "standing": one.standing.value or "in force",
                        "detail": one.detail,
                        "supersedes": list(one.supersedes),
                        "superseded_by": list(one.superseded_by),
                    }
                    for one in chain.editions
                ],
            }
            for chain in chains
        ]
    }


def snapshots_shape(snapshots: Iterable[Snapshot]) -> Json:
    """`snapshots`."""
    return {"snapshots": [plain(snapshot) for snapshot in snapshots]}


def doctor_shape(report: DoctorReport) -> Json:
    """`doctor`."""
    checks = [{"name": c.name, "ok": c.ok, "detail": c.detail, "hint": c.hint} for c in report.checks]
    return {"ok": all(check.ok for check in report.checks), "checks": checks}


def reviews_shape(reviews: Iterable[Review]) -> Json:
    """`review list`."""
    return {"reviews": [review_shape(review) for review in reviews]}


def review_shape(review: Review) -> Json:
    """`review show`."""
    return {
        "id": review.id,
        "source": review.source,
        "path": path_of(review.source),
        "title": review.title,
        "state": review.state.value,
        "content_hash": review.content_hash,
        "created_at": review.created_at,
        "reasons": [fields_of(finding) for finding in review.reasons],
        "history": [fields_of(decision) for decision in review.history],
    }


def duplicates_shape(found: Iterable[SeenDuplicate]) -> Json:
    """`duplicates list`."""
    return {
        "duplicates": [
            {
                "id": one.pair.id,
                "source": one.source,
                "path": path_of(one.source),
                "other": one.other,
                "other_path": path_of(one.other),
                "kind": one.pair.kind.value,
                "state": one.pair.state.value,
                "similarity": one.pair.similarity,
                "reason": one.pair.reason,
                "document_id": one.pair.document_id,
                "version_id": one.pair.version_id,
                "other_document_id": one.pair.other_document_id,
                "other_version_id": one.pair.other_id,
                "created_at": one.pair.created_at,
                "history": [fields_of(ruling) for ruling in one.pair.history],
            }
            for one in found
        ]
    }


def boilerplate_shape(found: Iterable[SeenBoilerplate]) -> Json:
    """`boilerplate list`."""
    return {
        "boilerplate": [
            {
                "id": one.decision.digest,
                "text": one.excerpt,
                "state": one.decision.state.value,
                "documents": one.decision.documents,
                "total": one.decision.total,
                "reason": one.decision.reason,
                "sources": list(one.sources),
                "since": one.decision.valid_from,
                "created_at": one.decision.created_at,
                "history": [fields_of(ruling) for ruling in one.decision.history],
            }
            for one in found
        ]
    }


def passage_shape(passage: Passage) -> Json:
    """One passage of `search`."""
    return {
        "rank": passage.rank,
        "score": round(passage.score, SCORE_DECIMALS),
        "document_id": passage.document_id,
        "version_id": passage.version_id,
        "chunk_id": passage.chunk_id,
        "source": passage.source,
        "path": path_of(passage.source),
        "title": passage.title,
        "title_path": list(passage.title_path),
        "text": passage.text,
        "span": plain(passage.span),
        "pages": list(passage.pages),
        "boxes": boxes_shape(passage.boxes),
        "routes": {route: _route(score) for route, score in passage.routes.items()},
        "also": list(passage.also),
        "evidence": None if passage.evidence is None else round(passage.evidence, SCORE_DECIMALS),
        "band": passage.band,
        "validity": passage.validity,
    }


def _route(score: RouteScore) -> Json:
    return {"rank": score.rank, "score": round(score.score, SCORE_DECIMALS)}


def citation_shape(citation: Citation) -> Json:
    """One citation of `ask`."""
    return {
        "id": citation.id,
        "ref": citation.ref,
        "document_id": citation.document_id,
        "version_id": citation.version_id,
        "chunk_id": citation.chunk_id,
        "block_id": citation.block_id,
        "source": citation.source,
        "path": path_of(citation.source),
        "title": citation.title,
        "title_path": list(citation.title_path),
        "pages": list(citation.pages),
        "boxes": boxes_shape(citation.boxes),
        "span": plain(citation.span),
        "quote": citation.quote,
        "content_hash": citation.content_hash,
    }


def opened_shape(opened: OpenedCitation) -> Json:
    """`cite`: an opened citation."""
    return {
        "match": plain(opened.match),
        "standing": plain(opened.standing),
        "version": opened.number,
        "newest_version": opened.newest,
        "valid_from": opened.valid_from,
        "before": opened.before,
        "after": opened.after,
        "citation": citation_shape(opened.citation),
    }


def chunk_line(chunk: Chunk) -> Json:
    """One chunk of a document, without its words."""
    return {
        "id": chunk.id,
        "level": chunk.level.value,
        "span": plain(chunk.span),
        "parent_id": chunk.parent_id,
        "title_path": list(chunk.title_path),
        "tokens": chunk.tokens,
        "strategy": chunk.strategy,
        "mark": chunk.mark,
        "origin": chunk.origin,
        "search_text": chunk.search_text,
        "context": chunk.context,
    }


def boxes_shape(boxes: Iterable[PageBox]) -> list[Json]:
    """Rectangles on pages."""
    return [
        {"page": box.page, **{edge: round(getattr(box, edge), BOX_DECIMALS) for edge in ("x0", "y0", "x1", "y1")}}
        for box in boxes
    ]


def _times(timings: Mapping[str, float]) -> dict[str, float]:
    return {stage: round(milliseconds, TIME_DECIMALS) for stage, milliseconds in timings.items()}
