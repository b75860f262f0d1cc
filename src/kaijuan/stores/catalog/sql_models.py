"""The page of the catalog port about models over SQLAlchemy: each method one transaction, as in `sql`."""

from __future__ import annotations

from kaijuan.core.ids import KbId
from kaijuan.index.model_spaces import ModelSpace, ModelTrial
from kaijuan.stores.catalog import model_spaces
from kaijuan.stores.catalog.upkeep import Upkeep


class ModelsOfBases(Upkeep):
    """Methods of `SqlCatalog`."""

    async def spaces_of_models(self, kb: KbId) -> list[ModelSpace]:
        """Return the models of a base by name."""
        return await self._read(model_spaces.spaces_of_models, kb)

    async def save_model_space(self, kb: KbId, space: ModelSpace) -> None:
        """Keep a model."""
        await self._write(model_spaces.save_model_space, kb, space, durable=True)

    async def drop_model_space(self, kb: KbId, name: str) -> None:
        """Forget a model with its trials."""
        await self._write(model_spaces.drop_model_space, kb, name, durable=True)

    async def fall_behind(self, kb: KbId, space: str, note: str, *, now: float) -> bool:
        """Let the model of a space count as building again, unless it serves."""
        return await self._write(model_spaces.fall_behind, kb, space, note, now, durable=True)

    async def switch_model(self, kb: KbId, name: str, *, now: float) -> None:
        """Let the space of a model serve readers."""
        await self._write(model_spaces.switch_model, kb, name, now, durable=True)

    async def save_trial(self, kb: KbId, trial: ModelTrial, *, keep: int) -> None:
        """Keep a trial and drop all but the newest of that model."""
        await self._write(model_spaces.save_trial, kb, trial, keep)

    async def trials(self, kb: KbId, model: str) -> list[ModelTrial]:
        """Return the trials of a model, oldest first."""
        return await self._read(model_spaces.trials, kb, model)
