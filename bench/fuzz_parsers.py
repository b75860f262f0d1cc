"""Spoil files of every kind in seeded ways and read them: each must end read or with a named error, soon.

    python -m bench.fuzz_parsers [--seed N] [--rounds N] [--files DIR] [--largest BYTES] [--keep DIR]

Prints JSON: how the readings ended by kind, and each that is a fault of ours: a parser that died or raised what it
should not, a broken promise about blocks, too much time or memory. `--keep` writes those files into a folder.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import io
import json
import random
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from kaijuan import registry
from kaijuan.errors import DocumentError, ParseMemoryError, ParseTimeoutError
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.pipeline import hold
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import expanded
from kaijuan.testing.contracts.parser import check_document

FILES = Path(__file__).resolve().parents[2] / "shared" / "data" / "files"
SECONDS = 20
MEMORY_MB = 600
_CRASHED = ("could not be parsed:", "The parser crashed", "gave overlapping")
"""Words of the errors that stand for what no parser foresaw. They end one file well, and are worth a look."""
_VALUES = ("", "-1", "0", "1", "999999999", "1e308", "x", "A1:XFD1048576", "../../a.xml", "NaN", "字" * 50)


def spoiled(data: bytes, seed: int) -> bytes:
    """Return the bytes changed in a way that the seed decides; inside an archive where there is one."""
    chance = random.Random(seed)
    # Most changes elsewhere in an archive only break the archive.
    if data[:4] == b"PK\x03\x04" and chance.random() < 0.8:
        return _archive(data, chance)
    return _text(data, chance) if _is_text(data) and chance.random() < 0.5 else _bytes(data, chance)


def _is_text(data: bytes) -> bool:
    return b"\x00" not in data[:1000]


def _bytes(data: bytes, chance: random.Random) -> bytes:
    """Return data with bytes changed, cut out, put in, or its end cut off."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(out))
        change = chance.randrange(5)
        if change == 0:
            out[at] = chance.randrange(256)
        elif change == 1:
            del out[at : at + chance.randint(1, 40)]
        elif change == 2:
            out[at:at] = chance.randbytes(chance.randint(1, 20))
        elif change == 3:
            out[at : at + 4] = chance.choice([b"\x00" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f"])
        elif chance.random() < 0.1:
            del out[at:]
        if not out:
            return b"x"
    return bytes(out)


def _text(data: bytes, chance: random.Random) -> bytes:
    """Return data with pieces repeated, swapped or nested: what bounds and recursion must hold against."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data))
        piece = data[start : start + chance.randint(1, 60)]
        other = chance.randrange(len(data))
        change = chance.randrange(3)
        if change == 0:
            data = data[:start] + piece * chance.choice([2, 50, 2000]) + data[start:]
        elif change == 1:
            data = data[:other] + piece + data[other:]
        else:
            data = data[:start] + data[start + len(piece) :]
        data = data[:2_000_000] or b"x"
    return data


def _archive(data: bytes, chance: random.Random) -> bytes:
    """Return an archive with some members spoiled, lost or swapped; checksums are right."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            parts = {member.filename: old.read(member) for member in old.infolist()[:2000] if not member.flag_bits & 1}
            chosen = set(chance.sample(sorted(parts), min(len(parts), chance.randint(1, 4))))
            for name, part in parts.items():
                if name not in chosen or not part:
                    new.writestr(name, part)
                elif chance.random() < 0.9:
                    new.writestr(name, _part(part, chance, [*parts.values()]))
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, EOFError):
        return _bytes(data, chance)
    return out.getvalue()


def _part(part: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    change = chance.randrange(10)
    if change == 0:
        return chance.choice(others)
    if change == 1:
        return _bytes(part, chance)
    try:
        return _tree(part, chance)
    except (etree.XMLSyntaxError, ValueError):
        return _text(part, chance) if _is_text(part) else _bytes(part, chance)


def _tree(part: bytes, chance: random.Random) -> bytes:
    """Return well-formed XML with elements lost, moved, nested, and values out of range."""
    root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))
    for _ in range(chance.randint(1, 10)):
        nodes = list(root.iter("*"))[:20_000]
        node, other = chance.choice(nodes), chance.choice(nodes)
        change = chance.randrange(5)
        if change == 0 and node is not root:
            node.getparent().remove(node)
        elif change == 1 and node is not root:
            other.append(copy.deepcopy(node))
        elif change == 2 and node.attrib:
            node.set(chance.choice(list(node.attrib)), chance.choice(_VALUES))
        elif change == 3:
            node.text = chance.choice([None, *_VALUES])
        elif node is not root and len(node) < 20:
            for _ in range(chance.choice([1, 30, 300])):
                deeper = etree.SubElement(other, node.tag, dict(node.attrib))
                other = deeper
    return bytes(etree.tostring(root))


