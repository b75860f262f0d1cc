"""How well the checker of claims tells true from wrong, on pairs made from real sentences, as one JSON document.

    python -m bench.checking [--zh FOLDER ...] [--en FOLDER ...] [--each N] [--seed N] [--slips N]

Counted on the half of the documents that nothing was tuned on. Without folders the bundled samples are drawn from.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.machine import machine
from kaijuan.config import Config
from kaijuan.evals.checking.material import material_of
from kaijuan.evals.checking.pairs import Pair, make_pairs
from kaijuan.evals.checking.scores import counted, slips, verdicts_of
from kaijuan.verbs.embedders import make_embedder


async def measured(pairs: dict[str, list[Pair]], shown: int) -> dict[str, Any]:
    """Check every pair; slips go to standard error, for people to look at."""
    languages: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        embedder = make_embedder(Config().embedder, Path(cache))
        for language, some in pairs.items():
            start = time.process_time()
            verdicts = await verdicts_of(some, embedder)
            seconds = time.process_time() - start
            languages[language] = {
                "made": len(some),
                "documents": len({pair.document for pair in some}),
                "cpu_ms_a_claim": round(1000 * seconds / max(1, len(some)), 1),
                "report": counted(*_half(some, verdicts, "report")),
                "tune": counted(*_half(some, verdicts, "tune"))["all"],
            }
            for pair, verdict in slips(some, verdicts)[:shown]:
                print(f"{pair.kind} {pair.supported} {verdict}\n  {pair.claim}\n  {pair.evidence}", file=sys.stderr)
        await embedder.close()
    return languages


def _half(pairs: list[Pair], verdicts: list[Any], half: str) -> tuple[list[Pair], list[Any]]:
    kept = [(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True) if pair.half == half]
    return [pair for pair, _ in kept], [verdict for _, verdict in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--zh", nargs="*", type=Path, default=[])
    parser.add_argument("--en", nargs="*", type=Path, default=[])
    parser.add_argument("--each", type=int, default=150)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slips", type=int, default=0)
    given = parser.parse_args()
    folders = {"zh": given.zh, "en": given.en}
    pairs = {name: make_pairs(material_of(some, name), given.each, given.seed) for name, some in folders.items()}
    languages = asyncio.run(measured(pairs, given.slips))
    print(json.dumps({"machine": machine(), "seed": given.seed, "languages": languages}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
