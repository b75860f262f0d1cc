"""Settings of the ingest room's own steps. Sizes are in tokens of the embedding model unless a name says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Shape = Literal["code", "faq", "prose", "slides", "statute", "table"]
"""What a document looks like, whatever its format."""
Cuttable = Literal["code", "figure", "footnote", "formula", "list", "quote", "table"]
"""Kinds of blocks that can have a strategy of their own."""


class CutSettings(BaseModel):
    """Sizes that every strategy of cutting shares. Children of about 256 under parents of about 1,000 (spec C2)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    child_tokens: int = Field(default=256, ge=2, le=2048)
    """Aim for a child before its overlap; 150 to 300 suits most embedders."""
    child_overlap: float = Field(default=0.15, ge=0.0, le=1.0)
    """Most of a child that may repeat the end of the one before it, as a share of `child_tokens`."""
    parent_tokens: int = Field(default=1000, ge=2, le=8192)
    """Upper limit of a parent; 500 to 1,500 suits most readers."""
    max_tokens: int = Field(default=448, ge=2, le=8192)
    """Hard limit of a child: the embedder's 512 less 64 for its prefix and the title path."""
    window_chars: int = Field(default=200_000, ge=1_000, le=10_000_000)
    """Characters given to the tokenizer in one call. Longer documents are measured piece by piece."""

    @model_validator(mode="after")
    def _ordered(self) -> CutSettings:
        if not self.child_tokens <= self.max_tokens <= self.parent_tokens:
            raise ValueError("chunk sizes must be ordered: child_tokens <= max_tokens <= parent_tokens")
        return self


class ChunkSettings(CutSettings):
    """How documents are cut: which strategy, and how large the pieces are."""

    strategy: str = "recursive"
    """For documents that no table below names. auto chooses by kind and shape; by name: code, faq, fixed, judged,
    legal, list, parent_child, recursive, semantic, sentence_window, sliding, structural, table, or a chunker of another
    package."""
    by_kind: Mapping[str, str] = Field(default_factory=dict)
    """Strategies for kinds of documents: pdf = "structural". Kinds are those that `kaijuan list` shows."""
    by_shape: Mapping[Shape, str] = Field(default_factory=dict)
    """Strategies for what documents look like, of any kind not named above: statute = "legal"."""

    by_base: Mapping[str, str] = Field(default_factory=dict)
    """Strategies for knowledge bases by name, in place of `strategy`: laws = "legal"."""
    by_source: Mapping[str, str] = Field(default_factory=dict)
    """Strategies for documents by patterns of their address, written as in .gitignore; the first that fits counts,
    before kind and shape: "/srv/laws/**" = "legal", "*.faq.md" = "faq"."""
    by_block: Mapping[Cuttable, str] = Field(default_factory=dict)
    """Strategies for blocks of a kind within any document: table = "table", code = "code"."""
    summaries: bool = True
    """Whether long documents are found as a whole, by a summary of their most telling sentences and their headings."""
    summary_chunks: int = Field(default=6, ge=1, le=1_000_000)
    """Children from which a document has a summary; a shorter one is found well enough by its children."""
    summary_tokens: int = Field(default=160, ge=16, le=400)
    """Most tokens of a summary."""
    descriptions: bool = False
    """Whether tables and code are also found by what they are: columns and sizes, names defined and what is said of
    them. Kept apart from their text."""
    contexts: Literal["off", "rules", "model"] = "off"
    """Whether chunks are also found by a sentence that says where they are from: document, date, section, and names
    that the document has and the chunk has not. By rules, or written by the language model from the whole document
    when `kaijuan chunks contexts` is run (by rules until then). Kept apart from their text."""

    @field_validator("contexts", mode="before")
    @classmethod
    def _by_rules(cls, given: object) -> object:
        """Take yes and no, as the other settings that add something do."""
        words = {"true": "rules", "false": "off"}
        return words.get(str(given).lower(), given)

    def sizes(self) -> CutSettings:
        """Return the sizes alone: what a chunker depends on."""
        return CutSettings(**{name: getattr(self, name) for name in CutSettings.model_fields})

    def of_base(self, name: str) -> ChunkSettings:
        """Return the settings of one knowledge base."""
        named = self.by_base.get(name)
        return self if named is None else self.model_copy(update={"strategy": named})


