"""How fast each strategy cuts, in MB of UTF-8 text a second of one core, and how much of the time the tokenizer takes.

    python -m bench.chunking [--megabytes N] [--rounds N]

Prints JSON. Texts are made up: prose in Chinese and in English with headings, a statute, a table, Python. "cut" is the
strategy with the tokens known beforehand, "whole" with the onboard tokenizer. CPU time of this process, the best of
the rounds.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.texts import ENGLISH, HAN
from kaijuan import registry
from kaijuan.config import EmbedderSettings
from kaijuan.core.documents import Block, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.preview import blocks_of
from kaijuan.ingest.chunkers.shapes import shape_of
from kaijuan.ingest.parsers.code import CodeParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.ports import Parser, Tokenizer
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import ready
from kaijuan.verbs.embedders import make_embedder

ARTICLES = "零一二三四五六七八九"
TEXTS = ("Chinese prose", "English prose", "statute", "table", "Python")
Row = dict[str, Any]


class Remembering:
    """The tokens of texts seen before, without finding them again."""

    def __init__(self, inner: Tokenizer) -> None:
        self._inner = inner
        self._seen: dict[str, Sequence[Span]] = {}

    def token_spans(self, text: str) -> Sequence[Span]:
        if text not in self._seen:
            self._seen[text] = self._inner.token_spans(text)
        return self._seen[text]


def han(chance: random.Random, low: int = 12, high: int = 40) -> str:
    return "".join(HAN[min(int(chance.expovariate(1 / 120)), len(HAN) - 1)] for _ in range(chance.randint(low, high)))


def english(chance: random.Random) -> str:
    words = [ENGLISH[min(int(chance.expovariate(1 / 20)), len(ENGLISH) - 1)] for _ in range(chance.randint(6, 18))]
    return f"{' '.join(words).capitalize()} {chance.randint(1, 9999)}."


def prose(chance: random.Random, sentence: Callable[[random.Random], str], joint: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"## {number} {sentence(chance)[:30]}"
        for _ in range(chance.randint(2, 8)):
            yield joint.join(sentence(chance) for _ in range(chance.randint(3, 9)))


def statute(chance: random.Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        name = "".join(ARTICLES[int(digit)] for digit in str(number))
        yield f"第{name}条　" + "".join(f"{han(chance)}。" for _ in range(chance.randint(1, 6)))


def table(chance: random.Random) -> Iterator[str]:
    while True:
        rows = [f"| {han(chance, 2, 8)} | {chance.randint(1, 10**6):,} | {english(chance)} |" for _ in range(60)]
        yield "\n".join(["| 名称 | 数量 | 说明 |", "| --- | --- | --- |", *rows])
        yield f"{han(chance)}。"


def python(chance: random.Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        lines = [f"    value_{n} = compute({n}, first[{n}])  # {english(chance)}" for n in range(chance.randint(3, 30))]
        yield "\n".join([f"def function_{number}(first):", *lines, "    return first"])


def document(name: str, megabytes: float, seed: int = 7) -> ParsedDocument:
    chance = random.Random(seed)
    kinds: dict[str, tuple[Iterator[str], Parser]] = {
        "Chinese prose": (prose(chance, lambda c: f"{han(c)}。", ""), MarkdownParser()),
        "English prose": (prose(chance, english, " "), MarkdownParser()),
        "statute": (statute(chance), MarkdownParser()),
        "table": (table(chance), MarkdownParser()),
        "Python": (python(chance), CodeParser()),
    }
    parts, parser = kinds[name]
    made: list[str] = []
    size = 0
    for part in parts:
        made.append(part)
        size += len(part.encode()) + 2
        if size > megabytes * 1e6:
            break
    return parser.parse("\n\n".join(made).encode(), "a.py" if name == "Python" else "a.md")


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the CPU time of the fastest round."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measured(name: str, tokenizer: Tokenizer, megabytes: float, rounds: int) -> Row:
    parsed = document(name, megabytes)
    text, blocks = parsed.text, blocks_of(parsed.blocks)
    size = len(text.encode()) / 1e6
    window = CutSettings().window_chars
    parts = [text[at : at + window] for at in range(0, len(text), window)]

    def speed(work: Callable[[], object]) -> float:
        return round(size / seconds(work, rounds), 2)

    strategies = {word: _strategy(word, text, blocks, tokenizer, speed) for word in sorted(registry.targets("chunker"))}
    return {
        "text": name,
        "megabytes": round(size, 2),
        "characters": len(text),
        "tokenizer": speed(lambda: [tokenizer.token_spans(part) for part in parts]),
        "shape": speed(lambda: shape_of(parsed.kind, text, blocks)),
        "strategies": strategies,
    }


def _strategy(
    word: str, text: str, blocks: list[Block], tokenizer: Tokenizer, speed: Callable[[Callable[[], object]], float]
) -> Row:
    chunker = ready(registry.load("chunker", word)(CutSettings()))
    known = Remembering(tokenizer)
    drafts = chunker.chunk(text, blocks, known)
    return {
        "chunks": len(drafts),
        "cut": speed(lambda: chunker.chunk(text, blocks, known)),
        "whole": speed(lambda: chunker.chunk(text, blocks, tokenizer)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        tokenizer = make_embedder(EmbedderSettings(), Path(folder))
        tokenizer.token_spans("warm")
        texts = [measured(name, tokenizer, options.megabytes, options.rounds) for name in TEXTS]
    print(json.dumps({"machine": machine(), "texts": texts}, ensure_ascii=False))


if __name__ == "__main__":
    main()
