"""The objects that a language model is asked for about a question. Small models forget brackets: some slips pass."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class OneQuestion(_Form):
    """A question, "" for none."""

    question: str


class Questions(_Form):
    """The question in other words."""

    questions: list[str] = Field(max_length=20)


class OnePassage(_Form):
    """What a document might say."""

    passage: str


class PartForm(_Form):
    """One sub-question. `after` holds the numbers, from 1, of those whose answers it needs."""

    question: str
    after: list[int] = Field(default_factory=list, max_length=20)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, given: Any) -> Any:
        return {"question": given} if isinstance(given, str) else given

    @field_validator("after", mode="before")
    @classmethod
    def _single(cls, given: Any) -> Any:
        if given is None:
            return []
        return [given] if isinstance(given, int) else given


class PartsForm(_Form):
    """A question taken apart; none where it is simple."""

    parts: list[PartForm] = Field(max_length=20)
