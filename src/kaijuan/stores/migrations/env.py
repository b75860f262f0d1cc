"""Alembic's entry: runs the steps on the connection that `bring_up_to_date` hands over."""

from __future__ import annotations

from alembic import context

from kaijuan.stores.catalog.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
