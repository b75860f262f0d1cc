from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.code import CodeParser


def test_pieces_begin_at_the_margin_and_know_their_lines_and_language() -> None:
    source = "# 注释\nimport os\n\n\ndef a():\n    x = 1\n\n    return x\n\nVALUES = [\n    1,\n\n]\n"
    document = CodeParser().parse(source.encode(), "tools/prepare.py")
    pieces = [(block.place, block.span.of(document.text)) for block in document.blocks]
    assert pieces == [
        ("lines 1-2", "# 注释\nimport os"),
        ("lines 5-8", "def a():\n    x = 1\n\n    return x"),
        ("lines 10-13", "VALUES = [\n    1,\n\n]"),
    ]
    assert {block.kind for block in document.blocks} == {BlockKind.CODE}
    assert {block.syntax for block in document.blocks} == {"python"}
    assert (document.title, document.metadata["programming_language"]) == ("prepare.py", "python")


def test_a_name_may_be_the_language() -> None:
    document = CodeParser().parse(b"\n\nall: x\n\tcc x.c\n", "Makefile")
    assert [(block.place, block.syntax) for block in document.blocks] == [("lines 3-4", "makefile")]
