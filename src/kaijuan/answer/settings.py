"""Settings of the answer room."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AnswerSettings(BaseModel):
    """How answers are put together from passages. Defaults are measured by bench/fit_sufficiency.py."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passages: int = Field(default=8, ge=1, le=50)
    """Passages read, best first."""
    sentences: int = Field(default=3, ge=1, le=20)
    """Most sentences in an answer to one question."""
    candidates: int = Field(default=24, ge=1, le=500)
    """Sentences embedded for one answer, chosen by words and rank."""
    keep_ratio: float = Field(default=0.8, ge=0, le=1)
    """A further sentence needs this share of the best one's score."""
    longest_unit: int = Field(default=600, ge=50, le=5000)
    """Characters of the longest quote; longer sentences are cut at a clause or word."""
    longest_list: int = Field(default=400, ge=0, le=5000)
    """Characters up to which a list with its lead-in, or a piece of code, is quoted whole."""
    refuse_below: float | None = Field(default=None, ge=0, le=1)
    """Probability of sufficient evidence under which the answer is a refusal; None takes the fitted threshold."""
    supplement_seconds: float = Field(default=2.0, ge=0, le=60)
    """Time for further searches where the first did not find enough: at most two, each in another way; 0 makes none."""
    context_tokens: int = Field(default=3000, ge=200)
    """Tokens of passages that a language model is shown for one answer, if it reads as many."""
    repairs: int = Field(default=1, ge=0, le=2)
    """Rounds in which a model may write sentences anew that their sources do not carry; what is left is left out."""
    model_from: float = Field(default=0.1, ge=0, le=1)
    """Probability of sufficient evidence from which a model is asked although the rules alone would refuse."""
    token_budget: int = Field(default=60_000, ge=1000)
    """Most tokens that one answer may take, prompts and replies together."""
    persona: str = Field(default="", max_length=500)
    """Who a model speaks as, and in which tone, in a sentence or two; facts come from the documents all the same."""
