"""Archives, mailboxes and messages give the documents in them, within limits and under lasting addresses."""

from __future__ import annotations

import io
import zipfile
from urllib.parse import quote

import pytest
from tests import sample_files
from tests.sample_files import zipped

from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import expanded

LIMITS = IngestSettings(max_bytes=100_000, max_unpacked_bytes=200_000, max_members=50, max_depth=3)


def opened(data: bytes, name: str, limits: IngestSettings = LIMITS) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Return what is in a file by what its address adds to that of the file, and the failures."""
    item = SourceItem(source=f"file:///{name}", name=name, size=len(data), data=data)
    items: dict[str, bytes] = {}
    failures = []
    for found in expanded(item, limits):
        at = found.source.removeprefix(item.source)
        if isinstance(found, SourceFailure):
            failures.append((at, found.code))
        else:
            assert at not in items
            items[at] = found.data
    return items, failures


def test_what_is_no_container_passes_as_it_is() -> None:
    assert opened(b"words", "a.txt") == ({"": b"words"}, [])
    assert opened(b"PK\x03\x04 broken", "a.zip") == ({"": b"PK\x03\x04 broken"}, [])


def test_members_have_addresses_behind_that_of_their_archive() -> None:
    inner = zipped({"c.txt": b"three"})
    outer = zipped({"文 件/a b.txt": b"one", "b.txt": b"two", "inner.zip": inner, "__MACOSX/x": b"", ".hidden": b"x"})
    items, failures = opened(outer, "x.zip")
    assert items == {f"#{quote('文 件/a b.txt')}": b"one", "#b.txt": b"two", "#inner.zip/c.txt": b"three"}
    assert failures == []


def test_names_in_the_encoding_of_an_old_system_are_read() -> None:
    old = rebuilt({name.encode("gb18030"): b"words" for name in ("合同第一部分.txt", "付款条件.txt")})
    assert list(opened(old, "x.zip")[0]) == [f"#{quote('合同第一部分.txt')}", f"#{quote('付款条件.txt')}"]


def rebuilt(members: dict[bytes, bytes]) -> bytes:
    """Return an archive with names as raw bytes, which the library's own writer does not make."""
    fillers = [f"{'x' * len(name)}"[: len(name) - 1] + str(at) for at, name in enumerate(members)]
    data = zipped(dict(zip(fillers, members.values(), strict=True)))
    for filler, name in zip(fillers, members, strict=True):
        data = data.replace(filler.encode(), name)
    return data


def test_a_path_that_leaves_its_archive_stays_inside() -> None:
    items, _ = opened(zipped({"../../etc/a.txt": b"one", "/b.txt": b"two", "c\\d.txt": b"three"}), "x.zip")
    assert list(items) == ["#etc/a.txt", "#b.txt", "#c/d.txt"]


def nested(depth: int) -> bytes:
    data = zipped({"deep.txt": b"found"})
    for _ in range(depth):
        data = zipped({"again.zip": data})
    return data


def test_archives_within_archives_end() -> None:
    items, failures = opened(nested(2), "x.zip")
    assert list(items) == ["#again.zip/again.zip/deep.txt"]
    items, failures = opened(nested(30), "x.zip")
    assert items == {}
    assert failures == [("#again.zip/again.zip/again.zip", "document_oversize")]


@pytest.mark.parametrize(
    ("members", "kept", "codes"),
    [
        ({"big": b"x" * 100_001, "a": b"1"}, ["#a"], ["document_oversize"]),
        ({str(at): b"x" * 90_000 for at in range(4)}, ["#0", "#1"], ["document_oversize"] * 2),
        ({str(at): b"x" for at in range(60)}, [f"#{at}" for at in range(50)], ["document_oversize"]),
    ],
)
def test_an_archive_is_opened_within_limits(members: dict[str, bytes], kept: list[str], codes: list[str]) -> None:
    items, failures = opened(zipped(members), "x.zip")
    assert list(items) == kept
    assert [code for _, code in failures] == codes


def test_a_bomb_is_told_by_what_it_declares() -> None:
    with zipfile.ZipFile(out := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", bytes(50_000_000))
    assert opened(out.getvalue(), "x.zip") == ({}, [("", "document_oversize")])


def test_a_member_larger_than_it_declares_is_not_read_on() -> None:
    data = bytearray(zipped({"a.txt": b"x" * 5000}))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    items, failures = opened(bytes(data), "x.zip")
    assert items == {}
    assert len(failures) == 1


def test_locked_members_are_named_once() -> None:
    assert opened(zipped({"a": b"1", "b": b"2"}, locked=True), "x.zip") == ({}, [("", "document_encrypted")])


def test_a_corpus_in_an_archive_gives_its_records() -> None:
    items, failures = opened(zipped({"data.jsonl": b'{"id": 1, "text": "one"}\n{"id": 2}\n'}), "x.zip")
    assert items == {"#data.jsonl/1": b"one"}
    assert failures == [("#data.jsonl", "document_empty")]


def test_a_message_comes_with_what_is_attached() -> None:
    items, failures = opened(sample_files.EML, "m.eml")
    assert list(items) == ["", "#note.txt"]
    assert items["#note.txt"].strip() == b"attached words"
    assert failures == []


def test_two_attachments_of_one_name_are_two_documents() -> None:
    part = b"--b\nContent-Disposition: attachment; filename=a.txt\n\n%d\n"
    mail = b"From: a@b\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n" + part % 1 + part % 2 + b"--b--\n"
    assert list(opened(mail, "m.eml")[0]) == ["", "#a.txt", "#a.txt~2"]


def test_a_message_in_a_message_is_opened_too() -> None:
    inner = b"From: c@d\nSubject: inner\n\nwords\n"
    mail = (
        b"From: a@b\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n"
        + inner
        + b"\n--b--\n"
    )
    items, _ = opened(mail, "m.eml")
    assert list(items) == ["", "#part%201.eml"]
    assert b"Subject: inner" in items["#part%201.eml"]


def message(id: str, text: str) -> bytes:
    head = f"From li Mon Jan  1 00:00:00 2024\nFrom: li@example.org\nSubject: {text}\n"
    return (head + (f"Message-ID: <{id}>\n" if id else "") + f"\n{text}\n>From here on\n\n").encode()


def test_a_mailbox_that_grows_keeps_its_addresses() -> None:
    first = message("a@x", "one") + message("", "two")
    before, _ = opened(first, "m.mbox")
    after, _ = opened(message("c@x", "three") + first + message("a@x", "one"), "m.mbox")
    assert before.items() <= after.items()
    assert next(iter(before)) == "#a%40x.eml"
    assert len(after) == 3
    assert before["#a%40x.eml"].endswith(b"one\nFrom here on\n")


def test_a_text_that_begins_with_from_is_no_mailbox() -> None:
    assert list(opened(b"From here to there\nis a long way.\n", "a")[0]) == [""]
