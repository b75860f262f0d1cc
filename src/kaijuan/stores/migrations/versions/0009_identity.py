"""Users, groups, keys and roles; an audit log; what readers say about answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WORD = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the role of a binding, which so far was always to read, and make the tables."""
    op.add_column("acl_binding", sa.Column("role", sa.String(), nullable=False, server_default=sa.text("'reader'")))
    op.create_table(
        "account",
        sa.Column("tenant_id", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("disabled_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_account_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "name", name=op.f("pk_account")),
    )
    op.create_table(
        "membership",
        sa.Column("tenant_id", WORD, nullable=False),
        sa.Column("group_name", WORD, nullable=False),
        sa.Column("user_name", WORD, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_membership_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "group_name", "user_name", name=op.f("pk_membership")),
    )
    op.create_index(op.f("ix_membership_tenant_id_user_name"), "membership", ["tenant_id", "user_name"], unique=False)
    op.create_table(
        "api_key",
        sa.Column("id", WORD, nullable=False),
        sa.Column("tenant_id", WORD, nullable=False),
        sa.Column("user_name", WORD, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("bases", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_api_key_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
    )
    op.create_table(
        "audit_event",
        sa.Column("sequence", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("tenant_id", WORD, nullable=False),
        sa.Column("who", WORD, nullable=False),
        sa.Column("key_id", WORD, nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("snapshot", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("previous", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_audit_event")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_audit_event_tenant_id_sequence"), "audit_event", ["tenant_id", "sequence"], unique=False)
    _only_append()
    op.create_table(
        "feedback",
        sa.Column("id", WORD, nullable=False),
        sa.Column("kb_id", WORD, nullable=False),
        sa.Column("trace_id", WORD, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("by", WORD, nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["knowledge_base.id"], name=op.f("fk_feedback_kb_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
    )
    op.create_index(op.f("ix_feedback_kb_id_at"), "feedback", ["kb_id", "at"], unique=False)


def _only_append() -> None:
    """Let the database itself refuse to change or drop lines of the log."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_event_no_{verb.lower()} BEFORE {verb} ON audit_event "
                "BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END"
            )
    elif op.get_bind().dialect.name == "postgresql":
        for verb in ("UPDATE", "DELETE"):
            op.execute(f"CREATE RULE audit_event_no_{verb.lower()} AS ON {verb} TO audit_event DO INSTEAD NOTHING")
