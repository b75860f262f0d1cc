"""Runs that were undone keep why."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; earlier runs have no reason."""
    op.add_column("ingestion_run", sa.Column("reason", sa.Text(), nullable=False, server_default=sa.text("''")))
