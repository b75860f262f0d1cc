"""Queries as a source: what a row becomes, what is never written, what is never shown."""

import sqlite3
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from kaijuan.errors import MissingExtraError
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.settings import SqlSettings
from kaijuan.ingest.sources.sql import SqlSource
from kaijuan.ingest.sources.sql_rows import said, stored


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as base:
        base.execute("create table parts (nr integer, name text, note text, price real, made text, team text)")
        base.executemany(
            "insert into parts values (?, ?, ?, ?, ?, ?)",
            [
                (1, "螺丝 M8", "不锈钢", 0.5, "2025-01-01", "a"),
                (1, "螺丝 M8", "用于 Q7: 网关", 0.7, "2025-01-01", "a"),
                (2, "Nut", None, 0.25, None, "b"),
            ],
        )
    return path


def content_of(path: Path) -> bytes:
    return path.read_bytes()


async def rows(database: Path, **settings: object) -> tuple[list[SourceItem], list[SourceFailure]]:
    given = {"url": f"sqlite:///{database}", "query": "select * from parts", "id": ("nr",)} | settings
    source = SqlSource(SqlSettings.model_validate(given), max_bytes=1000)
    found = [one async for one in source.walk("sql:parts")]
    return [o for o in found if isinstance(o, SourceItem)], [o for o in found if isinstance(o, SourceFailure)]


async def test_rows_of_one_id_become_one_document(database: Path) -> None:
    items, failures = await rows(
        database, title="name", text=("note",), group=True, query="select * from parts order by nr"
    )
    assert [failure.message for failure in failures] == [
        "sql:parts, row 3: The document 2 has no text. Nothing was stored; add the file again when it has content."
    ]
    (item,) = items
    assert (item.source, item.title, item.kind) == ("sql:parts#1", "螺丝 M8", "record")
    assert item.data.decode() == "不锈钢\n\n用于 Q7: 网关"
    assert item.metadata == {"made": "2025-01-01", "team": "a"}, "a price that differs is no property of the document"


async def test_a_row_becomes_a_document_and_a_second_of_its_id_is_told(database: Path) -> None:
    items, failures = await rows(database)
    assert [item.source for item in items] == ["sql:parts#1", "sql:parts#2"]
    assert items[1].data.decode() == "name: Nut\nprice: 0.25\nteam: b"
    assert ["already met" in failure.message for failure in failures] == [True]


async def test_template_several_ids_and_chosen_metadata(database: Path) -> None:
    items, _ = await rows(
        database,
        id=("nr", "name", "note"),
        template="{name} costs {price} ({team}).",
        metadata=("price",),
        query="select * from parts where note is not null",
    )
    assert items[0].source == "sql:parts#1/%E8%9E%BA%E4%B8%9D%20M8/%E4%B8%8D%E9%94%88%E9%92%A2"
    assert items[0].data.decode() == "螺丝 M8 costs 0.5 (a)."
    assert [item.metadata for item in items] == [{"price": 0.5}, {"price": 0.7}]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"query": "select absent from parts"}, "no such column"),
        ({"query": "select nr from absent"}, "no such table"),
        ({"id": ("absent",)}, "no column 'absent'"),
        ({"template": "{absent}"}, "no column 'absent'"),
        ({"rows": 2}, "more than 2 rows"),
        ({"url": "sqlite:////nowhere/at/all.db"}, "no database file"),
        ({"url": "no address"}, "no database address"),
        ({"url": ""}, "url of the database is not set"),
        ({"url": "postgresql+pg8000://u:p4ssw0rd@127.0.0.1:1/x", "seconds": 2}, "cannot be read"),
        ({"query": "select null as nr"}, "id is empty"),
        ({"query": "select 1 as nr, printf('%.*c', 2000, 'x') as t"}, "larger than 1,000 bytes"),
    ],
)
async def test_what_goes_wrong_is_named_and_keeps_what_is_there(
    database: Path, settings: dict[str, object], words: str
) -> None:
    _, failures = await rows(database, **settings)
    assert words in failures[-1].message
    assert failures[-1].source == "sql:parts", "so that a mirror removes nothing"
    assert "p4ssw0rd" not in failures[-1].message


@pytest.mark.parametrize("query", ["delete from parts", "-- select\nupdate parts set nr = 1", "attach 'x' as y", ";"])
def test_what_is_no_select_is_refused_at_once(query: str) -> None:
    with pytest.raises(ValidationError, match="begins with SELECT"):
        SqlSettings(url=SecretStr("sqlite://"), query=query)


@pytest.mark.parametrize(
    "query",
    [
        "with x as (select 1) select 1 as nr, load_extension('x')",
        "select 1 as nr; delete from parts",
        "with gone as (select 1) delete from parts returning nr",
    ],
)
async def test_nothing_can_be_written(database: Path, query: str) -> None:
    before = content_of(database)
    items, failures = await rows(database, query=query)
    assert items == []
    assert len(failures) == 1
    assert content_of(database) == before


async def test_a_colon_or_percent_in_a_query_is_no_parameter(database: Path) -> None:
    items, _ = await rows(database, query="select 1 as nr, 'at 12:30 :now 100%s %(x)s' as t /* (select */")
    assert items[0].data.decode() == "at 12:30 :now 100%s %(x)s"


async def test_a_missing_driver_says_what_to_install(database: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"kaijuan\[sql\]") as caught:
        await rows(database, url="mssql+pyodbc://sa:p4ssw0rd@host/x")
    assert "p4ssw0rd" not in str(caught.value)


async def test_a_name_that_is_not_configured_is_told() -> None:
    (found,) = [one async for one in SqlSource(None, max_bytes=1).walk("sql:orders")]
    assert isinstance(found, SourceFailure)
    assert "[sources.orders]" in found.message


def test_scopes() -> None:
    source = SqlSource(None, max_bytes=1)
    assert source.scope("sql:orders") == "sql:orders#"
    assert source.scope("sql:orders#7") == "sql:orders#7"


def test_values_as_they_are_read_and_as_they_are_compared() -> None:
    when = datetime(2025, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    assert said(when) == "2025-01-02 03:04:05+00:00"
    assert stored(when) == "2025-01-02T03:04:05+00:00"
    assert said(date(2025, 1, 2)) == stored(date(2025, 1, 2)) == "2025-01-02"
    assert (said(Decimal("10.50")), stored(Decimal("10.50")), stored(Decimal("10"))) == ("10.50", 10.5, 10)
    assert (said(True), stored(True), said(None), stored(None), said(b"x"), stored(b"x")) == (
        "true", True, "", None, "", None,
    )  # fmt: skip
    assert (said({"甲": 1}), stored(["a", "b"]), stored([1])) == ('{"甲": 1}', ("a", "b"), "[1]")
