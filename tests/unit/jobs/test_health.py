"""What is told of a base's health: freshness, queue, failures by cause, sizes, drift of scores."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.index.catalog import StoredTrace
from kaijuan.jobs.health import bytes_of, drift, health_of, kolmogorov_smirnov
from kaijuan.testing.workshop import ROOT, START, Workshop


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


async def test_failures_are_told_by_cause_with_an_example(shop: Workshop) -> None:
    await shop.add({"good": "A rule.", "bad": None, "worse": None})
    kb = await shop.kb()
    found = await health_of(shop.catalog, kb, None, shop.home, START + 1000, is_there=lambda _: True)
    [cause] = found.failures
    assert (cause.code, cause.sources) == ("source_missing", 2)
    assert cause.example.endswith(("bad", "worse"))
    assert "cannot be read" in cause.message


async def test_what_was_taken_in_since_or_is_gone_no_longer_fails(shop: Workshop) -> None:
    await shop.add({"mended": None, "deleted": None, "bad": None})
    await shop.add({"mended": "A rule."})
    await shop.add({"bad": None})
    found = await health_of(
        shop.catalog, await shop.kb(), None, shop.home, START, is_there=lambda path: path != "/shelf/deleted"
    )
    [cause] = found.failures
    assert (cause.sources, cause.example) == (1, ROOT + "bad")


async def test_points_of_earlier_snapshots_are_told_apart(shop: Workshop) -> None:
    await shop.add({"kept": "A rule that stays.", "gone": "A rule that goes."})
    await shop.remove(["gone"])
    found = await health_of(shop.catalog, await shop.kb(), await shop.index(), shop.home, START + 1000)
    assert (found.sizes.points, found.sizes.points_shown) == (2, 1)
    assert found.sizes.catalog > 0
    assert found.sizes.blobs > 0


async def test_freshness_is_from_the_beginning_of_a_run_to_its_snapshot(shop: Workshop) -> None:
    await shop.add({"one": "A rule."})
    kb = await shop.kb()
    [run] = await shop.catalog.runs(kb.id)
    assert run.finished_at is not None
    found = await health_of(shop.catalog, kb, await shop.index(), shop.home, run.finished_at + 60)
    assert found.freshness.runs == 1
    assert found.freshness.seconds_p50 == run.finished_at - run.started_at > 0
    assert found.freshness.published_ago == pytest.approx(60, abs=1)


async def test_a_run_whose_process_ended_is_stalled_and_not_running(shop: Workshop) -> None:
    await shop.add({"one": "A rule."})
    kb = await shop.kb()
    await shop.catalog.begin_run(kb.id, "add", now=START)
    found = await health_of(shop.catalog, kb, await shop.index(), shop.home, START + 1000)
    assert (found.queue.running, found.queue.stalled) == (0, 1)
    assert found.queue.oldest_seconds is None


async def test_a_base_without_anything_is_well(shop: Workshop) -> None:
    found = await health_of(shop.catalog, await shop.kb(), None, shop.home, START)
    assert found.failures == ()
    assert found.drift == ()
    assert found.freshness.published_ago is None


async def test_scores_that_fell_are_noticed(shop: Workshop) -> None:
    kb = await shop.kb()
    chance = random.Random(1)
    for at in range(200):
        score = chance.gauss(0.85 if at < 150 else 0.78, 0.02)
        status = "answered" if at < 150 or at % 2 else "refused"
        body = {
            "status": status,
            "candidates": [
                {"routes": {"dense": {"rank": 1, "score": score}}, "relevance": 0.5},
                {"routes": {"dense": {"rank": 2, "score": score - 0.1}}, "relevance": 0.4},
            ],
        }
        await shop.catalog.save_trace(StoredTrace(id=f"t{at}", kb_id=kb.id, created_at=START + at, body=body), keep=500)
    found = await health_of(shop.catalog, kb, None, shop.home, START + 1000)
    by_measure = {one.measure: one for one in found.drift}
    assert by_measure["dense"].moved
    assert by_measure["dense"].recent_quartiles[1] < by_measure["dense"].before_quartiles[1]
    assert not by_measure["relevance"].moved
    assert found.refused["recent"] > 0.3 > found.refused["before"]


def test_the_same_distribution_has_not_moved() -> None:
    chance = random.Random(2)
    moved = 0
    for _ in range(50):
        found = drift("dense", [chance.gauss(0.8, 0.05) for _ in range(300)])
        assert found is not None
        moved += found.moved
    assert moved == 0


def test_too_few_requests_say_nothing() -> None:
    assert drift("dense", [0.5] * 59) is None
    assert drift("dense", [0.5] * 60) is not None


def test_the_distance_of_two_samples() -> None:
    assert kolmogorov_smirnov([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) == 0
    assert kolmogorov_smirnov([1.0, 2.0], [3.0, 4.0]) == 1
    assert kolmogorov_smirnov([1.0, 3.0], [2.0, 4.0]) == 0.5


def test_bytes_of_a_folder_are_those_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x" * 10_000)
    assert 10_000 <= bytes_of(tmp_path) < 100_000
    assert bytes_of(tmp_path / "missing") == 0
