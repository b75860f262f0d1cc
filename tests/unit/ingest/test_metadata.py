import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.metadata import storable, with_storable
from kaijuan.ingest.pipeline import read
from kaijuan.ingest.ports import SourceItem
from kaijuan.ingest.sources.files import FileSource

BAD: dict[str, object] = {
    "": "nameless",
    "valid_from": 1,
    "valid_to": "2024",
    "large": 2**63,
    "small": -(2**63) - 1,
    "nan": float("nan"),
    "endless": float("inf"),
    "numbers": [1, 2],
    "deep": {"a": 1},
    "none": None,
}


class CarelessParser:
    """Stands for an outsider's parser; found by its name also in a parser process."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        block = ParsedBlock(kind=BlockKind.PARAGRAPH, span=Span(0, 4))
        metadata: Mapping[str, object] = {**BAD, "good": "x", "half": "a\ud83d"}
        return ParsedDocument(text="text", blocks=(block,), kind="x", metadata=metadata)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", BAD)
def test_what_no_index_takes_is_left_out_and_named(name: str) -> None:
    kept, warnings = storable({name: BAD[name], "year": 2024})
    assert kept == {"year": 2024}
    assert len(warnings) == 1
    assert repr(name) in warnings[0]


def test_what_can_be_mended_is_kept() -> None:
    given = {"\x00name": "a\x00b", "half\ud800": "\ud83d", "list": ["x\x00", "\udfff"], "edge": 2**63 - 1, "flag": True}
    kept, warnings = storable(given)
    assert kept == {"name": "ab", "half?": "?", "list": ("x", "?"), "edge": 2**63 - 1, "flag": True}
    assert warnings == ()
    assert storable(kept) == (kept, ()), "cleaning twice changes nothing"


def test_the_first_of_two_names_that_become_one_stays() -> None:
    kept, warnings = storable({"a": 1, "\x00a": 2})
    assert kept == {"a": 1}
    assert len(warnings) == 1


async def test_a_record_with_such_a_number_is_taken_in_without_it(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"_id": "a", "text": "one", "n": 1e999, "big": 99999999999999999999, "x": NaN, "valid_from": "2024", "y": 2}\n'
        + json.dumps({"_id": "b", "text": "two", "n": 3})
    )
    items = [item async for item in FileSource().walk(str(path))]
    assert all(isinstance(item, SourceItem) for item in items)
    first, second = (item for item in items if isinstance(item, SourceItem))
    assert first.metadata == {"y": 2}
    assert second.metadata == {"n": 3}
    assert len(first.warnings) == 4
    assert second.warnings == ()
    pool = ParserPool({"record": "kaijuan.ingest.parsers.record:RecordParser"}, seconds=20, memory_mb=500)
    parsed = await read(first, pool)
    await pool.close()
    assert parsed.warnings == first.warnings, "the reader of the report learns of it"


def test_a_parser_of_others_is_held_to_it_as_well() -> None:
    document = CarelessParser().parse(b"", "")
    cleaned = with_storable(document)
    assert cleaned.metadata == {"good": "x", "half": "a?"}
    assert len(cleaned.warnings) == len(BAD)
    assert with_storable(cleaned) is cleaned


async def test_front_matter_may_say_anything() -> None:
    data = b"---\nvalid_from: 2024-01-01\ntitle: T\n---\nwords\n"
    pool = ParserPool({"markdown": "kaijuan.ingest.parsers.markdown:MarkdownParser"}, seconds=20, memory_mb=500)
    parsed = await pool.parse("markdown", data, "a.md")
    await pool.close()
    assert parsed.metadata == {"title": "T"}
    assert "valid_from" in parsed.warnings[0]
