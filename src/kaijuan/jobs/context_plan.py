"""What a language model still has to be asked about the passages of a base, request by request, and what that costs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

from kaijuan.core.chat import ChatInfo, ChatRequest, Effort, prompt, tokens, tokens_of
from kaijuan.core.chunk_work import ALIAS
from kaijuan.core.documents import Chunk, ChunkLevel, Version
from kaijuan.core.spans import Span
from kaijuan.index.catalog import Catalog
from kaijuan.index.ports import BlobStore
from kaijuan.ingest import prompts
from kaijuan.ingest.chunkers.enrich import context_key
from kaijuan.ingest.ports import WrittenShelf

PURPOSE = "write_contexts"
_TOGETHER = 6
"""Passages in one request: the document is read once for all of them, and small models lose count of more."""
_REPLY_EACH = 90
"""Tokens of a reply for each passage, at most."""
_EXPECTED_EACH = 45
"""Tokens of a reply for each passage, for the estimate."""
_FRAME = 500
"""Tokens of the prompt without document and passages."""
_MOST_READ = 6_000
"""Tokens of a document that are read with its passages; of a longer one its beginning, and what is around them."""
_SHARE_OF_BEGINNING = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One request: some passages of one document, and where the sentences about them go."""

    version: Version
    keys: tuple[str, ...]
    request: ChatRequest


@dataclass(slots=True, kw_only=True)
class ContextPlan:
    """What writing the missing sentences takes, at most. Without a price for the model, `cost` is 0."""

    model: str
    documents: int = 0
    """Those with passages without a sentence."""
    passages: int = 0
    known: int = 0
    """Passages whose sentence was written before."""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    stale: list[Version] = field(default_factory=list)
    """Documents to be published, because sentences about them were written and are not searched yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Where documents, and what was written about them, are read."""

    catalog: Catalog
    blobs: BlobStore
    shelf: WrittenShelf
    info: ChatInfo

    async def opened(self, version: Version) -> Opened:
        """Read a document, and look which of its passages have a sentence."""
        text = (await self.blobs.get(version.text_hash)).decode()
        chunks = [
            chunk
            for chunk in await self.catalog.chunks_of(version.id)
            if chunk.level is ChunkLevel.CHILD and chunk.origin != ALIAS
        ]
        keys = [context_key(version.title, chunk.title_path, chunk.span.of(text)) for chunk in chunks]
        known = self.shelf.known(keys)
        return Opened(
            version=version,
            text=text,
            missing=tuple((key, chunk) for key, chunk in zip(keys, chunks, strict=True) if key not in known),
            known=len([key for key in keys if key in known]),
            stale=any(key in known and known[key] not in one.context for key, one in zip(keys, chunks, strict=True)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A document and its passages without a sentence."""

    version: Version
    text: str
    missing: tuple[tuple[str, Chunk], ...]
    known: int
    stale: bool
    """Whether a sentence was written that is not in force."""

    def batches(self, info: ChatInfo) -> Iterator[Batch]:
        """Yield the requests. The document comes first in each, so that services read what is the same only once."""
        room = max(256, info.context_tokens - _FRAME - _TOGETHER * _REPLY_EACH)
        most_read = min(_MOST_READ, int(room * 0.6))
        for group in self._groups(room - most_read):
            yield self._batch(group, most_read)

    def _groups(self, room: int) -> Iterator[list[tuple[str, Chunk]]]:
        group: list[tuple[str, Chunk]] = []
        left = room
        for key, chunk in self.missing:
            size = tokens(chunk.span.of(self.text)) + 8
            if group and (len(group) == _TOGETHER or size > left):
                yield group
                group, left = [], room
            group.append((key, chunk))
            left -= size
        if group:
            yield group

    def _batch(self, group: Sequence[tuple[str, Chunk]], most_read: int) -> Batch:
        language = self.version.language
        passages = "\n\n".join(
            f"[{number}] {chunk.span.of(self.text)}" for number, (_, chunk) in enumerate(group, start=1)
        )
        words = prompts.prompt(
            "context",
            language,
            title=self.version.title.replace('"', "'"),
            document=around(self.text, Span(group[0][1].span.start, group[-1][1].span.end), most_read),
            passages=passages,
            count=str(len(group)),
        )
        request = ChatRequest(
            messages=prompt("", words),
            purpose=PURPOSE,
            effort=Effort.SMALL,
            temperature=0.0,
            max_tokens=_REPLY_EACH * len(group) + 50,
        )
        return Batch(version=self.version, keys=tuple(key for key, _ in group), request=request)


def around(text: str, span: Span, most: int) -> str:
    """Return a text of at most about `most` tokens: whole, or its beginning and what is around a span."""
    size = tokens(text)
    if size <= most:
        return text
    # Characters a token has in this text: near enough for a window.
    room = int(most * len(text) / size)
    head = int(room * _SHARE_OF_BEGINNING)
    middle = (span.start + span.end) // 2
    start = max(head, middle - (room - head) // 2)
    end = min(len(text), start + room - head)
    start = max(head, end - (room - head))
    gap = "" if start <= head else "\n…\n"
    return f"{text[:head]}{gap}{text[start:end]}"


async def planned(
    material: Material, versions: Sequence[Version], *, input_price: float, output_price: float
) -> ContextPlan:
    """Say what writing the missing sentences about these documents takes; asks nobody."""
    plan = ContextPlan(model=material.info.name)
    async for opened in _each(material, versions):
        plan.known += opened.known
        plan.passages += len(opened.missing)
        plan.documents += bool(opened.missing)
        if opened.stale:
            plan.stale.append(opened.version)
        for batch in opened.batches(material.info):
            plan.requests += 1
            plan.prompt_tokens += tokens_of(batch.request.messages)
            plan.completion_tokens += _EXPECTED_EACH * len(batch.keys)
    plan.cost = (plan.prompt_tokens * input_price + plan.completion_tokens * output_price) / 1_000_000
    return plan


async def batches(material: Material, versions: Sequence[Version]) -> AsyncIterator[Batch]:
    """Yield every request, one document in memory at a time."""
    async for opened in _each(material, versions):
        for batch in opened.batches(material.info):
            yield batch


async def _each(material: Material, versions: Sequence[Version]) -> AsyncIterator[Opened]:
    for version in versions:
        yield await material.opened(version)
