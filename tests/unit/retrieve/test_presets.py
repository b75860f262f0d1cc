"""Presets: what they change, and that one's own choices stay."""

from __future__ import annotations

import pytest

from kaijuan.errors import UsageError
from kaijuan.retrieve.settings import PRESETS, RetrieveSettings, understanding_under, with_preset
from kaijuan.retrieve.understanding.settings import UnderstandSettings


def test_fast_asks_for_less_and_reranks_nothing() -> None:
    fast, balanced, thorough = (with_preset(RetrieveSettings(), name) for name in PRESETS)
    assert fast.route_k < balanced.route_k < thorough.route_k
    assert not fast.rerank
    assert balanced.rerank
    assert balanced.rerank_k < thorough.rerank_k
    assert not understanding_under(UnderstandSettings(), "fast").spelling
    assert understanding_under(UnderstandSettings(), "thorough") == UnderstandSettings()


def test_what_was_set_stays_as_it_was_set() -> None:
    assert with_preset(RetrieveSettings(route_k=77), "fast").route_k == 77
    assert with_preset(RetrieveSettings(route_k=77, preset="thorough")).rerank_k == PRESETS["thorough"]["rerank_k"]
    assert understanding_under(UnderstandSettings(model="always"), "fast").model == "always"


def test_an_unknown_preset_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="quick") as refused:
        with_preset(RetrieveSettings(), "quick")
    assert "balanced" in str(refused.value.hint)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_name_settings_that_there_are(name: str) -> None:
    assert set(PRESETS[name]) <= set(RetrieveSettings.model_fields)
