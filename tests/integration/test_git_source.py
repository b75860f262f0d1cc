"""Repositories as a source: what is read of a commit, over http too, and what a hostile one cannot do."""

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kaijuan.errors import FetchError
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.git import GitSource
from kaijuan.ingest.sources.git_command import Git
from kaijuan.ingest.sources.settings import GitSettings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the command git is not installed")


class Repo:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        who = ("-c", "user.name=作者", "-c", "user.email=who@example.org", "-c", "commit.gpgSign=false")
        return subprocess.run(
            ["git", *who, "-C", self.root, *words], check=True, capture_output=True, input=stdin
        ).stdout.strip()

    def write(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change", "--date", "2025-01-02T03:04:05+0800")
        return self.git("rev-parse", "HEAD").decode()

    def tree(self, *lines: bytes) -> None:
        """Commit a tree that no working tree could hold."""
        tree = self.git("mktree", "--missing", "-z", stdin=b"".join(line + b"\0" for line in lines)).decode()
        commit = self.git("commit-tree", tree, "-m", "crafted").decode()
        self.git("update-ref", "refs/heads/main", commit)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


async def found_at(
    target: str, cache: Path, limits: IngestSettings | None = None, **settings: object
) -> tuple[list[SourceItem], list[SourceFailure]]:
    chosen = GitSettings.model_validate({"at": target} | settings)
    source = GitSource(limits=limits or IngestSettings(), cache=cache, settings=chosen)
    found = [one async for one in source.walk(target)]
    return [o for o in found if isinstance(o, SourceItem)], [o for o in found if isinstance(o, SourceFailure)]


async def test_a_commit_is_read_and_nothing_besides(repo: Repo, tmp_path: Path) -> None:
    repo.write("docs/手册 #1.md", "# 网关".encode())
    repo.write(".gitignore", b"build/\n")
    repo.write("build/out.txt", b"ignored")
    (repo.root / "link.md").symlink_to("/etc/passwd")
    commit = repo.commit()
    repo.write("docs/later.md", b"not committed")
    (item,), failures = await found_at(f"git+{repo.root}", tmp_path)
    assert failures == []
    assert item.source == f"git+{repo.root.as_uri()}#docs/%E6%89%8B%E5%86%8C%20%231.md"
    assert (item.name, item.data) == ("手册 #1.md", "# 网关".encode())
    assert item.metadata == {"commit": commit, "commit_author": "作者", "commit_date": "2025-01-02T03:04:05+08:00"}


async def test_refs_have_addresses_of_their_own(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", b"one")
    first = repo.commit()
    repo.git("tag", "v1")
    repo.write("a.txt", b"two")
    repo.commit()
    for ref, data in (("", b"two"), ("@v1", b"one"), (f"@{first}", b"one"), ("@HEAD~1", b"one")):
        (item,), _ = await found_at(f"git+{repo.root}{ref}", tmp_path)
        assert (item.source, item.data) == (f"git+{repo.root.as_uri()}{ref}#a.txt", data)
    (named,), _ = await found_at(f"git+{repo.root}", tmp_path, ref="v1")
    assert named.data == b"one"


async def test_patterns_hold_below_the_top(repo: Repo, tmp_path: Path) -> None:
    for name in ("a.md", "src/b.py", "docs/c.md", "docs/old/d.md"):
        repo.write(name, b"x")
    repo.commit()
    items, _ = await found_at(f"git+{repo.root}", tmp_path, include=["*.md"], exclude=["old/"])
    assert [item.name for item in items] == ["a.md", "c.md"]


@pytest.mark.parametrize("ref", ["absent", "-x", "--upload-pack=touch gone", "a b", "a:b", "x\ny"])
async def test_what_is_no_ref_is_told_and_run_by_nobody(repo: Repo, tmp_path: Path, ref: str) -> None:
    repo.write("a.txt", b"one")
    repo.commit()
    items, failures = await found_at(f"git+{repo.root}", tmp_path, ref=ref)
    assert items == []
    assert failures[0].code in {"source_missing", "document_broken"}


async def test_a_folder_inside_or_without_a_repository_is_none(repo: Repo, tmp_path: Path) -> None:
    repo.write("sub/a.txt", b"one")
    repo.commit()
    for folder in (repo.root / "sub", tmp_path, tmp_path / "absent"):
        items, failures = await found_at(f"git+{folder}", tmp_path)
        assert items == []
        assert len(failures) == 1


async def test_a_repository_whose_settings_run_programs_runs_none(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", b"one")
    repo.write(".gitattributes", b"* filter=evil diff=evil\n")
    repo.commit()
    mark = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    script.chmod(0o755)
    for name in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.evil.smudge", "filter.evil.process",
        "diff.evil.textconv", "diff.external", "gpg.program", "pager.cat-file", "pager.ls-tree", "alias.ls-tree",
    ):  # fmt: skip
        repo.git("config", name, str(script))
    repo.git("config", "log.showSignature", "true")
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(script, hooks / hook)
    # An object that is missing, and a promise that a program will bring it.
    blob = repo.git("rev-parse", "HEAD:a.txt").decode()
    os.unlink(repo.root / ".git" / "objects" / blob[:2] / blob[2:])
    repo.git("config", "extensions.partialClone", "evil")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "remote.evil.url", repo.root.as_uri())
    repo.git("config", "remote.evil.uploadpack", str(script))
    repo.git("config", "remote.evil.promisor", "true")
    items, failures = await found_at(f"git+{repo.root}", tmp_path)
    assert items == []
    assert len(failures) >= 1
    assert not mark.exists()


async def test_names_that_lead_out_are_only_names(repo: Repo, tmp_path: Path) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"text").decode()
    repo.tree(f"100644 blob {blob}\tnormal.txt".encode(), f"160000 commit {'1' * 40}\tsubmodule".encode())
    items, failures = await found_at(f"git+{repo.root}", tmp_path)
    assert [item.name for item in items] == ["normal.txt"], "a submodule is not fetched"
    assert failures == []


