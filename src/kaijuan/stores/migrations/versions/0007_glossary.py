"""Words that mean the same: a glossary with the history of its terms, and abbreviations that versions explain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; versions of before have explained nothing until they are taken in again."""
    op.create_table(
        "glossary",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("term", WORD, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("history", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_glossary_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_glossary")),
    )
    op.create_index(op.f("ix_glossary_kb_id"), "glossary", ["kb_id"], unique=False)
    op.create_table(
        "abbreviation",
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("short", sa.Text(), nullable=False),
        sa.Column("long", sa.Text(), nullable=False),
        sa.Column("short_key", WORD, nullable=False),
        sa.Column("long_head", WORD, nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["document_version.id"], name=op.f("fk_abbreviation_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "ordinal", name=op.f("pk_abbreviation")),
    )
    op.create_index(op.f("ix_abbreviation_short_key"), "abbreviation", ["short_key"], unique=False)
    op.create_index(op.f("ix_abbreviation_long_head"), "abbreviation", ["long_head"], unique=False)
