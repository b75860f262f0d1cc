"""What must not be cut: articles, tables, functions, lists, pairs; and what long ones keep when they are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest

from kaijuan import registry
from kaijuan.core.documents import Block, BlockKind, ChunkLevel, TextLine
from kaijuan.core.ids import BlockId
from kaijuan.core.spans import Span
from kaijuan.errors import UsageError
from kaijuan.ingest.chunkers.articles import articles, references
from kaijuan.ingest.chunkers.outlining import outline_of
from kaijuan.ingest.chunkers.pairs import pairs
from kaijuan.ingest.chunkers.preview import blocks_of as without_ids
from kaijuan.ingest.chunkers.quality import quality_of
from kaijuan.ingest.chunkers.shapes import shape_of
from kaijuan.ingest.chunkers.syntax import outline
from kaijuan.ingest.parsers.code import CodeParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.ports import ChunkDraft, Chunker
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import PieceTokenizer, blocks_of, check_drafts, ready

H, P, T, C, L = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.CODE, BlockKind.LIST
SIZES = CutSettings()
Texts = tuple[str, list[Block]]


def chunker(word: str, sizes: CutSettings = SIZES) -> Chunker:
    made: Chunker = registry.load("chunker", word)(sizes)
    return ready(made)


def cut(word: str, document: Texts, sizes: CutSettings = SIZES) -> list[ChunkDraft]:
    text, blocks = document
    drafts = chunker(word, sizes).chunk(text, blocks, PieceTokenizer())
    check_drafts(text, blocks, drafts, PieceTokenizer(), sizes.max_tokens, parents_overlap=word == "sentence_window")
    return drafts


def children(drafts: Sequence[ChunkDraft]) -> list[ChunkDraft]:
    return [draft for draft in drafts if draft.level is ChunkLevel.CHILD]


def said(document: Texts, drafts: Sequence[ChunkDraft]) -> list[str]:
    return [draft.span.of(document[0]) for draft in children(drafts)]


def read(source: str) -> Texts:
    parsed = MarkdownParser().parse(source.encode(), "a.md")
    return parsed.text, without_ids(parsed.blocks)


def code(source: str, name: str) -> Texts:
    parsed = CodeParser().parse(source.encode(), name)
    return parsed.text, without_ids(parsed.blocks)


class TestStatutes:
    LAW = """# 示例市管理条例

目录

第一章 总则

第二章 管理

第一章 总则

第一条 为了规范管理，制定本条例。

第二条 本市行政区域内适用本条例。

第三条之二 第三条第二款所称单位，是指下列组织：
（一）企业；
（二）事业单位；
1. 学校；
2. 医院。

第三条第二款规定的期限为三十日。

第二章 管理

第一节 登记

第四条 应当登记。

