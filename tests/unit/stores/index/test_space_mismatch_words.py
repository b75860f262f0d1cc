"""What people read when an index was built for something else: the difference in words, no dump of the objects."""

from __future__ import annotations

from dataclasses import replace

from kaijuan.index.ports import SpaceSpec
from kaijuan.stores.index.checks import mismatch

BUILT = SpaceSpec(name="kb-g1", dimensions=384, model="e5-small", analyser="1")


def test_only_what_differs_is_named() -> None:
    other_model = mismatch(BUILT, replace(BUILT, dimensions=64, model="hash"))
    assert other_model == (
        "The index was built with another embedding model: e5-small (384 dimensions), now hash (64 dimensions)."
    )
    other_analyser = mismatch(BUILT, replace(BUILT, analyser="2"))
    assert other_analyser == "The index was built with another version of the text analysis: 1, now 2."
    both = mismatch(BUILT, replace(BUILT, model="hash", analyser="2"))
    assert "embedding model" in both
    assert "text analysis" in both
