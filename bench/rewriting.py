"""Follow-up questions made to stand by themselves, as one JSON document: what rules and a language model bring.

    python -m bench.rewriting --data ../shared/data --home DIR --url http://127.0.0.1:8081/v1 --model local
        [--sample 30] [--seconds 600] [--journal FILE]

`mtrag_un_en` has judged documents: recall@10 of the last turn as it is and made standalone. `mtrag_rewrite_en` and
`cast_rewrite_en` have reference rewrites and no documents, so that what the reference finds first stands for what is
relevant: the share of its first ten documents in the corpora of `mtrag_un_en` and `clapnq_en` that each way finds among
its own first ten. First turns are left out; the sample is by hash of the id. With a journal a stopped run goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.journal import Journal
from bench.machine import machine
from kaijuan.answer.conversation.completing import complete
from kaijuan.config import Config
from kaijuan.core.chat_settings import ChatSettings
from kaijuan.core.ids import stable_id
from kaijuan.engine import Kaijuan
from kaijuan.evals.bases import Base, open_base
from kaijuan.evals.retrieval import name_of
from kaijuan.evals.sets import load_set
from kaijuan.retrieve.understanding.anchors import anchors, lost
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.verbs.chat_models import make_chat

DEPTH = 10
WAYS = ("last turn", "rules", "model")
JUDGED = "mtrag_un_en"
CORPORA = (JUDGED, "clapnq_en")
REFERENCES = {"mtrag_rewrite_en": "user_turns", "cast_rewrite_en": "history"}
"""Set and the field of the earlier questions."""
SEED = 7


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question after others. `relevant` are judged documents, `reference` the question as a person put it."""

    id: str
    question: str
    before: Sequence[str]
    reference: str = ""
    relevant: frozenset[str] = frozenset()


def judged_turns(folder: Path) -> list[Turn]:
    """Read the turns that have judged documents and earlier questions."""
    data = load_set(folder)
    turns = []
    for query in data.judged:
        before = query.history[::2]  # the others are replies
        if before:
            relevant = frozenset(data.grades[query.id])
            turns.append(Turn(id=query.id, question=query.text, before=before, relevant=relevant))
    return turns


def reference_turns(folder: Path, earlier: str) -> list[Turn]:
    """Read the turns that have a reference rewrite and earlier questions."""
    lines = (folder / "rewrites.jsonl").read_text(encoding="utf-8").splitlines()
    given = [json.loads(line) for line in lines if line.strip()]
    return [
        Turn(id=one["_id"], question=one["question"], before=one[earlier], reference=one["rewrite"])
        for one in given
        if one[earlier]
    ]


def sampled(turns: Sequence[Turn], count: int) -> list[Turn]:
    """Return `count` of the turns, the same on every machine."""
    return sorted(turns, key=lambda turn: stable_id("rewriting", SEED, turn.id))[:count]


async def found(engines: Sequence[Kaijuan], text: str) -> list[str]:
    """Return the first documents for a question in all bases, by score."""
    scores: dict[str, float] = {}
    for engine in engines:
        result = await engine.search(text, k=2 * DEPTH, cut=False, read_filters=False, use_model=False)
        for passage in result.passages:
            name = name_of(passage.source)
            scores[name] = max(scores.get(name, 0.0), passage.relevance)
    return sorted(scores, key=lambda name: (-scores[name], name))[:DEPTH]


async def measured(turn: Turn, engines: Sequence[Kaijuan], asker: Asker) -> dict[str, Any]:
    """Ask one turn every way. The rules make the turns before standalone first, as they do in a conversation."""
    embedder = engines[0].embedder
    before: list[str] = []
    for one in turn.before:
        before.append((await complete(one, before, embedder, None))[0].text)
    by_rule, _ = await complete(turn.question, before, embedder, None)
    by_model, report = await complete(turn.question, turn.before, embedder, asker)
    ways = dict(zip(WAYS, (turn.question, by_rule.text, by_model.text), strict=True))
    texts = {**ways, "reference": turn.reference} if turn.reference else ways
    lists = {text: await found(engines, text) for text in dict.fromkeys(texts.values())}
    wanted = turn.relevant or frozenset(lists[turn.reference])
    return {
        "texts": texts,
        "recall": {way: len(wanted.intersection(lists[text])) / len(wanted) for way, text in ways.items()},
        "asked": report is not None,
        "state": "" if report is None else "thrown away" if report.dropped else report.state,
        "lost": bool(lost(anchors(turn.question), by_model.text)),
        "milliseconds": report.milliseconds if report else 0.0,
    }


def summed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the turns of one set came to; those for which the model was asked by themselves too."""
    asked = [row for row in rows if row["asked"]]
    return {
        "turns": len(rows),
        "recall@10": _means(rows),
        "model asked": len(asked),
        "recall@10 where asked": _means(asked),
        "replies": dict(Counter(row["state"] for row in asked)),
        "lost an anchor": sum(row["lost"] for row in rows),
        "seconds a reply, median": round(median(row["milliseconds"] for row in asked) / 1000, 1) if asked else None,
    }


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {way: round(fmean(row["recall"][way] for row in rows), 4) for way in WAYS} if rows else {}


async def opened(stack: AsyncExitStack, given: argparse.Namespace) -> list[Kaijuan]:
    """Open the bases of both corpora."""
    engines = []
    for name in CORPORA:
        base: Base = await stack.enter_async_context(open_base(load_set(given.data / name), given.home, Config()))
        engines.append(base.engine)
    return engines


def turns_of(given: argparse.Namespace) -> dict[str, list[Turn]]:
    """Return the sampled turns of every set."""
    every = {JUDGED: judged_turns(given.data / JUDGED)}
    every |= {name: reference_turns(given.data / name, earlier) for name, earlier in REFERENCES.items()}
    return {name: sampled(turns, given.sample) for name, turns in every.items()}


async def run(given: argparse.Namespace, journal: Journal) -> dict[str, list[dict[str, Any]]]:
    """Ask the turns of all sets by turns, so that a run that is cut short has some of each."""
    sets = turns_of(given)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in sets}
    seconds = given.seconds
    chat = make_chat(ChatSettings(url=given.url, model=given.model, seconds=seconds, first_seconds=seconds))
    if chat is None:
        raise SystemExit("no model is configured")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(chat.close)
        engines = await opened(stack, given)
        for place in range(given.sample):
            for name, turns in sets.items():
                if place >= len(turns):
                    continue
                turn = turns[place]
                row = journal.known(f"{name}:{turn.id}")
                if row is None:
                    row = await measured(turn, engines, Asker(chat=chat, seconds=seconds))
                    journal.keep(f"{name}:{turn.id}", row)
                rows[name].append(row)
                print(f"{name} {place + 1}: {json.dumps(row, ensure_ascii=False)}", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args()
    rows = asyncio.run(run(given, Journal(given.journal)))
    told = {"machine": machine(), "model": given.model, "seed": SEED}
    print(json.dumps({**told, "sets": {name: summed(some) for name, some in rows.items()}}, indent=1))


if __name__ == "__main__":
    main()
