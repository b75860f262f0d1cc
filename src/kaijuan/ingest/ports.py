"""What the ingest room needs from the outside: sources, parsers, chunkers, a tokenizer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kaijuan.core.chunk_work import AUTO
from kaijuan.core.documents import Block, ChunkLevel, Metadata, ParsedBlock, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.ingest.metadata import storable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    PageImage = npt.NDArray[np.uint8]
    """Rows, columns, and red, green, blue from 0 to 255."""
else:
    PageImage = object  # numpy takes time to load: only those import it who have a picture in hand


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """One document as a source offers it. `source` is its lasting address and identity."""

    source: str
    """file:///..., https://..., or file:///...#record for one record of a file."""
    name: str
    """File name or title by which the kind may be told."""
    size: int
    """Bytes."""
    data: bytes
    kind: str = ""
    """Set when the source knows it ("record" for a JSONL line); otherwise found from content and name."""
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    """What cannot be stored is left out when the item is made, and named in `warnings`."""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Here, not in each source: one field that no index takes would else end the whole run.
        metadata, warnings = storable(self.metadata)
        object.__setattr__(self, "metadata", metadata)
        object.__setattr__(self, "warnings", (*self.warnings, *warnings))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFailure:
    """A place the source could not read. The run goes on."""

    source: str
    code: str
    message: str


class Notebook(Protocol):
    """Remembers how sources looked from outside (size and times of a file, ETag of a page), so that what looks as it
    did need not be read again. Called from the thread of a walk."""

    def mark_of(self, source: str) -> str:
        """Return the mark of a source all of whose documents are live; "" when none is kept."""

    def skip(self, source: str) -> None:
        """Take all documents that came from a source with a kept mark as met and unchanged; they are not offered."""

    def note(self, source: str, mark: str) -> None:
        """Say how a source looks that was offered in full."""


@runtime_checkable
class KeepsNotebook(Protocol):
    """A source that asks a notebook (None: reads everything) before it reads."""

    notebook: Notebook | None


class Source(Protocol):
    """A place documents come from. Walks are in a stable order and end even where folders loop."""

    def accepts(self, target: str) -> bool:
        """Say whether `target`, as the user wrote it, is for this source."""

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every document under `target`; reads one item at a time, never all into memory."""

    def scope(self, target: str) -> str:
        """Return the prefix that the address of everything under `target` starts with (for mirroring)."""


class Parser(Protocol):
    """Bytes to blocks. Runs in a child process; raises only DocumentError."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Read one file. Deterministic; blocks are disjoint, ordered, non-empty and cover all text worth finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedLine:
    """A line of text found in a picture."""

    text: str
    corners: tuple[tuple[float, float], ...]
    """Four (x, y), in dots from the top left of the picture, clockwise from where the text begins: the first two are
    above it, whichever way it runs. A column of upright characters counts as a line that runs downwards."""
    edges: tuple[float, ...] = ()
    """Where each character begins and the last ends, as len(text) + 1 shares (0 to 1) of the way from the first
    corner to the second, never falling; empty when only the line's place is known."""
    confidence: float = 1.0
    """From 0 to 1."""


class Recogniser(Protocol):
    """Text recognition (OCR). Runs in a parser process, beside untrusted bytes; never reaches for the network.

    Made there as `Class(threads)`, with the number of cores that it may keep busy.
    """

    @property
    def fingerprint(self) -> str:
        """Name and version of what reads; documents are read again when it changes."""

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        """Return the lines of text in a picture, in any order. The same picture gives the same lines."""


@runtime_checkable
class ReadsPictures(Protocol):
    """A parser that is given the recogniser that is configured (None: none is) before it parses."""

    recogniser: Recogniser | None


