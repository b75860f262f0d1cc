"""Models say why they fell behind and whether they answer their share; questions that were asked of two models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns and make the table."""
    op.add_column("embedding_space", sa.Column("note", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.add_column("embedding_space", sa.Column("answers", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.create_table(
        "model_trial",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("model", WORD, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_model_trial_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_trial")),
    )
    op.create_index(op.f("ix_model_trial_kb_id_model_created_at"), "model_trial", ["kb_id", "model", "created_at"])
