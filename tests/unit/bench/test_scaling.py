"""The chunks of bench.scaling are what the engine would make of their text, and its statement follows from its rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from bench.clusters import CHUNKS_A_DOCUMENT, Corpus, cluster_of, text_of, vector, weights
from bench.scaling import bends, document, percentiles, shown
from bench.tables import EMBEDDED, scaling_table

from kaijuan.core.documents import ChunkLevel
from kaijuan.core.ids import KbId, RunId
from kaijuan.core.text.bm25 import document_weights
from kaijuan.index.catalog import KnowledgeBase, Run, RunState

CORPUS = Corpus(sentences=50)
BASE = KnowledgeBase(id=KbId("k" * 32), tenant="default", name="default", head=0, policy_version=1, space="")
RUN = Run(id=RunId("r" * 32), kb_id=BASE.id, kind="add", target=3, state=RunState.RUNNING, started_at=1.0)


def test_terms_put_together_are_those_of_the_text() -> None:
    for number in range(20):
        sentences = CORPUS.chunk(number)
        expected = document_weights([(text_of(sentences), 1.0)])
        assert weights(sentences) == pytest.approx(expected)


def test_a_document_is_cut_into_its_paragraphs() -> None:
    made = document(CORPUS, BASE, RUN, 7, frozenset({"all"}))
    children = [chunk for chunk in made.chunks if chunk.level is ChunkLevel.CHILD]
    assert [chunk.span.of(made.text) for chunk in children] == list(CORPUS.paragraphs(7))
    assert all(left.span.end < right.span.start for left, right in pairwise(children))
    assert [point.id for point in made.points] == [chunk.id for chunk in children]
    assert len({point.id for point in made.points}) == CHUNKS_A_DOCUMENT
    assert {point.valid_from for point in made.points} == {RUN.target}


def test_questions_lie_nearest_to_their_cluster() -> None:
    question = vector(3, "a question")
    near = float(question @ vector(3, "a passage"))
    far = max(float(question @ vector(other, "a passage")) for other in (0, 1, 2, 4, 5))
    assert near > far
    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-5)
    assert cluster_of(0) == cluster_of(3) != cluster_of(4)


def _rows(*pairs: tuple[int, float]) -> list[dict[str, Any]]:
    return [{"chunks": chunks, "search_cpu_ms": {"plain": spent}} for chunks, spent in pairs]


def test_where_the_curve_bends() -> None:
    assert bends(_rows((1_000, 5.0), (10_000, 6.0), (100_000, 40.0), (1_000_000, 400.0))) == 10_000
    assert bends(_rows((1_000, 5.0), (10_000, 6.0))) is None
    assert bends([]) is None


def test_memory_of_the_bench_itself_is_not_shown() -> None:
    peaks = {"engine": 900, "index owner": 50, "together": 950}
    assert shown("ports", peaks) == {"index owner": 50}
    assert shown("add", peaks) == peaks


def test_percentiles_are_milliseconds() -> None:
    assert percentiles([0.001 * number for number in range(1, 101)]) == {"p50": 51.0, "p95": 96.0, "p99": 100.0}
    assert percentiles([0.002]) == {"p50": 2.0, "p95": 2.0, "p99": 2.0}


def test_the_table_says_where_it_bends() -> None:
    three = {"p50": 1.0, "p95": 2.0, "p99": 3.0}
    row = {
        "built": "ports",
        "queries": 5,
        "load_average": 0.5,
        "build_seconds": 10.0,
        "build_cpu_seconds": 5.0,
        "search_ms": dict.fromkeys(("plain", EMBEDDED, "filtered 50 %", "filtered 0.05 %"), three),
        "build_peak_mb": {"index owner": 10},
        "build_peak_private_mb": {"index owner": 5},
        "search_peak_mb": {"index owner": 11},
        "disk_mb": {"catalog": 1, "blobs": 2, "index": 3},
    }
    rows = [
        row | {"chunks": 1_000, "search_cpu_ms": {"plain": 2.0}, "routes_ms_p50": {"dense": 1.0, "lexical": 2.0}},
        row | {"chunks": 100_000, "search_cpu_ms": {"plain": 90.0}, "routes_ms_p50": {"dense": 50.0, "lexical": 6.0}},
    ]
    text = "\n".join(scaling_table({"note": "", "rows": rows, "bends_at": bends(rows)}))
    assert "The curve bends at 1,000 chunks" in text
    assert "dense route takes 50.0 times as long, the lexical route 3.0 times" in text
    assert "| ports | 100,000 | 10 | 5.0 | 20000 | 10 | 6 |" in text
