"""Settings of understanding."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class UnderstandSettings(BaseModel):
    """What is done with a question before it is searched. Whatever a step finds is shown in the trace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    glossary: bool = True
    """Whether synonyms of the glossary are searched beside the words of the question."""
    abbreviations: bool = True
    """Whether short and full names that documents explain are searched beside each other."""
    spelling: bool = True
    """Whether a word that no document has is searched with the nearest one that several have."""
    filters: bool = True
    """Whether year, department, version and kind of document are read from the question."""
    clarify: bool = True
    """Whether the asker is asked which of several things is meant, where the documents answer each otherwise."""
    expansion_weight: float = Field(default=0.7, ge=0, le=4)
    """What words beside those of the question count, as a share of what they stand for."""
    step_seconds: float = Field(default=2.0, gt=0, le=600)
    """Deadline of one step. A step that misses it counts as having found nothing."""
    model: Literal["auto", "always", "off"] = "auto"
    """Whether a configured language model may be asked for the question in other words: auto asks where the first
    search found nothing that speaks clearly to the question, or where several things are asked; always asks every
    time but for small talk."""
    model_seconds: float = Field(default=8.0, gt=0, le=600)
    """Deadline of one such step, the repair of a malformed reply included. Late is as if it had said nothing."""
    model_below: float = Field(default=0.5, ge=0, le=1)
    """Relevance of the best chunk below which `auto` asks."""
    rewrites: int = Field(default=3, ge=0, le=5)
    """Other wordings of the question that are searched beside it."""
    hyde: bool = True
    """Whether a passage as it might stand in the answering document is searched too (HyDE)."""
    step_back: bool = True
    """Whether a more general question is searched too."""
    parts: int = Field(default=4, ge=0, le=6)
    """Simpler questions into which one that asks for several things is taken apart at most; 0 for never."""
    part_depth: int = Field(default=2, ge=1, le=3)
    """How many of them in a row may each need the answer of the one before."""
    variant_weight: float = Field(default=0.3, ge=0, le=4)
    """What the best chunk of other wordings adds, as a share of the best fused score; all wordings together."""
    part_weight: float = Field(default=0.6, ge=0, le=4)
    """What the best chunk of each simpler question adds, likewise."""
    standalone: bool = True
    """Whether a configured language model completes a follow-up question that the rules cannot."""
