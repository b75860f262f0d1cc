"""The gate of one run: what detectors and earlier decisions say about a document before it is staged (spec B3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from kaijuan.core.documents import ParsedDocument, Version
from kaijuan.core.ids import KbId, content_hash, stable_id
from kaijuan.core.reviews import Finding, Review, ReviewState, review_id
from kaijuan.core.text.language import language_of
from kaijuan.errors import KaijuanError, WrongLanguageError
from kaijuan.index.catalog import Catalog, ItemState, RunItem
from kaijuan.index.ports import BlobStore
from kaijuan.ingest.gate.pipeline import findings
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import GateSettings

DECIDED = (ReviewState.APPROVED, ReviewState.REJECTED)
Facts = Callable[[SourceItem], str]
"""What an item says besides its bytes, as one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A document that is not published: it waits for a decision, or somebody decided to keep it out."""

    item: SourceItem
    review: Review
    live: Version | None = None
    """The same content where readers see it still, though it was rejected."""

    @property
    def line(self) -> RunItem:
        """The line of the run's report."""
        if self.review.state is ReviewState.REJECTED:
            said = self.review.history[-1]
            why = f"Rejected by {said.by or 'somebody'}" + (f": {said.note}" if said.note else ".")
            return RunItem(source=self.item.source, state=ItemState.REJECTED, code=self.review.id, message=why)
        message = "; ".join(str(finding) for finding in self.review.reasons)
        return RunItem(source=self.item.source, state=ItemState.HELD, code=self.review.id, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What documents of one run have to pass."""

    settings: GateSettings
    languages: tuple[str, ...]
    """Those that documents may be in; empty for any."""
    kb: KbId
    known: Mapping[str, Review]
    """Reviews that were decided, by id."""
    facts: Facts
    clock: Callable[[], float]

    @classmethod
    async def opened(
        cls, catalog: Catalog, kb: KbId, rules: GateRules, facts: Facts, clock: Callable[[], float]
    ) -> Self:
        """Return the gate with every decision that was made so far: read once a run, for there are few."""
        known = {review.id: review for review in await catalog.reviews(kb, DECIDED)}
        return cls(settings=rules.settings, languages=rules.languages, kb=kb, known=known, facts=facts, clock=clock)

    def refused(self, item: SourceItem, content: str, live: Version | None) -> Held | None:
        """Return the refusal of a content that somebody rejected; it is not read again."""
        review = self.known.get(self._id(item, content)) if self.known else None
        if review is None or review.state is not ReviewState.REJECTED:
            return None
        seen = live if live is not None and live.content_hash == content else None
        return Held(item=item, review=review, live=seen)

    def judged(self, item: SourceItem, content: str, document: ParsedDocument) -> ParsedDocument | Held:
        """Return the document with the warnings of the gate, or why it is held; WrongLanguageError for that."""
        if self.languages and (language := language_of(document.text)) not in self.languages:
            raise WrongLanguageError(f"The text is in {language or 'no language'}, not in {', '.join(self.languages)}.")
        found = findings(document, item, self.settings)
        if not found:
            return document
        holding = tuple(each for each in found if self.settings.action(each.detector) == "hold")
        if holding and (approval := self._approval(item, content, holding)) is None:
            return Held(item=item, review=self._review(item, content, holding))
        said = [str(each) if each not in holding else f"approved by {approval or 'somebody'}: {each}" for each in found]
        return replace(document, warnings=(*document.warnings, *said))

    def _approval(self, item: SourceItem, content: str, holding: Sequence[Finding]) -> str | None:
        """Return who approved a content with these findings; an approval covers what its maker was shown."""
        review = self.known.get(self._id(item, content)) if self.known else None
        if review is None or review.state is not ReviewState.APPROVED:
            return None
        return review.history[-1].by if {each.detector for each in holding} <= review.detectors else None

    def _id(self, item: SourceItem, content: str) -> str:
        return review_id(self.kb, item.source, content, self.facts(item))

    def _review(self, item: SourceItem, content: str, reasons: tuple[Finding, ...]) -> Review:
        return Review(
            id=self._id(item, content),
            kb_id=self.kb,
            source=item.source,
            content_hash=content,
            original_hash=content_hash(item.data),
            reasons=reasons,
            created_at=self.clock(),
            name=item.name,
            kind=item.kind,
            title=item.title,
            metadata=item.metadata,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """What is configured about the gate."""

    settings: GateSettings = field(default_factory=GateSettings)
    languages: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Another one may let in other documents."""
        return stable_id("gate", self.settings.model_dump_json(), *self.languages)


async def hold_back(catalog: Catalog, blobs: BlobStore, held: Sequence[Held]) -> None:
    """Keep what waits so that it can be approved without its source.

    The bytes first: a review that can be read must be able to be approved.
    """
    waiting = [one for one in held if one.review.state is ReviewState.PENDING]
    if waiting:
        await blobs.put_each([one.item.data for one in waiting])
    for one in waiting:
        await catalog.hold(one.review)


async def kept_items(blobs: BlobStore, reviews: Sequence[Review]) -> AsyncIterator[SourceItem | SourceFailure]:
    """Offer what was held back as its source once did."""
    for review in reviews:
        try:
            data = await blobs.get(review.original_hash)
        except KaijuanError as error:
            yield SourceFailure(source=review.source, code=error.code, message=str(error))
            continue
        yield SourceItem(
            source=review.source,
            name=review.name,
            size=len(data),
            data=data,
            kind=review.kind,
            title=review.title,
            metadata=review.metadata,
        )
