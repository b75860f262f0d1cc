"""Attacks on reading: what is named, what never leaves its process, and that the next file is read all the same."""

import asyncio
import io
import os
import random
import signal
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kaijuan import registry
from kaijuan.errors import DocumentError, OversizeDocumentError
from kaijuan.ingest.containers import zips
from kaijuan.ingest.containers.member import Budget
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.parsers.packages import check_package
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource, expanded
from kaijuan.ingest.sources.files import FileSource
from kaijuan.ingest.zip_directory import entries_listed

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(*members: tuple[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members:
            package.writestr(name, content)
    return out.getvalue()


def listing(count: int) -> bytes:
    """Return a zip file of one empty member that its directory lists `count` times, in the form for many files."""
    member = b"PK\x03\x04" + struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    entry = b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    size = len(entry) * count
    end = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, len(member))
    end += b"PK\x06\x07" + struct.pack("<IQI", 0, len(member) + size, 1)
    return (
        member + entry * count + end + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, *[0xFFFF] * 2, *[2**32 - 1] * 2, 0)
    )


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    pool = ParserPool(registry.targets("parser"), seconds=5, memory_mb=400)
    yield pool
    await pool.close()


async def works(pool: ParserPool) -> bool:
    return (await pool.parse("markdown", b"# a\n\nb", "a.md")).title == "a"


def test_a_directory_of_a_million_files_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    data = listing(1_000_000)

    def opened(*_arguments: object) -> None:
        raise AssertionError("a million objects were made")

    monkeypatch.setattr(zipfile, "ZipFile", opened)
    assert kind_of(data, "a.zip") == "zip"
    budget = Budget(max_bytes=1000, bytes_left=1000, members_left=100_000)
    (error,) = zips.members(data, "a.zip", budget)
    assert isinstance(error, OversizeDocumentError)
    with pytest.raises(OversizeDocumentError):
        check_package(data, "a.docx")


@pytest.mark.parametrize("count", [0, 1, 3, 300])
def test_entries_are_counted_as_they_are_read(count: int) -> None:
    plain = zipped(*((f"{number}.txt", b"PK\x01\x02") for number in range(count)))
    for data in (plain, b"program" + plain, listing(count), plain[:-2] + struct.pack("<H", 3) + b"abc"):
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            assert entries_listed(data) == len(package.infolist())
    assert entries_listed(plain[:-30]) == entries_listed(b"") == 0


def hostile_message(kind: str) -> bytes:
    start = b"From: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"
    part = b"\n--b\nContent-Disposition: attachment; filename=a.txt\n\nattached\n--b--\n"
    return {
        "words": start + b"Subject: " + b"=?utf-8?q?a?= " * 300_000 + b"\n" + part,
        "comments": start + b"To: " + b"(" * 100_000 + b"\n" + part,
        "plain": start + part,
    }[kind]


async def test_a_message_that_takes_for_ever_is_named_and_holds_nobody_up(tmp_path: Path) -> None:
    pool = ParserPool(registry.targets("parser"), seconds=2, memory_mb=400)
    for name in ("words", "comments", "plain"):
        (tmp_path / f"{name}.eml").write_bytes(hostile_message(name))
    source = ExpandingSource(FileSource(), IngestSettings(), pool.attachments)
    found = [one async for one in source.walk(str(tmp_path))]
    failures = [(one.source.rpartition("/")[2], one.code) for one in found if isinstance(one, SourceFailure)]
    assert failures == [("words.eml", "parse_timeout")]
    attached = [one.data for one in found if isinstance(one, SourceItem) and "#" in one.source]
    assert attached == [b"attached"] * 2  # deep comments in a header keep nothing from being read
    assert await works(pool)
    await pool.close()


def test_deep_comments_in_a_header_end_no_walk_without_processes_either() -> None:
    item = SourceItem(source="file:///a.eml", name="a.eml", size=1, data=hostile_message("comments"))
    message, attached = expanded(item, IngestSettings())
    assert isinstance(attached, SourceItem)
    assert (message, attached.data) == (item, b"attached")


async def test_leaving_a_walk_ends_what_it_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(hostile_message("plain"))
    asked, ended = asyncio.Event(), asyncio.Event()

    async def never(_data: bytes, _name: str, _kind: str) -> Sequence[tuple[str, bytes]]:
        asked.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return ()

    async def walk() -> None:
        async for _ in ExpandingSource(FileSource(), IngestSettings(), never).walk(str(tmp_path)):
            pass

    task = asyncio.create_task(walk())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    await asyncio.wait_for(ended.wait(), 20)


async def test_a_process_that_died_in_its_sleep_is_blamed_on_no_file(pool: ParserPool) -> None:
    assert await works(pool)
    (child,) = pool._idle
    os.kill(child._process.pid, signal.SIGKILL)
    await asyncio.to_thread(child._process.wait)
    assert await works(pool)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
