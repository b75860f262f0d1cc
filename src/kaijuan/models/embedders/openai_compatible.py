"""Embeddings from any service that speaks OpenAI's `POST /v1/embeddings`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import numpy as np

from kaijuan import telemetry
from kaijuan.core.spans import Span
from kaijuan.errors import ClosedError, ModelError, ModelRefusedError, OverlongInputError, UsageError
from kaijuan.index.ports import EmbedderInfo, Vector, Vectors
from kaijuan.models.embedders.e5_tokens import readable
from kaijuan.models.embedders.options import EmbedderOptions

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

T = TypeVar("T")

_TOKEN = re.compile(r"[A-Za-z]{1,3}|\S")
_SPECIALS = 2
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_OVERLONG = re.compile(r"context length|too long|too many tokens|maximum.{0,40}tokens|must have less than", re.I)
_LONGEST_WAIT = 60.0
_QUOTED = 300
"""Characters of a service's answer that an error repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model at a service, and how to ask it.

    `url` may end before or after `/v1`. `dimensions` is what the model returns; anything else is an error.
    """

    url: str
    model: str
    dimensions: int
    key: str = ""
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 64
    requests: int = 4
    """Requests under way at once."""
    seconds: float = 60.0
    attempts: int = 5

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in {"http", "https"} or not urlsplit(self.url).hostname:
            raise UsageError("embedder.url must be the http address of a service.", hint="Set it, then try again.")
        if not self.model or self.dimensions < 1:
            raise UsageError(
                "embedder.model and embedder.dimensions must be set for a service.",
                hint="The service's documentation names the model and the length of its vectors.",
            )

    def __repr__(self) -> str:
        # The key must not reach a log through the usual repr of a dataclass.
        return f"Endpoint({self.address}, {self.model})"

    @property
    def address(self) -> str:
        """Return the full address of the call."""
        base = self.url.rstrip("/")
        if base.endswith("/embeddings"):
            return base
        return f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"

    @property
    def fingerprint(self) -> str:
        """Return what changes with the vectors: service, model, length and prefixes, not the key."""
        parts = (self.address, self.model, str(self.dimensions), self.query_prefix, self.passage_prefix)
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
        return f"openai-compatible-1/{digest}"


class OpenAIEmbedder:
    """Embeds over HTTP, in batches, with several requests at once and patience for a busy service.

    Tokens are estimated, since the service's tokenizer is not known: up to three Latin letters, or any one other
    character, count as one. For models of BERT's and SentencePiece's kind, whose limits are short, that is an upper
    bound on ordinary text in Latin script and Chinese; byte-level models, which may need more for rare characters,
    have limits of thousands. What a service refuses as too long becomes OverlongInputError all the same.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._endpoint = endpoint
        self._sleep, self._chance, self._now = sleep, chance, now
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-openai")
        self._slots = asyncio.Semaphore(endpoint.requests)
        self._client: AsyncClient | None = None
        self._closed = False
        longest = max(endpoint.query_prefix, endpoint.passage_prefix, key=_estimate)
        self._info = EmbedderInfo(
            name=endpoint.model,
            fingerprint=endpoint.fingerprint,
            dimensions=endpoint.dimensions,
            max_tokens=endpoint.max_tokens,
            reserved_tokens=_SPECIALS + _estimate(longest),
        )

    @classmethod
    def from_settings(cls, settings: EmbedderOptions, cache: Path) -> OpenAIEmbedder:  # noqa: ARG003 - keeps no files
        """Return the embedder for the configured service."""
        return cls(
            Endpoint(
                url=settings.url,
                model=settings.model,
                dimensions=settings.dimensions,
                key=settings.key.get_secret_value(),
                max_tokens=settings.max_tokens,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
            )
        )

    @property
    def info(self) -> EmbedderInfo:
        """Say what this embedder is; asks nobody."""
        return self._info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; OverlongInputError names the estimated tokens of the first that is too long."""
        self._check_open()
        for text in texts:
            tokens = _estimate(text) + self._info.reserved_tokens
            if tokens > self._info.max_tokens:
                raise OverlongInputError(f"A passage has about {tokens} tokens; {self._info.max_tokens} is the limit.")
        inputs = [self._endpoint.passage_prefix + readable(text) for text in texts]
        size = self._endpoint.batch
        parts = [inputs[at : at + size] for at in range(0, len(inputs), size)]
        tasks = [asyncio.create_task(self._embed(part)) for part in parts]
        try:
            rows = await asyncio.gather(*tasks)
        finally:
            # After a failure the other requests would only cost money.
            for task in tasks:
                task.cancel()
        return np.concatenate([np.empty((0, self._info.dimensions), dtype=np.float32), *rows])

    async def embed_query(self, text: str) -> Vector:
        """Embed a question; one that is too long loses its end, counted as `embedding.query_cut`."""
        self._check_open()
        spans = self.token_spans(text)
        room = self._info.max_tokens - self._info.reserved_tokens
        if len(spans) > room:
            telemetry.count("embedding.query_cut")
            text = text[: spans[room - 1].end]
        rows = await self._embed([self._endpoint.query_prefix + readable(text)])
        vector: Vector = rows[0]
        return vector

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the spans of the estimated tokens; see the class for what they are worth."""
        return [Span(found.start(), found.end()) for found in _TOKEN.finditer(text)]

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        await asyncio.to_thread(self._executor.shutdown)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("The embedder is closed.")

    async def _embed(self, inputs: Sequence[str]) -> Vectors:
        # Services refuse the empty text; a blank has no tokens either.
        body = {"model": self._endpoint.model, "input": [text or " " for text in inputs], "encoding_format": "float"}
        async with self._slots:
            response = await self._ask(body)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: self._vectors(response.content, len(inputs)))

    async def _ask(self, body: Mapping[str, object]) -> Response:
        import httpx

        last = self._endpoint.attempts - 1
        for attempt in range(self._endpoint.attempts):
            self._check_open()
            wait: float | None = None
            try:
                response = await self._connection().post(self._endpoint.address, json=body)
            except httpx.TransportError as error:
                failure = ModelError(f"The embedding service cannot be reached: {self._redact(repr(error))}.")
            else:
                if response.is_success:
                    return response
                failure = self._failure(response)
                wait = self._asked_wait(response)
            if not failure.retry or attempt == last:
                raise failure
            telemetry.count("embedding.retried")
            await self._sleep(self._pause(attempt) if wait is None else wait)
        raise AssertionError("at least one attempt is made")

    def _connection(self) -> AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
            timeout = httpx.Timeout(self._endpoint.seconds, connect=10.0)
            self._client = httpx.AsyncClient(headers=headers, timeout=timeout)
        return self._client

    def _pause(self, attempt: int) -> float:
        """Return seconds to wait: doubled each time, half of them by chance, so that clients do not march in step."""
        top = min(_LONGEST_WAIT, 0.5 * 2.0**attempt)
        return top * (0.5 + 0.5 * self._chance())

    def _asked_wait(self, response: Response) -> float | None:
        """Return the seconds that the header Retry-After asks for (RFC 9110, 10.2.3), a minute at most."""
        value = response.headers.get("retry-after", "")
        try:
            seconds = float(value)
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - self._now()
            except (TypeError, ValueError):
                return None
        return min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else None

    def _failure(self, response: Response) -> ModelError:
        said = self._redact(" ".join(response.text.split()))[:_QUOTED]
        message = f"The embedding service answered {response.status_code}: {said}."
        if response.status_code in {400, 413, 422} and _OVERLONG.search(said):
            return OverlongInputError(message, hint="Lower embedder.max_tokens to the model's limit.")
        if response.status_code in _AGAIN:
            return ModelError(message, hint="Try again later.")
        return ModelRefusedError(message)

    def _redact(self, text: str) -> str:
        return text.replace(self._endpoint.key, "***") if self._endpoint.key else text

    def _vectors(self, content: bytes, count: int) -> Vectors:
        """Check an answer and return unit vectors in the order of the inputs."""
        try:
            data = json.loads(content)["data"]
            by_place = {int(item["index"]): item["embedding"] for item in data}
            rows = np.array([by_place[place] for place in range(count)], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("The embedding service answered with something else than embeddings.") from error
        if len(data) != count:
            raise ModelError(f"The embedding service answered with {len(data)} vectors for {count} texts.")
        if rows.shape != (count, self._info.dimensions):
            raise ModelRefusedError(
                f"The model returns vectors of length {rows.shape[-1]}, not {self._info.dimensions}.",
                hint="Set embedder.dimensions to the length that the model returns.",
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ModelError("The embedding service answered with a vector that has no direction.")
        return np.asarray(rows / lengths, dtype=np.float32)


def _estimate(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))
