"""Conversations and their turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "conversation",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("owner", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("summed", sa.Integer(), nullable=False),
        sa.Column("summary_documents", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_conversation_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversation")),
        sa.UniqueConstraint("kb_id", "owner", "name", name=op.f("uq_conversation_kb_id_owner_name")),
    )
    op.create_table(
        "conversation_turn",
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("standalone", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("documents", sa.Text(), nullable=False),
        sa.Column("titles", sa.Text(), nullable=False),
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversation.id"],
            name=op.f("fk_conversation_turn_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "number", name=op.f("pk_conversation_turn")),
    )
