"""Laws of the cut: more is never less, the best stands, and every refusal names its number."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId
from kaijuan.retrieve.cut import USED, band, fate, weak
from kaijuan.retrieve.fuse import Fused
from kaijuan.retrieve.settings import RetrieveSettings

shares = st.floats(0, 1)
settings = st.builds(RetrieveSettings, cut_ratio=shares, cut_relevance=shares, cut_evidence=shares)
BANDS = ["weak", "supporting", "evidence"]


def _fate(score: float, best: float, relevance: float, told: RetrieveSettings) -> str:
    return fate(Fused(id=ChunkId("a" * 32), score=score, routes={}), best, relevance, told)


@given(settings, shares, shares, shares, shares, shares)
def test_what_is_better_in_both_is_used_where_the_worse_is(
    told: RetrieveSettings, best: float, score: float, more: float, relevance: float, further: float
) -> None:
    better, worse = max(score, more), min(score, more)
    surer, vaguer = max(relevance, further), min(relevance, further)
    if _fate(worse, best, vaguer, told) == USED:
        assert _fate(better, best, surer, told) == USED


@given(settings, st.floats(0.001, 1))
def test_the_best_is_never_cut_by_its_score(told: RetrieveSettings, best: float) -> None:
    assert "score" not in _fate(best, best, 0.0, told)


@given(settings, shares, st.floats(0.001, 1), shares)
def test_what_is_cut_tells_the_bound(told: RetrieveSettings, score: float, best: float, relevance: float) -> None:
    found = _fate(score, best, relevance, told)
    assume(found != USED)
    bound = told.cut_ratio if "score" in found else told.cut_relevance
    assert found.startswith("cut: ")
    assert found.endswith(f"below {bound:g}")


@given(settings, shares, shares)
def test_more_evidence_is_never_a_lower_band_nor_cut_first(told: RetrieveSettings, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert BANDS.index(band(low, told)) <= BANDS.index(band(high, told))
    if weak(low, told) == USED:
        assert weak(high, told) == USED


@given(settings)
def test_without_a_reranker_there_is_no_band_and_no_cut_by_evidence(told: RetrieveSettings) -> None:
    assert band(None, told) == ""
    assert weak(None, told) == USED
