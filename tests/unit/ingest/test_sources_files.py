import json
import os
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.files import DEFAULT_MAX_BYTES, FileSource


async def walk(target: object, max_bytes: int = DEFAULT_MAX_BYTES) -> tuple[list[SourceItem], list[SourceFailure]]:
    items: list[SourceItem] = []
    failures: list[SourceFailure] = []
    async for found in FileSource(max_bytes=max_bytes).walk(str(target)):
        (failures if isinstance(found, SourceFailure) else items).append(found)  # type: ignore[arg-type]
    return items, failures


def lines(path: Path, *records: object) -> Path:
    path.write_text("\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in records))
    return path


def address_of(path: Path) -> str:
    return path.resolve().as_uri()


def write(folder: Path, name: bytes) -> None:
    with open(os.path.join(os.fsencode(folder), name), "wb") as file:
        file.write(name)


async def test_one_address_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.txt").write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "a b.txt")
    targets = ["a b.txt", "./a b.txt", str(tmp_path / "a b.txt"), (tmp_path / "a b.txt").as_uri(), "link"]
    addresses = {(await walk(target))[0][0].source for target in targets}
    assert addresses == {address_of(tmp_path / "a b.txt")}


async def test_folders_are_walked_in_order_without_junk(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/a.txt", ".hidden", ".git/config", "~$word.docx", "Thumbs.db", "c/.DS_Store"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    items, failures = await walk(tmp_path)
    assert [item.source.removeprefix(address_of(tmp_path)) for item in items] == [
        "/b.txt",
        "/a/a.txt",
        "/a/z.txt",
    ]
    assert failures == []


async def test_link_loops_end_and_nothing_comes_twice(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.txt").write_bytes(b"o")
    (root / "sub" / "a.txt").write_bytes(b"a")
    (root / "sub" / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "again.txt").symlink_to(root / "sub" / "a.txt")
    (root / "out1").symlink_to(outside)
    (root / "out2").symlink_to(outside)
    (outside / "back").symlink_to(root)
    items, failures = await walk(root)
    assert sorted(item.data for item in items) == [b"a", b"o"]
    assert all(item.source.startswith(FileSource().scope(str(root))) for item in items)
    assert [failure.source.rpartition("/")[2] for failure in failures] == ["self"]


async def test_names_of_any_bytes(tmp_path: Path) -> None:
    names = ["emoji 🐉.txt".encode(), b"new\nline.txt", "中文.txt".encode()]
    if sys.platform == "linux":
        names.append(b"bad \xff utf8.txt")
    for name in names:
        write(tmp_path, name)
    items, failures = await walk(tmp_path)
    assert failures == []
    assert {item.data for item in items} == set(names)
    for item in items:
        assert item.source.isascii()
        assert unquote_to_bytes(item.source.rpartition("/")[2]) == item.data
        item.name.encode("utf-8")
        again, _ = await walk(item.source)
        assert again == [item]


async def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    items, failures = await walk(tmp_path / "gone.txt")
    assert items == []
    assert failures[0].code == "source_missing"
    os.mkfifo(tmp_path / "pipe")
    _, failures = await walk(tmp_path)
    assert failures[0].code == "source_missing"
    assert "pipe" in failures[0].message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_forbidden_places_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x")
    (tmp_path / "a.txt").chmod(0)
    (tmp_path / "sub").mkdir(mode=0)
    items, failures = await walk(tmp_path)
    (tmp_path / "sub").chmod(0o700)
    assert items == []
    assert len(failures) == 2


def test_accepts_and_scope(tmp_path: Path) -> None:
    source = FileSource()
    assert source.accepts("a.txt")
    assert source.accepts("file:///a")
    assert source.accepts("./odd://name")
    assert not source.accepts("https://example.org")
    assert source.scope(str(tmp_path)).endswith("/")
    assert source.scope(str(tmp_path / "x.jsonl")).endswith("x.jsonl#")


async def test_the_scope_of_a_record_is_the_record_and_never_its_corpus(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", {"_id": "a#1 中", "text": "甲"}, {"_id": "b", "text": "乙"})
    items, _ = await walk(path)
    for item in items:
        assert FileSource().scope(item.source) == item.source


async def test_a_corpus_gives_one_document_each_line(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        {"_id": "a/1 #中", "title": " T ", "text": "甲", "year": 2020, "ok": True, "tags": ["x"], "deep": {"a": 1}},
        "",
        {"id": 7, "contents": "乙"},
        {"content": "丙"},
    )
    items, failures = await walk(path)
    assert failures == []
    first, second, third = items
    assert first.source == address_of(path) + "#a%2F1%20%23%E4%B8%AD"
    assert (first.kind, first.title, first.data) == ("record", "T", "甲".encode())
    assert first.metadata == {"year": 2020, "ok": True, "tags": ("x",)}
    assert second.source.endswith("#7")
    assert third.source == (await walk(path))[0][2].source
    assert all(item.source.startswith(FileSource().scope(str(path))) for item in items)


async def test_bad_lines_are_failures_with_their_number(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        {"_id": "a", "text": "x"},
        "{broken",
        "[1]",
        {"_id": "b", "text": " "},
        {"_id": "a", "text": "again"},
        '{"_id": "s", "text": "half \\ud83d pair"}',
        {"_id": "z", "text": "last"},
    )
    items, failures = await walk(path)
    assert [item.source.rpartition("#")[2] for item in items] == ["a", "s", "z"]
    assert [failure.message.partition(":")[0] for failure in failures] == [f"c.jsonl, line {n}" for n in (2, 3, 4, 5)]
    assert [failure.code for failure in failures] == [
        "document_broken",
        "document_broken",
        "document_empty",
        "document_broken",
    ]
    assert items[1].data.decode() == "half ? pair"


async def test_a_giant_line_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", {"id": "big", "text": "x" * 500}, {"id": "ok", "text": "y"})
    items, failures = await walk(path, max_bytes=100)
    assert [item.data for item in items] == [b"y"]
    assert [failure.code for failure in failures] == ["document_oversize"]


async def test_ids_that_differ_have_addresses_that_differ(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    ids = ["s\\ud83d", "s?", "s%3F", "s\\ud83e", "s ", "s\\u0000", "s"]
    path.write_text("\n".join(f'{{"_id": "{id}", "text": "words"}}' for id in [*ids, "s?", "s\\ud83d"]))
    items, failures = await walk(path)
    assert len({item.source for item in items}) == len(ids)
    assert [failure.message.partition(":")[0] for failure in failures] == ["c.jsonl, line 8", "c.jsonl, line 9"]
    assert all((failure.source + failure.message).encode() for failure in failures)
