"""What a document depends on: its own parser, and no other."""

import pytest

from kaijuan import registry
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.pipeline import fingerprint, item_fingerprint, kind_fingerprint
from kaijuan.ingest.ports import SourceItem

PARSERS = {"pdf": "a:Pdf", "text": "a:Text"}


def item(data: bytes, name: str, kind: str = "") -> SourceItem:
    return SourceItem(source=f"file:///{name}", name=name, size=len(data), data=data, kind=kind)


def test_a_new_format_leaves_the_others_as_they_are() -> None:
    more = PARSERS | {"xlsx": "a:Xlsx"}
    for found in (item(b"%PDF-1.7", "a.pdf"), item(b"words", "a.txt"), item(b"words", "a", kind="record")):
        assert item_fingerprint(PARSERS, found) == item_fingerprint(more, found)
    assert fingerprint(PARSERS) != fingerprint(more)


def test_another_reader_of_a_kind_counts_for_that_kind() -> None:
    other = PARSERS | {"pdf": "b:Pdf"}
    assert item_fingerprint(PARSERS, item(b"%PDF-1.7", "a.pdf")) != item_fingerprint(other, item(b"%PDF-1.7", "a.pdf"))
    assert item_fingerprint(PARSERS, item(b"words", "a.txt")) == item_fingerprint(other, item(b"words", "a.txt"))


def test_the_same_bytes_under_another_name_may_be_read_by_another() -> None:
    assert item_fingerprint(PARSERS, item(b"# x", "a.md")) != item_fingerprint(PARSERS, item(b"# x", "a.txt"))


def test_no_two_kinds_have_one_fingerprint() -> None:
    parsers = registry.targets("parser")
    assert len({kind_fingerprint(parsers, kind) for kind in parsers}) == len(parsers)


def test_what_cannot_be_told_is_named() -> None:
    with pytest.raises(EmptyDocumentError):
        item_fingerprint(PARSERS, item(b"", "a.txt"))


def test_another_recogniser_reads_again_what_has_pictures() -> None:
    parsers = {"pdf": "a:Pdf", "image": "a:Image", "docx": "a:Docx", "text": "a:Text"}
    for kind in parsers:
        known = {kind_fingerprint(parsers, kind, recogniser) for recogniser in ("", "a:Eye", "b:Eye")}
        assert len(known) == (1 if kind == "text" else 3)
    assert fingerprint(parsers, "a:Eye") != fingerprint(parsers)
