"""Readers of answer sets, one layout a file; the layout shows in the names of a folder's files.

A reader returns an AnswerSet. Sets whose questions bring documents of their own are pooled into one corpus, written
once, and every question is asked of its own documents only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.answers.items import AnswerSet
from kaijuan.evals.answers.sets import beir, ramdocs, rgb, tatqa, unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How a set shall be read."""

    corpora: Path
    """Folder for the corpora that are made."""
    over: Path | None = None
    """Folder whose corpus is asked, for questions without documents."""
    withheld: bool = False
    """Whether to ask each answerable question once more without the documents that answer it."""


LAYOUTS: Mapping[str, Callable[[Path, Wishes], AnswerSet]] = MappingProxyType(
    {
        "queries.jsonl": lambda folder, wishes: beir.read(folder, withheld=wishes.withheld),
        "ramdocs*.jsonl": lambda folder, wishes: ramdocs.read(folder, wishes.corpora),
        "tatqa*.jsonl": lambda folder, wishes: tatqa.read(folder, wishes.corpora),
        "zh_refine.jsonl": lambda folder, wishes: rgb.read(folder, wishes.corpora),
        "??_fact.jsonl": lambda folder, wishes: rgb.read(folder, wishes.corpora),
        "zh_int.jsonl": lambda folder, wishes: rgb.read(folder, wishes.corpora),
        "questions.jsonl": lambda folder, wishes: unanswered.read(folder, wishes.over),
    }
)
"""Name of a file that shows the layout, and its reader; the first that is there counts."""
_SPLITS = ("*/queries.jsonl", "v*/*/queries.jsonl")
"""Where a set made by `kaijuan eval make` has its parts."""
_TAKES_OVER = "questions.jsonl"


def load(folder: Path, wishes: Wishes) -> AnswerSet:
    """Read a set; EvalDataError where the folder has no known layout, or what is in it is wrong."""
    if not folder.is_dir():
        raise EvalDataError(f"There is no folder {folder}.", hint="Name the folder that holds the set.")
    found = next((name for name in LAYOUTS if any(folder.glob(name))), None)
    if found is None and any(next(folder.glob(pattern), None) for pattern in _SPLITS):
        found = "queries.jsonl"  # whose reader names the splits
    if found is None:
        names = ", ".join(LAYOUTS)
        raise EvalDataError(f"{folder} holds no answer set.", hint=f"A set is known by one of these files: {names}.")
    if wishes.over is not None and found != _TAKES_OVER:
        raise UsageError(
            f"{folder} has documents of its own.", hint="--over is for questions without documents (questions.jsonl)."
        )
    return LAYOUTS[found](folder, wishes)
