"""A planted marker never leaves: generated calls by people of another tenant and of other groups."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from bench.leaks import MARKER, World, attack, intact, make_world
from tests.serving import config_of, in_process

SEED = 7
CALLS = 600


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    limits = {"requests_per_minute": 1_000_000, "tenant_requests_per_minute": 10_000_000}
    async with in_process(tmp_path / "home", config_of(identity=limits)) as served:
        yield await make_world(served)


@pytest.mark.slow
async def test_no_generated_call_of_others_ever_gets_the_marker(world: World) -> None:
    """`python -m bench.leaks` makes ten thousand of them."""
    outcome = await attack(world, CALLS, SEED)
    assert outcome.leaks == []
    assert outcome.defects == 0, [what for what, found in outcome.by_operation.items() if max(found) >= 500]
    assert await intact(world) == []
    # The calls are real ones: many are answered, and every operation is among them.
    assert outcome.statuses[200] > CALLS / 12
    assert len(outcome.by_operation) > 80


async def test_the_marker_is_everywhere_for_those_who_may_read_it(world: World) -> None:
    """Otherwise nothing could leak, and the test above would hold nothing."""
    served = world.served
    for user in ("olga", "bea"):
        at = "/kbs/shared"
        answers = {
            "search": await served.post(f"{at}/search", {"query": "What is the vault code?", "cut": False}, user=user),
            "list": await served.get(f"{at}/documents", user=user),
            "text": await served.get(f"{at}/documents/secret.md?include=text,blocks,chunks", user=user),
            "old": await served.get("/kbs/shared/documents/secret.md?include=text&as_of=1", user=user),
            "original": await served.get(f"{at}/documents/secret.md/original", user=user),
            "diff": await served.get(f"{at}/diff?before=1", user=user),
            "suggest": await served.get(f"{at}/suggest?q={MARKER[:4]}", user=user),
        }
        assert {name for name, answer in answers.items() if MARKER.casefold() not in answer.text.casefold()} == set()
