"""A stored trace brought to a form that commands can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kaijuan.index.catalog import StoredTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceView:
    """One question and what was done for it. Times are in milliseconds."""

    id: str
    at: float
    question: str
    status: str
    answer: str
    model: str
    fallback: str
    snapshot: int
    usage: Mapping[str, Any]
    calls: Sequence[Mapping[str, Any]]
    timings: Mapping[str, float]
    answer_ms: Mapping[str, float]
    body: Mapping[str, Any]

    @property
    def milliseconds(self) -> float:
        """Time until the answer."""
        return float(self.answer_ms.get("total", self.timings.get("total", 0.0)))


def of(trace: StoredTrace) -> TraceView:
    """Return the view of a trace, of an older version's too."""
    body: Mapping[str, Any] = trace.body
    return TraceView(
        id=trace.id,
        at=trace.created_at,
        question=str(body.get("question", body.get("query", ""))),
        status=str(body.get("status", "")),
        answer=str(body.get("answer", "")),
        model=str(body.get("model", "")),
        fallback=str(body.get("fallback", "")),
        snapshot=int(body.get("snapshot", 0)),
        usage=body.get("usage", {}),
        calls=body.get("calls", ()),
        timings=body.get("timings_ms", {}),
        answer_ms=body.get("answer_ms", {}),
        body=body,
    )


def head_shape(view: TraceView) -> dict[str, object]:
    """Return one line of `trace list` as JSON."""
    return {
        "id": view.id,
        "at": view.at,
        "question": view.question,
        "status": view.status,
        "model": view.model,
        "fallback": view.fallback,
        "snapshot": view.snapshot,
        "calls": len(view.calls),
        "usage": dict(view.usage),
        "milliseconds": view.milliseconds,
    }


def whole_shape(view: TraceView) -> dict[str, object]:
    """Return a whole trace as JSON."""
    hidden = {"principals"}
    return {**head_shape(view), **{name: value for name, value in view.body.items() if name not in hidden}}
