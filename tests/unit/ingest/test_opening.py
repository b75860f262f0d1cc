"""Which source a target opens, what narrows it, and which paths a pattern takes."""

from functools import partial
from pathlib import Path

import pytest

from kaijuan import registry
from kaijuan.config import load_config
from kaijuan.errors import UsageError
from kaijuan.ingest.opening import Narrowing, Opener
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.files import FileSource
from kaijuan.ingest.sources.patterns import PathFilter
from kaijuan.ingest.sources.settings import GitSettings, NamedSource


def opener(tmp_path: Path, **named: NamedSource) -> Opener:
    return Opener(
        words=list(registry.targets("source")),
        load=partial(registry.load, "source"),
        named=named,
        limits=IngestSettings(),
        cache=tmp_path / "cache",
    )


def configured(tmp_path: Path, text: str, **environ: str) -> Opener:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    return opener(tmp_path, **load_config(tmp_path, environ=environ).sources)


async def names(opened: Opener, target: str, **narrowing: tuple[str, ...]) -> list[str]:
    found = opened.open(target, Narrowing(**narrowing))  # type: ignore[arg-type] # depth is never given here
    return [item.name async for item in found.source.walk(found.target) if isinstance(item, SourceItem)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "papers"
    for name in ("a.PDF", "b.txt", "drafts/c.txt", "old/drafts/d.txt", "old/e.txt", "草稿/f.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


async def test_a_folder_is_narrowed_by_patterns(tmp_path: Path, folder: Path) -> None:
    at = opener(tmp_path)
    assert await names(at, str(folder), include=("*.pdf",)) == ["a.PDF"]
    assert await names(at, str(folder), exclude=("drafts/", "草稿")) == ["a.PDF", "b.txt", "e.txt"]
    assert await names(at, str(folder), include=("/old/",), exclude=("old/drafts/**",)) == ["e.txt"]
    assert await names(at, str(folder), include=("nothing",)) == []


async def test_a_file_that_was_named_itself_is_taken_whatever_the_patterns_say(tmp_path: Path, folder: Path) -> None:
    assert await names(opener(tmp_path), str(folder / "b.txt"), include=("*.pdf",)) == ["b.txt"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.pdf", "a/b/c.PDF", True),
        ("/*.pdf", "a/c.pdf", False),
        ("a/*.pdf", "a/c.pdf", True),
        ("a/*.pdf", "x/a/c.pdf", False),
        ("a/**/c.pdf", "a/c.pdf", True),
        ("drafts/", "drafts", False),
        ("drafts/", "x/drafts/y/z", True),
        ("drafts", "x/drafts", True),
        (".secret/", "x/.secret/y", True),
        ("caf\u00e9.txt", "cafe\u0301.txt", True),
    ],
)
def test_patterns_are_those_of_gitignore(pattern: str, path: str, fits: bool) -> None:
    assert PathFilter(include=[pattern]).takes(path) is fits
    assert PathFilter(exclude=[pattern]).takes(path) is not fits


@pytest.mark.parametrize("pattern", ["", "/", "  ", "a\x00b"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        PathFilter(exclude=[pattern])


async def test_a_named_source_is_opened_by_its_name(tmp_path: Path, folder: Path) -> None:
    at = configured(tmp_path, f'[sources.papers]\nkind = "files"\nat = "{folder}"\nexclude = ["old/"]\n')
    assert await names(at, "papers:") == ["a.PDF", "b.txt", "c.txt", "f.txt"]
    assert await names(at, "files:papers") == ["a.PDF", "b.txt", "c.txt", "f.txt"]
    assert await names(at, "papers:", exclude=("*.txt",)) == ["a.PDF"]
    assert at.open("papers:").scope == at.scopes("papers:")[0] == folder.as_uri() + "/"


def test_what_nothing_can_read_is_refused_with_the_names_there_are(tmp_path: Path, folder: Path) -> None:
    at = configured(tmp_path, f'[sources.papers]\nkind = "files"\nat = "{folder}"\n')
    for target in ("paper:", "web:papers", "gopher://x/y", "nothing:here"):
        with pytest.raises(UsageError, match="papers:"):
            at.open(target)


def test_a_depth_for_a_folder_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UsageError, match="has no depth"):
        opener(tmp_path).open(str(folder), Narrowing(depth=1))


async def test_a_file_with_a_colon_in_its_name_is_a_file(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "notes:2024.txt").write_text("x")
    monkeypatch.chdir(folder)
    assert await names(opener(tmp_path), "notes:2024.txt") == ["notes:2024.txt"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[sources.Upper]\nkind = "files"\nat = "x"\n', "sources.Upper"),
        ('[sources.x]\nkind = "files"\nat = ""\n', "sources.x"),
        ('[sources.x]\nkind = "files"\nat = "a"\nincldue = ["a"]\n', "sources.x"),
        ('[sources.x]\nkind = "sql"\nurl = "sqlite://"\nquery = "select 1"\nid = []\n', "sources.x"),
        ('[sources]\nx = "files"\n', "sources.x"),
    ],
)
def test_a_slip_in_the_configuration_is_named_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        configured(tmp_path, text)


def test_a_secret_comes_from_the_environment_and_is_never_shown(tmp_path: Path) -> None:
    at = configured(
        tmp_path,
        '[sources.orders]\nkind = "sql"\nquery = "select 1"\n',
        KAIJUAN_SOURCES__ORDERS__URL="sqlite:///tell-nobody.db",
    )
    assert "tell-nobody" not in repr(at.named["orders"])
    with pytest.raises(UsageError) as caught:
        load_config(
            tmp_path, environ={"KAIJUAN_SOURCES__ORDERS__URL": "x", "KAIJUAN_SOURCES__ORDERS__ROWS": "tell-nobody"}
        )
    assert "tell-nobody" not in str(caught.value)


def test_the_place_of_a_slip_is_as_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"setting sources\.x\.rows is wrong"):
        configured(tmp_path, '[sources.x]\nkind = "sql"\nquery = "select 1"\nrows = 0\n')


