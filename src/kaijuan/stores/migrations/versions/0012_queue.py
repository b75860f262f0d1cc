"""Work that waits: what is asked for, who is at it, how often it was tried, and why it was given up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "job",
        sa.Column("sequence", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("key", WORD, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("owner", WORD, nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_job_kb_id")),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_job")),
        sa.UniqueConstraint("id", name=op.f("uq_job_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_job_kb_id_state"), "job", ["kb_id", "state"])