def _listed(given: object) -> object:
    """Return the words of a text as a list: the environment holds one text."""
    return tuple(given.replace(",", " ").split()) if isinstance(given, str) else given


class IngestSettings(BaseModel):
    """Limits of reading. A source beyond one is a named failure in the run report; the run goes on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_bytes: int = Field(default=200_000_000, ge=1, le=2**40)
    """Largest source, in bytes; of archives, also the largest file inside."""
    max_unpacked_bytes: int = Field(default=2_000_000_000, ge=1, le=2**40)
    """Most bytes that one archive or mailbox may unpack to, archives inside it included."""
    max_members: int = Field(default=100_000, ge=1, le=10_000_000)
    """Most documents that one archive or mailbox may hold, archives inside it included."""
    max_depth: int = Field(default=4, ge=1, le=20)
    """How deep archives may lie inside archives."""
    parse_seconds: float = Field(default=300.0, gt=0, le=86_400)
    """Most time for parsing one document."""
    parse_memory_mb: int = Field(default=1200, ge=128, le=1_000_000)
    """Memory of one parser process, in MiB."""
    recogniser: str = "onboard"
    """What reads words in pictures and on scanned pages: onboard, off, or a recogniser of another package."""
    recognise_seconds: float = Field(default=3600.0, gt=0, le=86_400)
    """Most time for reading the pictures and scanned pages of one document; what is left over is named."""
    parse_workers: int = Field(default=1, ge=1, le=64)
    """Documents parsed at once, each in a process of its own."""
    allow_private_addresses: bool = False
    """Whether `add URL` may fetch from loopback and private networks."""
    respect_robots: bool = True
    """Whether `add URL` leaves alone what a site's robots.txt asks programs not to fetch."""
    languages: tuple[str, ...] = ()
    """Languages that documents may be in ("zh", "en", "ja", "ko", ...), told by script; any when empty. A document in
    another is a named failure in the run report."""

    _words = field_validator("languages", mode="before")(_listed)


Action = Literal["hold", "warn", "off"]
"""What follows from a finding of the gate."""


class GateSettings(BaseModel):
    """What is looked for before a document is published. hold keeps it back until somebody decides (`kaijuan review`),
    warn publishes it with a warning, off does not look. How often each speaks: docs/decisions, on the gate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden_instructions: Action = "hold"
    """Instructions to a language model in text that people do not see (white on white, no size, hidden)."""
    instructions: Action = "hold"
    """Instructions to a language model in the text: "ignore previous instructions", "忽略以上所有指令"."""
    invisible: Action = "hold"
    """Characters without a shape that carry a message: Unicode tags, zero-width runs, reversed reading order."""
    secrets: Action = "hold"
    """Private keys, access tokens, passwords in connection strings."""
    personal: Action = "warn"
    """Identity, card, account and passport numbers, and lists of contacts. Everyday in many companies, so no hold."""
    bulk: int = Field(default=20, ge=1, le=1_000_000)
    """Phone numbers or e-mail addresses in one document from which `personal` tells of them."""
    confidence: Action = "warn"
    """Pages whose text was read from pictures with little confidence."""
    least_confidence: float = Field(default=0.6, ge=0, le=1)
    """Mean confidence of a page below which `confidence` tells of it."""
    hidden_text: Action = "off"
    """Any passage that people do not see, whatever it says. Web pages hide menus and notes as a matter of course."""
    untrusted: Action = "hold"
    """Documents from `untrusted_sources`."""
    untrusted_sources: tuple[str, ...] = ()
    """Beginnings of source addresses, for instance "https://forum.example/" or "file:///srv/inbox/"."""

    _words = field_validator("untrusted_sources", mode="before")(_listed)

    def action(self, detector: str) -> Action:
        """Return what follows from a finding of a detector."""
        action: Action = getattr(self, detector)
        return action
