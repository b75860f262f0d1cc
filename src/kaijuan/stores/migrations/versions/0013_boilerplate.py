"""Blocks have a digest by which paragraphs that many documents share are counted; decisions about such paragraphs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column and make the table; blocks of before have no digest and are counted when they change."""
    op.add_column("block", sa.Column("digest", WORD, nullable=True))
    there = sa.text("digest IS NOT NULL")
    op.create_index(
        op.f("ix_block_digest_version_id"),
        "block",
        ["digest", "version_id"],
        sqlite_where=there,
        postgresql_where=there,
    )
    op.create_table(
        "boilerplate",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("digest", WORD, nullable=False),
        sa.Column("valid_from", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("valid_to", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("history", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_boilerplate_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "digest", "valid_from", name=op.f("pk_boilerplate")),
    )
