"""The embedder as systems see it: vectors from a shared file where it has them, else from the embedding server.

All systems so get the same bytes for the same text, and a run whose vectors are all in the file measures the system
itself. Standard library and numpy only, since it runs in every environment.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.peers.protocol import Vectors

_LOOKUP = 500
_ASKED = 256
MARK = re.compile(r"\b(rec|ask)(\d{6})\b")
"""How a synthetic text names its vector."""


class VectorFile:
    """Vectors by model, kind and text in SQLite; several processes may use it."""

    def __init__(self, path: Path, model: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        self._model = model

    def key(self, kind: str, text: str) -> bytes:
        """Return the key of a text; `kind` is passage or query."""
        return hashlib.blake2b(
            f"{self._model}\0{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=20
        ).digest()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return the vectors that are there."""
        found: dict[bytes, Vectors] = {}
        for part in parts(keys, _LOOKUP):
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # marks only
            found.update((key, np.frombuffer(blob, dtype="<f4")) for key, blob in self._connection.execute(query, part))
        return found

    def write(self, vectors: dict[bytes, Vectors]) -> None:
        """Keep vectors."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()],
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class SharedModel:
    """The onboard embedder, from the file or from the server."""

    def __init__(self, file: VectorFile, url: str, dimensions: int) -> None:
        self._file = file
        self._questions: dict[str, Vectors] = {}
        self.url = url
        self.dimensions = dimensions
        self.computed = 0
        """Texts that the file did not have."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape (texts, dimensions)."""
        return self._embed("passage", texts)

    def query(self, text: str) -> Vectors:
        """Embed a question; one that was asked before is remembered."""
        if text not in self._questions:
            self._questions[text] = self._embed("query", [text])[0]
        return self._questions[text]

    def _embed(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [self._file.key(kind, text) for text in texts]
        known = self._file.read(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for part in parts(list(missing), _ASKED):
            # The server writes the file, so that every text is computed once.
            rows = ask_server(self.url, kind, [missing[key] for key in part])
            known.update(zip(part, rows, strict=True))
        self.computed += len(missing)
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dimensions), dtype=np.float32)


class SyntheticModel:
    """A stub: a text's mark says which row of two arrays is its vector."""

    def __init__(self, passages: Path, questions: Path, url: str) -> None:
        self._arrays = {"rec": np.load(passages, mmap_mode="r"), "ask": np.load(questions, mmap_mode="r")}
        self.url = url
        self.dimensions = int(self._arrays["rec"].shape[1])
        self.computed = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Look the texts' vectors up."""
        return np.stack([self._row(text) for text in texts])

    def query(self, text: str) -> Vectors:
        """Look the question's vector up."""
        return self._row(text)

    def _row(self, text: str) -> Vectors:
        found = MARK.search(text)
        if found is None:
            raise ValueError(f"A synthetic text without a mark: {text[:80]!r}")
        return np.array(self._arrays[found[1]][int(found[2])], dtype=np.float32)


def ask_server(url: str, kind: str, texts: Sequence[str]) -> Vectors:
    """Ask the embedding server: OpenAI's protocol, the kind written before each text as E5 has it."""
    body = json.dumps({"model": "onboard", "input": [f"{kind}: {text}" for text in texts]}).encode()
    request = urllib.request.Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        data = json.load(reply)["data"]
    return np.array([one["embedding"] for one in data], dtype=np.float32)


def made_by_server(url: str) -> int:
    """Return how many texts the server computed, rather than found in its file."""
    with urllib.request.urlopen(f"{url}/made", timeout=60) as reply:
        return int(json.load(reply)["made"])


def parts(items: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    """Yield slices of at most `size`."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
