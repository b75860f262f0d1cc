"""Snapshots get tags and an end, runs a request and their progress, sources marks, embedding models spaces."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns and make the tables; what runs of before were asked for is not known."""
    op.add_column("snapshot", sa.Column("dropped_at", sa.Double(), nullable=True))
    for name in ("request", "progress", "cancelled"):
        op.add_column("ingestion_run", sa.Column(name, sa.Text(), nullable=False, server_default=sa.text("''")))
    op.create_table(
        "snapshot_tag",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_snapshot_tag_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "name", name=op.f("pk_snapshot_tag")),
    )
    op.create_table(
        "source_mark",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("source", WORD, nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_source_mark_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "source", name=op.f("pk_source_mark")),
    )
    op.create_table(
        "embedding_space",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("space", WORD, nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_embedding_space_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "name", name=op.f("pk_embedding_space")),
    )
