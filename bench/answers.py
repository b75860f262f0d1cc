"""Quality of extractive answers and refusals through the whole engine, as one JSON document.

    python -m bench.answers ../shared/data/cmrc2018_zh ... --strangers ../shared/data/simpleqa_zh/questions.jsonl
        [--home DIR] [--limit N]

Questions of each set are asked with their documents there (answerable), with their documents filtered away (gone),
and beside them the set's own unanswerable ones (own) and those of another set (strangers).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from bench.fit_sufficiency import Query, queries_of, rows
from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.answer.results import Answer, Status
from kaijuan.core.filters import Filter, In, Not
from kaijuan.core.text.normalise import normalise

SEED = 7
LONGEST = 60
"""Characters of the longest expected answer that a sentence is searched for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one question. `right` says of each sentence whether it holds the expected answer."""

    kind: str
    status: Status
    right: tuple[bool, ...] | None
    beyond_search_ms: float


def plain(text: str) -> str:
    """Return text as answers are compared: folded, without blanks."""
    return normalise(text)[0].replace(" ", "")


def judge(kind: str, query: Query, given: Answer) -> Outcome:
    """Compare an answer with what was expected."""
    expected = [plain(answer) for answer in query.answers if len(answer) < LONGEST]
    right = tuple(any(answer in plain(one.text) for answer in expected) for one in given.sentences)
    return Outcome(
        kind=kind,
        status=given.status,
        right=right if expected and kind == "answerable" and given.sentences else None,
        beyond_search_ms=given.timings_ms.get("answer", 0.0),
    )


def told(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the shares of one set."""
    out: dict[str, Any] = {}
    for kind in sorted({one.kind for one in outcomes}):
        mine = [one for one in outcomes if one.kind == kind]
        answered = fmean(one.status in (Status.ANSWERED, Status.PARTIAL) for one in mine)
        out[kind] = {"questions": len(mine), "answered": round(answered, 3)}
    compared = [one.right for one in outcomes if one.right is not None]
    if compared:
        out["answer_contained"] = round(fmean(any(one) for one in compared), 3)
        out["sentence_precision"] = round(fmean(fmean(one) for one in compared), 3)
        out["sentences"] = round(fmean(len(one) for one in compared), 2)
    times = sorted(one.beyond_search_ms for one in outcomes)
    out["beyond_search_ms_p50"] = round(times[len(times) // 2], 1)
    return out


async def measure(folder: Path, home: Path, strangers: Sequence[str], limit: int) -> dict[str, Any]:
    """Ingest the corpus (kept between runs in `home`) and ask."""
    good, bad = queries_of(folder)
    chance = random.Random(SEED)
    chance.shuffle(good)
    chance.shuffle(bad)
    others = [Query(text=text, gold=frozenset(), answers=()) for text in chance.sample(strangers, limit // 2)]
    groups = {"answerable": good[:limit], "gone": good[limit : 2 * limit], "own": bad[:limit], "strangers": others}
    outcomes: list[Outcome] = []
    async with Kaijuan(home, folder.name) as engine:
        start = time.perf_counter()
        await engine.add([str(folder / "corpus.jsonl")])
        ingest = time.perf_counter() - start
        sources = {unquote(one.source.rpartition("#")[2]): one.source for one in await engine.list()}
        for kind, queries in groups.items():
            for query in queries:
                gone = tuple(sources[name] for name in sorted(query.gold) if name in sources)
                where: list[Filter] = [Not(In("source", gone))] if kind == "gone" else []
                outcomes.append(judge(kind, query, await engine.ask(query.text, filters=where)))
    return {"set": folder.name, "ingest_seconds": round(ingest, 1), **told(outcomes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--strangers", type=Path, required=True)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    options = parser.parse_args()
    strangers = [row["text"] for row in rows(options.strangers)]
    with TemporaryDirectory() as spare:
        home = options.home or Path(spare)
        told_all = [asyncio.run(measure(folder, home, strangers, options.limit)) for folder in options.sets]
    print(json.dumps({"machine": machine(), "sets": told_all}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
