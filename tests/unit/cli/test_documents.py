"""add, remove, list, show and demo: reports, exit code 3, and file names that try to be more than names."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaijuan.cli.progress import describe, shown_progress
from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel
from kaijuan.core.ids import BlockId, ChunkId, RunId
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.jobs.report import Failed, Progress, RunReport, Stage, Waiting
from kaijuan.jobs.views import DocumentView
from kaijuan.samples import questions, sample_folder

Run = Callable[..., Any]

GOOD = RunReport(
    run_id=RunId("r" * 32),
    snapshot=4,
    added=2,
    updated=1,
    unchanged=0,
    removed=0,
    failed=(),
    documents=3,
    chunks=40,
    seconds=1.23456,
)
EVIL = "file:///data/a%0Ab%1B[31m%F0%9F%98%80[red].pdf"
HELD = replace(GOOD, held=(Waiting(source=EVIL, review="4f" * 16, reasons="instructions: \x1b[31mred"),), rejected=1)
BAD = replace(GOOD, failed=(Failed(source=EVIL, code="document_broken", message="Not a PDF. Save it again."),))


def _progress(stage: Stage = Stage.READING, done: int = 1, total: int | None = None) -> Progress:
    return Progress(stage=stage, done=done, total=total, failed=1, source=EVIL, chunks=50, indexed=20)


def test_add_reports_what_was_done(kaijuan: Run, base: Any) -> None:
    base.replies["add"] = GOOD
    got = kaijuan("add", "a.pdf", "docs", "--mirror", "--json")
    assert got.code == 0
    assert got.document == {
        "run_id": "r" * 32,
        "snapshot": 4,
        "added": 2,
        "updated": 1,
        "unchanged": 0,
        "removed": 0,
        "failed": [],
        "held": [],
        "rejected": 0,
        "documents": 3,
        "chunks": 40,
        "seconds": 1.235,
        "removed_sources": [],
        "moved": [],
        "snapshots": [],
        "salvaged": 0,
    }
    ((verb, args, kwargs),) = base.calls
    assert (verb, args, kwargs["mirror"]) == ("add", (["a.pdf", "docs"],), True)
    assert "2 added, 1 updated" in kaijuan("add", "a.pdf").out


def test_failed_items_are_code_3_and_named_with_what_to_do(kaijuan: Run, base: Any) -> None:
    base.replies["add"] = BAD
    got = kaijuan("add", "docs", "--json")
    assert got.code == 3
    assert got.document["failed"] == [
        {
            "source": EVIL,
            "path": "/data/a\nb\x1b[31m😀[red].pdf",
            "code": "document_broken",
            "message": "Not a PDF. Save it again.",
        }
    ]
    got = kaijuan("add", "docs")
    assert got.code == 3
    assert r"/data/a\nb\x1b[31m😀[red].pdf" in got.out
    assert "document_broken: Not a PDF. Save it again." in got.out


def test_remove_reports_like_add(kaijuan: Run, base: Any) -> None:
    base.replies["remove"] = replace(GOOD, added=0, updated=0, removed=1)
    assert kaijuan("remove", "a.pdf", "--json").document["removed"] == 1
    assert base.calls == [("remove", (["a.pdf"],), {})]
    assert kaijuan("remove", "a.pdf").out.startswith("1 removed\n")


def test_list_as_json_and_as_table(kaijuan: Run, base: Any) -> None:
    (document,) = kaijuan("list", "--json").document["documents"]
    assert document["document_id"] == "d" * 32
    assert document["metadata"] == {"author": "青禾", "tags": ["a", "b"]}
    got = kaijuan("list", "--as-of", "2").out
    assert "dddddddd" in got
    assert "手册.pdf" in got
    assert base.calls[-1] == ("list", (), {"as_of": 2})
    base.replies["list"] = []
    assert "No documents." in kaijuan("list").out


def _view(version: Any, history: Sequence[Any]) -> DocumentView:
    text = "标题\n[bold]正文[/bold]"
    return DocumentView(
        version=version,
        text=text,
        blocks=(
            Block(id=BlockId("1"), ordinal=0, kind=BlockKind.HEADING, span=Span(0, 2), level=1),
            Block(id=BlockId("2"), ordinal=1, kind=BlockKind.PARAGRAPH, span=Span(3, len(text)), pages=(2,)),
        ),
        chunks=(
            Chunk(
                id=ChunkId("c"),
                version_id=version.id,
                document_id=version.document_id,
                ordinal=0,
                level=ChunkLevel.CHILD,
                span=Span(0, len(text)),
                tokens=9,
            ),
        ),
        history=tuple(history),
    )


def test_show_as_json_and_as_text(kaijuan: Run, base: Any) -> None:
    (version,) = base.replies["list"]
    older = replace(version, id="9" * 32, number=0)
    base.replies["show"] = _view(version, [older, version])
    shown = kaijuan("show", "手册.pdf", "--json").document
    assert list(shown) == ["version", "text", "blocks", "chunks", "history"]
    assert [shown["text"][slice(*block["span"])] for block in shown["blocks"]] == ["标题", "[bold]正文[/bold]"]
    assert shown["chunks"][0]["level"] == "child"
    assert len(shown["history"]) == 2
    got = kaijuan("show", "手册.pdf").out
    assert "[bold]正文[/bold]" in got
    assert "paragraph, p.2" in got
    assert "Versions" in got


def test_demo_takes_in_the_samples_and_asks_every_question(kaijuan: Run, base: Any) -> None:
    base.replies["add"] = GOOD
    got = kaijuan("demo", "--json")
    assert got.code == 0
    assert base.opened[1] == "demo"
    assert base.calls[0][:2] == ("add", ([str(sample_folder())],))
    assert [call[1] for call in base.calls[1:]] == [(asked.question,) for asked in questions()]
    assert len(got.document["answers"]) == 4
    shown = kaijuan("--kb", "mine", "demo").out
    assert base.opened[1] == "mine"
    assert all(asked.question in shown for asked in questions())
    assert "[1] 手册" in shown


def test_progress_off_a_terminal_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 0.0, 1.0, 6.0, 6.5])
    with shown_progress(lambda: next(times)) as report:
        report(_progress(done=1))
        report(_progress(done=2))
        report(_progress(done=3, total=9))
        report(_progress(Stage.PUBLISHING, done=9, total=9))
    printed = capsys.readouterr()
    assert printed.out == ""
    shown = printed.err.splitlines()
    assert [line.split(" document")[0] for line in shown] == ["reading: 1", "reading: 3 of 9", "publishing: 9 of 9"]
    assert r"a\nb\x1b[31m😀[red].pdf" in shown[0]
    assert "20 of 50 index entries written, 1 failed" in shown[1]


def test_progress_on_a_terminal_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with shown_progress() as report:
        report(_progress(done=4, total=9))
    shown = terminal.getvalue()
    assert "reading: 4 of 9 documents" in shown
    assert "\x1b[31m😀" not in shown


def test_progress_tells_a_rate_only_when_it_says_something() -> None:
    early = replace(_progress(), chunks=900, indexed=800)
    assert "800 of 900 index entries written, " in describe(early, 0.0)
    assert "800 of 900 index entries written (40/s)" in describe(early, 20.0)
    assert "/s" not in describe(_progress(), 20.0)


def test_progress_says_why_the_first_chunk_takes_its_time() -> None:
    assert "50 to index, loading the model" in describe(replace(_progress(), indexed=0), 3.0)


def test_a_run_that_changed_nothing_says_so(kaijuan: Run, base: Any) -> None:
    base.replies["add"] = replace(BAD, added=0, updated=0)
    assert "Nothing changed: still snapshot 4, 3 documents, 40 chunks" in kaijuan("add", "nosuch.pdf").out
    base.replies["add"] = replace(BAD, added=0, updated=0, snapshot=0)
    assert "Nothing was published" in kaijuan("add", "nosuch.pdf").out
    base.replies["add"] = GOOD
    assert "Snapshot 4: 3 documents" in kaijuan("add", "a.pdf").out


def test_a_narrow_list_leaves_the_room_to_the_names(kaijuan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "language" in kaijuan("list").out
    monkeypatch.setenv("COLUMNS", "80")
    narrow = kaijuan("list").out
    assert "language" not in narrow
    assert "taken in" in narrow


def test_a_document_that_is_not_there_may_be_in_the_past(kaijuan: Run, base: Any) -> None:
    base.replies["show"] = NotFoundError("No document is called 'a'.")
    got = kaijuan("show", "a")
    assert (got.code, "--as-of" in got.err) == (1, True)
    base.replies["show"] = NotFoundError("No document is called 'a'.")
    assert "--as-of" not in kaijuan("show", "a", "--as-of", "2").err


def test_the_commands_after_the_demo_can_be_copied(
    kaijuan: Run, base: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base.replies["add"] = GOOD
    script = tmp_path / "venv" / "bin" / "kaijuan"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.argv", [str(script)])
    shown = kaijuan("--home", "my home", "demo").out
    assert "\n  venv/bin/kaijuan --home 'my home' --kb demo ask 'How long are full backups kept?'\n" in shown
    monkeypatch.setenv("PATH", str(script.parent))
    assert "\n  kaijuan --kb demo ask 'How long are full backups kept?'\n" in kaijuan("demo").out


def test_held_documents_are_named_and_make_the_exit_code_3(kaijuan: Run, base: Any) -> None:
    base.replies["add"] = HELD
    got = kaijuan("add", "a.pdf")
    assert got.code == 3
    assert "1 held for review, 1 rejected before" in got.out
    assert "4f4f4f4f: instructions: \\x1b[31mred" in got.out
    assert "\x1b[31m" not in got.out
    assert kaijuan("add", "a.pdf", "--json").document["held"][0]["review"] == "4f" * 16
