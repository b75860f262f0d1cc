"""How right, supported and honest answers are, on many sets, as one JSON document: `kaijuan eval answers` on each.

    python -m bench.answers ../shared/data/cmrc2018_zh ... [--over DIR] [--home DIR] [--limit N] [--judge rules|model]
        [--journal FILE]

Answerable questions are asked once more without the documents that answer them. Sets that are only questions are asked
of the corpus of the folder `--over`. In a fresh home unless one is given; its settings name the model that judges. A
journal keeps each set's row as soon as it is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.journal import Journal
from bench.machine import machine
from kaijuan.config import load_config
from kaijuan.evals.answers.report import summary_of
from kaijuan.evals.answers.run import Options, measure
from kaijuan.evals.answers.sets import Wishes, load
from kaijuan.evals.bases import evals_folder


def measured(folder: Path, over: Path | None, home: Path, options: Options) -> dict[str, Any]:
    """Ask one set, and say on standard error that it is done."""
    alone = not (folder / "queries.jsonl").exists() and (folder / "questions.jsonl").exists()
    wishes = Wishes(corpora=evals_folder(home) / "corpora", over=over if alone else None, withheld=True)
    summary = summary_of(asyncio.run(measure(load(folder, wishes), home, load_config(home), options)))
    print(f"{summary['set']}: hit {summary['metrics']['hit']}", file=sys.stderr, flush=True)
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--over", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--judge", default="rules")
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args()
    journal, options = Journal(given.journal), Options(limit=given.limit, judge=given.judge)
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        rows = [
            journal.row(
                f"{folder.name}:{given.limit}:{given.judge}",
                partial(measured, folder, given.over, home, options),
            )
            for folder in given.sets
        ]
    print(json.dumps({"machine": machine(), "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
