"""status, snapshots, rebuild, doctor, version."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaijuan import __version__
from kaijuan.core.ids import KbId, RunId
from kaijuan.core.snapshots import Changes
from kaijuan.index.catalog import Run, RunState
from kaijuan.jobs.doctor import Check, DoctorReport
from kaijuan.jobs.report import RebuildReport
from kaijuan.jobs.views import Status

Kaijuan = Callable[..., Any]

WELL = Check(name="disk", ok=True, detail="9.1 GiB free", hint="Free some space.")
ILL = Check(name="index", ok=False, detail="3 points missing", hint="Run `kaijuan doctor --repair`.")


def _status() -> Status:
    run = Run(id=RunId("r" * 32), kb_id=KbId("k"), kind="add", target=4, state=RunState.RUNNING, started_at=1.74e9)
    return Status(
        kb="default",
        head=3,
        documents=7,
        chunks=40,
        points=52,
        space="k-g1",
        model="multilingual-e5-small",
        dimensions=384,
        published_at=1.74e9,
        unfinished_runs=(run,),
        recent_runs=(run,),
    )


@pytest.mark.parametrize("command", ["status", "rebuild"])
def test_status_as_json_and_as_text(kaijuan: Kaijuan, base: Any, command: str) -> None:
    base.replies.update(status=_status(), rebuild=RebuildReport(space="k-g2", unreadable=()))
    shown = kaijuan(command, "--json").document
    assert (shown["head"], shown["documents"], shown["chunks"], shown["points"]) == (3, 7, 40, 52)
    assert shown["recent_runs"][0]["state"] == "running"
    got = kaijuan(command).out
    assert "52 chunks of all versions, in k-g1" in got
    assert ("Rebuilt the index: 52 chunks" in got) == (command == "rebuild")
    assert "has not finished" in got


def test_what_a_rebuild_left_out_is_named(kaijuan: Kaijuan, base: Any) -> None:
    base.replies.update(status=_status(), rebuild=RebuildReport(space="k-g2", unreadable=("file:///d/a.md",)))
    assert "Left out, its text cannot be read: file:///d/a.md." in kaijuan("rebuild").err


def test_snapshots(kaijuan: Kaijuan, base: Any) -> None:
    assert kaijuan("snapshots", "--json").document == {
        "snapshots": [
            {
                "number": 1,
                "created_at": 1_740_000_000.0,
                "run_id": "r1",
                "documents": 1,
                "chunks": 2,
                "tags": [],
                "changes": None,
            }
        ]
    }
    assert "published" in kaijuan("snapshots").out
    base.replies["snapshots"] = []
    assert "Nothing has been published yet." in kaijuan("snapshots").out


def test_an_undone_run_is_told_in_words(kaijuan: Kaijuan, base: Any) -> None:
    base.replies["status"] = _status()
    assert "Undone" not in kaijuan("status").out
    (run,) = base.replies["status"].recent_runs
    undone = replace(run, state=RunState.ROLLED_BACK, reason="No [b]room[/b]\nis left.")
    base.replies["status"] = replace(base.replies["status"], recent_runs=(undone,), unfinished_runs=())
    got = kaijuan("status").out
    assert "rolled_back" not in got
    assert "undone: No [b]room[/b] is left." in " ".join(got.split())


def test_snapshots_tell_what_each_changed(kaijuan: Kaijuan, base: Any) -> None:
    (first,) = base.replies["snapshots"]
    base.replies["snapshots"] = [
        replace(first, changes=Changes(added=1)),
        replace(first, number=2, documents=4, chunks=20, changes=Changes(added=3)),
        replace(first, number=3, documents=3, chunks=15, changes=Changes(changed=1, removed=1)),
        replace(first, number=4, documents=3, chunks=15, changes=Changes(changed=1200)),
        replace(first, number=5, documents=3, chunks=15, changes=Changes()),
    ]
    got = kaijuan("snapshots").out
    lines = got.splitlines()
    for words in (
        "1 added (2 chunks more)",
        "3 added (18 chunks more)",
        "1 changed, 1 removed (5 chunks fewer)",
        "1,200 changed",
        "nothing",
    ):
        assert any(line.rstrip().endswith(words) for line in lines), got


def test_doctor_is_good_when_all_is_well(kaijuan: Kaijuan, base: Any) -> None:
    base.replies["doctor"] = DoctorReport(checks=(WELL,))
    got = kaijuan("doctor", "--json")
    assert (got.code, got.document["ok"]) == (0, True)
    got = kaijuan("doctor")
    assert (got.code, "All is well." in got.out) == (0, True)
    assert "Free some space." not in got.out, "a hint belongs to a failure"


def test_doctor_is_code_1_when_something_is_wrong(kaijuan: Kaijuan, base: Any) -> None:
    base.replies["doctor"] = DoctorReport(checks=(WELL, ILL))
    got = kaijuan("doctor", "--repair", "--json")
    assert got.code == 1
    assert base.calls == [("doctor", (), {"repair": True, "deep": False})]
    assert got.document["checks"][1] == {
        "name": "index",
        "ok": False,
        "detail": "3 points missing",
        "hint": "Run `kaijuan doctor --repair`.",
    }
    got = kaijuan("doctor")
    assert got.code == 1
    assert "Run `kaijuan doctor --repair`." in got.out
    assert "1 of 2 checks failed." in got.out


def test_version(kaijuan: Kaijuan) -> None:
    assert kaijuan("version", "--json").document["version"] == __version__
    assert __version__ in kaijuan("version").out
    assert kaijuan("--version").out == kaijuan("version").out
    assert kaijuan("--version", "--json").document["version"] == __version__


def test_no_command_is_wrong_use(kaijuan: Kaijuan) -> None:
    assert kaijuan("--kb", "x").code == 2


def _outermost(shape: str) -> list[str]:
    depth, names = 0, []
    for piece in re.findall(r'[\[{(]|[\]})]|"[a-z_]+"(?=[,:}])', shape):
        if piece in "[{(":
            depth += 1
        elif piece in "]})":
            depth -= 1
        elif depth == 1:
            names.append(piece.strip('"'))
    return names


@pytest.mark.parametrize(
    "command", ["search", "ask", "explain", "list", "status", "snapshots list", "doctor", "version"]
)
def test_the_reference_page_names_what_is_printed(kaijuan: Kaijuan, base: Any, command: str) -> None:
    base.replies.update(status=_status(), doctor=DoctorReport(checks=(WELL,)))
    words = {"search": ["q"], "ask": ["q"], "explain": ["q", "--chunk", "c"]}.get(command, [])
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page.split(f"\n## `{command}`\n")[1].split("\n## ")[0]
    shape = section.split("With `--json`:")[1].split("```text\n")[1].split("```")[0]
    assert _outermost(shape) == list(kaijuan(*command.split(), *words, "--json").document)
