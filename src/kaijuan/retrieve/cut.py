"""Where evidence ends: by score relative to the best, by relevance, by number. Never padded up to a number."""

from __future__ import annotations

from kaijuan.retrieve.fuse import Fused
from kaijuan.retrieve.settings import RetrieveSettings

USED = "used"


def fate(candidate: Fused, best: float, relevance: float, settings: RetrieveSettings) -> str:
    """Return "used", or why the candidate is no evidence, in words that people can read."""
    if candidate.score < settings.cut_ratio * best:
        share = candidate.score / best if best else 0.0
        return f"cut: score {share:.2f} of the best, below {settings.cut_ratio:g}"
    if relevance < settings.cut_relevance:
        return f"cut: relevance {relevance:.3f}, below {settings.cut_relevance:g}"
    return USED


def weak(evidence: float | None, settings: RetrieveSettings) -> str:
    """Return "used", or why a candidate is no evidence by what the reranker says of it."""
    if evidence is not None and evidence < settings.cut_evidence:
        return f"cut: evidence {evidence:.3f}, below {settings.cut_evidence:g}"
    return USED


def band(evidence: float | None, settings: RetrieveSettings) -> str:
    """Return "evidence", "supporting" or "weak" (spec G4); nothing where no reranker could tell."""
    if evidence is None:
        return ""
    if evidence >= settings.evidence_from:
        return "evidence"
    return "supporting" if evidence >= settings.supporting_from else "weak"
