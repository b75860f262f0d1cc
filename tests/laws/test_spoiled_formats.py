"""Files of every format, spoiled in seeded ways, end read or with a named error, and the reading goes on.

`python -m bench.fuzz_parsers` does the same over real files, for as long as one likes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.fuzz_parsers import ends, seeds
from bench.spoiling import spoiled
from tests.seed_files import SAMPLES

from kaijuan import registry
from kaijuan.ingest.isolate import ParserPool

SEEDS = range(20)


def test_every_parser_has_a_sample(tmp_path: Path) -> None:
    found = seeds(tmp_path)
    assert set(registry.targets("parser")) <= set(found)
    assert {"zip", "mbox"} <= set(found)


@pytest.mark.parametrize("name", list(SAMPLES))
async def test_spoiled_files_end_read_or_named(name: str) -> None:
    eyes = registry.recogniser("onboard")
    pool = ParserPool(registry.targets("parser"), seconds=20, memory_mb=600, recogniser=eyes, recognise_seconds=60)
    try:
        found = [end for seed in SEEDS for end in await ends(spoiled(SAMPLES[name], seed), name, pool)]
        after = await ends(SAMPLES[name], name, pool)
    finally:
        await pool.close()
    assert [end.fault for end in found if end.fault] == []
    assert "read" in {end.outcome for end in found}, "spoiling was so hard that nothing was tried"
    assert {end.outcome for end in after} == {"read"}
