"""Settings of the retrieve room."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class RetrieveSettings(BaseModel):
    """How passages are found. Defaults are measured by bench/retrieval.py; docs/benchmarks.md shows the runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    route_k: int = Field(default=30, ge=1, le=2000)
    """Chunks asked of each route, raised to four times the passages wanted. More cost time; `bench/fusion.py` shows
    what they bring."""
    route_seconds: float = Field(default=5.0, gt=0, le=3600)
    """Deadline of one route. A route that misses it is dropped and shown in the trace."""
    embed_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Deadline of embedding the question, long enough to load the onboard model."""
    fusion: Literal["minmax", "rrf"] = "minmax"
    """How the two routes become one ranking: minmax adds scaled scores, rrf adds reciprocal ranks."""
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    """Share of the dense route; the lexical route has the rest."""
    rrf_k: int = Field(default=60, ge=1)
    """Rank offset of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009)."""
    cut_ratio: float = Field(default=0.2, ge=0, le=1)
    """A chunk whose fused score is below this share of the best one's is not evidence. Higher values lose relevant
    passages in the other language; `bench/fusion.py` counts what each value loses."""
    cut_relevance: float = Field(default=0.002, ge=0, le=1)
    """A chunk with less calibrated relevance is not evidence. Low: passages in another language have low values too."""
    fold_duplicates: bool = True
    """Whether equal passages of documents that are merged as duplicates are shown once, the other sources named."""
    marked_weight: float = Field(default=0.5, ge=0, le=1)
    """Factor for the score of a chunk that says next to nothing: a table of contents, a copyright line."""
    traces_kept: int = Field(default=1000, ge=0)
    """Records of answered questions kept in the catalog, newest first."""
