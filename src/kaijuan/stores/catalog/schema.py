"""What all tables of the catalog have in common: one set of names, and words that are ordered by code point."""

from __future__ import annotations

from sqlalchemy import MetaData, String

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Ids and addresses are ordered and cut by code point; a database whose default order is a language's would
# page wrongly, so that the byte order is asked for by name.
WORD = String().with_variant(String(collation="C"), "postgresql")
