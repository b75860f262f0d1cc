"""Settings of the index room's own steps."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class IndexSettings(BaseModel):
    """How chunks become points. A change of weights or of `prefix_tokens` takes effect with the next rebuild."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embed_batch: int = Field(default=64, ge=1, le=4096)
    """Texts given to the embedder in one call."""
    group_chunks: int = Field(default=256, ge=1, le=65536)
    """Points written in one call; what is held in memory at a time."""
    prefix_tokens: int = Field(default=64, ge=0, le=2048)
    """Most tokens that title and headings may add to the text that is embedded."""
    title_weight: float = Field(default=0.75, ge=0.0, le=8.0)
    """What a word of the document's title counts in BM25, where a word of the text counts 1."""
    path_weight: float = Field(default=0.75, ge=0.0, le=8.0)
    """What a word of the headings above a chunk counts."""
    tags_weight: float = Field(default=0.5, ge=0.0, le=8.0)
    """What a word of the document's keywords, tags and other names (aliases) counts."""
    description_weight: float = Field(default=0.25, ge=0.0, le=8.0)
    """What a word of the document's description, summary or subject counts."""
    context_weight: float = Field(default=0.5, ge=0.0, le=8.0)
    """What a word of a chunk's description or context counts."""
    grace_seconds: float = Field(default=2.0, ge=0.0, le=3600)
    """How long the old index space stays after a rebuild, for searches that began in it."""
