"""Versions have a signature by which others that say the same are found; decisions about pairs; marks of chunks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns and make the table; versions of before have no signature and are compared with no others."""
    op.add_column("document_version", sa.Column("signature", sa.LargeBinary(), nullable=True))
    op.add_column("chunk", sa.Column("mark", sa.String(), nullable=False, server_default=sa.text("''")))
    op.create_table(
        "duplicate",
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("other_id", WORD, nullable=False),
        sa.Column("group_id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("document_id", WORD, nullable=False),
        sa.Column("other_document_id", WORD, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("history", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["document_version.id"], name=op.f("fk_duplicate_version_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_duplicate_kb_id")),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_duplicate")),
    )
    op.create_index(op.f("ix_duplicate_kb_id"), "duplicate", ["kb_id"], unique=False)
