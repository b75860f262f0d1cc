"""The recursive chunker: offsets, borders, headings, atomic blocks, overlap."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from kaijuan.core.documents import BlockKind, ChunkLevel
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.recursive import RecursiveChunker
from kaijuan.ingest.chunkers.split import clause_cuts
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.testing.contracts.chunker import PieceTokenizer, blocks_of, check_drafts

P, H, T, L, C = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.TABLE, BlockKind.LIST, BlockKind.CODE


class PatternTokenizer:
    """Words, or characters, by a pattern. Counts its calls."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)
        self.seen: list[int] = []

    def token_spans(self, text: str) -> Sequence[Span]:
        self.seen.append(len(text))
        return [Span(*match.span()) for match in self._pattern.finditer(text)]


WORDS = r"\S+"
CHARACTERS = r"(?s)."


def settings(child: int, overlap: float = 0.0, most: int = 0, parent: int = 0) -> ChunkSettings:
    most = most or child
    return ChunkSettings(child_tokens=child, child_overlap=overlap, max_tokens=most, parent_tokens=parent or 4 * most)


def texts(text: str, drafts: Sequence[ChunkDraft], level: ChunkLevel = ChunkLevel.CHILD) -> list[str]:
    return [draft.span.of(text) for draft in drafts if draft.level is level]


class TestOffsets:
    """Pitfall input 4: langchain#21475, #17642, haystack#11710, #12756."""

    def test_equal_words_keep_their_own_places(self) -> None:
        text, blocks = blocks_of((P, "word word"))
        drafts = RecursiveChunker(settings(5, 1.0, most=5)).chunk(text, blocks, PatternTokenizer(CHARACTERS))
        children = [draft.span for draft in drafts if draft.level is ChunkLevel.CHILD]
        assert [span.of(text) for span in children] == ["word", "word"]
        assert children == [Span(0, 4), Span(5, 9)]

    def test_numbered_sentences_by_four_words_overlap_one(self) -> None:
        text, blocks = blocks_of((P, "1. Alpha is first. 2. Beta is second. 3. Gamma is third. 4. Delta is fourth."))
        drafts = RecursiveChunker(settings(4, 0.25, most=5)).chunk(text, blocks, PatternTokenizer(WORDS))
        check_drafts(text, blocks, drafts, PatternTokenizer(WORDS), 5)
        assert "".join(texts(text, drafts)).count("Gamma") >= 1

    def test_one_sentence_by_tokens_with_overlap(self) -> None:
        text, blocks = blocks_of((P, "the quick brown fox jumps over the lazy dog and then it sleeps"))
        drafts = RecursiveChunker(settings(4, 0.5, most=6)).chunk(text, blocks, PatternTokenizer(WORDS))
        check_drafts(text, blocks, drafts, PatternTokenizer(WORDS), 6)
        found = texts(text, drafts)
        assert found[0] == "the quick brown fox"
        assert found[1].startswith("brown fox jumps")


