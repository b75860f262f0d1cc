"""Where the rules say that a language model's other words would pay, as one JSON document; no model is asked.

    python -m bench.routing ../shared/data/mtrag_un_en ... [--home DIR] [--limit N]

For every threshold of `understanding.model_below`: how many questions a model would be asked about because nothing
found speaks clearly to them, and how many of the questions that found nothing relevant among the first three passages
are among these. Also how many questions would be taken apart, and how many would be asked back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from kaijuan.config import Config
from kaijuan.evals.bases import open_base
from kaijuan.evals.retrieval import name_of, sample
from kaijuan.evals.sets import load_set
from kaijuan.retrieve.understanding.kinds import kinds_of
from kaijuan.retrieve.understanding.router import asks_several

THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHOWN = 3
"""Passages among which a relevant one counts as found."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One question: the relevance of the best chunk, whether it was found, and what else the rules say."""

    best: float
    found: bool
    several: bool
    asked_back: bool


async def seen(folder: Path, home: Path, limit: int) -> list[Seen]:
    """Ask the questions of one set."""
    data = load_set(folder)
    rows = []
    async with open_base(data, home, Config()) as base:
        for query in sample(data.judged, limit):
            result = await base.engine.search(query.text, k=10, use_model=False)
            names = {name_of(passage.source) for passage in result.passages[:SHOWN]}
            clarification = result.trace.understanding.clarification
            rows.append(
                Seen(
                    best=max((one.relevance for one in result.trace.candidates), default=0.0),
                    found=not names.isdisjoint(data.grades[query.id]),
                    several=asks_several(query.text, kinds_of(query.text)),
                    asked_back=clarification is not None and clarification.needed,
                )
            )
    print(f"{data.name}: {len(rows)} questions", file=sys.stderr, flush=True)
    return rows


def summed(rows: Sequence[Seen]) -> dict[str, Any]:
    """Return what each threshold would ask and catch."""
    missed = [row for row in rows if not row.found]
    return {
        "questions": len(rows),
        "not found": len(missed),
        "asked": {str(level): sum(row.best < level for row in rows) for level in THRESHOLDS},
        "of these not found": {str(level): sum(row.best < level for row in missed) for level in THRESHOLDS},
        "taken apart": sum(row.several for row in rows),
        "asked back": sum(row.asked_back for row in rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    given = parser.parse_args()
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        found = {folder.name: summed(asyncio.run(seen(folder, home, given.limit))) for folder in given.sets}
    print(json.dumps({"machine": machine(), "sets": found}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
