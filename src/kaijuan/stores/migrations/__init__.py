"""Brings a catalog database to the tables this version knows, under a lock, and checks the outcome.

One file a step in `versions/`. Alembic is imported only when there is a step to take.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from kaijuan.errors import CorruptStoreError, SchemaError
from kaijuan.stores.catalog.tables import metadata

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012", "0013")
"""Every step, oldest first. Kept here so that opening needs no Alembic; a test compares it with `versions/`."""
_LOCK = 0x6B61696A75616E
"""Advisory lock by which servers keep two migrations apart ("kaijuan" in ASCII); SQLite's write lock does it alone."""


def bring_up_to_date(engine: Engine) -> None:
    """Migrate if needed. Two processes may call this at once: one migrates, the other waits and finds it done.

    A database of a newer version, or of another program, raises SchemaError and is left untouched. A migration
    is one transaction: it happens wholly or not at all.
    """
    with engine.connect() as connection:
        if _revision(connection) == REVISIONS[-1]:
            return
    with engine.connect().execution_options(durable=True) as connection, connection.begin():
        _lock(connection)
        if _revision(connection) == REVISIONS[-1]:
            return
        _upgrade(connection)
        _verify(connection)


def _revision(connection: Connection) -> str | None:
    present = set(inspect(connection).get_table_names())
    if "alembic_version" not in present:
        if present:
            raise SchemaError("The catalog file belongs to another program.", hint="Choose another home folder.")
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if revision is not None and revision not in REVISIONS:
        raise SchemaError(f"The catalog was written by a newer version (revision {revision}).")
    return revision


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # Config reads "%" as the start of a placeholder, and a path may hold one.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


def _verify(connection: Connection) -> None:
    inspector = inspect(connection)
    inspector.clear_cache()
    present = set(inspector.get_table_names())
    for table in metadata.sorted_tables:
        columns = {column["name"] for column in inspector.get_columns(table.name)} if table.name in present else set()
        missing = {column.name for column in table.columns} - columns
        if missing:
            raise SchemaError(f"After the migration, {table.name} lacks {', '.join(sorted(missing))}.")
    if _revision(connection) != REVISIONS[-1]:
        raise SchemaError("The migration ended at another revision than it should.")
    if connection.dialect.name == "sqlite" and connection.execute(text("PRAGMA foreign_key_check")).first():
        raise CorruptStoreError("After the migration, rows refer to rows that are missing.")
