"""Settings of understanding."""

from __future__ import annotations

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
    expansion_weight: float = Field(default=0.7, ge=0, le=4)
    """What words beside those of the question count, as a share of what they stand for."""
    step_seconds: float = Field(default=2.0, gt=0, le=600)
    """Deadline of one step. A step that misses it counts as having found nothing."""
