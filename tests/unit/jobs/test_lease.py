"""Leases: the dead are known from the living, and a holder that dies blocks nobody."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.errors import BusyError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.jobs.lease import held, still_held
from kaijuan.jobs.owner import is_gone, new_owner
from kaijuan.stores.catalog.sql import SqlCatalog

PRINT_OWNER = "from kaijuan.jobs.owner import new_owner; print(new_owner())"


def _dead_owner() -> str:
    return subprocess.run(
        [sys.executable, "-c", PRINT_OWNER], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[SqlCatalog]:
    catalog = SqlCatalog(tmp_path / "catalog.db")
    yield catalog
    await catalog.close()


@pytest.fixture
async def kb(catalog: SqlCatalog) -> KnowledgeBase:
    return await catalog.create_kb("acme", "shelf", now=0.0)


def test_a_living_process_is_not_gone() -> None:
    assert not is_gone(new_owner())
    assert new_owner() != new_owner()


def test_a_process_that_ended_is_gone() -> None:
    assert is_gone(_dead_owner())


def test_a_number_given_to_another_process_does_not_revive_the_first() -> None:
    host, _, started, nonce = _dead_owner().split("/")
    assert is_gone("/".join((host, str(os.getpid()), started, nonce)))


@pytest.mark.parametrize("owner", ["", "someone", "elsewhere@1/1/1/a", "elsewhere@1/999999999/1/a"])
def test_of_others_nothing_is_known(owner: str) -> None:
    assert not is_gone(owner)


async def test_the_lease_of_the_dead_is_taken_over_at_once(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    await catalog.acquire_lease(kb.id, _dead_owner(), now=0.0, seconds=3600)
    async with held(catalog, kb.id, "me", clock=lambda: 1.0, seconds=60):
        assert await still_held(catalog, kb.id, "me")
    assert await catalog.lease(kb.id) is None


async def test_the_lease_of_the_living_is_not(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    owner = new_owner()
    await catalog.acquire_lease(kb.id, owner, now=0.0, seconds=3600)
    with pytest.raises(BusyError, match=f"process {os.getpid()} on"):
        async with held(catalog, kb.id, "me", clock=lambda: 1.0, seconds=60):
            pytest.fail("held by two")
    assert await still_held(catalog, kb.id, owner)


async def _lasts_until(catalog: SqlCatalog, kb: KnowledgeBase, time: float) -> bool:
    lease = await catalog.lease(kb.id)
    assert lease is not None
    return lease.expires_at >= time


async def test_it_is_renewed_while_work_goes_on(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    now = 100.0
    async with held(catalog, kb.id, "me", clock=lambda: now, seconds=0.15):
        now = 200.0
        # Renewed within a third of its time; the test's own time limit ends a wait in vain.
        while not await _lasts_until(catalog, kb, 200.0):  # noqa: ASYNC110 the catalog tells nobody of renewals
            await asyncio.sleep(0.01)


async def test_an_error_comes_through_as_itself_and_the_lease_goes(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    with pytest.raises(ZeroDivisionError):
        async with held(catalog, kb.id, "me", clock=lambda: 0.0, seconds=60):
            raise ZeroDivisionError
    assert await catalog.lease(kb.id) is None
