"""`kaijuan chunks`: what is listed, shown, reported and compared, for people, as JSON and as dead pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from tests.unit.cli.conftest import FakeBase, Outcome, version

from kaijuan.cli import app
from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel
from kaijuan.core.ids import BlockId, ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span
from kaijuan.jobs.chunk_report import ChunkReport, CutPlace, Duplicate, Outlier
from kaijuan.jobs.views import ChunkView, DocumentView

TEXT = "第一条 [red]住宿[/red] <b>费</b>。\x1b[2J 第三条第二款另有规定。"
Run = Callable[..., Outcome]


def chunk(name: str, level: ChunkLevel, parent: str | None = None) -> Chunk:
    return Chunk(
        id=ChunkId(name * 32),
        version_id=VersionId("e" * 32),
        document_id=DocumentId("d" * 32),
        ordinal=0,
        level=level,
        span=Span(0, len(TEXT)),
        parent_id=ChunkId(parent * 32) if parent else None,
        title_path=("第一章", "第一条"),
        tokens=20,
        strategy="legal-1-abc",
    )


PARENT, CHILD = chunk("a", ChunkLevel.PARENT), chunk("b", ChunkLevel.CHILD, "a")
REPORT = ChunkReport(
    snapshot=3,
    documents=2,
    children=5,
    parents=2,
    strategies={"legal": 5},
    lengths={0: 1, 32: 4},
    median_tokens=40.0,
    shortest=9,
    longest=60,
    tiny=1,
    cut_count=1,
    cut=(CutPlace(source="file:///a.md", kind=BlockKind.TABLE, span=Span(0, 9), pieces=3, excerpt="| <script> |"),),
    parted_sentences=2,
    duplicate_count=1,
    duplicates=(
        Duplicate(excerpt="同样的话", count=2, chunks=(ChunkId("a" * 32),), sources=("file:///a.md", "file:///b.md")),
    ),
    outliers=(Outlier(source="file:///b.md", children=3, mean_tokens=9.0, why="shorter than most"),),
    coverage=1.0,
    lost=(),
    unreadable=(),
)


@pytest.fixture
def filled(base: FakeBase) -> FakeBase:
    block = Block(id=BlockId("9" * 32), ordinal=0, kind=BlockKind.PARAGRAPH, span=Span(0, len(TEXT)))
    base.replies["show"] = DocumentView(
        version=version(), text=TEXT, blocks=(block,), chunks=(PARENT, CHILD), history=(version(),)
    )
    base.replies["chunk"] = ChunkView(
        version=version(),
        chunk=CHILD,
        text=TEXT,
        parent=PARENT,
        parent_text=TEXT,
        neighbours=(),
        children=(),
        pages=(2,),
        references=("第三条第二款",),
    )
    base.replies["chunk_report"] = REPORT
    return base


def test_list_shows_children_under_parents(filled: FakeBase, kaijuan: Run) -> None:
    shown = kaijuan("chunks", "list", "手册.pdf")
    assert shown.code == 0
    assert shown.out.index("a" * 32) < shown.out.index("b" * 32)
    assert "1 chunk to search under 1 parent, cut by legal." in shown.out
    assert "[red]住宿" in shown.out, "markup of documents is text"
    assert "\x1b" not in shown.out
    listed = kaijuan("--json", "chunks", "list", "手册.pdf").document
    assert [each["text"] for each in listed["chunks"]] == [TEXT, TEXT]
    assert listed["chunks"][1]["parent_id"] == "a" * 32


def test_show_tells_what_a_chunk_belongs_to(filled: FakeBase, kaijuan: Run) -> None:
    shown = kaijuan("chunks", "show", "b" * 32)
    assert filled.calls[-1] == ("chunk", ("b" * 32,), {})
    for words in ("第一章 › 第一条", "legal-1-abc", "第三条第二款", "住宿"):
        assert words in shown.out
    assert "\x1b" not in shown.out
    assert kaijuan("chunks", "show", "b" * 32, "--json").document["references"] == ["第三条第二款"]


def test_report_counts_and_names(filled: FakeBase, kaijuan: Run, tmp_path: Path) -> None:
    shown = kaijuan("chunks", "report")
    assert shown.code == 0
    for words in ("5 chunks to search under 2 parents of 2 documents", "100.0000%", "table in 3 chunks", "同样的话"):
        assert words in shown.out
    assert kaijuan("chunks", "report", "--json").document["lengths"] == {"0": 1, "32": 4}
    page = tmp_path / "r.html"
    assert kaijuan("chunks", "report", "--html", str(page)).out == ""
    assert_dead(page)
    assert "| &lt;script&gt; |" in page.read_text("utf-8")


def test_lost_text_makes_the_exit_code_3(filled: FakeBase, kaijuan: Run) -> None:
    from dataclasses import replace

    filled.replies["chunk_report"] = replace(REPORT, coverage=0.5, lost=(("file:///a.md", "words"),))
    shown = kaijuan("chunks", "report")
    assert shown.code == 3
    assert "In no chunk" in shown.out


def assert_dead(page: Path) -> None:
    tree = html.fromstring(page.read_text("utf-8"))
    assert not tree.xpath("//script|//img|//a|//link|//iframe|//@onclick")
    assert "default-src 'none'" in tree.xpath("//meta[@http-equiv]/@content")[0]


def run(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str]:
    code = app.run(["--home", str(home), "chunks", *words])
    return code, capsys.readouterr().out


LAW = "# 办法\n\n" + "\n\n".join(f"第{n}条 员工<script>alert(1)</script>应当遵守。" for n in "一二三四五六")


def test_preview_sets_strategies_side_by_side(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, home, page = tmp_path / "law.md", tmp_path / "home", tmp_path / "p.html"
    file.write_text(LAW, "utf-8")
    words = ("preview", str(file), "--strategy", "fixed", "--strategy", "auto")
    code, out = run(capsys, home, *words)
    assert code == 0
    assert "Looks like statute; the settings choose recursive." in out
    assert "auto: legal" in out
    code, out = run(capsys, home, *words, "--json")
    found: dict[str, Any] = json.loads(out)["documents"][0]
    fixed, legal = found["trials"]
    assert (found["shape"], found["chosen"], legal["quality"]["coverage"]) == ("statute", "recursive", 1.0)
    assert (fixed["quality"]["children"], legal["quality"]["children"]) == (1, 6)
    assert legal["chunks"][1]["title_path"][-1] == "第一条"
    code, out = run(capsys, home, *words, "--html", str(page))
    assert (code, out) == (0, "")
    assert_dead(page)
    assert not home.exists(), "a look stores nothing"


def test_preview_names_what_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("words", "utf-8")
    assert run(capsys, tmp_path / "home", "preview", str(file), "--strategy", "clever")[0] == 2
    assert run(capsys, tmp_path / "home", "preview", str(tmp_path))[0] == 2
    assert run(capsys, tmp_path / "home", "preview", str(tmp_path / "none.md"))[0] == 3
    file.write_bytes(b"")
    assert run(capsys, tmp_path / "home", "preview", str(file))[0] == 3
    assert run(capsys, tmp_path / "home", "preview", str(file), "--html", str(tmp_path / "no" / "p.html"))[0] == 2