class Tokenizer(Protocol):
    """The embedding model's own tokenizer; every size is measured with it."""

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the span of each token in `text`, in order. `len()` of it is the token count."""


@runtime_checkable
class ManyTokenizer(Protocol):
    """A tokenizer that finds the tokens of several short texts together, several times quicker. Nobody has to."""

    def token_spans_each(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        """Return `token_spans` of each text."""


def spans_of_each(tokenizer: Tokenizer, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
    """Return the token spans of each text, together where the tokenizer can."""
    if isinstance(tokenizer, ManyTokenizer):
        return tokenizer.token_spans_each(texts)
    return [tokenizer.token_spans(text) for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk before it has an id. `parent` is the position of its parent in the same list, or None."""

    level: ChunkLevel
    span: Span
    parent: int | None
    title_path: tuple[str, ...]
    tokens: int
    origin: str = AUTO
    search_text: str = ""
    """What it is found by instead of its own text; chunkers leave this, origin and context alone."""
    context: str = ""
    """Words about it that are searched with it."""


class Chunker(Protocol):
    """Blocks to chunks. Pure: the same input gives the same output."""

    @property
    def fingerprint(self) -> str:
        """Name, version and settings; part of the pipeline fingerprint."""

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return children and parents. Children cover every content character of the blocks (headings are
        covered by the title path and the parents), none is above the token limit, parents cover their children."""


class Similarity(Protocol):
    """How like texts are to later ones. Blocks while vectors are made: never called on an event loop."""

    def __call__(self, texts: Sequence[str], apart: int, /) -> Sequence[float]:
        """Return the cosine similarity of each text with the one `apart` places later: `apart` fewer than texts."""


@runtime_checkable
class NeedsSimilarity(Protocol):
    """A chunker that is given what makes vectors before it cuts."""

    similarity: Similarity | None


class Judge(Protocol):
    """Which of the texts in a row begin something new. Blocks while a model reads: never called on an event loop."""

    def __call__(self, parts: Sequence[str], /) -> Sequence[int]:
        """Return their places, rising, never 0. DocumentError when nobody can say."""


@runtime_checkable
class NeedsJudge(Protocol):
    """A chunker that is given a language model's judgement before it cuts."""

    judge: Judge | None


class WrittenShelf(Protocol):
    """What language models wrote about documents, so that nothing is paid twice. For any thread; quick."""

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return what is kept under these keys."""

    def keep(self, owner: str, rows: Mapping[str, str]) -> None:
        """Keep texts by key. `owner` is the document that they are about, "" where they hold no word of one."""

    def forget(self, owners: Collection[str]) -> int:
        """Drop what is kept of documents; return how many texts."""

    def owners(self) -> Collection[str]:
        """Return the documents that something is kept of."""

    def of(self, owner: str) -> Mapping[str, str]:
        """Return what is kept of a document, by key."""

    def close(self) -> None:
        """Release the store. Twice is fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a document besides its blocks."""

    title: str
    kind: str
    language: str
    metadata: Metadata = field(default_factory=dict)


class Chunking(Protocol):
    """Which chunker cuts a document. Pure: the same facts always lead to the same chunker."""

    @property
    def limit(self) -> int:
        """Most tokens of a child, and of what one is found by."""

    @property
    def enrichment(self) -> str:
        """Fingerprint of `enriched`; "" where it adds nothing."""

    def given(self, similarity: Similarity) -> Chunking:
        """Return the same choice, whose chunkers can ask how like texts are."""

    def shape_of(self, kind: str, text: str, blocks: Sequence[Block | ParsedBlock]) -> str:
        """Return what the document looks like, with the revision of the rules that say so. No colon in it."""

    def chunker_for(self, kind: str, shape: str, source: str = "", named: str = "") -> Chunker:
        """Return the chunker for a document of a kind that looks like `shape`, a word that `shape_of` gave.

        `source` is its address, `named` the strategy that somebody chose for it, "" for none.
        """

    def enriched(
        self, facts: Facts, text: str, blocks: Sequence[Block], drafts: Sequence[ChunkDraft], tokenizer: Tokenizer
    ) -> list[ChunkDraft]:
        """Add to the drafts of a document what is searched with them and is no part of its text."""

    def is_current(self, kind: str, shape: str) -> bool:
        """Say whether `shape_of` would give the same chunker, whenever `shape` was given: no where rules changed."""