@dataclass(frozen=True, slots=True)
class End:
    """How one spoiled file ended."""

    kind: str
    outcome: str
    seconds: float
    fault: str = ""


async def ends(data: bytes, name: str, pool: ParserPool) -> list[End]:
    """Return how a file ended, and what it holds when it is an archive, a mailbox or a message."""
    found: list[End] = []
    settings = IngestSettings(max_unpacked_bytes=50_000_000, max_members=200)
    item = SourceItem(source=f"file:///{name}", name=name, size=len(data), data=data)
    for part in await asyncio.to_thread(list, expanded(item, settings)):
        if isinstance(part, SourceFailure):
            found.append(End("container", part.code, 0.0))
        else:
            found.append(await _end(part, pool))
    return found


async def _end(item: SourceItem, pool: ParserPool) -> End:
    kind, start = item.kind or "?", time.perf_counter()
    try:
        kind = item.kind or kind_of(item.data, item.name)
        document = await pool.parse(kind, item.data, item.name)
        hold(document)
        check_document(document)
        outcome, fault = "read", ""
    except DocumentError as error:
        unforeseen = isinstance(error, ParseMemoryError | ParseTimeoutError) or any(
            words in error.message for words in _CRASHED
        )
        outcome, fault = error.code, error.message if unforeseen else ""
    except AssertionError as error:
        outcome, fault = "promise_broken", str(error)
    return End(kind, outcome, time.perf_counter() - start, fault)


def seeds(folder: Path, largest: int) -> Iterator[tuple[str, bytes]]:
    """Yield the files that are spoiled."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.parent.name != "expected" and 0 < path.stat().st_size <= largest:
            yield str(path.relative_to(folder)), path.read_bytes()


async def fuzz(files: Sequence[tuple[str, bytes]], seed: int, rounds: int, keep: Path | None) -> dict[str, Any]:
    """Return the outcomes by kind and the faults of so many rounds over the files."""
    pool = ParserPool(registry.targets("parser"), seconds=SECONDS, memory_mb=MEMORY_MB)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    faults: list[dict[str, Any]] = []
    slowest = 0.0
    try:
        for round_ in range(rounds):
            for at, (name, data) in enumerate(files):
                number = seed * 1_000_000 + round_ * 10_000 + at
                spoil = spoiled(data, number)
                for end in await ends(spoil, Path(name).name, pool):
                    outcomes[end.kind][end.outcome] += 1
                    slowest = max(slowest, end.seconds)
                    if end.fault:
                        faults.append({"file": name, "seed": number, "kind": end.kind, "fault": end.fault[:300]})
                        if keep is not None:
                            (keep / f"{number}-{Path(name).name}").write_bytes(spoil)
    finally:
        await pool.close()
    return {
        "spoiled": rounds * len(files),
        "slowest_seconds": round(slowest, 1),
        "outcomes": {kind: dict(counts.most_common()) for kind, counts in sorted(outcomes.items())},
        "faults": faults,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=Path, default=FILES)
    parser.add_argument("--largest", type=int, default=300_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    files = list(seeds(options.files, options.largest))
    result = asyncio.run(fuzz(files, options.seed, options.rounds, options.keep))
    print(json.dumps(result, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
