"""Makes a version of a set: read the documents, draft, check, ask back, choose, write."""

from __future__ import annotations

import filecmp
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from kaijuan import __version__
from kaijuan.engine import Kaijuan
from kaijuan.errors import EvalDataError
from kaijuan.evals.making.absence import AbsenceCheck
from kaijuan.evals.making.absent import absent_attributes, absent_codes, absent_people, absent_topics
from kaijuan.evals.making.carry import Carried, Kept
from kaijuan.evals.making.checks import Repeats, fault_of
from kaijuan.evals.making.choose import in_turns, offered
from kaijuan.evals.making.combined import Article, combined_drafts, pairs_of_drafts
from kaijuan.evals.making.documents import Placed, Told, placed, read_all
from kaijuan.evals.making.drafting import article_of, drafts_of
from kaijuan.evals.making.folder import (
    CORPUS,
    FORMAT,
    corpus_row,
    item_row,
    partial_folder,
    read_facts,
    read_items,
    read_splits,
    version_folder,
    versions_of,
    write_splits,
    write_version,
)
from kaijuan.evals.making.items import Draft, Evidence, Head, Item, Kind, Split
from kaijuan.evals.making.material import Table
from kaijuan.evals.making.reviews import Status, moment, read_reviews, reviewed
from kaijuan.evals.making.roundtrip import Found, ask_back
from kaijuan.evals.making.splits import Shares
from kaijuan.evals.making.tables import compared_tables
from kaijuan.verbs.wiring import FIRST_ADD

RULES = "1"
"""Version of the rules that make and check questions; part of set.json."""
LOOKED_FOR = 8
"""Unanswerable drafts searched for in all documents, for each that is wanted."""
MOST_EDITIONS = 8
"""Documents of one family whose tables are compared with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What set is wanted."""

    root: Path
    kinds: tuple[Kind, ...] = tuple(Kind)
    count: int = 50
    """Questions of each kind, at most."""
    languages: tuple[str, ...] = ("en", "zh")
    seed: int = 0
    shares: Shares = field(default_factory=Shares)
    snapshot: int | None = None
    """Which snapshot of the base; the head by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of it."""

    folder: Path
    facts: Mapping[str, Any]
    """As in set.json."""
    items: tuple[Item, ...]
    unchanged: bool = False
    """Whether nothing had changed since the version before, so that no new one was written."""


class Writer(Protocol):
    """Somebody else who makes drafts: a language model."""

    @property
    def name(self) -> str:
        """Return what set.json calls it."""

    async def write(self, engine: Kaijuan, documents: Sequence[Placed], request: Request, snapshot: int) -> list[Draft]:
        """Return drafts that this writer finds good; they are checked like all others."""

    def used(self) -> Mapping[str, Any]:
        """Return calls, tokens, and how often what went wrong."""


async def make(
    engine: Kaijuan,
    request: Request,
    *,
    told: Told | None = None,
    clock: Callable[[], float] = time.time,
    writer: Writer | None = None,
) -> Made:
    """Make the next version of the set at `request.root` from the engine's knowledge base.

    The same snapshot, seed and request give the same files, byte for byte, but for the moment. Questions of the version
    before stay where they still hold; no document, and so no question, changes its split.
    """
    snapshot, documents = await documents_of(engine, request)
    known = versions_of(request.root)
    work = _Work(
        engine=engine,
        request=request,
        snapshot=snapshot,
        version=known[-1] + 1 if known else 1,
        before=_before(request.root) if known else [],
        told=told,
    )
    try:
        await work.read(documents)
        if writer is not None:
            work.drafts += work.sound(await writer.write(engine, documents, request, snapshot))
        items = await work.choose({document.head.source: document.head for document in documents})
        facts = _facts(work, items, documents, base=engine.kb_name, made_at=moment(clock()), writer=writer)
        return _finish(work, items, documents, facts)
    finally:
        shutil.rmtree(work.partial, ignore_errors=True)  # nothing is left of a version that was not finished


async def documents_of(engine: Kaijuan, request: Request) -> tuple[int, list[Placed]]:
    """Return the snapshot that a set is made from and its documents, each with its split."""
    snapshot = (await engine.status()).head if request.snapshot is None else request.snapshot
    documents = placed(await engine.list(as_of=snapshot), request.shares, read_splits(request.root))
    if not documents:
        raise EvalDataError(f"The knowledge base {engine.kb_name!r} holds no document.", hint=FIRST_ADD)
    return snapshot, documents


def _before(root: Path) -> list[Item]:
    """Return the questions of the newest version as they were made, each with its last verdict."""
    made = read_items(version_folder(root))
    verdicts = {item.id: item.status for item in reviewed(made, read_reviews(root))}
    return [replace(item, status=verdicts[item.id]) for item in made]


