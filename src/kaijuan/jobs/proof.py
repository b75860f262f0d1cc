"""Whether removed documents are gone: every way to their words and ids is tried, and what remains is named."""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kaijuan.core.documents import ChunkLevel, Version
from kaijuan.core.filters import Eq, at_snapshot
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.text.bm25 import query_weights
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore, Embedder, Index
from kaijuan.index.write import UNREADABLE

_WORDS = 12
"""Places of each document whose words are looked for."""
_LONGEST = 60
_SHORTEST = 8
_ROUTE = 50
_MANY = 200
DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """What a document can be known by, gathered before it goes."""

    sources: tuple[str, ...]
    documents: tuple[DocumentId, ...]
    versions: tuple[VersionId, ...]
    chunks: tuple[ChunkId, ...]
    words: tuple[str, ...]
    """Lines of the texts as they stand there, each long enough to be told from others."""
    elsewhere: tuple[str, ...] = ()
    """Those of the lines that other live documents hold as well: finding them proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One way that was tried."""

    name: str
    ok: bool
    """Whether nothing of the documents was found."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remain:
    """Where something of the documents still is, and until when."""

    where: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was tried and what remains."""

    probes: tuple[Probe, ...]
    remains: tuple[Remain, ...]

    @property
    def ok(self) -> bool:
        """Whether no reader can find anything of the documents."""
        return all(probe.ok for probe in self.probes)


async def fingerprints(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, versions: Sequence[Version]
) -> Fingerprints:
    """Gather what the documents of these versions, in all their versions kept, can be known by."""
    documents = list(dict.fromkeys(version.document_id for version in versions))
    kept = [one for document in documents for one in await catalog.history(document)]
    words: dict[str, None] = {}
    chunks: list[ChunkId] = []
    for version in kept:
        found = await catalog.chunks_of(version.id)
        chunks += [chunk.id for chunk in found if chunk.level is ChunkLevel.CHILD]
        try:
            text = (await blobs.get(version.text_hash)).decode()
        except UNREADABLE:
            continue
        words.update(dict.fromkeys(lines_of(text)))
    others = await _elsewhere(catalog, blobs, kb, documents, list(words))
    return Fingerprints(
        sources=tuple(dict.fromkeys(version.source for version in kept)),
        documents=tuple(documents),
        versions=tuple(version.id for version in kept),
        chunks=tuple(chunks),
        words=tuple(words),
        elsewhere=others,
    )


