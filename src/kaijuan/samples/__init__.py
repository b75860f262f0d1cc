"""Sample documents about an invented company, in Chinese and English, and the questions the demo asks of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuestion:
    """A question about the samples, with what a good answer shows."""

    question: str
    language: str
    source: str
    """Name of the file that answers it; "" when none does."""
    expect: str
    """Words that the answer must hold; "" for a refusal."""
    refused: bool
    """True when the documents do not say, and the right answer is to say so."""


def sample_folder() -> Path:
    """Return the folder of the sample documents: PDF, DOCX, HTML, Markdown and plain text."""
    return Path(str(files("kaijuan.samples") / "documents"))


def questions() -> tuple[SampleQuestion, ...]:
    """Return the sample questions: answerable ones first, then one that must be refused."""
    rows = json.loads((files("kaijuan.samples") / "questions.json").read_text(encoding="utf-8"))
    return tuple(SampleQuestion(**row) for row in rows)
