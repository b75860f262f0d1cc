"""The review commands: what they ask of the engine, what they print, and that documents cannot draw on the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kaijuan.core.ids import KbId, RunId
from kaijuan.core.reviews import Decision, Finding, Review, ReviewState
from kaijuan.jobs.report import RunReport

Run = Callable[..., Any]
EVIL = "a\x1b[31m\u202eb[red]"
REVIEW = Review(
    id="4f" * 16,
    kb_id=KbId("k"),
    source=f"file:///data/{EVIL}.txt",
    content_hash="c" * 64,
    original_hash="o" * 64,
    reasons=tuple(
        Finding(detector="instructions", said="tells", excerpt=f"{at} {EVIL}", page=at) for at in range(1, 6)
    ),
    created_at=1_740_000_000.0,
    title=EVIL,
    history=(Decision(state=ReviewState.REJECTED, at=1_740_000_001.0, by=EVIL, note=EVIL),),
)
DONE = RunReport(
    run_id=RunId("r"),
    snapshot=2,
    added=1,
    updated=0,
    unchanged=0,
    removed=0,
    failed=(),
    documents=1,
    chunks=1,
    seconds=1,
)


def test_the_queue_says_why_and_stays_on_its_lines(kaijuan: Run, base: Any) -> None:
    base.replies["reviews"] = [REVIEW]
    got = kaijuan("review", "list")
    assert got.code == 0
    assert "4f4f4f4f pending" in got.out
    assert "instructions: tells, page 1" in got.out
    assert "and 2 more" in got.out
    assert "\x1b[31m" not in got.out
    assert "\u202e" not in got.out
    assert base.calls == [("reviews", (), {})]
    kaijuan("review", "list", "--all")
    assert base.calls[-1] == ("reviews", (list(ReviewState),), {})


def test_an_empty_queue(kaijuan: Run, base: Any) -> None:
    base.replies["reviews"] = []
    assert kaijuan("review", "list").out == "Nothing waits for a decision.\n"
    assert kaijuan("review", "list", "--json").document == {"reviews": []}
    assert kaijuan("review", "approve", "--all").code == 2


def test_one_review_whole(kaijuan: Run, base: Any) -> None:
    base.replies["review"] = REVIEW
    got = kaijuan("review", "show", "4f4f")
    assert "page 5" in got.out
    assert "rejected" in got.out
    assert "\x1b[31m" not in got.out
    shape = kaijuan("review", "show", "4f4f", "--json").document
    assert shape["reasons"][0]["detector"] == "instructions"
    assert shape["history"][0]["by"] == EVIL


def test_approving_and_rejecting(kaijuan: Run, base: Any) -> None:
    base.replies |= {"approve": DONE, "reject": [REVIEW.source], "reviews": [REVIEW]}
    assert kaijuan("review", "approve", "4f4f", "--by", "wang", "--note", "fine").code == 0
    verb, args, kwargs = base.calls[-1]
    assert (verb, args, kwargs["by"], kwargs["note"]) == ("approve", (["4f4f"],), "wang", "fine")
    got = kaijuan("review", "reject", "--all", "--json")
    assert got.document == {"rejected": 1, "removed": [REVIEW.source]}
    assert base.calls[-1][1] == ([REVIEW.id],)
    assert base.calls[-1][2]["by"]


def test_an_approval_that_failed_says_so(kaijuan: Run, base: Any) -> None:
    from kaijuan.jobs.report import Failed

    failed = (Failed(source=REVIEW.source, code="not_found", message="The bytes are gone."),)
    base.replies["approve"] = replace(DONE, added=0, failed=failed)
    assert kaijuan("review", "approve", "4f4f").code == 3


def test_nothing_or_both_named_is_wrong_use(kaijuan: Run, base: Any) -> None:
    base.replies["reviews"] = [REVIEW]
    assert kaijuan("review", "approve").code == 2
    assert kaijuan("review", "reject", "4f4f", "--all").code == 2