def lines_of(text: str) -> list[str]:
    """Return lines of a text, spread over it, that are long enough to be told from others."""
    lines = [line.strip()[:_LONGEST] for line in re.split(r"[\n。！？]|(?<=[.!?])\s", text)]
    good = list(dict.fromkeys(line for line in lines if len(line) >= _SHORTEST))
    step = max(1, len(good) // _WORDS)
    return good[::step][:_WORDS]


async def _elsewhere(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, gone: Sequence[DocumentId], words: Sequence[str]
) -> tuple[str, ...]:
    mine = set(gone)
    found: set[str] = set()
    after = ""
    while page := await catalog.versions(kb.id, kb.head, after=after, limit=_MANY):
        after = page[-1].source
        others = [version.text_hash for version in page if version.document_id not in mine]
        for data in await blobs.get_each(others):
            text = data.decode() if isinstance(data, bytes) else ""
            found.update(word for word in words if word not in found and word in text)
    return tuple(word for word in words if word in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Where readers may look. `kb` is the base after the documents went."""

    home: Path
    kb: KnowledgeBase
    catalog: Catalog
    blobs: BlobStore
    index: Index | None
    embedder: Embedder
    keep_days: float
    purged: bool = False
    """Whether nothing may be left in earlier snapshots either."""


async def prove(ways: Ways, known: Fingerprints) -> Proof:
    """Try every way to the documents' words and ids."""
    probes = [
        await _by_name(ways, known),
        await _by_right(ways, known),
        await _by_words(ways, known),
        await _by_meaning(ways, known),
        await _by_id(ways, known),
        await _in_traces(ways, known),
        await _in_export(ways, known),
    ]
    remains = await _remains(ways, known)
    return Proof(probes=tuple(probes), remains=tuple(remains))


async def _by_name(ways: Ways, known: Fingerprints) -> Probe:
    found = [word for word in (*known.sources, *known.documents, *known.versions) if await _named(ways, word)]
    return _probe("catalog", found, f"{len(known.sources)} sources and their ids at snapshot {ways.kb.head}")


async def _named(ways: Ways, word: str) -> bool:
    return bool(await ways.catalog.find(ways.kb.id, ways.kb.head, word))


async def _by_right(ways: Ways, known: Fingerprints) -> Probe:
    found: set[ChunkId] = set()
    for at in range(0, len(known.chunks), _MANY):
        found |= await ways.catalog.authorise(ways.kb.id, ways.kb.head, known.chunks[at : at + _MANY], ["all"])
    return _probe("access", sorted(found), f"{len(known.chunks)} chunks, asked for by id")


async def _by_words(ways: Ways, known: Fingerprints) -> Probe:
    found: set[str] = set()
    if ways.index is not None:
        for line in known.words:
            hits = await ways.index.search_lexical(query_weights(line), _ROUTE, at_snapshot(ways.kb.head))
            found |= {hit.id for hit in hits} & set(known.chunks)
    return _probe("lexical route", sorted(found), f"{len(known.words)} lines of the texts")


async def _by_meaning(ways: Ways, known: Fingerprints) -> Probe:
    found: set[str] = set()
    if ways.index is not None:
        for line in known.words:
            vector = await ways.embedder.embed_query(line)
            hits = await ways.index.search_dense(vector, _ROUTE, at_snapshot(ways.kb.head))
            found |= {hit.id for hit in hits} & set(known.chunks)
    return _probe("dense route", sorted(found), f"{len(known.words)} lines of the texts")


async def _by_id(ways: Ways, known: Fingerprints) -> Probe:
    """Points of the documents that are visible at head, and after a purge any point."""
    found = 0
    if ways.index is not None:
        for document in known.documents:
            points = [header async for header in ways.index.scan(Eq("document_id", document))]
            seen = [one for one in points if ways.purged or one.valid_from <= ways.kb.head < one.valid_to]
            found += len(seen)
    return _probe(
        "index", [str(found)] if found else [], "points by document, " + ("any" if ways.purged else "visible")
    )


async def _in_traces(ways: Ways, known: Fingerprints) -> Probe:
    """Saved requests may hold the words that they found; after a removal they stay, after a purge they must not."""
    found = traces_with(await ways.catalog.trace_texts(ways.kb.id), known)
    detail = "saved requests that name or quote the documents"
    if not ways.purged:
        return Probe(name="traces", ok=True, detail=f"{len(found)} {detail}; `purge` removes them")
    return _probe("traces", found, detail)


def traces_with(traces: Iterable[tuple[str, str]], known: Fingerprints) -> list[str]:
    """Return the ids of the traces that name or quote the documents."""
    marks = [*known.documents, *known.versions, *known.sources, *_own(known)]
    spelled = [json.dumps(mark)[1:-1] for mark in marks]
    return [
        id
        for id, body in traces
        if any(mark in body or word in body for mark, word in zip(marks, spelled, strict=True))
    ]


def _own(known: Fingerprints) -> list[str]:
    return [word for word in known.words if word not in set(known.elsewhere)]


async def _in_export(ways: Ways, known: Fingerprints) -> Probe:
    """What `kaijuan export` would carry: of head nothing, after a purge nothing at all."""
    if not ways.purged:
        return Probe(
            name="export", ok=True, detail="holds the documents in earlier snapshots, as long as those are kept"
        )
    rows = await asyncio.to_thread(lambda: list(_naming(ways, known)))
    return _probe("export", rows, "rows of every table")


def _naming(ways: Ways, known: Fingerprints) -> Iterable[str]:
    marks = [*known.documents, *known.versions, *known.sources]
    for table, row in ways.catalog.dump(ways.kb.id):
        if any(mark in str(value) for value in row.values() for mark in marks):
            yield table


async def _remains(ways: Ways, known: Fingerprints) -> list[Remain]:
    remains = []
    if not ways.purged and (kept := await _kept_in(ways, known)):
        days = f"{ways.keep_days:g} days after each was replaced, then until `kaijuan gc`"
        tagged = await ways.catalog.snapshot_tags(ways.kb.id)
        until = days + (", and as long as its tag stays" if any(tag.number in kept for tag in tagged) else "")
        remains.append(Remain(where=f"snapshots {kept[0]} to {kept[-1]}, readable with --as-of", until=until))
    files = await asyncio.to_thread(files_with, ways.home, _own(known), known.documents)
    for place, what in files.items():
        remains.append(Remain(where=f"{place} ({what})", until=_until(place, ways.purged)))
    there = [source for source in known.sources if source.startswith("file://")]
    if there:
        remains.append(Remain(where="the files that were added, where they still lie", until="you delete them"))
    remains.append(Remain(where="exports and backups made before", until="you delete them"))
    return remains


async def _kept_in(ways: Ways, known: Fingerprints) -> list[int]:
    found = await ways.catalog.versions_by_id(known.versions)
    numbers = [one.number for one in await ways.catalog.snapshots(ways.kb.id)]
    return [n for n in numbers if any(one.valid_from <= n < one.valid_to for one in found.values())]


def _until(place: str, purged: bool) -> str:
    if place.startswith("index/"):
        return "the next `kaijuan rebuild`: an engine frees deleted points later"
    if place.startswith("catalog.db"):
        return "the next `kaijuan purge`: it compacts the file" if not purged else "nobody knows: report this"
    if place.startswith("cache/written.db"):
        return (
            "they are purged, or `kaijuan gc` when no snapshot has them" if not purged else "nobody knows: report this"
        )
    if place.startswith("cache/"):
        return "the cache's own limit; the folder may be deleted"
    return "the snapshots that need it are dropped" if not purged else "nobody knows: report this"


def files_with(home: Path, words: Sequence[str], ids: Sequence[str]) -> Mapping[str, str]:
    """Return the files below a home that hold words or ids of the documents, and what they hold. Reads every byte."""
    found: dict[str, str] = {}
    wanted = [(word.encode(), "their words") for word in words] + [(id.encode(), "their ids") for id in ids]
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if what := _holds(path, wanted):
                found[os.path.relpath(path, home)] = what
    return found


def _holds(path: str, wanted: Sequence[tuple[bytes, str]]) -> str:
    try:
        if not os.path.isfile(path) or not os.path.getsize(path):
            return ""
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return next((what for word, what in wanted if data.find(word) >= 0), "")
    except (OSError, ValueError):
        return ""


def _probe(name: str, found: Sequence[str], looked: str) -> Probe:
    said = f"; found {found[0]}" + (f" and {len(found) - 1} more" if len(found) > 1 else "") if found else ""
    return Probe(name=name, ok=not found, detail=f"{looked}{said}")
