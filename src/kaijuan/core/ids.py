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
PIECE_LENGTH = 24
"""Characters in the id of a piece: the beginning of those of all its chunks."""


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


def piece_id(document: DocumentId, level: str, words: str, nth: int = 0, said: str = "") -> ChunkId:
    """Identify a piece of a document by its words, 24 hexadecimal characters: the same in every version that has it,
    however the rest reads or is cut.

    `nth` counts, from 0, the pieces of one version with these words: equal text in two places is two pieces. `said` is
    what a piece is found by where that is all that tells it from another of the same words.
    """
    return ChunkId(stable_id("piece", document, level, words, nth, said)[:PIECE_LENGTH])


def chunk_id(piece: ChunkId, number: int) -> ChunkId:
    """Identify a piece in the version of that number: what rows and points are kept under. Begins with the piece's."""
    return ChunkId(f"{piece}{number:08x}")


def piece_of(chunk: ChunkId) -> ChunkId:
    """Return the id of the piece that a chunk is: what people are shown, and may keep."""
    return ChunkId(chunk[:PIECE_LENGTH])
