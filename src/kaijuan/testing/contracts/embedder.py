"""What every embedder must keep, as tests to inherit: subclass and give the fixture `embedder`."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from kaijuan.errors import ClosedError, KaijuanError, OverlongInputError
from kaijuan.index.ports import Embedder, Vector, Vectors

PASSAGES = (
    "员工入职满一年后，每年享有十二天带薪年假。",
    "The pump runs at 3.5 bar; error ERR-9988 means that it is dry.",
    "Ａｌｐｈａ　全角 text 与 English 混排 😀👩‍👩‍👧🇨🇳",
    "def add(a: int, b: int) -> int:\n\treturn a + b\n",
    "年假" * 60,
    "x",
)
ODD = ("", " ", "\n\t\u3000", "\0", "a\0b", "\ud800", "a\udfffb", "😀", "\u200b", "\x07", "e\u0301" * 9, "ﬁ①㎏")


class EmbedderContract:
    """Promises of `kaijuan.index.ports.Embedder`. `closeness` is how alike vectors from two batches must be."""

    closeness = 1e-5

    @pytest.fixture
    async def embedder(self) -> Embedder:
        """Return a fresh embedder; override."""
        raise NotImplementedError

    async def test_order_and_count_are_kept(self, embedder: Embedder) -> None:
        rows = await embedder.embed_passages(PASSAGES)
        assert rows.shape == (len(PASSAGES), embedder.info.dimensions)
        backwards = await embedder.embed_passages(PASSAGES[::-1])
        self.assert_close(rows, backwards[::-1])

    async def test_many_texts_come_back_in_order(self, embedder: Embedder) -> None:
        texts = [f"{word} 第{number}条" for number in range(30) for word in ("规则", "a rule " * (number % 7))]
        rows = await embedder.embed_passages(texts)
        for at in (0, 17, 59):
            self.assert_close(rows[at : at + 1], await embedder.embed_passages([texts[at]]))

    async def test_nothing_in_nothing_out(self, embedder: Embedder) -> None:
        assert (await embedder.embed_passages([])).shape == (0, embedder.info.dimensions)

    async def test_the_same_text_has_the_same_vector_in_any_batch(self, embedder: Embedder) -> None:
        text = PASSAGES[1]
        alone = await embedder.embed_passages([text])
        again = await embedder.embed_passages([text])
        assert np.array_equal(alone, again)
        among = await embedder.embed_passages([PASSAGES[4], text, "y", text])
        self.assert_close(among[[1, 3]], np.repeat(alone, 2, axis=0))

    async def test_vectors_are_float32_of_unit_length(self, embedder: Embedder) -> None:
        rows = await embedder.embed_passages([*PASSAGES, *ODD])
        query = await embedder.embed_query(PASSAGES[0])
        assert rows.dtype == query.dtype == np.float32
        assert query.shape == (embedder.info.dimensions,)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
        assert abs(float(np.linalg.norm(query)) - 1) < 1e-4

    async def test_a_query_finds_the_passage_that_answers_it(self, embedder: Embedder) -> None:
        rows = await embedder.embed_passages(PASSAGES)
        assert int(np.argmax(rows @ await embedder.embed_query("入职满一年有几天带薪年假"))) == 0
        assert int(np.argmax(rows @ await embedder.embed_query("What does error ERR-9988 of the pump mean?"))) == 1

    async def test_an_overlong_passage_is_refused_with_its_length(self, embedder: Embedder) -> None:
        long = "龟 hello " * embedder.info.max_tokens
        with pytest.raises(OverlongInputError, match=rf"\d{{3,}}.*{_limit_pattern(embedder)}"):
            await embedder.embed_passages(["fine", long])

    async def test_an_overlong_query_is_cut_at_its_end(self, embedder: Embedder) -> None:
        long = "龟 hello " * embedder.info.max_tokens
        vector = await embedder.embed_query(long)
        assert np.array_equal(vector, await embedder.embed_query(long + "never seen"))

    async def test_a_passage_that_fills_the_limit_is_taken(self, embedder: Embedder) -> None:
        text = "龟 hello " * embedder.info.max_tokens
        room = embedder.info.max_tokens - embedder.info.reserved_tokens
        end = embedder.token_spans(text)[room - 1].end
        assert len(embedder.token_spans(text[:end])) <= room
        assert (await embedder.embed_passages([text[:end]])).shape[0] == 1

    async def test_odd_text_is_embedded_or_refused_by_our_errors(self, embedder: Embedder) -> None:
        for text in ODD:
            try:
                rows = await embedder.embed_passages([text])
                query = await embedder.embed_query(text)
            except KaijuanError:
                continue
            assert np.isfinite(rows).all()
            assert np.isfinite(query).all()

    def test_spans_are_in_order_apart_and_cover_all_that_is_not_blank(self, embedder: Embedder) -> None:
        for text in (*PASSAGES, *ODD, "龟" * 8000, "a" * 8000):
            spans = embedder.token_spans(text)
            at = 0
            for span in spans:
                assert at <= span.start <= span.end <= len(text)
                assert _UNSEEN.issuperset(text[at : span.start])
                at = span.end
            assert _UNSEEN.issuperset(text[at:])

    async def test_calls_may_overlap(self, embedder: Embedder) -> None:
        rows, query, more = await asyncio.gather(
            embedder.embed_passages(PASSAGES), embedder.embed_query("年假"), embedder.embed_passages(PASSAGES[:2])
        )
        self.assert_close(rows[:2], more)
        assert query.shape == (embedder.info.dimensions,)

    async def test_closing_twice_is_fine_and_use_after_it_is_an_error(self, embedder: Embedder) -> None:
        await embedder.embed_query("a")
        await embedder.close()
        await embedder.close()
        with pytest.raises(ClosedError):
            await embedder.embed_query("a")
        with pytest.raises(ClosedError):
            await embedder.embed_passages(["a"])

    def test_the_fingerprint_is_stable_and_fit_for_a_file_name_or_key(self, embedder: Embedder) -> None:
        info = embedder.info
        assert info.fingerprint == embedder.info.fingerprint
        assert info.fingerprint.isascii()
        assert 0 < info.reserved_tokens < info.max_tokens

    def assert_close(self, left: Vectors | Vector, right: Vectors | Vector) -> None:
        """Fail unless both hold the same vectors, but for `closeness`."""
        assert np.allclose(left, right, atol=self.closeness), float(np.abs(left - right).max())


_UNSEEN = frozenset(chr(code) for code in range(0x110000) if not chr(code).isprintable() or chr(code).isspace())
"""White space and what has no glyph: an embedder may drop these, and only these."""


def _limit_pattern(embedder: Embedder) -> str:
    info = embedder.info
    return f"({info.max_tokens}|{info.max_tokens - info.reserved_tokens})"