def test_a_page_is_found_by_its_address_and_is_not_all_of_its_site(tmp_path: Path) -> None:
    at = opener(tmp_path)
    assert at.scopes("HTTP://Example.org") == ["http://example.org"]
    assert "http://example.org/" in at.addresses("HTTP://Example.org")


def test_a_missing_secret_stops_only_who_needs_it(tmp_path: Path) -> None:
    at = configured(
        tmp_path,
        '[sources.orders]\nkind = "sql"\nquery = "select 1"\n',
        KAIJUAN_SOURCES__OF_ANOTHER_HOME__URL="sqlite:///x.db",
    )
    assert list(at.named) == ["orders"]
    assert at.open("orders:").scope == "sql:orders#"


async def test_links_that_lead_out_of_a_folder_are_left_when_so_set(tmp_path: Path, folder: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.txt").write_text("private")
    (folder / "link").symlink_to(outside)
    (folder / "file.txt").symlink_to(outside / "private.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "endless").symlink_to(folder / "endless")
    followed = [item async for item in FileSource().walk(str(folder))]
    assert sum(isinstance(item, SourceItem) and item.data == b"private" for item in followed) == 2
    assert sum(isinstance(item, SourceFailure) for item in followed) == 1, "the endless link is reported"
    kept = [item async for item in FileSource(follow_links=False).walk(str(folder))]
    assert all(isinstance(item, SourceItem) and item.data != b"private" for item in kept)
    assert len(kept) == 6


@pytest.mark.parametrize("at", ["/srv/repo", "git+/srv/repo", "https://host/repo.git"])
def test_repositories_are_named_with_or_without_the_scheme(at: str) -> None:
    assert GitSettings(at=at).target("code") == f"git+{at.removeprefix('git+')}"
