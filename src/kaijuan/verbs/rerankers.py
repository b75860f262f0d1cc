"""The reranker that the settings name, wired to what it needs."""

from __future__ import annotations

from pathlib import Path

from kaijuan import registry
from kaijuan.core.chat import ChatModel
from kaijuan.errors import UsageError
from kaijuan.retrieve.ports import Reranker
from kaijuan.retrieve.settings import RerankerSettings

OFF = "off"
ONBOARD = "onboard"
CHAT = "chat"


def make_reranker(settings: RerankerSettings, cache: Path, *, embedder: str, chat: ChatModel | None) -> Reranker | None:
    """Return the reranker of the settings, None for "off"; UsageError where it lacks what it needs.

    `embedder` names the embedding model, whose cosines the onboard reranker reads.
    """
    if settings.name == OFF:
        return None
    kind = registry.load("reranker", settings.name)
    made: Reranker
    if settings.name == ONBOARD:
        made = kind(embedder, registry.load("words", ONBOARD)(cache))
    elif settings.name == CHAT:
        if chat is None:
            raise UsageError(
                "The reranker is chat, and no language model is configured.", hint="Set chat.url and chat.model."
            )
        made = kind(chat, way=settings.way, characters=settings.characters)
    else:
        made = kind.from_settings(settings, cache)
    return made
