"""What an evaluation of retrieval found, question by question; every figure is computed from this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STAGES = ("dense", "lexical", "fused", "final")
"""Stages whose rankings are kept, in the order of the flow. `final` is what a reader is given."""
DEPTH = 100
"""Documents kept of each ranking."""


@dataclass(frozen=True, kw_only=True)
class QueryRun:
    """One question as it was asked. `rankings` maps each stage to document ids, best first, each once."""

    query_id: str
    kind: str
    rankings: Mapping[str, tuple[str, ...]]
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class RetrievalRun:
    """One set asked with one configuration. `set_fingerprint` names the data, `config` the settings that count."""

    set: str
    set_fingerprint: str
    documents: int
    chunks: int
    reused: bool
    """True where the corpus had been taken in by an earlier run."""
    ingest_seconds: float
    config: Mapping[str, Any]
    queries: tuple[QueryRun, ...]
    problems: tuple[str, ...] = ()
