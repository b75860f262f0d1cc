"""Embedding models made from their settings, each once, with the reranker that reads their scores."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from kaijuan.config import Config, EmbedderSettings
from kaijuan.core.chat import ChatModel
from kaijuan.errors import UsageError
from kaijuan.index.model_spaces import ModelSpace
from kaijuan.index.ports import Embedder
from kaijuan.index.settings import IndexSettings
from kaijuan.jobs.spaces import Model
from kaijuan.retrieve.ports import Reranker
from kaijuan.verbs.embedders import make_embedder, shortened
from kaijuan.verbs.rerankers import make_reranker

_OF_THIS_HOME = frozenset({"key", "threads", "cache_mb"})
"""Settings of an embedder that change no vector, or must not be written down."""
SPEED_ONLY = frozenset({"embed_batch", "group_chunks", "grace_seconds"})


class ModelShelf:
    """Models by what makes them.

    `own` is the one of the settings, which is also the measure of chunks; not `configured`, the program gave it.
    """

    def __init__(self, config: Config, cache: Path, own: Embedder, *, configured: bool) -> None:
        self._config = config
        self._configured = configured
        self._cache = cache
        self._own = own
        self._made: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker | None] = {}

    def model_of(self, row: ModelSpace | None) -> Model:
        """Return the model of a space; None stands for the one of the settings. UsageError where it cannot be made."""
        if row is None:
            return Model(embedder=self._own, settings=self._config.index)
        told = json.loads(row.settings)
        index = IndexSettings(**{**self._config.index.model_dump(), **told.get("index", {})})
        embedder = self._embedder(row, told.get("embedder", {}))
        return Model(embedder=embedder, settings=index, measured=self._same_tokens(embedder))

    def _same_tokens(self, embedder: Embedder) -> bool:
        # Models of one family have one tokenizer; a name says more than any test of a few texts.
        return embedder.info.name.split("/")[0].rsplit("-", 1)[0] == self._own.info.name.split("/")[0].rsplit("-", 1)[0]

    def _embedder(self, row: ModelSpace, told: dict[str, object]) -> Embedder:
        if row.fingerprint == self._own.info.fingerprint:
            return self._own
        known = json.dumps(told, sort_keys=True)
        if known not in self._made:
            settings = self.settings_of(row.name, told)
            mine = kept(self._config.embedder.model_copy(update={"dimensions": settings.dimensions}))
            if self._configured and kept(settings) == mine and not self._config.embedder.dimensions:
                # The network is loaded once, whatever is kept of its vectors.
                self._made[known] = shortened(self._own, settings.dimensions)
            else:
                self._made[known] = make_embedder(settings, self._cache)
        return self._made[known]

    def settings_of(self, name: str, told: dict[str, object]) -> EmbedderSettings:
        """Return the settings of an embedder from what the catalog keeps of them, and this home's key for it."""
        mine = self._config.models.get(name, self._config.embedder)
        key = mine.key if mine.url == told.get("url", "") or name in self._config.models else None
        more = {"threads": self._config.embedder.threads, "cache_mb": self._config.embedder.cache_mb}
        try:
            return EmbedderSettings.model_validate({**told, **more, **({"key": key} if key else {})})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"The setting embedder.{place} is wrong: {first['msg']}.") from error

    def reranker(self, embedder: Embedder, chat: ChatModel | None) -> Reranker | None:
        """Return the configured reranker for the scores of a model."""
        name = embedder.info.name
        if name not in self._rerankers:
            self._rerankers[name] = make_reranker(self._config.reranker, self._cache, embedder=name, chat=chat)
        return self._rerankers[name]

    async def close(self) -> None:
        """Release all models but the one of the settings."""
        for reranker in self._rerankers.values():
            if reranker is not None:
                await reranker.close()
        for embedder in self._made.values():
            await embedder.close()


def kept(settings: EmbedderSettings) -> dict[str, object]:
    """Return what the catalog keeps of an embedder's settings: no secrets, and nothing that changes no vector."""
    told = settings.model_dump(mode="json", exclude=set(_OF_THIS_HOME), exclude_defaults=True)
    return {"name": settings.name, **told}
