"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "tenant",
        sa.Column("id", WORD, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenant")),
    )
    op.create_table(
        "knowledge_base",
        sa.Column("id", WORD, nullable=False),
        sa.Column("tenant_id", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("space", WORD, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_knowledge_base_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_base")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_knowledge_base_tenant_id_name")),
    )
    op.create_table(
        "acl_binding",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("resource", WORD, nullable=False),
        sa.Column("principal", WORD, nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_acl_binding_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "resource", "principal", name=op.f("pk_acl_binding")),
    )
    op.create_table(
        "document",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("source", WORD, nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_document_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("kb_id", "source", name=op.f("uq_document_kb_id_source")),
    )
    op.create_table(
        "ingestion_run",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_ingestion_run_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ingestion_run")),
        sa.UniqueConstraint("kb_id", "number", name=op.f("uq_ingestion_run_kb_id_number")),
    )
    op.create_table(
        "lease",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("owner", WORD, nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_lease_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", name=op.f("pk_lease")),
    )
    op.create_table(
        "outbox",
        sa.Column("sequence", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("change", sa.String(), nullable=False),
        sa.Column("snapshot", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_outbox_kb_id")),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_outbox_kb_id_sequence"), "outbox", ["kb_id", "sequence"], unique=False)
    op.create_table(
        "snapshot",
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("run_id", WORD, nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_snapshot_kb_id")),
        sa.PrimaryKeyConstraint("kb_id", "number", name=op.f("pk_snapshot")),
    )
    op.create_table(
        "trace",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_trace_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trace")),
    )
    op.create_index(op.f("ix_trace_kb_id_created_at"), "trace", ["kb_id", "created_at"], unique=False)
    op.create_table(
        "document_version",
        sa.Column("id", WORD, nullable=False),
        sa.Column("document_id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("run_id", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", WORD, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("original_hash", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("valid_from", sa.Integer(), nullable=False),
        sa.Column("valid_to", sa.Integer(), nullable=False),
        sa.Column("children", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_document_version_document_id")),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_document_version_kb_id")),
        sa.ForeignKeyConstraint(["run_id"], ["ingestion_run.id"], name=op.f("fk_document_version_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_version")),
        sa.UniqueConstraint("document_id", "number", name=op.f("uq_document_version_document_id_number")),
    )
    op.create_index(
        op.f("ix_document_version_kb_id_source_number"), "document_version", ["kb_id", "source", "number"], unique=False
    )
    op.create_index(op.f("ix_document_version_kb_id_valid_to"), "document_version", ["kb_id", "valid_to"], unique=False)
    op.create_index(op.f("ix_document_version_run_id"), "document_version", ["run_id"], unique=False)
    op.create_table(
        "ingestion_item",
        sa.Column("sequence", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_id", WORD, nullable=False),
        sa.Column("source", WORD, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("version_id", WORD, nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["ingestion_run.id"], name=op.f("fk_ingestion_item_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_ingestion_item")),
    )
    op.create_index(op.f("ix_ingestion_item_run_id"), "ingestion_item", ["run_id"], unique=False)
    op.create_table(
        "block",
        sa.Column("id", WORD, nullable=False),
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("title_path", sa.Text(), nullable=False),
        sa.Column("pages", sa.Text(), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=True),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["document_version.id"], name=op.f("fk_block_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_block")),
    )
    op.create_index(op.f("ix_block_version_id_start_stop"), "block", ["version_id", "start", "stop"], unique=False)
    op.create_table(
        "chunk",
        sa.Column("id", WORD, nullable=False),
        sa.Column("version_id", WORD, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("parent_id", WORD, nullable=True),
        sa.Column("title_path", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("strategy", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["document_version.id"], name=op.f("fk_chunk_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk")),
    )
    op.create_index(op.f("ix_chunk_version_id_start"), "chunk", ["version_id", "start"], unique=False)
