"""Two editions of a rule: is the newer one followed and the older one named? As one JSON document.

    python -m bench.editions [--pairs N] [--seed N] [--slips N]

Pairs are made by kaijuan.evals.checking.editions, half in Chinese, all in one base. Asked are: the rule; of editions
with a year, what the older one says, and how the two compare; of pairs that nothing tells apart, whether both values
are shown and the disagreement is named.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.answer.notes import NoteKind
from kaijuan.answer.results import Answer
from kaijuan.config import Config
from kaijuan.evals.checking.editions import RulePair, documents_of, rule_pairs


def has(text: str, value: str) -> bool:
    """Say whether a text gives a value, which is no part of a longer number."""
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not before.isdecimal() and not after.isdecimal():
            return True
        at = text.find(value, at + 1)
    return False


def of_rule(pair: RulePair, given: Answer) -> str:
    """Return how the plain question was answered."""
    new, old = has(given.answer, pair.new), has(given.answer, pair.old)
    kinds = {note.kind for note in given.remarks}
    if pair.kind == "undecidable":
        return "shown" if new and old and NoteKind.CONFLICT in kinds else "blended" if new and old else "one"
    if not given.sentences:
        return "refused"
    named = any(note.kind is NoteKind.SUPERSEDED and has(note.text, pair.old) for note in given.remarks)
    if new and not old:
        return "newer, older named" if named else "newer, older unnamed"
    return "both" if new and old else "older" if old else "neither"


def of_older(pair: RulePair, given: Answer) -> str:
    """Return how the question for the older edition was answered."""
    new, old = has(given.answer, pair.new), has(given.answer, pair.old)
    return "older" if old and not new else "both" if old and new else "newer" if new else "neither"


def of_comparison(pair: RulePair, given: Answer) -> str:
    """Return how the question that compares the editions was answered."""
    new, old = has(given.answer, pair.new), has(given.answer, pair.old)
    return "both" if old and new else "one" if old or new else "neither"


async def asked(pairs: list[RulePair], home: Path, folder: Path, shown: int) -> dict[str, Any]:
    """Take in all documents and ask every question."""
    for made in documents_of(pairs):
        (folder / made.name).write_text(made.text, encoding="utf-8")
    counts: dict[str, Counter[str]] = {}
    off = Config().answer_cache.model_copy(update={"enabled": False})
    async with Kaijuan(home, config=Config().model_copy(update={"answer_cache": off})) as engine:
        await engine.add([str(folder)])
        for pair in pairs:
            for name, question, judge, good in (
                ("rule", pair.question, of_rule, ("newer, older named", "shown")),
                ("older", pair.old_question, of_older, ("older",)),
                ("comparison", pair.comparing, of_comparison, ("both",)),
            ):
                if not question:
                    continue
                given = await engine.ask(question)
                outcome = judge(pair, given)
                counts.setdefault(f"{pair.language} {name} {pair.kind}", Counter())[outcome] += 1
                if outcome not in good and shown:
                    shown -= 1
                    print(
                        f"{pair.kind} {outcome}: {question} [{pair.old} -> {pair.new}]",
                        *(given.answer, *given.notes),
                        sep="\n  ",
                        file=sys.stderr,
                    )
    return {name: dict(count) for name, count in sorted(counts.items())}


def shares(counts: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Return, by language, in how many pairs it ended well."""
    good = {"rule": ("newer, older named", "shown"), "older": ("older",), "comparison": ("both",)}
    found: dict[str, list[int]] = {}
    for name, count in counts.items():
        language, question, kind = name.split(" ")
        key = f"{language} {'undecidable' if kind == 'undecidable' else question}"
        row = found.setdefault(key, [0, 0])
        row[0] += sum(count.get(outcome, 0) for outcome in good[question])
        row[1] += sum(count.values())
    return {key: {"good": right, "of": of, "share": round(right / of, 4)} for key, (right, of) in sorted(found.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slips", type=int, default=0)
    given = parser.parse_args()
    half = given.pairs // 2
    pairs = [*rule_pairs("zh", half, given.seed), *rule_pairs("en", given.pairs - half, given.seed)]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        counts = asyncio.run(asked(pairs, Path(home), Path(folder), given.slips))
    result = {
        "machine": machine(),
        "pairs": given.pairs,
        "seed": given.seed,
        "shares": shares(counts),
        "counts": counts,
    }
    print(json.dumps(result, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
