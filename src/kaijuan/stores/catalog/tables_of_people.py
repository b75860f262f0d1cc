"""The catalog's tables of users, groups, keys, and what they did and said. What changes here needs a migration."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, String, Table, Text

from kaijuan.stores.catalog.schema import WORD, metadata

account = Table(
    "account",
    metadata,
    Column("tenant_id", WORD, ForeignKey("tenant.id"), primary_key=True),
    Column("name", WORD, primary_key=True),
    Column("role", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("disabled_at", Double),
)

membership = Table(
    "membership",
    metadata,
    Column("tenant_id", WORD, ForeignKey("tenant.id"), primary_key=True),
    Column("group_name", WORD, primary_key=True),
    Column("user_name", WORD, primary_key=True),
    Index(None, "tenant_id", "user_name"),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("tenant_id", WORD, ForeignKey("tenant.id"), nullable=False),
    Column("user_name", WORD, nullable=False),
    Column("label", Text, nullable=False),
    # SHA-256 of the secret, which is random and long: nothing slower is needed against guessing.
    Column("digest", String, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("bases", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("revoked_at", Double),
    Column("used_at", Double),
)

audit_event = Table(
    "audit_event",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("at", Double, nullable=False),
    # Not foreign keys: what happened stays to be read whatever becomes of those it happened to.
    Column("tenant_id", WORD, nullable=False),
    Column("who", WORD, nullable=False),
    Column("key_id", WORD, nullable=False),
    Column("action", String, nullable=False),
    Column("resource", Text, nullable=False),
    Column("decision", String, nullable=False),
    Column("snapshot", Integer),
    Column("request_id", String, nullable=False),
    Column("detail", Text, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
    Index(None, "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("trace_id", WORD, nullable=False),
    Column("at", Double, nullable=False),
    Column("by", WORD, nullable=False),
    Column("verdict", String, nullable=False),
    Column("question", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index(None, "kb_id", "at"),
)
