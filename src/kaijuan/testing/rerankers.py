"""A reranking service for tests: it speaks the shapes of Cohere and of text-embeddings-inference, well or badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class RerankService:
    """Scores by the share of the question's characters that a text holds; results come best first, as services do.

    `replies` are given first, one a request: status and body. `requests` and `keys` are what was received.
    """

    def __init__(self) -> None:
        self.replies: list[tuple[int, bytes]] = []
        self.requests: list[Mapping[str, Any]] = []
        self.keys: list[str] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Return the address, without a path."""
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

    def answer(self, key: str, body: bytes) -> tuple[int, bytes]:
        """Return status and body for a request."""
        request = json.loads(body)
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            if self.replies:
                return self.replies.pop(0)
        texts = request.get("texts", request.get("documents"))
        scores = [_shared(request["query"], text) for text in texts]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        if "texts" in request:
            return 200, json.dumps([{"index": place, "score": scores[place]} for place in order]).encode()
        results = [{"index": place, "relevance_score": scores[place]} for place in order]
        return 200, json.dumps({"id": "1", "results": results}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = service.answer(self.headers.get("Authorization", ""), body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output quiet."""

        return Handler


def _shared(question: str, text: str) -> float:
    asked = set(question)
    return len(asked & set(text)) / len(asked) if asked else 0.0
