"""While documents are updated, readers meet no error, no answer of two snapshots and no stale citation."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.updating import asking, engine_of, measured, write


@pytest.mark.slow
async def test_readers_notice_nothing_of_an_update_but_its_end() -> None:
    found = await measured(40, 25, 0.5)
    assert [phase["faults"] for phase in found["phases"]] == [{}, {}, {}]
    assert all(phase["searches"] for phase in found["phases"])
    assert found["snapshots"] == 1


async def test_the_check_finds_an_edition_that_the_snapshot_does_not_show(tmp_path: Path) -> None:
    write(tmp_path / "documents", range(4), 1)
    write(tmp_path / "documents", range(2), 2)
    async with engine_of(tmp_path / "home") as engine:
        report = await engine.add([str(tmp_path / "documents")])
        honest = asking(engine, 4, changed=2, before=report.snapshot - 1)
        assert {await honest(at) for at in range(6)} == {""}
        # Told that nothing had changed, the second edition is one of another snapshot.
        misled = asking(engine, 4, changed=0, before=report.snapshot - 1)
        faults = {await misled(at) for at in range(6)}
        await engine.indexes.stop_owner()  # type: ignore[attr-defined]
    assert {"a passage of another snapshot", "a citation of another snapshot"} <= faults
