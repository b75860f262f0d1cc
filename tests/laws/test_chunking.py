"""Laws of chunking, on random documents and settings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan import registry
from kaijuan.core.documents import BlockKind
from kaijuan.ingest.ports import Chunker
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import PieceTokenizer, blocks_of, check_drafts, ready

WORDS = sorted(registry.targets("chunker"))
words = st.sampled_from(
    [
        "规定",
        "员工",
        "。",
        "，",
        "！",
        " ",
        "\n",
        "\n\n",
        "the ",
        "rule. ",
        "ERR-9988",
        "3.14",
        "| ",
        "- ",
        "1. ",
        "：",
        "é",
        "👩‍👧",
        "x" * 40,
        "\n第三条之二 ",
        "第三条第二款",
        "\n第一章 总则\n",
        "\nSection 2. ",
        "\n（一）",
        "\n问：",
        "\n答：",
        "？",
    ]
)
content = st.lists(words, min_size=1, max_size=60).map("".join).filter(lambda text: bool(text.strip()))
parts = st.lists(st.tuples(st.sampled_from(BlockKind), content), min_size=1, max_size=12)


@st.composite
def sizes(draw: st.DrawFn) -> CutSettings:
    child = draw(st.integers(4, 40))
    most = child + draw(st.integers(0, 30))
    parent = most + draw(st.integers(0, 200))
    overlap = draw(st.sampled_from([0.0, 0.15, 0.5, 1.0]))
    return CutSettings(
        child_tokens=child, child_overlap=overlap, max_tokens=most, parent_tokens=parent, window_chars=1000
    )


@given(parts=parts, limits=sizes(), gap=st.sampled_from(["\n", "\n\n", "\n\n---\n\n"]), word=st.sampled_from(WORDS))
@settings(max_examples=400, deadline=None)
def test_children_cover_everything_and_none_is_too_long(
    parts: list[tuple[BlockKind, str]], limits: CutSettings, gap: str, word: str
) -> None:
    text, blocks = blocks_of(*parts, gap=gap)
    kind = registry.load("chunker", word)

    def make(limits: CutSettings) -> Chunker:
        return ready(kind(limits))

    drafts = make(limits).chunk(text, blocks, PieceTokenizer())
    overlap = word == "sentence_window"
    check_drafts(text, blocks, drafts, PieceTokenizer(), limits.max_tokens, parents_overlap=overlap)
    assert drafts == make(limits).chunk(text, blocks, PieceTokenizer())
