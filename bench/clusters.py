"""Chunks for scaling: zipfian Chinese and English words, and vectors in topics and clusters, all from seeds.

A document has fifty chunks; four documents that follow each other are one cluster of 200 chunks, and every 200th
cluster has the same topic. Each chunk begins with the sentence of its cluster, which its questions are made of.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from zlib import crc32

import numpy as np

from bench.texts import HAN
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.bm25 import AVERAGE_LENGTH, K1, B, term_id
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.testing.embedders import HashEmbedder

DIMENSIONS = 384
CHUNKS_A_DOCUMENT = 50
DOCUMENTS_A_CLUSTER = 4
TOPICS = 200
PARTS = 2000
"""A document's `part` is its number modulo this: a filter on one part leaves 0.05 %."""
CHUNK_TOKENS = 110
"""Characters (Chinese) or words (English) of a chunk, about; terms are as many."""
_WORDS = 40_000
_SENTENCES = 30_000
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()  # noqa: SIM905
_CODE = re.compile(r"KJ-(\d+)")


class Words:
    """Made-up words by rank; how often one is used falls with its rank (Zipf)."""

    def __init__(self, seed: int = 1) -> None:
        chance = random.Random(seed)
        self._chinese = ["".join(chance.choices(HAN, k=2)) for _ in range(_WORDS)]
        self._english = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(_WORDS)]
        self._weights = list(accumulate(1 / rank for rank in range(1, _WORDS + 1)))

    def sentence(self, chance: random.Random) -> str:
        """Return a sentence, Chinese or English, of about twenty tokens."""
        if chance.random() < 0.5:
            return "".join(chance.choices(self._chinese, cum_weights=self._weights, k=chance.randint(7, 13))) + "。"
        return " ".join(chance.choices(self._english, cum_weights=self._weights, k=chance.randint(14, 24))) + ". "


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the analyser's view of it."""

    text: str
    terms: Mapping[int, int]
    """Term id to how often it is there."""
    words: int
    """Terms without bigrams: its length to BM25."""
    tokens: int


class Corpus:
    """Documents by number. `analysed` keeps the terms of each sentence, for chunks that pass by the engine's path."""

    def __init__(self, sentences: int = _SENTENCES) -> None:
        self._words = Words()
        self._count = sentences
        self._made: dict[int, Sentence] = {}

    def lead(self, cluster: int) -> str:
        """Return the sentence that every chunk of a cluster begins with."""
        return f"KJ-{cluster:06d} " + self._words.sentence(random.Random(f"cluster {cluster}"))

    def sentence(self, number: int) -> Sentence:
        """Return one of the sentences that chunks share."""
        if number not in self._made:
            self._made[number] = analysed(self._words.sentence(random.Random(number)))
        return self._made[number]

    def _lead(self, cluster: int) -> Sentence:
        if -1 - cluster not in self._made:
            self._made[-1 - cluster] = analysed(self.lead(cluster))
        return self._made[-1 - cluster]

    def chunk(self, number: int) -> list[Sentence]:
        """Return the sentences of a chunk."""
        chance = random.Random(f"chunk {number}")
        made = [self._lead(cluster_of(number // CHUNKS_A_DOCUMENT))]
        size = made[0].tokens
        while size < CHUNK_TOKENS:
            made.append(self.sentence(chance.randrange(self._count)))
            size += made[-1].tokens
        return made

    def paragraphs(self, document: int) -> Iterator[str]:
        """Yield the text of each chunk of a document."""
        for number in range(document * CHUNKS_A_DOCUMENT, (document + 1) * CHUNKS_A_DOCUMENT):
            yield text_of(self.chunk(number))

    def question(self, cluster: int, chance: random.Random) -> str:
        """Return a question of a cluster: half of its sentence, without its code, and a few words that others hold."""
        lead = self.lead(cluster).split(" ", 1)[1].strip(". 。")
        other = self._words.sentence(chance).strip(". 。")
        if " " in lead:
            return " ".join(lead.split()[:7]) + " " + other[:6]
        return lead[:12] + other[:6]


def text_of(sentences: Sequence[Sentence]) -> str:
    """Return the text of a chunk."""
    return "".join(sentence.text for sentence in sentences).strip()


def analysed(text: str) -> Sentence:
    """Return a sentence with its terms, as the engine's analyser sees them."""
    keys, bigrams = keys_of(text)
    terms = Counter(map(term_id, keys))
    terms.update(term_id("~" + pair) for pair in bigrams)
    return Sentence(text=text, terms=terms, words=len(keys), tokens=len(HashEmbedder().token_spans(text)))


def weights(sentences: Sequence[Sentence]) -> dict[int, float]:
    """Return the BM25 weights of sentences put together: `document_weights` of their text, from their own terms."""
    counts: dict[int, int] = {}
    for sentence in sentences:
        for term, count in sentence.terms.items():
            counts[term] = counts.get(term, 0) + count
    slope = K1 * (1 - B + B * sum(sentence.words for sentence in sentences) / AVERAGE_LENGTH)
    return {term: count * (K1 + 1) / (count + slope) for term, count in counts.items()}


def cluster_of(document: int) -> int:
    """Return the cluster that a document belongs to."""
    return document // DOCUMENTS_A_CLUSTER


@lru_cache(maxsize=4096)
def _direction(name: str) -> Vector:
    row = np.random.default_rng(crc32(name.encode())).standard_normal(DIMENSIONS, dtype=np.float32)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def vector(cluster: int, text: str) -> Vector:
    """Return the vector of a text of a cluster: its topic's, its cluster's and its own direction added."""
    own = np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS, dtype=np.float32)
    made: Vector = vectors(cluster, own[np.newaxis])[0]
    return made


def vectors(cluster: int, own: Vectors) -> Vectors:
    """Return the vectors of texts of a cluster, from directions of their own."""
    rows = _direction(f"topic {cluster % TOPICS}") + 0.8 * _direction(f"cluster {cluster}")
    rows = rows + own * (0.8 / np.linalg.norm(own, axis=1, keepdims=True))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


class ClusterEmbedder:
    """Gives texts the vector of the cluster whose code they hold, and questions that of the cluster they were made of.

    With `real`, every question is embedded by that one too, and its vector thrown away: so its time is measured.
    """

    def __init__(self, real: Embedder | None = None) -> None:
        self._hash = HashEmbedder(dimensions=DIMENSIONS)
        self.real = real
        self.questions: dict[str, int] = {}

    @property
    def info(self) -> EmbedderInfo:
        return self._hash.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([vector(_cluster(text), text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        if self.real is not None:
            await self.real.embed_query(text)
        return vector(self.questions[text], text)

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._hash.token_spans(text)

    async def close(self) -> None:
        if self.real is not None:
            await self.real.close()


def _cluster(text: str) -> int:
    found = _CODE.search(text)
    return int(found[1]) if found else 0


def write_records(path: Path, documents: int) -> None:
    """Write one JSONL record a document."""
    corpus = Corpus()
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            row = {"_id": f"r{number}", "text": "\n\n".join(corpus.paragraphs(number)), **fields(number)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def fields(document: int) -> dict[str, int]:
    """Return what filters may ask of a document."""
    return {"part": document % PARTS, "half": document % 2}


if __name__ == "__main__":
    write_records(Path(sys.argv[1]), int(sys.argv[2]))