class _Work:
    """One version in the making."""

    def __init__(
        self,
        *,
        engine: Kaijuan,
        request: Request,
        snapshot: int,
        version: int,
        before: list[Item],
        told: Told | None,
    ) -> None:
        self.engine, self.request, self.snapshot, self.version = engine, request, snapshot, version
        self.before = before
        self.partial = partial_folder(request.root, version)
        self.drafts: list[Draft] = []
        self.kept: list[Kept] = []
        self.failed: dict[str, Counter[str]] = {str(kind): Counter() for kind in request.kinds}
        self._told = told

    async def read(self, documents: Sequence[Placed]) -> None:
        """Read every document once: write it to the corpus, draft from it, find the evidence of earlier questions."""
        carried = Carried(self.before)
        articles: list[Article] = []
        tables: dict[str, list[tuple[Head, Sequence[Table]]]] = {}
        with (self.partial / CORPUS).open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as corpus:
            async for document, text, material in read_all(self.engine, documents, self.snapshot, self._told):
                head = document.head
                corpus.write(corpus_row(head.id, head.title, text, head.source))
                carried.look(head, text)
                article = article_of(material)
                if article is not None:
                    articles.append(article)
                if material.tables:
                    tables.setdefault(document.family, []).append((head, material.tables))
                own = (*drafts_of(material, article), *absent_topics(material))
                self.drafts += offered(self.sound(own), self.request.seed)
        self.drafts += self.sound(self._across(articles, tables))
        self.kept = carried.kept()

    def _across(
        self, articles: Sequence[Article], tables: Mapping[str, Sequence[tuple[Head, Sequence[Table]]]]
    ) -> Iterator[Draft]:
        """Yield the drafts that need more than one document, or the drafts of others."""
        seed = self.request.seed
        singles = [draft for draft in self.drafts if draft.kind in (Kind.SINGLE, Kind.TIME)]
        yield from combined_drafts(articles, seed)
        yield from pairs_of_drafts(singles)
        for editions in tables.values():
            yield from compared_tables(editions[:MOST_EDITIONS])
        for article in articles:
            yield from absent_attributes(article)
        yield from absent_people(articles, seed)
        yield from absent_codes(singles, seed)

    def sound(self, drafts: Iterable[Draft]) -> Iterator[Draft]:
        """Yield the drafts that were asked for and pass the checks that need no search; count the others."""
        for draft in drafts:
            if draft.kind not in self.request.kinds and not self._is_ingredient(draft):
                continue
            if draft.language not in self.request.languages:
                continue
            fault = fault_of(draft)
            if not fault:
                yield draft
            elif draft.kind in self.request.kinds:
                self.failed[draft.kind][fault] += 1

    def _is_ingredient(self, draft: Draft) -> bool:
        """Say whether questions of the kinds wanted are made from this one."""
        derived = {Kind.MULTI, Kind.UNANSWERABLE}
        return draft.kind in (Kind.SINGLE, Kind.TIME) and not derived.isdisjoint(self.request.kinds)

    async def choose(self, heads: Mapping[str, Head]) -> list[Item]:
        """Take questions of each kind until there are enough, those of the version before first."""
        unwelcome = {item.question for item in self.before if item.status == Status.REJECTED}
        items: list[Item] = []
        for kind in self.request.kinds:
            kept = [each for each in self.kept if each.item.kind is kind]
            fresh = in_turns((draft for draft in self.drafts if draft.kind is kind), self.request.seed)
            known = {each.item.id for each in kept}
            fresh = [draft for draft in fresh if draft.id not in known and draft.question not in unwelcome]
            items += await self._choose_of(kind, kept, fresh, heads)
        # Of kinds not asked for this time, everything that still holds stays.
        items += [
            self._item(each.draft, (), each.item) for each in self.kept if each.item.kind not in self.request.kinds
        ]
        return sorted(items, key=lambda item: (list(Kind).index(item.kind), item.id))

    async def _choose_of(
        self, kind: Kind, kept: Sequence[Kept], fresh: Sequence[Draft], heads: Mapping[str, Head]
    ) -> list[Item]:
        most = self.request.count
        if kind is Kind.UNANSWERABLE:
            fresh = fresh[: most * LOOKED_FOR]
        absence = self._absence([*(each.draft for each in kept), *fresh])
        repeats = Repeats()
        chosen: list[Item] = []
        for draft, item in [*((each.draft, each.item) for each in kept), *((draft, None) for draft in fresh)]:
            if len(chosen) >= most and (item is None or item.status != Status.APPROVED):
                continue
            found = await self._checked(draft, repeats, absence, approved=bool(item and item.status))
            also = [heads[source] for source in found.also if source in heads]
            fault = found.fault or ("two_splits" if any(head.split is not draft.split for head in also) else "")
            if fault:
                self.failed[kind][fault] += 1
                continue
            repeats.keep(draft)
            chosen.append(self._item(draft, tuple(head.id for head in also), item))
            if self._told is not None:
                self._told(f"choosing questions: {kind}", len(chosen), most)
        return chosen

    async def _checked(self, draft: Draft, repeats: Repeats, absence: AbsenceCheck, *, approved: bool) -> Found:
        if approved:
            return Found()  # a person has looked at it
        fault = repeats.fault_of(draft)
        if not fault and draft.absent is not None and not absence.absent(draft):
            fault = "answer_is_there"
        return Found(fault=fault) if fault else await ask_back(self.engine, draft, self.snapshot)

    def _absence(self, drafts: Sequence[Draft]) -> AbsenceCheck:
        """Look through the corpus, as it was just written, for what would answer the unanswerable."""
        check = AbsenceCheck(drafts)
        if any(draft.absent is not None for draft in drafts):
            with (self.partial / CORPUS).open(encoding="utf-8") as corpus:
                for line in corpus:
                    row = json.loads(line)
                    check.look(row["title"], row["text"])
        return check

    def _item(self, draft: Draft, also: tuple[str, ...], before: Item | None) -> Item:
        extra: dict[str, Any] = {"about": draft.about} if draft.about else {}
        if draft.absent is not None:
            words = asdict(draft.absent).items()
            extra["absent"] = {
                name: list(value) if isinstance(value, tuple) else value for name, value in words if value
            }
        if draft.prompt:
            extra["prompt"] = draft.prompt
        return Item(
            id=before.id if before else draft.id,
            kind=draft.kind,
            split=draft.split,
            language=draft.language,
            question=draft.question,
            answers=draft.answers,
            parts=draft.parts,
            evidence=tuple(_evidence_row(piece) for piece in draft.evidence),
            how=draft.how,
            as_of=draft.as_of,
            also=also,
            since=before.since if before else self.version,
            extra=extra,
        )


