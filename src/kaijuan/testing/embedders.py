"""Embedders for tests: a deterministic one without a network, and a service that speaks OpenAI's protocol."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import numpy as np

from kaijuan import telemetry
from kaijuan.core.spans import Span
from kaijuan.errors import ClosedError, OverlongInputError
from kaijuan.index.ports import EmbedderInfo, Vector, Vectors

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+|[^\w\s]")
_RESERVED = 2


class HashEmbedder:
    """Unit vectors from a hashed bag of tokens and their neighbour pairs.

    A token is one Han character, one word, or one other sign; cosine similarity grows with the share of tokens
    and pairs that two texts have in common. Query and passage vectors of one text are the same.
    """

    def __init__(self, dimensions: int = 64, max_tokens: int = 512) -> None:
        self._info = EmbedderInfo(
            name="hash",
            fingerprint=f"hash-1-{dimensions}-{max_tokens}",
            dimensions=dimensions,
            max_tokens=max_tokens,
            reserved_tokens=_RESERVED,
        )
        self._closed = False

    @property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is."""
        return self._info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; OverlongInputError when one has too many tokens."""
        self._check_open()
        room = self._info.max_tokens - _RESERVED
        rows = np.zeros((len(texts), self._info.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            tokens = _TOKEN.findall(text)
            if len(tokens) > room:
                raise OverlongInputError(f"A passage has {len(tokens)} tokens; {room} is the limit.")
            row[:] = self._bag(tokens)
        return rows

    async def embed_query(self, text: str) -> Vector:
        """Embed a question, cut at its end where it has too many tokens."""
        self._check_open()
        room = self._info.max_tokens - _RESERVED
        tokens = _TOKEN.findall(text)
        if len(tokens) > room:
            telemetry.count("embedding.query_cut")
        return self._bag(tokens[:room])

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return one span for each Han character, word and other sign."""
        return [Span(found.start(), found.end()) for found in _TOKEN.finditer(text)]

    async def close(self) -> None:
        """Refuse further embedding, as a real embedder would."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("The embedder is closed.")

    def bag(self, text: str) -> Vector:
        """Return the vector of a text of any length."""
        return self._bag(_TOKEN.findall(text))

    def _bag(self, tokens: Sequence[str]) -> Vector:
        lowered = [token.lower() for token in tokens]
        row = np.zeros(self._info.dimensions, dtype=np.float64)
        # The constant part keeps the empty text, and tokens that cancel out, away from the zero vector.
        row[0] = 1e-3
        for feature in lowered + [f"{a} {b}" for a, b in itertools.pairwise(lowered)]:
            place, sign = _slot(feature, self._info.dimensions)
            row[place] += sign
        length = float(np.linalg.norm(row))
        return np.asarray(row / length, dtype=np.float32)


@lru_cache(maxsize=65536)
def _slot(feature: str, dimensions: int) -> tuple[int, int]:
    """Choose place and sign of a feature (the hashing trick of Weinberger et al., 2009)."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return (number >> 1) % dimensions, 1 if number & 1 else -1


class EmbeddingService:
    """A local HTTP service with HashEmbedder's vectors, to be used with `with`.

    `replies` are given first, one a request: status, headers, body. `requests` are the bodies received, `keys` their
    Authorization headers. Vectors are not of unit length and come in reversed order, as the protocol allows.
    """

    def __init__(self, dimensions: int = 64) -> None:
        self.replies: list[tuple[int, Mapping[str, str], bytes]] = []
        self.requests: list[Mapping[str, object]] = []
        self.keys: list[str] = []
        self._embedder = HashEmbedder(dimensions)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Return the base address, without /v1."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, key: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body for a request."""
        request = json.loads(body)
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            if self.replies:
                return self.replies.pop(0)
        if path != "/v1/embeddings":
            return 404, {}, b"no such path"
        rows = [
            {"object": "embedding", "index": place, "embedding": (self._embedder.bag(text) * 3).tolist()}
            for place, text in enumerate(request["input"])
        ]
        return 200, {}, json.dumps({"object": "list", "data": rows[::-1], "model": request["model"]}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, answer = service.answer(self.path, self.headers.get("Authorization", ""), body)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output quiet."""

        return Handler
