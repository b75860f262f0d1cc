"""Near misses through the whole engine with the onboard model, as one JSON document.

    python -m bench.near_misses [--identifiers 1000] [--pairs 200] [--names 80] [--preset balanced] [--once]

Identifiers: each of a thousand that differ by one sign is asked for inside long natural sentences of both languages;
hit@1 counts. Pairs: two texts that differ in a number or a denial, with the question that each alone answers; a pair is
right when both questions find their text above the other. Names: of programs, each beside twins in camelCase and
snake_case and their plurals, asked for inside a sentence of either language; hit@1. All texts lie in one base.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.near_miss_texts import NAME_CHINESE, NAME_ENGLISH, Pair, asked_for, families, names_in_programs, pairs
from kaijuan import Kaijuan

_SHOWN = 20


def texts_of(identifiers: Sequence[tuple[str, str]]) -> list[str]:
    """Return a text about each identifier."""
    return [
        f"{kind} {identifier} 的处理说明由现场工程师保存，相关问题先看这份资料。" for identifier, kind in identifiers
    ]


async def taken_in(engine: Kaijuan, folder: Path, texts: Sequence[str]) -> None:
    """Add the texts as records of one file."""
    corpus = folder / "near_misses.jsonl"
    lines = [json.dumps({"_id": str(number), "text": text}, ensure_ascii=False) for number, text in enumerate(texts)]
    corpus.write_text("\n".join(lines), encoding="utf-8")
    report = await engine.add([str(corpus)])
    if report.added != len(texts):
        raise SystemExit(f"{report.added} of {len(texts)} texts were taken in")


async def identifiers_found(
    engine: Kaijuan, identifiers: Sequence[tuple[str, str]], preset: str, *, once: bool = False
) -> dict[str, Any]:
    """Ask for every identifier in every form, or `once`, by turns in either language; count those found first."""
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    missed: list[dict[str, str]] = []
    for number, (identifier, _) in enumerate(identifiers):
        forms = asked_for(identifier, number)
        wanted = ("chinese", "english")[number % 2 : number % 2 + 1] if once else tuple(forms)
        for form, question in ((form, forms[form]) for form in wanted):
            result = await engine.search(question, k=1, preset=preset)
            found = result.passages[0].text if result.passages else ""
            asked[form] += 1
            right[form] += f" {identifier} 的" in found
            if f" {identifier} 的" not in found:
                missed.append({"form": form, "identifier": identifier, "found": found})
        if number % 100 == 99:
            print(f"{number + 1} identifiers, {len(missed)} missed", file=sys.stderr, flush=True)
    shares = {form: round(right[form] / count, 4) for form, count in asked.items()}
    return {"identifiers": len(identifiers), "questions": dict(asked), "hit@1": shares, "missed": missed[:_SHOWN]}


async def pairs_ordered(engine: Kaijuan, made: Sequence[Pair], preset: str) -> dict[str, Any]:
    """Ask both questions of every pair; a pair is right when each finds its own text above the other."""
    count: Counter[str] = Counter()
    right: Counter[str] = Counter()
    wrong: list[dict[str, str]] = []
    for pair in made:
        good = True
        for at, question in enumerate(pair.questions):
            result = await engine.search(question, k=10, cut=False, preset=preset)
            places = {passage.text.strip(): passage.rank for passage in result.passages}
            own, other = (places.get(text, 99) for text in (pair.texts[at], pair.texts[1 - at]))
            if own >= other:
                good = False
                wrong.append({"kind": pair.kind, "question": question, "found above": pair.texts[1 - at]})
        count[pair.kind] += 1
        right[pair.kind] += good
    shares = {kind: round(right[kind] / number, 4) for kind, number in count.items()}
    whole = round(sum(right.values()) / max(1, len(made)), 4)
    return {"pairs": len(made), "right": whole, "right by kind": shares, "wrong": wrong[:_SHOWN]}


async def names_found(engine: Kaijuan, named: Sequence[tuple[str, str]], preset: str) -> dict[str, Any]:
    """Ask for every name in both languages; count those whose text comes first."""
    right: Counter[str] = Counter()
    missed: list[dict[str, str]] = []
    for name, text in named:
        for form, question in (("chinese", NAME_CHINESE), ("english", NAME_ENGLISH)):
            result = await engine.search(question.format(name), k=1, preset=preset)
            found = result.passages[0].text.strip() if result.passages else ""
            right[form] += found == text
            if found != text:
                missed.append({"form": form, "name": name, "found": found})
    shares = {form: round(count / max(1, len(named)), 4) for form, count in right.items()}
    return {"names": len(named), "hit@1": shares, "missed": missed[:_SHOWN]}


async def measured(folder: Path, identifiers: int, count: int, names: int, preset: str, once: bool) -> dict[str, Any]:
    """Take all texts in and ask."""
    wanted, made, named = list(families())[:identifiers], pairs(count), list(islice(names_in_programs(), names))
    texts = [*texts_of(wanted), *(text for pair in made for text in pair.texts), *(text for _, text in named)]
    async with Kaijuan(folder / "home") as engine:
        await taken_in(engine, folder, texts)
        pairs_found = await pairs_ordered(engine, made, preset)
        print(f"pairs: {pairs_found}", file=sys.stderr, flush=True)
        found = {
            "identifiers": await identifiers_found(engine, wanted, preset, once=once),
            "pairs": pairs_found,
            "names": await names_found(engine, named, preset),
        }
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--identifiers", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--names", type=int, default=80)
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--once", action="store_true", help="ask for each identifier in one language, by turns")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        rows = asyncio.run(
            measured(Path(folder), given.identifiers, given.pairs, given.names, given.preset, given.once)
        )
    print(json.dumps({"machine": machine(), "preset": given.preset, **rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
