"""The catalog port, its page of models: the embedding models of a base, their index spaces, and what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kaijuan.core.ids import KbId


class SpaceState(StrEnum):
    """Where the index space of an embedding model stands."""

    BUILDING = "building"
    """It lacks something, and may not serve."""
    READY = "ready"
    """It holds all that the catalog says, and every run keeps it so."""
    SERVING = "serving"
    FORMER = "former"
    """It served before, is kept up to date, and can serve again at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpace:
    """One embedding model of a knowledge base and the index space of its vectors."""

    name: str
    space: str
    settings: str
    """JSON: what the embedder is made from (`embedder`, without secrets) and how chunks become points (`index`)."""
    fingerprint: str
    dimensions: int
    state: SpaceState
    share: float = 0.0
    """Share of the questions that are asked of it too, from 0 to 1."""
    answers: bool = False
    """Whether its results are given to who asked, for that share."""
    note: str = ""
    """Why it is not ready, where something went wrong."""
    created_at: float = 0.0
    changed_at: float = 0.0

    @property
    def is_followed(self) -> bool:
        """Whether runs write to it too."""
        return self.state is not SpaceState.BUILDING


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrial:
    """One question that was asked of the serving model and of another: what both found."""

    id: str
    model: str
    created_at: float
    body: Mapping[str, object] = field(default_factory=dict)


class ModelSpaces(Protocol):
    """Which model serves a base, and which stand beside it. Each method is one transaction."""

    async def spaces_of_models(self, kb: KbId) -> list[ModelSpace]:
        """Return the models of a base by name; none where it always had the one of the settings."""

    async def save_model_space(self, kb: KbId, space: ModelSpace) -> None:
        """Keep a model, in place of an earlier state of it."""

    async def drop_model_space(self, kb: KbId, name: str) -> None:
        """Forget a model with its trials; quiet when it is not known. UsageError while it serves."""

    async def fall_behind(self, kb: KbId, space: str, note: str, *, now: float) -> bool:
        """Let the model of a space count as building again; say whether it does. False where it serves readers."""

    async def switch_model(self, kb: KbId, name: str, *, now: float) -> None:
        """Let the space of a model serve readers from now on; the one that served is a former one. Atomic.
        UsageError for a model that is not ready."""

    async def save_trial(self, kb: KbId, trial: ModelTrial, *, keep: int) -> None:
        """Keep a trial and drop all but the newest of that model."""

    async def trials(self, kb: KbId, model: str) -> list[ModelTrial]:
        """Return the trials of a model, oldest first."""
