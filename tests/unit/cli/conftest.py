"""An engine that answers with hand-made values, so that the command's own work is judged alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest

from kaijuan.answer.events import DoneEvent
from kaijuan.answer.results import Answer, AnswerSentence, Status
from kaijuan.cli import app
from kaijuan.core.citations import Citation
from kaijuan.core.documents import PageBox, Version
from kaijuan.core.ids import ChunkId, DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN, Snapshot
from kaijuan.core.spans import Span
from kaijuan.jobs.health import Freshness, Health, Queue, Sizes
from kaijuan.retrieve.explain import ChunkExplanation, Explanation, StageVerdict
from kaijuan.retrieve.results import Passage, RouteReport, RouteScore, SearchResult, Trace

TEXT = "第一句。住宿费每晚上限为 600 元[red]不是标记[/red]。Third sentence :smile:."
HIT = Span(4, 18)
SOURCE = "file:///data/%E6%89%8B%E5%86%8C.pdf"
BOX = PageBox(page=2, x0=72.0, y0=100.12345, x1=300.98765, y1=118.0)


def passage() -> Passage:
    return Passage(
        rank=1,
        score=0.0325136612,
        relevance=0.91234,
        document_id=DocumentId("d" * 32),
        version_id=VersionId("e" * 32),
        chunk_id=ChunkId("c" * 32),
        source=SOURCE,
        title="手册",
        title_path=("手册", "三、住宿标准"),
        text=TEXT,
        span=Span(100, 100 + len(TEXT)),
        hits=(HIT.shift(100),),
        pages=(2,),
        boxes=(BOX,),
        blocks=(),
        content_hash="f" * 64,
        routes={"dense": RouteScore(2, 0.8712345678), "lexical": RouteScore(1, 7.5)},
    )


def trace() -> Trace:
    return Trace(
        id="t1",
        query="q",
        normalised="q",
        terms=("住宿费", "600"),
        snapshot=3,
        routes=(
            RouteReport(name="dense", state="ok", found=10, milliseconds=1.23456),
            RouteReport(name="lexical", state="timeout", found=0, milliseconds=500.0),
        ),
        candidates=(),
        settings={},
        timings_ms={"total": 12.3456789},
    )


def answer(status: Status = Status.ANSWERED) -> Answer:
    cited = Citation(
        id="1",
        document_id=DocumentId("d" * 32),
        version_id=VersionId("e" * 32),
        chunk_id=ChunkId("c" * 32),
        block_id=None,
        source=SOURCE,
        title="手册",
        title_path=("三、住宿标准",),
        pages=(2, 3),
        boxes=(BOX,),
        span=Span(104, 118),
        quote=HIT.of(TEXT),
        content_hash="f" * 64,
    )
    if status is Status.REFUSED:
        return Answer(question="q", status=status, answer="资料里没有说。", snapshot=3, trace_id="t1")
    return Answer(
        question="q",
        status=status,
        answer=HIT.of(TEXT),
        sentences=(AnswerSentence(text=HIT.of(TEXT), citations=("1",)),),
        citations=(cited,),
        notes=("an older version says 450",),
        snapshot=3,
        trace_id="t1",
        timings_ms={"total": 20.0},
    )


def version(number: int = 1, source: str = SOURCE) -> Version:
    return Version(
        id=VersionId(f"{number:032x}"),
        document_id=DocumentId("d" * 32),
        kb_id=KbId("k" * 32),
        number=number,
        source=source,
        title="手册",
        kind="pdf",
        content_hash="f" * 64,
        fingerprint="p",
        text_hash="a" * 64,
        original_hash="b" * 64,
        language="zh",
        pages=3,
        metadata={"author": "青禾", "tags": ("a", "b")},
        created_at=1_740_000_000.0,
        valid_from=number,
        valid_to=OPEN,
    )


def health() -> Health:
    return Health(
        freshness=Freshness(runs=1, seconds_p50=2.0, seconds_p95=2.0, seconds_max=2.0, published_ago=60.0),
        queue=Queue(running=0, oldest_seconds=None, stalled=0, documents=0, reviews=0, oldest_review_seconds=None),
        failures=(),
        sizes=Sizes(points=52, points_shown=40),
        drift=(),
    )


def explanation() -> Explanation:
    target = ChunkExplanation(
        chunk_id=ChunkId("c" * 32),
        version_id="e" * 32,
        document_id="d" * 32,
        source=SOURCE,
        title="手册",
        title_path=("三、住宿标准",),
        span=Span(100, 100 + len(TEXT)),
        text=TEXT,
        stages=(
            StageVerdict(stage="filter", passed=True, detail="visible"),
            StageVerdict(stage="cut", passed=False, detail="relevance 0.1"),
        ),
        verdict="not used: cut: relevance 0.1",
    )
    return Explanation(question="q", snapshot=3, targets=(target,), trace=trace())


@dataclass
class FakeBase:
    """Stands where `kaijuan.sync.Kaijuan` does. `calls` says what was asked; an Exception in `replies` is raised."""

    replies: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    opened: tuple[Path, str, Path | None] | None = None

    def __call__(self, home: Path, kb: str, *, config: Path | None = None, **_: object) -> Self:
        self.opened = (home, kb, config)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((verb, args, kwargs))
            return self._reply(verb)

        return call

    def ask_stream(self, *args: Any, **kwargs: Any) -> Iterator[DoneEvent]:
        """Give the answer to "ask" as the only event."""
        self.calls.append(("ask_stream", args, kwargs))
        yield DoneEvent(answer=self._reply("ask"))

    def _reply(self, verb: str) -> Any:
        reply = self.replies[verb]
        if isinstance(reply, BaseException):
            raise reply
        return reply


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> FakeBase:
    fake = FakeBase(
        replies={
            "search": SearchResult(
                query="q", snapshot=3, passages=(passage(),), trace=trace(), timings_ms={"total": 12.3456789}
            ),
            "ask": answer(),
            "explain": explanation(),
            "list": [version()],
            "health": health(),
            "snapshots": [Snapshot(number=1, created_at=1_740_000_000.0, run_id="r1", documents=1, chunks=2)],
        }
    )
    # In place of the whole module: the engine behind it is not needed here.
    stand_in = ModuleType("kaijuan.sync")
    stand_in.Kaijuan = fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kaijuan.sync", stand_in)
    for name in ("KAIJUAN_HOME", "KAIJUAN_KB", "KAIJUAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return fake


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        assert self.out.count("\n") == 1, "exactly one JSON document on one line"
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def kaijuan(base: FakeBase, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def run(*words: str) -> Outcome:
        code = app.run(list(words))
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return run


__all__: Sequence[str] = ("FakeBase", "Outcome")
