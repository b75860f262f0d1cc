"""The catalog's tables of documents. What changes here needs a migration beside it; a test holds the two together."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from kaijuan.stores.catalog import schema
from kaijuan.stores.catalog import tables_of_people as _  # noqa: F401 whoever knows these tables knows those too

WORD, metadata = schema.WORD, schema.metadata

tenant = Table("tenant", metadata, Column("id", WORD, primary_key=True), Column("created_at", Double, nullable=False))

knowledge_base = Table(
    "knowledge_base",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("tenant_id", WORD, ForeignKey("tenant.id"), nullable=False),
    Column("name", WORD, nullable=False),
    Column("head", Integer, nullable=False),
    Column("policy_version", Integer, nullable=False),
    Column("space", WORD, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("tenant_id", "name"),
)

document = Table(
    "document",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("source", WORD, nullable=False),
    # Kept here and not counted from the versions, so that dropping old versions never gives a number twice.
    Column("last_number", Integer, nullable=False),
    UniqueConstraint("kb_id", "source"),
)

ingestion_run = Table(
    "ingestion_run",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("target", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("finished_at", Double),
    # Runs of one base are numbered: two of them may begin within one tick of the clock.
    Column("number", Integer, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    # What was asked for and how far it is, as JSON, and who wants it to stop.
    Column("request", Text, nullable=False, server_default=text("''")),
    Column("progress", Text, nullable=False, server_default=text("''")),
    Column("cancelled", Text, nullable=False, server_default=text("''")),
    UniqueConstraint("kb_id", "number"),
)

ingestion_item = Table(
    "ingestion_item",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("run_id", WORD, ForeignKey("ingestion_run.id", ondelete="CASCADE"), nullable=False),
    Column("source", WORD, nullable=False),
    Column("state", String, nullable=False),
    Column("code", String, nullable=False),
    Column("message", Text, nullable=False),
    Column("version_id", WORD),
    Index(None, "run_id"),
)

document_version = Table(
    "document_version",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("document_id", WORD, ForeignKey("document.id"), nullable=False),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("run_id", WORD, ForeignKey("ingestion_run.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("source", WORD, nullable=False),
    Column("title", Text, nullable=False),
    Column("kind", String, nullable=False),
    Column("content_hash", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("text_hash", String, nullable=False),
    Column("original_hash", String, nullable=False),
    Column("language", String, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("warnings", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("valid_from", Integer, nullable=False),
    Column("valid_to", Integer, nullable=False),
    # Children are counted once, at staging, so that the size of a snapshot is a sum over versions.
    Column("children", Integer, nullable=False),
    Column("signature", LargeBinary),
    UniqueConstraint("document_id", "number"),
    Index(None, "kb_id", "source", "number"),
    Index(None, "kb_id", "valid_to"),
    Index(None, "run_id"),
)

block = Table(
    "block",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("version_id", WORD, ForeignKey("document_version.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("level", Integer, nullable=False),
    Column("title_path", Text, nullable=False),
    Column("pages", Text, nullable=False),
    Column("lines", LargeBinary),
    Column("language", String, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("place", Text, nullable=False, server_default=text("''")),
    Column("syntax", String, nullable=False, server_default=text("''")),
    Column("cells", LargeBinary),
    Column("digest", WORD),
    Index(None, "version_id", "start", "stop"),
    Index(
        None,
        "digest",
        "version_id",
        sqlite_where=text("digest IS NOT NULL"),
        postgresql_where=text("digest IS NOT NULL"),
    ),
)

chunk = Table(
    "chunk",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("version_id", WORD, ForeignKey("document_version.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("level", String, nullable=False),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("parent_id", WORD),
    Column("title_path", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("strategy", String, nullable=False),
    Column("mark", String, nullable=False, server_default=text("''")),
    Column("origin", String, nullable=False, server_default=text("'auto'")),
    Column("search_text", Text, nullable=False, server_default=text("''")),
    Column("context", Text, nullable=False, server_default=text("''")),
    Index(None, "version_id", "start"),
)

chunk_work = Table(
    "chunk_work",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("run_id", WORD, ForeignKey("ingestion_run.id"), nullable=False),
    Column("document_id", WORD, nullable=False),
    # Not a foreign key: what people did outlives the version that they did it to.
    Column("version_id", WORD, nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("quote", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
    Column("cuts", Text, nullable=False),
    Column("said", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("valid_from", Integer, nullable=False),
    Column("valid_to", Integer, nullable=False),
    Column("ended_by", Text, nullable=False),
    Column("ended_at", Double),
    Index(None, "kb_id", "document_id"),
    Index(None, "run_id"),
)

chunk_work_miss = Table(
    "chunk_work_miss",
    metadata,
    Column("version_id", WORD, ForeignKey("document_version.id", ondelete="CASCADE"), primary_key=True),
    Column("work_id", WORD, primary_key=True),
    Column("why", Text, nullable=False),
)
"""Work that a version could not take over, because the passage had changed."""

acl_binding = Table(
    "acl_binding",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("resource", WORD, primary_key=True),
    Column("principal", WORD, primary_key=True),
    Column("role", String, nullable=False, server_default=text("'reader'")),
)
"""A document with a binding to the principal "" is governed by its own bindings, even when no other is left."""

snapshot = Table(
    "snapshot",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("created_at", Double, nullable=False),
    Column("run_id", WORD, nullable=False),
    Column("documents", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    # A snapshot that is no longer kept stays as a line, so that its time is not taken for that of an earlier one.
    Column("dropped_at", Double),
)

snapshot_tag = Table(
    "snapshot_tag",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("name", WORD, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("note", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

source_mark = Table(
    "source_mark",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("source", WORD, primary_key=True),
    Column("mark", Text, nullable=False),
    Column("fingerprint", String, nullable=False),
)
"""How a file or page looked from outside (size and times, ETag) when it was last taken in whole."""

embedding_space = Table(
    "embedding_space",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("name", WORD, primary_key=True),
    Column("space", WORD, nullable=False),
    Column("settings", Text, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("share", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("note", Text, nullable=False, server_default=text("''")),
    Column("answers", Integer, nullable=False, server_default=text("0")),
)

model_trial = Table(
    "model_trial",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("model", WORD, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("body", Text, nullable=False),
    Index(None, "kb_id", "model", "created_at"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("version_id", WORD, nullable=False),
    Column("change", String, nullable=False),
    Column("snapshot", Integer, nullable=False),
    Index(None, "kb_id", "sequence"),
    # A number used twice would let a late `mark_applied` drop an entry that nobody applied.
    sqlite_autoincrement=True,
)

lease = Table(
    "lease",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("owner", WORD, nullable=False),
    Column("expires_at", Double, nullable=False),
)

trace = Table(
    "trace",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("body", Text, nullable=False),
    Index(None, "kb_id", "created_at"),
)

duplicate = Table(
    "duplicate",
    metadata,
    Column("version_id", WORD, ForeignKey("document_version.id", ondelete="CASCADE"), primary_key=True),
    # Not foreign keys: what was decided stays to be read when the other version is dropped.
    Column("other_id", WORD, nullable=False),
    Column("group_id", WORD, nullable=False),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("document_id", WORD, nullable=False),
    Column("other_document_id", WORD, nullable=False),
    Column("kind", String, nullable=False),
    Column("similarity", Double, nullable=False),
    Column("reason", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("history", Text, nullable=False),
    Index(None, "kb_id"),
)

boilerplate = Table(
    "boilerplate",
    metadata,
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), primary_key=True),
    Column("digest", WORD, primary_key=True),
    Column("valid_from", Integer, primary_key=True, autoincrement=False),
    Column("valid_to", Integer, nullable=False),
    Column("documents", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("history", Text, nullable=False),
)
"""Decisions about paragraphs that many documents share; their words stand in the documents alone."""

review = Table(
    "review",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("source", WORD, nullable=False),
    Column("content_hash", String, nullable=False),
    Column("original_hash", String, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("history", Text, nullable=False),
    Index(None, "kb_id", "state"),
    Index(None, "kb_id", "source"),
)

glossary = Table(
    "glossary",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("term", WORD, nullable=False),
    Column("state", String, nullable=False),
    # Synonyms, author, time and note of every change; the last is what holds.
    Column("history", Text, nullable=False),
    Index(None, "kb_id"),
)

abbreviation = Table(
    "abbreviation",
    metadata,
    Column("version_id", WORD, ForeignKey("document_version.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("short", Text, nullable=False),
    Column("long", Text, nullable=False),
    # By these it is looked up: the folded short name, and how the folded full name begins.
    Column("short_key", WORD, nullable=False),
    Column("long_head", WORD, nullable=False),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Index(None, "short_key"),
    Index(None, "long_head"),
)

conversation = Table(
    "conversation",
    metadata,
    Column("id", WORD, primary_key=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    Column("owner", WORD, nullable=False),
    Column("name", WORD, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("summary", Text, nullable=False),
    Column("summed", Integer, nullable=False),
    Column("summary_documents", Text, nullable=False),
    Column("facts", Text, nullable=False),
    UniqueConstraint("kb_id", "owner", "name"),
)

conversation_turn = Table(
    "conversation_turn",
    metadata,
    Column("conversation_id", WORD, ForeignKey("conversation.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("question", Text, nullable=False),
    Column("standalone", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("answer", Text, nullable=False),
    Column("documents", Text, nullable=False),
    Column("titles", Text, nullable=False),
    Column("trace_id", String, nullable=False),
    Column("body", Text, nullable=False),
)

job = Table(
    "job",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", WORD, nullable=False, unique=True),
    Column("kb_id", WORD, ForeignKey("knowledge_base.id"), nullable=False),
    # What it is about: jobs of one key are done one after the other, in order.
    Column("key", WORD, nullable=False),
    Column("request", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("owner", WORD, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("reason", Text, nullable=False),
    Column("run_id", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Index(None, "kb_id", "state"),
    sqlite_autoincrement=True,
)
