"""Files of every format, spoiled in seeded ways, end read or with a named error, and the reading goes on.

`python -m bench.fuzz_parsers` does the same over real files, for as long as one likes.
"""

from __future__ import annotations

import pytest
from bench.fuzz_parsers import ends, spoiled
from tests import ole_files, sample_files

from kaijuan import registry
from kaijuan.ingest.isolate import ParserPool

SEEDS = range(20)
SAMPLES = {
    "a.py": sample_files.CODE,
    "a.csv": b'name,n\nneedle,1\n"a, b\nc",2\n',
    "a.rst": sample_files.RST,
    "a.adoc": sample_files.ASCIIDOC,
    "a.json": sample_files.JSON,
    "a.xml": sample_files.XML,
    "a.rtf": sample_files.RTF,
    "a.vtt": sample_files.VTT,
    "a.ipynb": sample_files.NOTEBOOK,
    "a.epub": sample_files.epub(),
    "a.eml": sample_files.EML,
    "a.xlsx": sample_files.xlsx(),
    "a.xls": sample_files.xls(),
    "a.pptx": sample_files.pptx_file(),
    "a.odt": sample_files.ODT,
    "a.ods": sample_files.ODS,
    "a.odp": sample_files.ODP,
    "a.doc": ole_files.doc([("题", "\r", {"style": 1}), ("needle", "\r", {})]),
    "a.ppt": ole_files.ppt([("题", ["甲"], "needle", "注")]),
    "a.msg": ole_files.msg({0x0037: "题", 0x1000: "needle"}),
    "a.zip": sample_files.zipped({"b.eml": sample_files.EML, "c/d.xlsx": sample_files.xlsx()}),
}


@pytest.mark.parametrize("name", list(SAMPLES))
async def test_spoiled_files_end_read_or_named(name: str) -> None:
    pool = ParserPool(registry.targets("parser"), seconds=20, memory_mb=600)
    try:
        found = [end for seed in SEEDS for end in await ends(spoiled(SAMPLES[name], seed), name, pool)]
        after = await ends(SAMPLES[name], name, pool)
    finally:
        await pool.close()
    assert [end.fault for end in found if end.fault] == []
    assert "read" in {end.outcome for end in found}, "spoiling was so hard that nothing was tried"
    assert {end.outcome for end in after} == {"read"}
