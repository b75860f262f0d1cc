"""What is embedded: title and headings before the text, never more than the model takes, the text never cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kaijuan import telemetry
from kaijuan.core.documents import Chunk, Version
from kaijuan.core.ids import KbId
from kaijuan.index.embed import Passages, embedded
from kaijuan.index.ports import Vectors
from kaijuan.testing.contracts.catalog_samples import sample
from kaijuan.testing.embedders import HashEmbedder

BODY = "every word is one token here"


def _piece(title: str, *path: str, body: str = BODY) -> tuple[Version, Chunk]:
    from dataclasses import replace

    made = sample(KbId("kb"), "file:///a", body, title=title)
    return made.version, replace(made.children[0], title_path=path, tokens=0)


def _text(title: str, *path: str, body: str = BODY, most: int = 64, max_tokens: int = 512) -> str:
    version, chunk = _piece(title, *path, body=body)
    return Passages(HashEmbedder(max_tokens=max_tokens), most).text(version, chunk, body)


def _shortened() -> int:
    return telemetry.counters().get("embed.prefix_shortened", 0)


def test_title_and_headings_stand_before_the_text() -> None:
    before = _shortened()
    assert _text("Handbook", "Travel", "Hotels") == f"Handbook > Travel > Hotels\n{BODY}"
    assert _shortened() == before


def test_what_is_the_same_or_empty_is_not_repeated() -> None:
    assert _text("Handbook", "Handbook", "Hotels") == f"Handbook > Hotels\n{BODY}"
    assert _text("", "Hotels") == f"Hotels\n{BODY}"
    assert _text("", " ") == BODY


def test_the_innermost_heading_and_the_title_stay_longest() -> None:
    before = _shortened()
    assert _text("Title", "outer", "middle", "inner", most=4) == f"Title > inner\n{BODY}"
    assert _text("Title", "outer", "middle", "inner", most=2) == f"inner\n{BODY}"
    assert _text("one two three four", most=2) == f"one two\n{BODY}"
    assert _text("Title", most=0) == BODY
    assert _shortened() == before + 4


@pytest.mark.parametrize("words", [1, 10, 17, 18, 20, 22, 24, 26, 28])
def test_the_models_limit_holds_and_the_text_is_whole(words: int) -> None:
    body = " ".join(["word"] * words)
    text = _text("one two three", "four five", body=body, max_tokens=30)
    embedder = HashEmbedder(max_tokens=30)
    assert len(embedder.token_spans(text)) <= 28
    assert text == body or text.endswith("\n" + body)


class _Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        return await super().embed_passages(texts)


async def test_batches_keep_order_and_count() -> None:
    embedder = _Counting()
    texts = [f"text {at}" for at in range(7)]
    vectors = await embedded(embedder, texts, 3)
    assert embedder.sizes == [3, 3, 1]
    np.testing.assert_array_equal(vectors, await embedder.embed_passages(texts))
    assert (await embedded(embedder, [], 3)).shape == (0, embedder.info.dimensions)
