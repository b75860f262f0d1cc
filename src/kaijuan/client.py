"""A client of the service: the engine's verbs over HTTP, with the same errors.

    from kaijuan.client import Client

    with Client("http://127.0.0.1:8470", kb="handbook", key="kj_...") as base:
        print(base.ask("How long are backups kept?")["answer"])

Results are the JSON of the service as dictionaries; docs/api.md tells their shapes.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from kaijuan import errors
from kaijuan.errors import BusyError, KaijuanError, ServiceError, UsageError

Json = dict[str, Any]
Moment = int | float | str | None
_PAUSE_SECONDS = 0.3
_PIECE_BYTES = 8 * 2**20
_ATTEMPTS = 5
_ENDED = ("done", "failed", "cancelled")


class Client:
    """One knowledge base of a service. Use as a context manager, or call `close`."""

    def __init__(
        self,
        url: str = "",
        kb: str = "default",
        *,
        key: str = "",
        timeout: float = 130.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`url` and `key` default to KAIJUAN_URL and KAIJUAN_KEY; `timeout` is in seconds for one answer."""
        address = url or os.environ.get("KAIJUAN_URL") or "http://127.0.0.1:8470"
        key = key or os.environ.get("KAIJUAN_KEY", "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.kb = kb
        self._http = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1/", headers=headers, timeout=timeout, transport=transport
        )

    def close(self) -> None:
        """Release the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # --- the service ---------------------------------------------------------------------------------------------

    def me(self) -> Json:
        """Say who calls, and what they may do."""
        return self._get("me")

    def bases(self) -> builtins.list[Json]:
        """Return the knowledge bases that the caller sees."""
        return _listed(self._get("kbs")["kbs"])

    def make_base(self) -> Json:
        """Make this knowledge base where it is missing."""
        return self._post("kbs", {"name": self.kb})

    # --- questions -----------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        filters: Sequence[str] = (),
        as_of: Moment = None,
        cut: bool = True,
        at: str | None = None,
    ) -> Json:
        """Return the best passages for a question, best first. `cut=False` keeps weak passages too."""
        body = {"query": query, "k": k, "filters": builtins.list(filters), "as_of": as_of, "cut": cut, "at": at}
        return self._post(self._at("search"), body)

    def ask(
        self,
        question: str,
        *,
        k: int = 8,
        filters: Sequence[str] = (),
        as_of: Moment = None,
        at: str | None = None,
        response_schema: Json | None = None,
    ) -> Json:
        """Answer from the documents, every sentence cited, or refuse. `at` is a day: only what was in force then.

        `response_schema`, a JSON schema of an object, wants the answer in that form too.
        """
        body: Json = {"question": question, "k": k, "filters": builtins.list(filters), "as_of": as_of, "at": at}
        if response_schema is not None:
            body["response_schema"] = response_schema
        return self._post(self._at("ask"), body)

    def ask_stream(
        self, question: str, *, k: int = 8, filters: Sequence[str] = (), as_of: Moment = None, at: str | None = None
    ) -> Iterator[tuple[str, Json]]:
        """Yield (event, data) while a question is answered; the last event is done, with the whole answer."""
        body = {"question": question, "k": k, "filters": builtins.list(filters), "as_of": as_of, "at": at}
        yield from self._events("POST", self._at("ask"), body)

    def explain(self, question: str, *, contains: str | None = None, chunk: str | None = None, k: int = 8) -> Json:
        """Say why passages were or were not used."""
        return self._post(self._at("explain"), {"question": question, "contains": contains, "chunk": chunk, "k": k})

    def cite(self, ref: str) -> Json:
        """Open a citation by its `ref`."""
        return self._get(self._at("citations", ref))

    def converse(self, text: str, *, session: str = "default", k: int = 8) -> Json:
        """Say something that goes on from what was said in the session."""
        return self._post(self._at("conversations", session), {"text": text, "k": k})

    def suggest(self, prefix: str, *, k: int = 10) -> builtins.list[Json]:
        """Return what goes on from what is typed."""
        return _listed(self._get(self._at("suggest"), q=prefix, k=k)["suggestions"])

    def give_feedback(self, question: str, verdict: str, *, trace_id: str = "", comment: str = "") -> Json:
        """Say what an answer was worth: good, bad, wrong_source, incomplete or should_answer."""
        body = {"question": question, "verdict": verdict, "trace_id": trace_id, "comment": comment}
        return self._post(self._at("feedback"), body)

    # --- documents -----------------------------------------------------------------------------------------------

    def status(self) -> Json:
        """Return the state of the base."""
        return self._get(self._at("status"))

    def snapshots(self) -> builtins.list[Json]:
        """Return the snapshots that are kept, oldest first."""
        return _listed(self._get(self._at("snapshots"))["snapshots"])

    def list(self, *, q: str = "", as_of: Moment = None) -> Iterator[Json]:
        """Yield all documents by address, page by page."""
        after: str | None = ""
        while after is not None:
            page = self._get(self._at("documents"), after=after, q=q, as_of=as_of, limit=500)
            yield from page["documents"]
            after = page["next"]

    def editions(self, document: str | None = None, *, at: str | None = None) -> builtins.list[Json]:
        """Return the documents that replace each other, and how each stands on a day (today by default)."""
        return _listed(self._get(self._at("editions"), document=document, at=at)["chains"])

    def show(self, document: str, *, include: str = "text,blocks,chunks", as_of: Moment = None) -> Json:
        """Return one document, by id or file name, with its text, blocks, chunks and versions."""
        return self._get(self._at("documents", document), include=include, as_of=as_of)

    def original(self, document: str) -> bytes:
        """Return the file of a document as it was taken in."""
        return self._checked(self._send("GET", self._at("documents", document, "original"))).content

    def add(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        wait: bool = True,
        seconds: float = 600,
    ) -> Json:
        """Send files, and the files of folders; return the run's report, or its ticket at once without `wait`.

        The path below a folder that was named becomes the document's address; the same again is its next version.
        """
        named = [paths] if isinstance(paths, str | os.PathLike) else builtins.list(paths)
        files = [(name, path) for one in named for name, path in _files(Path(one))]
        if not files:
            raise UsageError("There is no file to send.", hint="Give files, or folders with files.")
        with ExitStack() as opened:
            sent = [("files", (name, opened.enter_context(path.open("rb")))) for name, path in files]
            ticket = self._checked(self._send("POST", self._at("documents"), files=sent)).json()
        return self.wait(ticket["id"], seconds=seconds) if wait else ticket

    def upload(
        self, path: str | os.PathLike[str], *, name: str = "", piece_bytes: int = _PIECE_BYTES, seconds: float = 600
    ) -> Json:
        """Send one large file in pieces and return the run's report. A line that breaks is taken up where it was."""
        file = Path(path)
        size = file.stat().st_size
        with file.open("rb") as data:
            told = {"name": name or file.name, "size": size, "sha256": hashlib.file_digest(data, "sha256").hexdigest()}
            begun = self._post(self._at("uploads"), told)
            at = 0
            while at < size:
                data.seek(at)
                at = self._piece(begun["id"], at, data.read(piece_bytes))
        return self.wait(self._post(self._at("uploads", "finish"), {"uploads": [begun["id"]]})["id"], seconds=seconds)

    def _piece(self, id: str, at: int, data: bytes) -> int:
        """Send one piece and return where the next begins, asked for where the line broke."""
        headers = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(at)}
        for _ in range(_ATTEMPTS):
            try:
                return int(
                    self._json(self._send("PATCH", self._at("uploads", id), content=data, headers=headers))["offset"]
                )
            except ServiceError:
                time.sleep(_PAUSE_SECONDS)
            with suppress(ServiceError):
                come = int(self._get(self._at("uploads", id))["offset"])
                if come != at:
                    return come
        raise ServiceError(f"The upload broke off at byte {at:,}, {_ATTEMPTS} times.", hint="Try again later.")

    def remove(self, document: str) -> Json:
        """Remove a document; earlier snapshots still show it."""
        return self._json(self._send("DELETE", self._at("documents", document)))

    def run(self, id: str) -> Json:
        """Return a run by the id of its ticket or its own."""
        return self._get(self._at("runs", id))

    def wait(self, id: str, *, seconds: float = 600, told: Callable[[Json], None] | None = None) -> Json:
        """Wait until a run has ended and return its report; the error it ended with is raised."""
        until = time.monotonic() + seconds
        while True:
            ticket = self.run(id)
            if told is not None:
                told(ticket)
            if ticket["state"] in _ENDED:
                break
            if time.monotonic() > until:
                raise BusyError(f"The run {id} has not ended within {seconds:g} seconds.", hint="Wait for it again.")
            time.sleep(_PAUSE_SECONDS)
        if ticket["state"] != "done":
            raise _error(ticket["error"] or {})
        return dict(ticket["report"] or {})

    # --- the wire ------------------------------------------------------------------------------------------------

    def _at(self, *parts: str) -> str:
        return "/".join(["kbs", *(quote(part, safe="") for part in (self.kb, *parts))])

    def _get(self, path: str, **query: Any) -> Json:
        return self._json(self._send("GET", path, params={k: v for k, v in query.items() if v not in (None, "")}))

    def _post(self, path: str, body: Json) -> Json:
        # The key lets a request be sent again after a broken connection without being done twice.
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        sent = {name: value for name, value in body.items() if value is not None}
        return self._json(self._send("POST", path, json=sent, headers=headers))

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            raise ServiceError(f"The service does not answer: {error}.") from error

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        try:
            problem = response.json()
        except ValueError:
            problem = {}
        raise _error(problem if isinstance(problem, dict) else {}, status=response.status_code)

    def _json(self, response: httpx.Response) -> Json:
        return dict(self._checked(response).json())

    def _events(self, method: str, path: str, body: Json) -> Iterator[tuple[str, Json]]:
        sent = {name: value for name, value in body.items() if value is not None}
        try:
            with self._http.stream(method, path, json=sent, headers={"Accept": "text/event-stream"}) as response:
                if not response.is_success:
                    response.read()
                self._checked(response)
                for name, data in _parsed(response.iter_lines()):
                    if name == "error":
                        raise _error(data)
                    yield name, data
        except httpx.HTTPError as error:
            raise ServiceError(f"The stream broke off: {error}.") from error


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str, Json]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_dir():
        for found in sorted(each for each in path.rglob("*") if each.is_file()):
            below = found.relative_to(path.parent)
            if not any(part.startswith(".") for part in below.parts[1:]):
                yield below.as_posix(), found
    else:
        yield path.name, path


def _classes(root: type[KaijuanError]) -> Iterator[type[KaijuanError]]:
    yield root
    for child in root.__subclasses__():
        yield from _classes(child)


def _error(problem: Mapping[str, Any], *, status: int = 0) -> KaijuanError:
    """Make a problem of the service the error of the engine that it was."""
    code = str(problem.get("code", ""))
    message = str(problem.get("detail") or problem.get("message") or f"The service answered with status {status}.")
    hint = str(problem.get("hint", ""))
    known = {kind.code: kind for kind in _classes(KaijuanError) if kind.__module__ == errors.__name__}
    kind = known.get(code)
    if kind is not None and kind is not KaijuanError:
        return kind(message, hint=hint)
    return ServiceError(message, hint=hint or None)


def _listed(value: Any) -> list[Json]:
    return list(value)
