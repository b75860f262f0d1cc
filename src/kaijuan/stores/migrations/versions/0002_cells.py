"""Blocks know their place in formats without pages, the language of code, and the cells of tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; blocks of earlier versions have none of it."""
    op.add_column("block", sa.Column("place", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.add_column("block", sa.Column("syntax", sa.String(), nullable=False, server_default=sa.text("''")))
    op.add_column("block", sa.Column("cells", sa.LargeBinary(), nullable=True))
