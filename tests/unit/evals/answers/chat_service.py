"""A service that replies to chat requests as a test wishes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[BaseHTTPRequestHandler], None]


def says(text: object, status: int = 200) -> Reply:
    """Return a reply with this message of the model."""
    return raw(json.dumps({"choices": [{"message": {"content": text}}]}).encode(), status)


def raw(body: bytes, status: int = 200) -> Reply:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def drips(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte now and then, for as long as anybody listens, so that no single read times out."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(200):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        return


class Service:
    """Replies in turn, the last one for ever, and notes what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [says('{"reason": "same city", "grade": "full"}')]
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                service.asked.append(json.loads(body))
                service.keys.append(self.headers["authorization"])
                reply = service.replies.pop(0) if len(service.replies) > 1 else service.replies[0]
                reply(self)

            def log_message(self, *words: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
