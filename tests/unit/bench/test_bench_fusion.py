"""What bench.fusion computes offline, against figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.fusion import Asked, depths, fusions, losses

from kaijuan.core.ids import ChunkId
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.index.ports import Hit


@pytest.fixture
def data(tmp_path: Path) -> EvalSet:
    documents = "\n".join(f'{{"_id": "d{number}", "text": "text {number}"}}' for number in range(4))
    (tmp_path / "corpus.jsonl").write_text(documents, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "a question"}', encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\td1\t1\nq\td3\t1\n", encoding="utf-8")
    return load_set(tmp_path)


def _asked() -> Asked:
    names = {ChunkId(f"c{number}"): f"d{number}" for number in range(4)}
    dense = [Hit(ChunkId("c0"), 1.0), Hit(ChunkId("c1"), 0.9), Hit(ChunkId("c3"), 0.0)]
    lexical = [Hit(ChunkId("c1"), 10.0), Hit(ChunkId("c2"), 5.0), Hit(ChunkId("c3"), 1.0), Hit(ChunkId("c0"), 0.0)]
    return Asked(query="q", lists={"dense": dense, "lexical": lexical}, names=names)


def test_ways_to_join(data: EvalSet) -> None:
    found = fusions([_asked()], data)
    # dense: d0 d1 d3; lexical: d1 d2 d3 d0; ideal: both at the top.
    assert found["dense"] == pytest.approx((0.6309 + 0.5) / 1.6309, abs=1e-3)
    assert found["lexical"] == pytest.approx((1 + 0.5) / 1.6309, abs=1e-3)
    # sum: d1 0.95, d0 0.5, d2 0.25, d3 0.05; reciprocal ranks: d1 and then d0, d3, d2.
    assert found["sum"] == pytest.approx((1 + 0.4307) / 1.6309, abs=1e-3)
    assert found["rrf"] == pytest.approx((1 + 0.5) / 1.6309, abs=1e-3)


def test_cut_ratios(data: EvalSet) -> None:
    found = losses([_asked()], data)
    assert found["relevant_in_first_ten"] == 2
    # d3 stands at 0.05 of 0.95, d1 is the best.
    assert found["lost"] == {"0.1": 1, "0.2": 1, "0.35": 1, "0.5": 1}


def test_depths(data: EvalSet) -> None:
    assert set(depths([_asked()], data)) == {"10", "30", "50", "100"}
