"""The fake embedder other rooms' tests lean on."""

from __future__ import annotations

import numpy as np

from kaijuan.testing.embedders import HashEmbedder


async def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    embedder = HashEmbedder()
    query = await embedder.embed_query("年假 有几天 annual leave")
    near, far = await embedder.embed_passages(
        ["员工年假有几天：annual leave is 12 days", "The pump is red. 泵是红的。"]
    )
    assert float(query @ near) > float(query @ far) + 0.2


async def test_dimensions_are_as_asked_and_rows_do_not_vanish() -> None:
    rows = await HashEmbedder(dimensions=7).embed_passages(["", "a", "龟"])
    assert rows.shape == (3, 7)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_spans_are_words_han_characters_and_signs() -> None:
    text = "M8×1.25 螺栓, ok"
    assert [span.of(text) for span in HashEmbedder().token_spans(text)] == [
        "M8",
        "×",
        "1",
        ".",
        "25",
        "螺",
        "栓",
        ",",
        "ok",
    ]
