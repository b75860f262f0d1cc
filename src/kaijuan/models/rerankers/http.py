"""Rerankers behind HTTP: the shape of Cohere and Jina, and that of Hugging Face's text-embeddings-inference."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kaijuan.errors import ClosedError, ModelError, ModelRefusedError, UsageError
from kaijuan.models.embedders.e5_tokens import readable
from kaijuan.models.rerankers.options import RerankerOptions, passage_text
from kaijuan.retrieve.ports import Reading, Verdict

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

SHAPES = ("cohere", "tei")
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_QUOTED = 300
_MOST_BYTES = 8 * 2**20
"""Of an answer: scores of some hundred candidates need a few thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A reranking service. `shape` is "cohere" (Jina's too) or "tei"; an address without a path gets /rerank."""

    url: str
    model: str = ""
    key: str = ""
    shape: str = "cohere"
    characters: int = 2000
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in {"http", "https"} or not urlsplit(self.url).hostname:
            raise UsageError("reranker.url must be the http address of a service.", hint="Set it, then try again.")
        if self.shape not in SHAPES:
            raise UsageError(f"reranker.shape cannot be {self.shape!r}.", hint=f"Known: {', '.join(SHAPES)}.")

    def __repr__(self) -> str:
        # The key must not reach a log through the usual repr of a dataclass.
        return f"Endpoint({self.address}, {self.model})"

    @property
    def address(self) -> str:
        """Return the full address of the call."""
        base = self.url.rstrip("/")
        return base if urlsplit(base).path.strip("/") else f"{base}/rerank"


class HttpReranker:
    """Asks once; a service that fails or is slow leaves the fused order, so there is nothing to wait and try for."""

    name = "http"

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: AsyncClient | None = None
        self._closed = False

    @classmethod
    def from_settings(cls, settings: RerankerOptions, cache: Path) -> HttpReranker:  # noqa: ARG003 - keeps no files
        """Return the reranker for the configured service."""
        return cls(
            Endpoint(
                url=settings.url,
                model=settings.model,
                key=settings.key.get_secret_value(),
                shape=settings.shape,
                characters=settings.characters,
            )
        )

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        """Return the service's scores; those outside 0-1 are log odds and are made probabilities."""
        if self._closed:
            raise ClosedError("The reranker is closed.")
        if not candidates:
            return []
        texts = [passage_text(candidate, self._endpoint.characters) for candidate in candidates]
        scores = _scores(await self._ask(readable(question), texts), len(texts))
        odds = any(not 0.0 <= score <= 1.0 for score in scores)
        return [Verdict(score=score, evidence=_chance(score) if odds else score) for score in scores]

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _body(self, question: str, texts: Sequence[str]) -> Mapping[str, object]:
        if self._endpoint.shape == "tei":
            return {"query": question, "texts": texts, "raw_scores": False, "truncate": True}
        body = {"query": question, "documents": texts, "top_n": len(texts), "return_documents": False}
        return {**body, "model": self._endpoint.model} if self._endpoint.model else body

    async def _ask(self, question: str, texts: Sequence[str]) -> bytes:
        import httpx

        try:
            response = await self._connection().post(self._endpoint.address, json=self._body(question, texts))
        except httpx.TransportError as error:
            raise ModelError(f"The reranking service cannot be reached: {self._redact(repr(error))}.") from error
        if not response.is_success:
            raise self._failure(response)
        if len(response.content) > _MOST_BYTES:
            raise ModelError("The reranking service answered with far too much.")
        return response.content

    def _connection(self) -> AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
            self._client = httpx.AsyncClient(headers=headers, timeout=self._endpoint.seconds)
        return self._client

    def _failure(self, response: Response) -> ModelError:
        said = self._redact(" ".join(response.text.split()))[:_QUOTED]
        message = f"The reranking service answered {response.status_code}: {said}."
        return ModelError(message) if response.status_code in _AGAIN else ModelRefusedError(message)

    def _redact(self, text: str) -> str:
        return text.replace(self._endpoint.key, "***") if self._endpoint.key else text


def _scores(content: bytes, count: int) -> list[float]:
    """Return the scores in the order of the texts; ModelError unless there is exactly one for each."""
    try:
        answer: Any = json.loads(content)
        items = answer["results"] if isinstance(answer, dict) else answer
        by_place = {int(item["index"]): float(item.get("relevance_score", item.get("score"))) for item in items}
        scores = [by_place[place] for place in range(count)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError("The reranking service answered with something else than one score a text.") from error
    if len(by_place) != count or not all(map(math.isfinite, scores)):
        raise ModelError("The reranking service answered with something else than one score a text.")
    return scores


def _chance(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))
