"""Settings of single routes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RoutesSettings(BaseModel):
    """Which routes a search takes besides meaning (dense) and words (lexical), and how long each may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dense_k: int = Field(default=0, ge=0, le=2000)
    """Chunks asked of the dense route; 0 is `retrieve.route_k`."""
    dense_seconds: float = Field(default=0.0, ge=0, le=3600)
    """Deadline of the dense route with the embedding of the question; 0 is the sum of the two in `[retrieve]`."""
    lexical_k: int = Field(default=0, ge=0, le=2000)
    """Chunks asked of the lexical route; 0 is `retrieve.route_k`."""
    lexical_seconds: float = Field(default=0.0, ge=0, le=3600)
    """Deadline of the lexical route; 0 is `retrieve.route_seconds`."""
    exact: bool = True
    """Whether chunks that hold an identifier of the question to the letter are looked for by themselves."""
    exact_k: int = Field(default=20, ge=1, le=2000)
    """Chunks asked of the exact route."""
    exact_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the exact route."""
    exact_weight: float = Field(default=1.0, ge=0, le=8)
    """What it adds to the fused score, which is 1 for the best chunk of both main routes."""
    document: bool = False
    """Whether documents whose title or description the question names are searched by themselves."""
    document_k: int = Field(default=10, ge=1, le=2000)
    """Chunks asked of the document route."""
    document_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the document route."""
    document_weight: float = Field(default=0.2, ge=0, le=8)
    """What the document route adds to the fused score at most."""
    document_quota: int = Field(default=3, ge=1, le=100)
    """Chunks of one document that this route may bring."""
    faq: bool = False
    """Whether pairs of question and answer are searched by themselves, where the base holds any."""
    faq_k: int = Field(default=10, ge=1, le=2000)
    """Chunks asked of the FAQ route."""
    faq_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the FAQ route."""
    faq_weight: float = Field(default=0.2, ge=0, le=8)
    """What the FAQ route adds to the fused score at most."""
    tags: bool = False
    """Whether documents with a keyword or tag that stands in the question are searched by themselves."""
    tags_k: int = Field(default=10, ge=1, le=2000)
    """Chunks asked of the tag route."""
    tags_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the tag route."""
    tags_weight: float = Field(default=0.2, ge=0, le=8)
    """What the tag route adds to the fused score at most."""
    graph_k: int = Field(default=10, ge=1, le=2000)
    """Chunks asked of the graph route."""
    graph_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the graph route."""
    graph_weight: float = Field(default=0.2, ge=0, le=8)
    """What the graph adds, where one is built and asked."""
    memory_k: int = Field(default=10, ge=1, le=2000)
    """Chunks asked of the memory route."""
    memory_seconds: float = Field(default=2.0, gt=0, le=3600)
    """Deadline of the memory route."""
    memory_weight: float = Field(default=0.2, ge=0, le=8)
    """What the memory adds, where one is kept and asked."""
    feedback: bool = False
    """Whether the words of the first chunks found are searched too (pseudo-relevance feedback)."""
    feedback_chunks: int = Field(default=5, ge=1, le=50)
    """Chunks whose words are taken."""
    feedback_terms: int = Field(default=10, ge=1, le=100)
    """Words that are taken of them."""
    feedback_weight: float = Field(default=0.3, ge=0, le=4)
    """What these words count together, as a share of the question's own."""
    breaker_failures: int = Field(default=3, ge=1, le=1000)
    """Failures in a row after which a route is left out for a while."""
    breaker_seconds: float = Field(default=30.0, ge=0, le=86_400)
    """How long it is left out before it is tried again."""
