"""The layouts that a set can be exported in. Apart from the writing of them, so that commands are quick to start."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """What is written."""

    BEIR = "beir"
    JSONL = "jsonl"
    CSV = "csv"
    RAGAS = "ragas"