class TestBorders:
    def test_chinese_sentences_stay_whole(self) -> None:
        sentence = "公司为员工提供年度体检服务。"
        text, blocks = blocks_of((P, sentence * 40))
        drafts = RecursiveChunker(settings(64, 0.0)).chunk(text, blocks, PieceTokenizer())
        assert len(texts(text, drafts)) > 5
        assert all(child.startswith("公司") and child.endswith("。") for child in texts(text, drafts))

    def test_english_sentences_stay_whole(self) -> None:
        text, blocks = blocks_of((P, " ".join(f"Rule {n} says that staff must wear a badge." for n in range(60))))
        drafts = RecursiveChunker(settings(64, 0.0)).chunk(text, blocks, PieceTokenizer())
        assert len(texts(text, drafts)) > 5
        assert all(child.startswith("Rule") and child.endswith("badge.") for child in texts(text, drafts))

    def test_a_long_sentence_is_cut_at_clauses(self) -> None:
        text, blocks = blocks_of((P, "，".join("甲乙丙丁戊己庚辛" for _ in range(30))))
        drafts = RecursiveChunker(settings(40, 0.0)).chunk(text, blocks, PieceTokenizer())
        assert all(child.startswith("甲") for child in texts(text, drafts))

    def test_numbers_are_not_cut_at_their_commas(self) -> None:
        text, blocks = blocks_of((P, "x" + "1,234,567" * 1 + " " + "字" * 30 + " 1,234,567 " + "字" * 30))
        drafts = RecursiveChunker(settings(20, 0.0)).chunk(text, blocks, PieceTokenizer())
        assert sum(child.count("1,234,567") for child in texts(text, drafts)) == 2

    def test_tails_are_not_tiny(self) -> None:
        text, blocks = blocks_of((P, "字" * 1030))
        sizes = [
            d.tokens for d in RecursiveChunker(ChunkSettings(child_overlap=0)).chunk(text, blocks, PieceTokenizer())
        ]
        assert min(sizes) >= 200

    @pytest.mark.parametrize("cluster", ["é", "👩‍👩‍👧‍👦", "🇨🇳", "👍🏽", "\ud83d\ude00"])
    def test_clusters_are_not_parted(self, cluster: str) -> None:
        text, blocks = blocks_of((P, cluster * 200))
        drafts = RecursiveChunker(settings(16, 0.2, most=24)).chunk(text, blocks, PatternTokenizer(CHARACTERS))
        assert len(texts(text, drafts)) > 3
        assert all(not child.replace(cluster, "") for child in texts(text, drafts))


class TestOverlap:
    def test_it_begins_with_a_sentence_and_stays_in_budget(self) -> None:
        text, blocks = blocks_of((P, "".join(f"第{n}条规定如下文所述内容。" for n in range(100, 180))))
        drafts = RecursiveChunker(settings(64, 0.25, most=96)).chunk(text, blocks, PieceTokenizer())
        children = [draft for draft in drafts if draft.level is ChunkLevel.CHILD]
        shared = [a.span.intersect(b.span) for a, b in itertools.pairwise(children) if a.parent == b.parent]
        assert shared
        assert all(span is not None and span.of(text).startswith("第") for span in shared)
        assert all(span is not None and len(PieceTokenizer().token_spans(span.of(text))) <= 16 for span in shared)

    def test_none_when_the_sentence_before_is_too_long(self) -> None:
        text, blocks = blocks_of((P, "甲" * 60 + "。" + "乙" * 60 + "。"))
        drafts = RecursiveChunker(settings(64, 0.15, most=96)).chunk(text, blocks, PieceTokenizer())
        assert texts(text, drafts) == ["甲" * 60 + "。", "乙" * 60 + "。"]