def _evidence_row(piece: Evidence) -> dict[str, Any]:
    return {
        "document": piece.document.id,
        "source": piece.document.source,
        "version_id": piece.document.version_id,
        "version": piece.document.version,
        "start": piece.span.start,
        "end": piece.span.end,
        "quote": piece.quote,
    }


def _facts(
    work: _Work, items: Sequence[Item], documents: Sequence[Placed], *, base: str, made_at: str, writer: Writer | None
) -> dict[str, Any]:
    request = work.request
    before, now = {item.id for item in work.before}, {item.id for item in items}
    counted = Counter((str(item.split), str(item.kind)) for item in items)
    return {
        "format": FORMAT,
        "version": work.version,
        "made_at": made_at,
        "base": {"kb": base, "snapshot": work.snapshot, "documents": len(documents)},
        "made_with": {"kaijuan": __version__, "rules": RULES, "embedder": work.engine.embedder.info.fingerprint}
        | ({"model": writer.name} if writer else {}),
        "asked_for": {
            "kinds": [str(kind) for kind in request.kinds],
            "count": request.count,
            "languages": list(request.languages),
            "seed": request.seed,
            "shares": asdict(request.shares),
        },
        "questions": len(items),
        "splits": {
            str(split): {str(kind): counted[str(split), str(kind)] for kind in Kind if counted[str(split), str(kind)]}
            for split in Split
        },
        "kept": len(before & now),
        "added": len(now - before),
        "retired": len(before - now),
        "left_out": {kind: dict(sorted(faults.items())) for kind, faults in work.failed.items() if faults},
    } | ({"model_use": dict(writer.used())} if writer else {})


def _finish(work: _Work, items: Sequence[Item], documents: Sequence[Placed], facts: Mapping[str, Any]) -> Made:
    """Write the version, unless it would be the one that is there already."""
    root = work.request.root
    rows = [item_row(item) for item in items]
    if work.version > 1:
        newest = version_folder(root)
        same = [item_row(item) for item in read_items(newest)] == rows
        if same and filecmp.cmp(newest / CORPUS, work.partial / CORPUS, shallow=False):
            return Made(folder=newest, facts=read_facts(newest), items=tuple(items), unchanged=True)
    write_splits(root, {document.head.source: (document.family, document.head.split) for document in documents})
    folder = write_version(root, work.partial, facts, items)
    return Made(folder=folder, facts=facts, items=tuple(items))
