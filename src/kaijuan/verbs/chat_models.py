"""The language models of a configuration, with their wrappers, stacked in this one place."""

from __future__ import annotations

from functools import partial

from kaijuan import registry
from kaijuan.core.chat import ChatModel
from kaijuan.core.chat_settings import ChatSettings, ServedModel

_around = partial(registry.load, "chat_around")


def make_chat(settings: ChatSettings) -> ChatModel | None:
    """Return the configured model with its fallback and its small companion; None where none is configured.

    From the inside: one request; a limit for its service; tries; the second model when the first fails; and above all
    the choice between small and large.
    """
    if not settings.configured:
        return None
    large = _served(settings, settings)
    second = settings.fallback_model
    others = [_served(second, settings)] if second else []
    chat: ChatModel = _around("fallback")([large, *others], rest_seconds=settings.rest_seconds)
    small = settings.small_model
    if small is None:
        return chat
    # A small model that fails is replaced by the large one, which is there anyway.
    quick: ChatModel = _around("fallback")([_served(small, settings), chat], rest_seconds=settings.rest_seconds)
    routed: ChatModel = _around("route")(small=quick, large=chat)
    return routed


def _served(served: ServedModel, settings: ChatSettings) -> ChatModel:
    model: ChatModel = registry.load("chat", "openai")(served, settings)
    limited = _around("limit")(
        model, requests=settings.requests, per_minute=settings.per_minute, seconds=settings.seconds
    )
    patient: ChatModel = _around("retry")(limited, attempts=settings.attempts, seconds=settings.seconds)
    return patient