class TestHeadings:
    def test_a_heading_leads_its_first_child(self) -> None:
        text, blocks = blocks_of((H, "# 一"), (P, "甲" * 40), (H, "# 二"), (P, "乙" * 40), (H, "# 尾"))
        drafts = RecursiveChunker(settings(32, 0.0, most=48)).chunk(text, blocks, PieceTokenizer())
        found = texts(text, drafts)
        assert not {"# 一", "# 二", "# 尾"} & set(found)
        assert any(child.startswith("# 二\n\n乙") for child in found)
        assert found[-1].endswith("# 尾")
        check_drafts(text, blocks, drafts, PieceTokenizer(), 48)

    def test_the_title_path_is_carried(self) -> None:
        text, blocks = blocks_of((H, "# 手册"), (H, "## 休假"), (P, "甲。" * 60), (H, "## 报销"), (P, "乙。" * 60))
        drafts = RecursiveChunker(settings(32, 0.0, most=48)).chunk(text, blocks, PieceTokenizer())
        paths = {
            draft.title_path for draft in drafts if "乙" in draft.span.of(text) and draft.level is ChunkLevel.CHILD
        }
        assert paths == {("手册", "报销")}

    def test_parents_do_not_cross_top_level_sections(self) -> None:
        text, blocks = blocks_of((H, "# A"), (P, "甲。" * 60), (H, "# B"), (P, "乙。" * 60))
        parents = texts(
            text,
            RecursiveChunker(settings(32, 0.0, most=48, parent=400)).chunk(text, blocks, PieceTokenizer()),
            ChunkLevel.PARENT,
        )
        assert len(parents) == 2
        assert not any("甲" in parent and "乙" in parent for parent in parents)

    def test_tiny_neighbours_share_a_parent(self) -> None:
        parts = [part for n in range(20) for part in ((H, f"# Q{n}"), (P, "答案在此。"))]
        text, blocks = blocks_of(*parts)
        drafts = RecursiveChunker(settings(32, 0.0, most=48, parent=400)).chunk(text, blocks, PieceTokenizer())
        assert len(texts(text, drafts, ChunkLevel.PARENT)) < 10
        assert all(re.match(r"# Q\d+\n\n答案在此。$", child) for child in texts(text, drafts))

    def test_a_long_section_gives_parents_of_like_size(self) -> None:
        text, blocks = blocks_of((H, "# A"), (P, "甲乙丙丁。" * 500))
        drafts = RecursiveChunker(ChunkSettings()).chunk(text, blocks, PieceTokenizer())
        sizes = [draft.tokens for draft in drafts if draft.level is ChunkLevel.PARENT]
        assert len(sizes) == 3
        assert min(sizes) > 700
        assert max(sizes) <= 1000


class TestAtomicBlocks:
    def test_a_table_up_to_the_limit_stays_whole(self) -> None:
        table = "\n".join(f"| 项目{n} | {n} |" for n in range(40))
        text, blocks = blocks_of((P, "说明。" * 60), (T, table), (P, "后文。" * 60))
        found = texts(text, RecursiveChunker(ChunkSettings(child_overlap=0)).chunk(text, blocks, PieceTokenizer()))
        assert sum(table in child for child in found) == 1

    def test_a_long_table_is_cut_between_rows(self) -> None:
        rows = [f"| 第{n}行 | 数值 {n} |" for n in range(300)]
        text, blocks = blocks_of((T, "\n".join(rows)))
        found = texts(text, RecursiveChunker(ChunkSettings()).chunk(text, blocks, PieceTokenizer()))
        assert len(found) > 3
        assert [row for child in found for row in child.split("\n")] == rows

    def test_long_code_is_cut_at_blank_lines(self) -> None:
        function = "def f(x):\n    y = x + 1\n    return y"
        text, blocks = blocks_of((C, "\n\n".join([function] * 60)))
        found = texts(text, RecursiveChunker(ChunkSettings()).chunk(text, blocks, PieceTokenizer()))
        assert len(found) > 2
        assert all(child.startswith("def f") and child.endswith("return y") for child in found)

    def test_a_list_keeps_its_lead_in(self) -> None:
        items = "\n".join(f"- 材料{n}：复印件一份" for n in range(12))
        text, blocks = blocks_of((P, "甲乙丙丁。" * 48 + "申请时须提交下列材料："), (L, items))
        found = texts(text, RecursiveChunker(ChunkSettings(child_overlap=0)).chunk(text, blocks, PieceTokenizer()))
        assert found[-1] == "申请时须提交下列材料：\n\n" + items

    def test_items_in_blocks_of_their_own_are_one_list(self) -> None:
        text, blocks = blocks_of((P, "前文。" * 80), *[(L, f"- 第{n}项要求说明") for n in range(30)], gap="\n")
        found = texts(text, RecursiveChunker(ChunkSettings(child_overlap=0)).chunk(text, blocks, PieceTokenizer()))
        assert found[-1].startswith("- 第0项")
        assert found[-1].endswith("- 第29项要求说明")


