"""Quality of every retrieval stage on corpora in BEIR layout, as one JSON document: `kaijuan eval retrieval` on many.

    python -m bench.retrieval ../shared/data/cmrc2018_zh ... [--home DIR] [--limit N] [--journal FILE]

In a fresh home unless one is given, so that taking the corpora in is measured too. A journal keeps each set's row as
soon as it is measured.
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
from kaijuan.config import Config
from kaijuan.evals.retrieval import Options, measure
from kaijuan.evals.sets import load_set
from kaijuan.evals.summary import summary_of


def measured(folder: Path, home: Path, options: Options) -> dict[str, Any]:
    """Ask one set, and say on standard error that it is done."""
    data = load_set(folder)
    summary = summary_of(asyncio.run(measure(data, home, Config(), options)), data)
    print(f"{data.name}: nDCG@10 {summary['metrics']['ndcg@10']}", file=sys.stderr, flush=True)
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args()
    journal, options = Journal(given.journal), Options(limit=given.limit)
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        rows = [
            journal.row(f"{folder.name}:{given.limit}", partial(measured, folder, home, options))
            for folder in given.sets
        ]
    print(json.dumps({"machine": machine(), "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