第五条　登记机关应当自受理之日起十日内作出决定。"""

    def test_every_article_is_one_child_with_its_number_and_chapter(self) -> None:
        document = read(self.LAW)
        found = children(cut("legal", document))
        assert [draft.title_path[-1] for draft in found] == ["第一条", "第二条", "第三条之二", "第四条", "第五条"]
        by_name = {draft.title_path[-1]: draft for draft in found}
        assert by_name["第四条"].title_path[-3:] == ("第二章 管理", "第一节 登记", "第四条")
        assert by_name["第二条"].title_path[-2:] == ("第一章 总则", "第二条")

    def test_an_article_between_numbers_is_no_paragraph_of_its_neighbour(self) -> None:
        document = read(self.LAW)
        third = next(draft for draft in children(cut("legal", document)) if draft.title_path[-1] == "第三条之二")
        text = third.span.of(document[0])
        assert text.startswith("第三条之二")
        assert text.endswith("第三条第二款规定的期限为三十日。"), "a line that speaks of an article is no article"
        assert "（二）事业单位" in text

    def test_parents_stay_within_chapters(self) -> None:
        document = read(self.LAW)
        parents = [draft.span.of(document[0]) for draft in cut("legal", document) if draft.level is ChunkLevel.PARENT]
        assert not any("第二条 本市" in parent and "第四条" in parent for parent in parents)
        assert any("第一条" in parent and "第二条" in parent for parent in parents)

    def test_a_long_article_is_cut_between_paragraphs_and_items(self) -> None:
        items = "\n".join(f"（{number}）{'符合规定的情形应当予以说明' * 3}；" for number in "一二三四五六七八九十")
        second = f"第二条 有下列情形之一的：\n{items}\n{'前款规定的期限另行公布。' * 10}"
        law = f"第一条 {'总则内容。' * 4}\n\n{second}\n\n第三条 施行。"
        document = blocks_of((P, law))
        pieces = [draft for draft in children(cut("legal", document)) if draft.title_path[-1] == "第二条"]
        assert len(pieces) > 1
        assert all(draft.span.of(document[0]).startswith(("第二条", "（", "前款")) for draft in pieces)

    def test_english_sections_and_what_they_refer_to(self) -> None:
        act = "\n\n".join(
            ["# Example Act", "PART I PRELIMINARY", "Section 1. This Act may be cited as the Example Act."]
            + [f"Section {n}. A person shall comply with Section {n - 1}(2)." for n in range(2, 7)]
            + ["Section 2 of this Act applies to every person."]
        )
        found = children(cut("legal", read(act)))
        assert [draft.title_path[-1] for draft in found] == [f"Section {n}" for n in range(1, 7)]
        assert found[-1].title_path[-2] == "PART I PRELIMINARY"
        assert references("依照第三条之二第一款第（二）项和第五条办理，见 Section 4(a).") == [
            "第三条之二第一款第（二）项",
            "第五条",
            "Section 4(a)",
        ]

    def test_without_articles_it_goes_by_headings(self) -> None:
        document = blocks_of((H, "# A"), (P, "甲。"), (H, "# B"), (P, "乙。"))
        assert said(document, cut("legal", document)) == ["# A\n\n甲。", "# B\n\n乙。"]

    def test_references_alone_are_no_articles(self) -> None:
        text, blocks = blocks_of(
            (P, "第三条第二款规定如下。"), (P, "第五条所称的人员。"), (P, "第六条和第七条同样适用。")
        )
        assert articles(text, blocks) == []


class TestTables:
    ROWS = "\n".join(f"| 第{n}行 | {n * 37} | 华东地区某某分公司第{n}营业部负责的项目 |" for n in range(60))
    TABLE = f"| 名称 | 数量 | 说明 |\n| --- | --- | --- |\n{ROWS}"

    @pytest.mark.parametrize("word", ["table", "recursive", "structural"])
    def test_sixty_rows_are_cut_between_rows(self, word: str) -> None:
        document = read(f"# 报表\n\n下表如下：\n\n{self.TABLE}\n\n后文。")
        rows = [line for child in said(document, cut(word, document)) for line in child.split("\n") if "第" in line]
        assert rows == self.ROWS.split("\n")

    @pytest.mark.parametrize(
        "word", ["table", "recursive", "structural", "semantic", "judged", "legal", "code", "sentence_window"]
    )
    def test_later_pieces_keep_the_names_of_the_columns(self, word: str) -> None:
        document = read(f"# 报表\n\n{self.TABLE}")
        found = children(cut(word, document))
        assert len(found) > 2
        assert found[0].title_path == ()
        assert all(draft.title_path == ("名称 | 数量 | 说明",) for draft in found[1:])
        assert not any("名称" in draft.span.of(document[0]) for draft in found[1:]), (
            "the header is repeated, not copied"
        )

    def test_a_short_table_is_whole_with_what_announces_it(self) -> None:
        document = read(
            "# 报表\n\n前文。\n\n各地标准如下：\n\n| 城市 | 上限 |\n| --- | --- |\n| 北京 | 600 |\n\n后文。"
        )
        assert any(
            child.startswith("各地标准如下：") and child.endswith("| 北京 | 600 |")
            for child in said(document, cut("table", document))
        )

    def test_a_table_over_two_pages_is_one_table(self) -> None:
        text = "| a | b |\n| 1 | 2 |\n| 3 | 4 |"
        from kaijuan.core.documents import PageBox

        def line(start: int, page: int) -> TextLine:
            return TextLine(span=Span(start, start + 9), box=PageBox(page=page, x0=0, y0=0, x1=9, y1=9))

        block = Block(
            id=BlockId("1"), ordinal=0, kind=T, span=Span(0, len(text)), pages=(1, 2), lines=(line(0, 1), line(20, 2))
        )
        for word in ("table", "recursive", "structural"):
            found = chunker(word).chunk(text, [block], PieceTokenizer())
            assert [draft.span for draft in children(found)] == [Span(0, len(text))]


class TestCode:
    BODY = "\n".join(
        f"    value_{n} = compute(\n        {n},\n        'text',\n    )\n    if value_{n}:\n        store(value_{n})"
        for n in range(130)
    )
    MODULE = (
        '"""Doc."""\n\nimport os\nfrom pathlib import (\n    Path,\n)\n\nLIMIT = 3\n\n\n'
        f"class Shelf:\n    def one(self):\n        return os.sep\n\n\ndef long(first):\n{BODY}\n\n\n"
        "# said before\ndef last(path: Path) -> Path:\n    return path\n"
    )

    def test_functions_and_classes_are_whole_with_the_imports_they_use(self) -> None:
        document = code(self.MODULE, "a.py")
        found = {draft.span.of(document[0]).split("\n")[0]: draft for draft in children(cut("code", document))}
        shelf = found["class Shelf:"]
        assert shelf.span.of(document[0]).endswith("return os.sep")
        assert shelf.title_path == ("import os",)
        last = found["# said before"]
        assert last.span.of(document[0]).endswith("return path")
        assert last.title_path == ("from pathlib import ( Path, )",)

    def test_a_function_of_three_thousand_tokens_is_cut_between_its_statements(self) -> None:
        document = code(self.MODULE, "a.py")
        text = document[0]
        start = text.index("def long")
        end = text.index("# said before")
        assert len(PieceTokenizer().token_spans(text[start:end])) > 3000
        pieces = [draft for draft in children(cut("code", document)) if start <= draft.span.start < end]
        assert len(pieces) > 8
        assert all(draft.title_path[-1] == "def long(first):" for draft in pieces[1:])
        assert all(re.match(r"value_\d+ = compute\(|if value_", draft.span.of(text)) for draft in pieces[1:])

    @pytest.mark.parametrize(
        ("name", "source", "firsts"),
        [
            ("a.js", "import x from 'y';\n\nfunction a() {\n  return x;\n}\n\nclass B {\n  m() {\n  }\n}", 2),
            ("a.ts", "interface I {\n  a: number\n}\n\nexport const f = () => {\n  return 1;\n};", 2),
            ("A.java", "package p;\n\n/** doc */\nclass A {\n  void m() {\n  }\n}\n\ninterface B {\n  void n();\n}", 2),
            ("a.go", "package p\n\n// doc\nfunc A() {\n}\n\ntype S struct {\n\tA int\n}", 2),
            ("a.c", "#include <x.h>\n\nint a(void) {\n  return 1;\n}\n\nstruct s {\n  int a;\n};", 2),
            ("a.cpp", "namespace n {\nclass A {\n};\n}\n\ntemplate <typename T>\nT f(T a) {\n  return a;\n}", 2),
            ("a.rs", "use a::b;\n\n#[derive(Debug)]\nstruct S {\n  a: i32,\n}\n\nimpl S {\n  fn f() {\n  }\n}", 2),
            ("a.sql", "CREATE TABLE t (\n  a int\n);\n\nSELECT a\nFROM t;", 2),
            ("a.sh", "set -e\n\nfoo() {\n  echo a\n}\n\nbar() {\n  foo\n}", 2),
        ],
    )
    def test_definitions_of_many_languages(self, name: str, source: str, firsts: int) -> None:
        document = code(source, name)
        found = said(document, cut("code", document))
        definitions = [child for child in found if "\n" in child and not child.startswith(("import", "package", "use"))]
        assert len(definitions) == firsts
        assert all(child.count("{") == child.count("}") for child in found)

    def test_characters_of_several_bytes_keep_their_places(self) -> None:
        document = code(
            "# 注释：😀\nimport os\n\n\ndef 函数():\n    return '中文😀'\n\n\ndef b():\n    return 1\n", "a.py"
        )
        assert said(document, cut("code", document))[1:] == [
            "def 函数():\n    return '中文😀'",
            "def b():\n    return 1",
        ]

    def test_code_in_prose_keeps_its_lead_in(self) -> None:
        document = read("# 安装\n\n前文。\n\n运行：\n\n```python\ndef f():\n    return 1\n```\n\n后文。")
        assert any(
            child.startswith("运行：") and child.endswith("return 1") for child in said(document, cut("code", document))
        )

    def test_what_takes_a_grammar_too_many_steps_goes_by_lines(self) -> None:
        hostile = code("A<" * 20_000, "A.java")
        cut("code", hostile)
        assert outline_of(hostile[0], "java") is None, "remembered from the cut"
        assert outline("class A {\n  void m() {\n  }\n}\n" * 500, "java") is not None

    def test_damaged_and_unknown_code_loses_nothing(self) -> None:
        for name, source in (("a.py", "def (((:\n  x\n]]}\n" * 50), ("a.zig", "fn a() void {\n}\n\n" * 90)):
            cut("code", code(source, name))


class TestLists:
    def test_items_stay_whole_and_later_pieces_keep_the_lead_in(self) -> None:
        items = "\n".join(f"- 材料{n}：{'复印件一份并加盖公章' * 2}\n  - 附{n}甲\n  - 附{n}乙" for n in range(30))
        document = read(f"# 申请\n\n申请时须提交下列材料：\n\n{items}")
        found = children(cut("list", document))
        texts = said(document, found)
        assert len(found) > 2
        assert all(draft.title_path[-1] == "申请时须提交下列材料：" for draft in found[1:])
        assert sum(text.count("材料") for text in texts) == 31
        assert all(re.match(r"[-•*]|\s*[-•*]", text) for text in texts[1:])

    @pytest.mark.parametrize("word", ["recursive", "structural", "semantic", "judged", "legal", "sentence_window"])
    def test_later_pieces_keep_the_lead_in_whatever_cut_them(self, word: str) -> None:
        items = "\n".join(f"- 材料{n}：{'复印件一份并加盖公章' * 2}" for n in range(40))
        document = read(f"# 申请\n\n前文。\n\n申请时须提交下列材料：\n\n{items}\n\n后文说别的事。")
        found = children(cut(word, document))
        begun = document[0].index("材料0")
        later = [draft for draft in found if begun < draft.span.start < document[0].index("后文")]
        assert len(later) > 1
        assert {draft.title_path[-1] for draft in later} == {"申请时须提交下列材料："}
        assert "申请时须提交下列材料：" not in found[0].title_path

    def test_a_short_nested_list_is_whole(self) -> None:
        document = read("须提交：\n\n- 甲\n  - 甲一\n  - 甲二\n- 乙\n\n后文。")
        assert any(
            "甲一" in child and "乙" in child and "须提交" in child for child in said(document, cut("list", document))
        )


class TestPairs:
    def test_a_pair_is_a_child_and_its_own_parent(self) -> None:
        document = blocks_of((P, "常见问题"), *[(P, f"问：第{n}个问题是什么？\n答：是{n}。") for n in range(6)])
        drafts = cut("faq", document)
        assert [draft.span for draft in drafts if draft.level is ChunkLevel.PARENT] == [
            d.span for d in children(drafts)
        ]
        assert len(children(drafts)) == 6
        assert said(document, drafts)[0].startswith("常见问题\n\n问：第0个")

    def test_headings_that_ask(self) -> None:
        text, blocks = read("# FAQ\n\n## How?\n\nSo.\n\n## Why?\n\nThus.\n\n- a\n- b\n\n## Contact\n\nCall us.")
        found = pairs(text, blocks)
        assert [pair.question for pair in found] == ["How?", "Why?"]
        assert found[1].span.of(text).strip().endswith("b")

    def test_quarters_are_no_questions(self) -> None:
        text, blocks = blocks_of((P, "Q1: 5 million."), (P, "Q2: 6 million."), (P, "Q3: 7 million."))
        assert pairs(text, blocks) == []


class TestPlainText:
    @pytest.mark.parametrize("word", sorted(registry.targets("chunker")))
    def test_no_headings_and_an_endless_line(self, word: str) -> None:
        line = "开卷有益学而时习之温故知新不亦说乎有朋自远方来" * 350
        document = blocks_of((P, "第一段。" * 30), (P, line[:8000]), (P, "最后一段。"))
        found = children(cut(word, document))
        assert len(found) > 10

    def test_sentences_and_their_windows(self) -> None:
        document = blocks_of((H, "# A"), (P, "".join(f"这是第{n}句话。" for n in range(12))), (H, "# B"), (P, "别的。"))
        drafts = cut("sentence_window", document)
        assert said(document, drafts)[5] == "这是第5句话。"
        parent = drafts[children(drafts)[5].parent or 0]
        assert parent.span.of(document[0]) == "".join(f"这是第{n}句话。" for n in range(2, 9))
        assert not any("别的" in d.span.of(document[0]) and "句话" in d.span.of(document[0]) for d in drafts)

    def test_sliding_windows_overlap_and_fixed_ones_do_not(self) -> None:
        document = blocks_of((P, "甲乙丙丁戊己庚辛。" * 400))
        sizes = CutSettings(child_tokens=100, child_overlap=0.2, max_tokens=120, parent_tokens=500)
        slid, fixed = (children(cut(word, document, sizes)) for word in ("sliding", "fixed"))
        shared = [a.span.end - b.span.start for a, b in itertools.pairwise(slid) if a.parent == b.parent]
        assert shared
        assert all(10 <= size <= 20 for size in shared)
        assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(fixed))


class TestSemantic:
    SIZES = CutSettings(child_tokens=80, max_tokens=160, parent_tokens=400)
    PEARS = "梨树在春天开花，秋天结果。" * 8
    TRAINS = "高铁列车时速三百公里，准点到站。" * 8

    def test_it_ends_where_the_matter_changes(self) -> None:
        document = blocks_of((P, self.PEARS + self.TRAINS))
        found = said(document, cut("semantic", document, self.SIZES))
        assert found == [self.PEARS, self.TRAINS]

    def test_what_is_too_long_is_cut_again_between_sentences(self) -> None:
        document = blocks_of((P, self.PEARS * 4))
        found = said(document, cut("semantic", document, self.SIZES))
        assert len(found) > 2
        assert all(child.endswith("结果。") for child in found)

    def test_tables_and_sections_stay(self) -> None:
        table = "\n".join(f"| 站{n} | {n} |" for n in range(6))
        document = blocks_of((H, "# A"), (P, self.PEARS), (T, table), (H, "# B"), (P, self.TRAINS))
        found = said(document, cut("semantic", document, self.SIZES))
        assert sum(table in child for child in found) == 1
        assert not any("梨" in child and "列车" in child for child in found)

    def test_one_call_for_a_document_and_none_for_a_sentence(self) -> None:
        calls: list[int] = []

        def counted(texts: Sequence[str], apart: int, /) -> list[float]:
            calls.append(len(texts))
            return [1.0] * (len(texts) - apart)

        made = registry.load("chunker", "semantic")(self.SIZES)
        made.similarity = counted
        for document in (
            blocks_of((H, "# A"), (P, self.PEARS), (H, "# B"), (P, self.TRAINS)),
            blocks_of((P, "一句。")),
        ):
            made.chunk(*document, PieceTokenizer())
        assert calls == [18]

    def test_without_vectors_it_says_what_is_missing(self) -> None:
        made = registry.load("chunker", "semantic")(self.SIZES)
        with pytest.raises(UsageError, match="embedder"):
            made.chunk(*blocks_of((P, "一句。")), PieceTokenizer())


class TestShapes:
    @pytest.mark.parametrize(
        ("kind", "text", "shape"),
        [
            ("markdown", TestStatutes.LAW, "statute"),
            ("markdown", "\n\n".join(f"问：问题{n}？\n\n答：答{n}。" for n in range(5)), "faq"),
            ("markdown", TestTables.TABLE, "table"),
            ("markdown", "# A\n\nProse of several words. " * 20, "prose"),
            ("markdown", "依照第三条办理。\n\n" * 20, "prose"),
            ("pptx", "words", "slides"),
            ("xlsx", "words", "table"),
            ("code", "x = 1", "code"),
        ],
    )
    def test_it_is_told_from_what_is_there(self, kind: str, text: str, shape: str) -> None:
        assert shape_of(kind, *read(text)) == shape

    def test_nothing_is_prose(self) -> None:
        assert shape_of("text", "", []) == "prose"


class TestQuality:
    def test_cut_structures_sentences_and_lost_text_are_counted(self) -> None:
        text, blocks = blocks_of((P, "第一句话在这里。第二句话在这里。"), (T, "| a | b |\n| c | d |"))

        def child(start: int, end: int) -> ChunkDraft:
            return ChunkDraft(level=ChunkLevel.CHILD, span=Span(start, end), parent=None, title_path=(), tokens=5)

        table = blocks[1].span
        found = quality_of(
            text,
            blocks,
            [child(0, 10), child(12, 16), child(table.start, table.start + 9), child(table.start + 10, table.end)],
        )
        assert [(each.kind, each.pieces) for each in found.cut] == [(T, 2)]
        assert found.parted_sentences == 1
        assert [gap.of(text) for gap in found.lost] == ["句话"]
        assert 0.9 < found.coverage < 1

    def test_a_good_cut_has_nothing_to_tell(self) -> None:
        text, blocks = blocks_of((P, "第一句。" * 90), (T, "| a | b |"))
        found = quality_of(text, blocks, chunker("recursive").chunk(text, blocks, PieceTokenizer()))
        assert (found.cut, found.parted_sentences, found.coverage) == ((), 0, 1.0)