class TestMeasuring:
    def test_one_call_for_a_document(self) -> None:
        tokenizer = PatternTokenizer(WORDS)
        text, blocks = blocks_of((H, "# A"), (P, "one two three. " * 900), (P, "four five. " * 900))
        RecursiveChunker(ChunkSettings()).chunk(text, blocks, tokenizer)
        assert tokenizer.seen == [len(text.strip())]

    def test_long_documents_are_measured_in_windows(self) -> None:
        tokenizer = PatternTokenizer(CHARACTERS)
        text, blocks = blocks_of((P, "字" * 25_000), (P, "短。" * 400), (P, "x " * 9000))
        chunks = RecursiveChunker(ChunkSettings(window_chars=4000)).chunk(text, blocks, tokenizer)
        assert max(tokenizer.seen) <= 4000
        assert sum(tokenizer.seen) <= len(text)
        check_drafts(text, blocks, chunks, PatternTokenizer(CHARACTERS), 448)


class TestSettings:
    def test_every_setting_is_in_the_fingerprint(self) -> None:
        base = RecursiveChunker(ChunkSettings()).fingerprint
        for change in ({"child_tokens": 255}, {"child_overlap": 0.1}, {"parent_tokens": 999}, {"max_tokens": 447}):
            assert RecursiveChunker(ChunkSettings.model_validate(change)).fingerprint != base

    @pytest.mark.parametrize(
        "wrong", [{"child_tokens": 500}, {"size": 1}, {"child_overlap": 2}, {"parent_tokens": 400}]
    )
    def test_impossible_sizes_are_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValidationError):
            ChunkSettings.model_validate(wrong)


class TestNumbers:
    """A piece that begins with 216) says another number than the text does."""

    NUMBER = re.compile(r"\d+(?:[,.:]\d+)*")
    TEXTS = (
        "亏损(1,497,216)元及1,343元的合计为12:30前的3.14与1,500,650.25项" * 6,
        "Net income (1,497,216) and 1,343, 1,500 at 12:30 of 3.14 or 10.0.0.12 " * 6,
        "|(1,497,216)|1,343|1,500,650.25|12:30|10.0.0.12" * 6,
    )

    @pytest.mark.parametrize("text", TEXTS)
    @pytest.mark.parametrize("kind", [P, T, L])
    @pytest.mark.parametrize("size", [13, 17, 24, 31])
    def test_no_border_lies_inside_one(self, text: str, kind: BlockKind, size: int) -> None:
        text, blocks = blocks_of((kind, text))
        tokenizer = PatternTokenizer(CHARACTERS)
        drafts = RecursiveChunker(settings(size, 0.5, most=size + 8)).chunk(text, blocks, tokenizer)
        numbers = [Span(*found.span()) for found in self.NUMBER.finditer(text)]
        borders = {at for draft in drafts for at in (draft.span.start, draft.span.end)}
        parted = [number.of(text) for number in numbers for at in borders if number.start < at < number.end]
        assert parted == []
        assert len(drafts) > 5

    def test_a_number_longer_than_a_child_is_cut_all_the_same(self) -> None:
        text, blocks = blocks_of((P, "1" * 300))
        drafts = RecursiveChunker(settings(20)).chunk(text, blocks, PatternTokenizer(CHARACTERS))
        check_drafts(text, blocks, drafts, PatternTokenizer(CHARACTERS), 20)

    @pytest.mark.parametrize("mark", [",", ":", "，", "：", "、"])
    def test_a_mark_between_digits_is_no_clause(self, mark: str) -> None:
        text = f"before, between 1{mark}343 and 1{mark}\n343 after"
        assert [text[:at] for at in clause_cuts(text, Span(0, len(text)))] == ["before, "]

    @pytest.mark.parametrize(("text", "cuts"), [("a, b", 1), ("第一，第二", 1), ("in 2020, sales", 1), ("3年，4年", 1)])
    def test_other_marks_are(self, text: str, cuts: int) -> None:
        assert len(clause_cuts(text, Span(0, len(text)))) == cuts
