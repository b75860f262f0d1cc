"""Sources against the shipped suite."""

import csv
import os
import shutil
import sqlite3
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import SecretStr

from kaijuan.ingest.ports import Source
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.faq import FaqSource
from kaijuan.ingest.sources.files import FileSource
from kaijuan.ingest.sources.git import GitSource
from kaijuan.ingest.sources.settings import SqlSettings, WebSettings
from kaijuan.ingest.sources.sql import SqlSource
from kaijuan.ingest.sources.web import UrlSource
from kaijuan.ingest.sources.web_fetch import Limits
from kaijuan.testing.contracts.source import Place, SourceContract, walked


class Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def target(self) -> str:
        return str(self._root)

    def put(self, name: str, data: bytes) -> None:
        (self._root / name).write_bytes(data)

    def drop(self, name: str) -> None:
        (self._root / name).unlink()

    def touch(self, name: str) -> None:
        os.utime(self._root / name, (1, 1))
        (self._root / name).chmod(0o600)

    def close(self) -> None:
        self._root.rename(self._root.with_suffix(".away"))


class TestFiles(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        (tmp_path / "documents").mkdir()
        return Folder(tmp_path / "documents")

    def make(self) -> Source:
        return FileSource(max_bytes=self.limit)

    def foreign(self) -> str:
        return "https://example.org/a.txt"


class Archive:
    """A zip archive that is written anew with each change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, bytes] = {}
        self._year = 2000
        self._write()

    def _write(self) -> None:
        with zipfile.ZipFile(self._path, "w") as archive:
            for name, data in sorted(self._members.items()):
                archive.writestr(zipfile.ZipInfo(name, (self._year, 1, 1, 0, 0, 0)), data)

    def target(self) -> str:
        return str(self._path)

    def put(self, name: str, data: bytes) -> None:
        self._members[name] = data
        self._write()

    def drop(self, name: str) -> None:
        del self._members[name]
        self._write()

    def touch(self, name: str) -> None:
        self._year += 1
        self._write()

    def close(self) -> None:
        self._path.unlink()


class TestArchives(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Archive(tmp_path / "documents.zip")

    def make(self) -> Source:
        return ExpandingSource(FileSource(), IngestSettings(max_bytes=self.limit))

    def foreign(self) -> str:
        return "https://example.org/a.zip"


class Pairs:
    """A table of questions and answers that is written anew with each change; names are the ids."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, str] = {}
        self._write()

    def _write(self) -> None:
        with self._path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["id", "question", "answer"])
            table.writerows((name, f"What is {name}?", text) for name, text in sorted(self._rows.items()))

    def target(self) -> str:
        return f"faq:{self._path}"

    def put(self, name: str, data: bytes) -> None:
        self._rows[name] = data.decode()
        self._write()

    def drop(self, name: str) -> None:
        del self._rows[name]
        self._write()

    def touch(self, name: str) -> None:
        os.utime(self._path, (1, 1))

    def close(self) -> None:
        self._path.unlink()


class TestFaq(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Pairs(tmp_path / "faq.csv")

    def make(self) -> Source:
        return FaqSource(max_bytes=10 * self.limit)

    def foreign(self) -> str:
        return "faq.csv"

    def offered(self, name: str, data: bytes) -> bytes:
        return f"Q: What is {name}?\nA: {data.decode()}".encode()

    async def test_size_and_limit(self, place: Place) -> None:
        place.put("large.txt", b"x" * self.limit)
        items, failures = await walked(FaqSource(max_bytes=self.limit), place.target())
        assert items == {}
        assert [failure.code for failure in failures] == ["document_oversize"]


class Table:
    """A table of a database; names are the ids."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._do("create table notes (id text primary key, body text, seen integer default 0)")

    def _do(self, statement: str, *values: str) -> None:
        with closing(sqlite3.connect(self.path)) as base, base:
            base.execute(statement, values)

    def target(self) -> str:
        return "sql:notes"

    def put(self, name: str, data: bytes) -> None:
        self._do("insert or replace into notes (id, body) values (?, ?)", name, data.decode())

    def drop(self, name: str) -> None:
        self._do("delete from notes where id = ?", name)

    def touch(self, name: str) -> None:
        self._do("update notes set seen = seen + 1 where id = ?", name)

    def close(self) -> None:
        self.path.unlink()


class TestSql(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        self.path = tmp_path / "notes.db"
        return Table(self.path)

    def make(self) -> Source:
        query = "select id, body from notes order by id"
        settings = SqlSettings(url=SecretStr(f"sqlite:///{self.path}"), query=query, text=("body",))
        return SqlSource(settings, max_bytes=self.limit)

    def foreign(self) -> str:
        return "notes.db"


class Repository:
    """A git repository in which every change is committed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git("init", "--quiet")
        self._commit()

    def _git(self, *words: str) -> None:
        who = ("-c", "user.name=Who", "-c", "user.email=who@example.org", "-c", "commit.gpgSign=false")
        subprocess.run(["git", *who, "-C", self._root, *words], check=True, capture_output=True)

    def _commit(self) -> None:
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "change")

    def target(self) -> str:
        return f"git+{self._root}"

    def put(self, name: str, data: bytes) -> None:
        (self._root / name).write_bytes(data)
        self._commit()

    def drop(self, name: str) -> None:
        (self._root / name).unlink()
        self._commit()

    def touch(self, name: str) -> None:
        os.utime(self._root / name, (1, 1))
        (self._root / name).chmod(0o755)
        self._commit()

    def close(self) -> None:
        self._root.rename(self._root.with_suffix(".away"))


@pytest.mark.skipif(shutil.which("git") is None, reason="the command git is not installed")
class TestGit(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        self.cache = tmp_path / "cache"
        (tmp_path / "repository").mkdir()
        return Repository(tmp_path / "repository")

    def make(self) -> Source:
        return GitSource(limits=IngestSettings(max_bytes=self.limit), cache=self.cache)

    def foreign(self) -> str:
        return "https://example.org/repository.git"


class Site:
    """A web site whose sitemap lists its pages."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.changed = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                if self.path.startswith("/robots"):
                    body: bytes | None = None
                elif name == "sitemap.xml":
                    places = (f"<url><loc>{name}</loc></url>" for name in sorted(site.pages))
                    body = f"<urlset>{''.join(places)}</urlset>".encode()
                else:
                    body = site.pages.get(name)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/xml" if name == "sitemap.xml" else "text/plain")
                self.send_header("Last-Modified", f"Wed, 21 Oct 2015 07:28:{site.changed:02} GMT")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def target(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/papers/sitemap.xml"

    def put(self, name: str, data: bytes) -> None:
        self.pages[name] = data

    def drop(self, name: str) -> None:
        del self.pages[name]

    def touch(self, name: str) -> None:
        self.changed += 1

    def close(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


class TestWeb(SourceContract):
    @pytest.fixture
    def place(self) -> Iterator[Site]:
        site = Site()
        yield site
        site.close()

    def make(self) -> Source:
        limits = Limits(max_bytes=self.limit, seconds=10, allow_private=True)
        return UrlSource(limits, settings=WebSettings(at="http://127.0.0.1", depth=1))

    def foreign(self) -> str:
        return "ftp://example.org/a.txt"
