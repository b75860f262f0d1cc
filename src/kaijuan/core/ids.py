"""Stable ids: the same content and pipeline always give the same id, on every machine."""

from __future__ import annotations

import hashlib
from typing import NewType

KbId = NewType("KbId", str)
DocumentId = NewType("DocumentId", str)
VersionId = NewType("VersionId", str)
BlockId = NewType("BlockId", str)
ChunkId = NewType("ChunkId", str)
RunId = NewType("RunId", str)

ID_LENGTH = 32
"""Characters in an id: 128 bits in lower-case hexadecimal, so that ids sort alike as text and as UUIDs."""


def stable_id(kind: str, *parts: str | int) -> str:
    """Return 32 hexadecimal characters made from `kind` and `parts`.

    Every part is prefixed with its length, so that ("ab", "c") and ("a", "bc") differ. BLAKE2b, RFC 7693.
    """
    digest = hashlib.blake2b(digest_size=16, person=kind.encode()[:16])
    for part in parts:
        piece = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(piece).to_bytes(8, "big"))
        digest.update(piece)
    return digest.hexdigest()


def content_hash(data: bytes) -> str:
    """Return the 64-character BLAKE2b-256 hash by which blobs and contents are known."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def document_id(kb: KbId, source: str) -> DocumentId:
    """Identify a document by its knowledge base and source address."""
    return DocumentId(stable_id("document", kb, source))


def version_id(document: DocumentId, number: int, content: str, fingerprint: str) -> VersionId:
    """Identify a version. `number` keeps A -> B -> A apart: the third is not the first come back."""
    return VersionId(stable_id("version", document, number, content, fingerprint))


def block_id(version: VersionId, ordinal: int, start: int, end: int) -> BlockId:
    """Identify a block by its place in a version."""
    return BlockId(stable_id("block", version, ordinal, start, end))


def chunk_id(version: VersionId, strategy: str, level: str, start: int, end: int) -> ChunkId:
    """Identify a chunk by version, strategy and span: equal text in two places is two chunks."""
    return ChunkId(stable_id("chunk", version, strategy, level, start, end))