async def test_a_process_killed_at_any_moment_costs_its_file_at_most(pool: ParserPool, seed: int) -> None:
    chance = random.Random(seed)
    data = b"# a\n\n" + b"text of *many* words\n\n" * 4000
    for _ in range(3):
        task = asyncio.create_task(pool.parse("markdown", data, "a.md"))
        await asyncio.sleep(chance.uniform(0, 0.8))
        for child in [*pool._busy, *pool._idle]:
            os.kill(child._process.pid, signal.SIGKILL)
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, DocumentError)
            assert "a.md" in outcome.message
        assert await works(pool)


def pdf(stream: bytes, filters: str = "/FlateDecode") -> bytes:
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>",
        b"<</Length %d/Filter%s>>stream\n%s\nendstream" % (len(stream), filters.encode(), stream),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


def word_file(document: str) -> bytes:
    types = "http://schemas.openxmlformats.org/package/2006"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    return zipped(
        (
            "[Content_Types].xml",
            f'<Types xmlns="{types}/content-types"><Default Extension="rels" ContentType="application/'
            'vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        ),
        (
            "_rels/.rels",
            f'<Relationships xmlns="{types}/relationships"><Relationship Id="r1" Type="{office}" '
            'Target="word/document.xml"/></Relationships>',
        ),
        ("word/document.xml", document),
    )


def bombs() -> dict[str, bytes]:
    entity = f'<!DOCTYPE a [<!ENTITY x "{"A" * 200_000}">]><a>{"&x;" * 20_000}</a>'
    body = (
        f'<w:document xmlns:w="{WORD}"><w:body>{"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 500_000}</w:body></w:document>'
    )
    spaces = zlib.compress(b" " * 400_000_000, 1)
    return {
        "quadratic.xml": entity.encode(),
        "quadratic.docx": word_file(entity),
        "paragraphs.docx": word_file(body),
        "spaces.pdf": pdf(spaces),
        "twice.pdf": pdf(zlib.compress(spaces, 9), "[/FlateDecode/FlateDecode]"),
        "circle.pdf": pdf(zlib.compress(b"")).replace(b"Kids[3 0 R]/Count 1", b"Kids[2 0 R]/Count 9"),
    }


@pytest.mark.slow
async def test_bombs_are_named_and_go_off_in_their_own_process() -> None:
    pool = ParserPool(registry.targets("parser"), seconds=60, memory_mb=250)
    for name, data in bombs().items():
        with pytest.raises(DocumentError):
            await pool.parse(kind_of(data, name), data, name)
        assert await works(pool), name
    await pool.close()


SECRET = "tell-nobody-7731"


def pointing_at(path: Path) -> dict[str, bytes]:
    """Return documents that ask their reader to show another file."""
    entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{path.as_uri()}">]>'
    word = (
        f'{entity}<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>text &x;</w:t></w:r></w:p></w:body></w:document>'
    )
    page = (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>text &x;</p><iframe src="{path.as_uri()}"/></body></html>'
    )
    office = "urn:oasis:names:tc:opendocument:xmlns"
    odt = (
        f'{entity}<o:document-content xmlns:o="{office}:office:1.0" xmlns:t="{office}:text:1.0">'
        "<o:body><o:text><t:p>text &x;</t:p></o:text></o:body></o:document-content>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf"/>'
        "</rootfiles></container>"
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    return {
        "a.xml": f"{entity}<a>text &x;</a>".encode(),
        "a.docx": word_file(word),
        "a.odt": zipped(("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", odt)),
        "a.epub": zipped(
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", container),
            ("c.opf", package),
            ("a.xhtml", entity + page),
        ),
        "a.html": f'<p>text</p><iframe src="{path.as_uri()}"></iframe><embed src="{path.as_uri()}">'.encode(),
        "a.rst": (
            f"text\n\n.. include:: {path}\n\n.. raw:: html\n   :file: {path}\n\n.. csv-table:: t\n   :file: {path}\n\n"
            f".. literalinclude:: {path}\n"
        ).encode(),
        "a.adoc": f"= Title\n\ntext\n\ninclude::{path}[]\n\n:x: {{include:{path}}}\n".encode(),
        "a.md": f"text ![x]({path.as_uri()}) <img src='{path}'>\n".encode(),
        "a.rtf": (r"{\rtf1 text {\field{\*\fldinst INCLUDETEXT " + str(path) + r"}{\fldrslt none}}}").encode(),
    }


async def test_no_document_makes_its_reader_show_another_file(pool: ParserPool, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    for name, data in pointing_at(tmp_path / "secret.txt").items():
        try:
            parsed = await pool.parse(kind_of(data, name), data, name)
        except DocumentError:
            continue
        assert SECRET not in repr(parsed), name
        assert "text" in parsed.text, name