async def test_a_tree_of_trees_without_end_meets_the_limit(repo: Repo, tmp_path: Path) -> None:
    name = repo.git("hash-object", "-w", "--stdin", stdin=b"text").decode()
    kind = "100644 blob"
    for _ in range(10):  # ten to the tenth files
        lines = b"".join(f"{kind} {name}\t{number}.d".encode() + b"\0" for number in range(10))
        name, kind = repo.git("mktree", "-z", stdin=lines).decode(), "040000 tree"
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", name, "-m", "bomb").decode())
    items, failures = await found_at(f"git+{repo.root}", tmp_path, IngestSettings(max_members=500))
    assert len(items) == 500
    assert [failure.code for failure in failures] == ["document_oversize"]


async def test_large_files_and_pointers_are_told(repo: Repo, tmp_path: Path) -> None:
    repo.write("large.txt", b"x" * 2000)
    repo.write("pointer.pdf", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    repo.commit()
    items, failures = await found_at(f"git+{repo.root}", tmp_path, IngestSettings(max_bytes=1000))
    assert items == []
    assert [failure.code for failure in failures] == ["document_oversize", "document_unsupported"]


class Host(BaseHTTPRequestHandler):
    """git http-backend over http.server. `seen` keeps the hosts and keys that were told."""

    root: Path
    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.seen.append((self.headers["Host"], self.headers.get("Authorization", "")))
        parts = urlsplit(self.path)
        if parts.path.startswith("/moved/"):
            self.send_response(301)
            self.send_header("Location", self.path.replace("/moved/", "/"))
            self.end_headers()
            return
        environment = os.environ | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        made = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=True)
        head, _, content = made.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def host(tmp_path: Path) -> Iterator[tuple[Repo, int, list[tuple[str, str]]]]:
    seen: list[tuple[str, str]] = []
    root = tmp_path / "served"
    served = Repo(root / "docs.git")
    served.write("a.txt", b"one")
    served.commit()
    served.write("b.txt", b"two")
    served.commit()
    handler = type("Served", (Host,), {"root": root, "seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served, server.server_port, seen
    server.shutdown()
    server.server_close()
    thread.join()


def commits_in(clone: Path) -> int:
    done = subprocess.run(["git", "-C", clone, "rev-list", "--all", "--count"], capture_output=True, check=True)
    return int(done.stdout)


INSIDE = IngestSettings(allow_private_addresses=True)


async def test_a_remote_repository_is_fetched_once_and_then_what_is_new(
    host: tuple[Repo, int, list[tuple[str, str]]], tmp_path: Path
) -> None:
    served, port, seen = host
    target = f"git+http://user:p4ssw0rd@127.0.0.1:{port}/docs.git/.git"
    items, failures = await found_at(target, tmp_path / "cache", INSIDE)
    assert failures == []
    assert [(item.source, item.data) for item in items] == [
        (f"git+http://127.0.0.1:{port}/docs.git/.git#a.txt", b"one"),
        (f"git+http://127.0.0.1:{port}/docs.git/.git#b.txt", b"two"),
    ]
    assert seen[-1][1] == "Basic " + base64.b64encode(b"user:p4ssw0rd").decode()
    (clone,) = (tmp_path / "cache" / "git").iterdir()
    assert commits_in(clone) == 1, "no history is fetched"
    assert not any("p4ssw0rd" in path.read_text("latin-1") for path in clone.rglob("*") if path.is_file())
    served.write("a.txt", b"changed")
    served.commit()
    items, _ = await found_at(target, tmp_path / "cache", INSIDE)
    assert [item.data for item in items] == [b"changed", b"two"]


async def test_a_damaged_cache_is_made_again(host: tuple[Repo, int, list[tuple[str, str]]], tmp_path: Path) -> None:
    _, port, _ = host
    target = f"git+http://127.0.0.1:{port}/docs.git/.git"
    await found_at(target, tmp_path / "cache", INSIDE)
    (clone,) = (tmp_path / "cache" / "git").iterdir()
    (clone / "HEAD").write_text("nonsense")
    items, failures = await found_at(target, tmp_path / "cache", INSIDE)
    assert (len(items), failures) == (2, [])


async def test_private_hosts_and_redirects_are_refused(
    host: tuple[Repo, int, list[tuple[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, port, seen = host
    items, failures = await found_at(f"git+http://127.0.0.1:{port}/docs.git/.git", tmp_path)
    assert items == []
    assert "not a public address" in failures[0].message
    assert seen == [], "a refused host was asked"
    # A public name stays with the IP that was checked, whatever the system would find for it.
    monkeypatch.setattr("kaijuan.ingest.sources.hosts.is_public", lambda ip: True)
    for path, expected in (("docs.git/.git", 2), ("moved/docs.git/.git", 0)):
        source = GitSource(limits=IngestSettings(), cache=tmp_path, resolve=lambda host, port: ["127.0.0.1"])
        found = [one async for one in source.walk(f"git+http://public.test:{port}/{path}")]
        assert sum(isinstance(one, SourceItem) for one in found) == expected
    assert {name for name, _ in seen} == {f"public.test:{port}"}


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nsleep 60 & wait\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(FetchError, match="did not end"):
        Git(folder=str(tmp_path)).said("fetch", seconds=0.2)
