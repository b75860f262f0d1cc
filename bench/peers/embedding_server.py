"""Serves the onboard embedder to the peers' processes by OpenAI's protocol, over loopback; keeps vectors in a file.

    python -m bench.peers.embedding_server --file VECTORS.db [--synthetic PASSAGES.npy QUESTIONS.npy]

Prints its address once it listens and ends when its standard input does; GET tells how many texts it computed. A text
begins with `query: ` or `passage: `; passages that are too long lose their end, as with sentence-transformers.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol

import numpy as np

from bench.peers.embedding import SyntheticModel, VectorFile
from bench.peers.protocol import Vectors
from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder

KINDS = ("query", "passage")


class Model(Protocol):
    """What is served."""

    made: int
    """Texts computed so far, rather than found in the file."""

    def embed(self, kind: str, texts: Sequence[str]) -> Vectors:
        """Embed texts of one kind."""


class Onboard:
    """The onboard embedder behind a file of its vectors."""

    def __init__(self, file: Path) -> None:
        self._embedder = onboard()
        self._file = VectorFile(file, self._embedder.info.fingerprint)
        self._lock = threading.Lock()
        self.made = 0

    def embed(self, kind: str, texts: Sequence[str]) -> Vectors:
        """Read what the file has, compute and store the rest."""
        keys = [self._file.key(kind, text) for text in texts]
        with self._lock:
            known = self._file.read(list(dict.fromkeys(keys)))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            made = dict(zip(missing, self._compute(kind, list(missing.values())), strict=True))
            self._file.write(made)
            self.made += len(made)
        return np.stack([made[key] if key in made else known[key] for key in keys])

    def _compute(self, kind: str, texts: Sequence[str]) -> Sequence[Vectors]:
        return asyncio.run(self._computed(kind, texts))

    async def _computed(self, kind: str, texts: Sequence[str]) -> list[Vectors]:
        if kind == "query":
            return [await self._embedder.embed_query(text) for text in texts]
        if not texts:
            return []
        return list(await self._embedder.embed_passages([self._cut(text) for text in texts]))

    def _cut(self, text: str) -> str:
        spans = self._embedder.token_spans(text)
        # The prefix belongs to the tokens reserved.
        room = self._embedder.info.max_tokens - self._embedder.info.reserved_tokens
        return text if len(spans) <= room else text[: spans[room - 1].end]


class Synthetic:
    """The stub of the filtered test."""

    def __init__(self, passages: Path, questions: Path) -> None:
        self._model = SyntheticModel(passages, questions, "")
        self.made = 0

    def embed(self, kind: str, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 - the mark tells the kind
        """Look the vectors up."""
        return self._model.passages(texts)


def onboard() -> OnnxE5Embedder:
    """Return the onboard embedder, its exported graph kept where temporary files are."""
    return OnnxE5Embedder(Path(tempfile.gettempdir()) / "kaijuan-bench-model")


def split_kind(text: str) -> tuple[str, str]:
    """Take E5's prefix off a text; without one it is a passage."""
    kind, colon, rest = text.partition(": ")
    return (kind, rest) if colon and kind in KINDS else ("passage", text)


def answer(model: Model, body: dict[str, object]) -> dict[str, object]:
    """Return the reply to one request."""
    given = body["input"]
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list) else []
    split = [split_kind(str(text)) for text in texts]
    kinds = {kind for kind, _ in split}
    if len(kinds) != 1:
        raise ValueError("The texts of one request must be of one kind.")
    rows = model.embed(kinds.pop(), [text for _, text in split])
    coded = body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": place,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if coded else row.tolist(),
        }
        for place, row in enumerate(rows)
    ]
    return {"object": "list", "model": "onboard", "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}}


def handler(model: Model) -> type[BaseHTTPRequestHandler]:
    """Return the class that answers for `model`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._reply(answer(model, body))

        def do_GET(self) -> None:
            self._reply({"made": model.made})

        def _reply(self, content: dict[str, object]) -> None:
            reply = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--synthetic", type=Path, nargs=2)
    options = parser.parse_args()
    model: Model = Synthetic(*options.synthetic) if options.synthetic else Onboard(options.file)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(model))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
