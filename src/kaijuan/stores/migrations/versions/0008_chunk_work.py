"""What people do to chunks is kept apart; chunks have an origin, another text to be found by, and a context."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns and make the tables; chunks of before were all cut by rule and are found by their own words."""
    op.add_column("chunk", sa.Column("origin", sa.String(), nullable=False, server_default=sa.text("'auto'")))
    for name in ("search_text", "context"):
        op.add_column("chunk", sa.Column(name, sa.Text(), nullable=False, server_default=sa.text("''")))
    op.create_table(
        "chunk_work",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("run_id", WORD, nullable=False),
        sa.Column("document_id", WORD, nullable=False),
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("cuts", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("valid_from", sa.Integer(), nullable=False),
        sa.Column("valid_to", sa.Integer(), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_chunk_work_kb_id")),
        sa.ForeignKeyConstraint(["run_id"], ["ingestion_run.id"], name=op.f("fk_chunk_work_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk_work")),
    )
    op.create_index(op.f("ix_chunk_work_kb_id_document_id"), "chunk_work", ["kb_id", "document_id"], unique=False)
    op.create_index(op.f("ix_chunk_work_run_id"), "chunk_work", ["run_id"], unique=False)
    op.create_table(
        "chunk_work_miss",
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("work_id", WORD, nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["document_version.id"], name=op.f("fk_chunk_work_miss_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "work_id", name=op.f("pk_chunk_work_miss")),
    )
