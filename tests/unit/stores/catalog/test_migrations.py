"""The migrations make the tables that the code knows, once, whoever opens first; other files are left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import select

from kaijuan.core.documents import BlockKind
from kaijuan.core.ids import KbId
from kaijuan.errors import CorruptStoreError, SchemaError, StoreError
from kaijuan.stores import migrations
from kaijuan.stores.catalog.connection import open_engine, url_of
from kaijuan.stores.catalog.rows import block_of
from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.stores.catalog.tables import metadata
from kaijuan.stores.migrations import REVISIONS, bring_up_to_date


def test_the_migrated_database_is_what_the_tables_say(tmp_path: Path) -> None:
    engine = open_engine(url_of(tmp_path / "catalog.db"), connections=1)
    bring_up_to_date(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        indexes = {row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {index.name for table in metadata.sorted_tables for index in table.indexes} <= indexes
    engine.dispose()


def test_the_known_revisions_are_those_of_the_folder() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    steps = [step.revision for step in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(steps)) == REVISIONS


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    start = threading.Barrier(6)
    opened_by: list[int] = []

    def opened() -> None:
        engine = open_engine(url_of(tmp_path / "catalog.db"), connections=1)
        start.wait()
        try:
            bring_up_to_date(engine)
            opened_by.append(threading.get_ident())
        finally:
            engine.dispose()

    threads = [threading.Thread(target=opened) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened_by) == 6
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISIONS[-1],)]
    connection.close()


OPEN = """
import asyncio, sys
from kaijuan.stores.catalog.rows import block_of
from kaijuan.stores.catalog.sql import SqlCatalog

async def main():
    catalog = SqlCatalog(sys.argv[1])
    await catalog.create_kb("acme", sys.argv[2], now=1.0)
    await catalog.close()
    print("alembic" in sys.modules)

asyncio.run(main())
"""


def test_processes_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    file = str(tmp_path / "home" / "catalog.db")
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN, file, f"kb {at}"], stdout=subprocess.PIPE) for at in range(3)
    ]
    assert [process.communicate()[0] and process.returncode for process in processes] == [0, 0, 0]
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM knowledge_base").fetchone() == (3,)
    connection.close()
    # Opening what is up to date must not pay for loading the migration tool.
    again = subprocess.run([sys.executable, "-c", OPEN, file, "kb 0"], capture_output=True, check=True, text=True)
    assert again.stdout.strip() == "False"


async def test_blocks_of_the_first_catalog_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    engine = open_engine(url_of(file), connections=1)
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.connect().execution_options(durable=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with sqlite3.connect(file) as old:
        assert old.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
        old.execute(
            "INSERT INTO block (id, version_id, ordinal, kind, start, stop, level, title_path, pages, language,"
            " confidence) VALUES ('b', 'v', 0, 'table', 0, 9, 0, '[]', '[2]', 'zh', 1.0)"
        )
    old.close()
    with engine.connect().execution_options(durable=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, REVISIONS[-1])
    with engine.connect() as connection:
        row = connection.execute(select(metadata.tables["block"])).one()
        block = block_of(row)
    engine.dispose()
    assert (block.kind, block.pages, block.place, block.syntax, block.table) == (BlockKind.TABLE, (2,), "", "", None)


async def test_a_newer_catalog_is_refused_and_untouched(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    first = SqlCatalog(file)
    await first.create_kb("acme", "handbook", now=1.0)
    await first.close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    catalog = SqlCatalog(file)
    with pytest.raises(SchemaError, match="9999"):
        await catalog.kb("acme", "handbook")
    await catalog.close()


async def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (id INTEGER)")
    connection.close()
    catalog = SqlCatalog(file)
    with pytest.raises(SchemaError, match="another program"):
        await catalog.kbs("acme")
    await catalog.close()
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"no database at all, only words " * 100)
    catalog = SqlCatalog(tmp_path / "catalog.db")
    with pytest.raises(CorruptStoreError):
        await catalog.kbs("acme")
    await catalog.close()


async def test_a_place_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    catalog = SqlCatalog(tmp_path / "file" / "catalog.db")
    with pytest.raises(StoreError):
        await catalog.counts(KbId("none"), 0)
    await catalog.close()
