"""Verbs about embedding models: another one beside the one that serves, compared, tried, switched to, rolled back."""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kaijuan import telemetry
from kaijuan.config import EmbedderSettings
from kaijuan.core.filters import EVERYTHING
from kaijuan.errors import KaijuanError, NotFoundError, UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.model_spaces import ModelSpace, ModelTrial, SpaceState
from kaijuan.index.rebuild import model_space_name
from kaijuan.jobs import models as building
from kaijuan.jobs.report import Progress, Stage
from kaijuan.retrieve.agreement import Asked, Comparison, compared, ndcg, overlap
from kaijuan.retrieve.pipeline import search
from kaijuan.retrieve.results import Passage
from kaijuan.verbs.model_shelf import SPEED_ONLY, kept
from kaijuan.verbs.model_trials import Trying, chunk_ids, timed
from kaijuan.verbs.wiring import ProgressCallback, new_id

_GOLDEN_K = 10
_MOST_QUESTIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenQuestion:
    """A question, and the documents in which its answer stands: sources, ids, or how sources end after a slash or #."""

    question: str
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """A model of a base as people see it."""

    space: ModelSpace
    points: int | None
    """Chunks in its index; None where it cannot be opened."""
    trials: int
    agreement: float | None
    """Mean overlap with the model that serves, over its trials."""


class Modelling(Trying):
    """Models of one base. The one that serves answers until the moment in which another takes its place."""

    async def models(self) -> builtins.list[ModelView]:
        """Return the models of the base, by name. Where none was ever added, the one of the settings stands alone."""
        kb = await self._kb()
        rows = await self.catalog.spaces_of_models(kb.id)
        return [await self._seen(kb, row) for row in rows or [self._own_row(kb)]]

    async def _seen(self, kb: KnowledgeBase, row: ModelSpace) -> ModelView:
        trials = await self.catalog.trials(kb.id, row.name)
        values = [float(str(trial.body["overlap"])) for trial in trials if "overlap" in trial.body]
        try:
            points = await (await self._index_of(row)).count(EVERYTHING) if row.space else None
        except KaijuanError:
            points = None
        agreement = sum(values) / len(values) if values else None
        return ModelView(space=row, points=points, trials=len(trials), agreement=agreement)

    async def add_model(
        self, name: str, *, settings: Mapping[str, str] | None = None, progress: ProgressCallback | None = None
    ) -> ModelSpace:
        """Build the index of another model beside the one that serves, from stored chunks; return how it stands.

        `name` is one of `[models]` in the configuration, or of an embedder (words, onboard, ...). `settings` are
        written as in the configuration: `embedder.dimensions`, `index.title_weight`. Called again after it was
        stopped or the model failed, it goes on where it was. It serves nobody before `switch_model`.
        """
        kb = await self._kb()
        if kb.head == 0:
            raise UsageError(
                "Nothing was published yet, so there is nothing to build another index from.",
                hint="Set [embedder] in the configuration, then add documents.",
            )
        row = await self._registered(kb, name, settings or {})
        if row.state is not SpaceState.BUILDING:
            return row
        ingest = self._ingest()
        try:
            return await building.build(ingest, kb, row, partial(_told, progress))
        except KaijuanError as error:
            await building.failed(ingest, kb, row, error)
            raise

    async def _registered(self, kb: KnowledgeBase, name: str, settings: Mapping[str, str]) -> ModelSpace:
        """Return the row of a model, made now if missing, and with it the row of the one that serves."""
        rows = {row.name: row for row in await self.catalog.spaces_of_models(kb.id)}
        own = self._own_row(kb)
        if not rows:
            if name == own.name:
                raise UsageError(f"{name!r} is the name of the model that serves.", hint="Choose another name.")
            await self.catalog.save_model_space(kb.id, own)
        if name in rows:
            if settings:
                raise UsageError(
                    f"There is a model {name!r} already.", hint=f"`kaijuan models retire {name}` removes it."
                )
            return rows[name]
        row = await self._new_row(kb, name, settings)
        for other in (rows or {own.name: own}).values():
            if (other.fingerprint, _index_part(other)) == (row.fingerprint, _index_part(row)):
                raise UsageError(f"{other.name!r} is the same model with the same settings.")
        await self.catalog.save_model_space(kb.id, row)
        return row

    def _own_row(self, kb: KnowledgeBase) -> ModelSpace:
        info = self.embedder.info
        return ModelSpace(
            name=self.config.embedder.name,
            space=kb.space,
            settings=json.dumps({"embedder": kept(self.config.embedder)}),
            fingerprint=info.fingerprint,
            dimensions=info.dimensions,
            state=SpaceState.SERVING,
            created_at=self._clock(),
            changed_at=self._clock(),
        )

    async def _new_row(self, kb: KnowledgeBase, name: str, settings: Mapping[str, str]) -> ModelSpace:
        named = self.config.models.get(name)
        embedder: dict[str, object] = kept(named) if named else {}
        index: dict[str, object] = {}
        for key, value in settings.items():
            section, _, field = key.partition(".")
            tables = {"embedder": embedder, "index": index}
            if section not in tables or not field:
                raise UsageError(f"{key!r} cannot be set here.", hint="Begin with `embedder.` or `index.`.")
            tables[section][field] = value
        if not named and "name" not in embedder and name != EmbedderSettings().name:
            # The name of an adapter, or a variant of the model of the settings.
            embedder = {**({"name": name} if not settings else kept(self.config.embedder)), **embedder}
        checked = kept(self._models.settings_of(name, embedder))
        created = self._clock()
        draft = ModelSpace(
            name=name,
            space="",
            settings=json.dumps({"embedder": checked, **({"index": self._checked_index(index)} if index else {})}),
            fingerprint="",
            dimensions=0,
            state=SpaceState.BUILDING,
            created_at=created,
            changed_at=created,
        )
        model = self._models.model_of(draft)
        await model.embedder.embed_query("开卷有益 reading")  # a model that cannot be asked is refused now
        info = model.embedder.info
        space = model_space_name(kb, name, info.fingerprint, draft.settings, str(created))
        return replace(draft, space=space, fingerprint=info.fingerprint, dimensions=info.dimensions)

    def _checked_index(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the settings of the index that change points, all of them: later changes of the file move nothing."""
        from pydantic import ValidationError

        from kaijuan.index.settings import IndexSettings

        try:
            made = IndexSettings.model_validate({**self.config.index.model_dump(), **given})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"The setting index.{place} is wrong: {first['msg']}.") from error
        return made.model_dump(exclude=set(SPEED_ONLY))

    async def compare_models(
        self, name: str, questions: Sequence[GoldenQuestion] = (), *, progress: ProgressCallback | None = None
    ) -> Comparison:
        """Ask the model that serves and another the same questions; without any, those of saved traces.

        nDCG@10 is told for questions of which it is known what is right, the overlap of what both find for all.
        """
        kb = await self._kb()
        row = await self._ready_row(kb, name)
        golden = list(questions) or await self._past_questions(kb)
        if not golden:
            raise UsageError("There are no questions to compare with.", hint="Name a file with --questions.")
        asked = []
        for at, one in enumerate(golden[:_MOST_QUESTIONS], 1):
            asked.append(await self._asked_of_both(row, one))
            _told(progress, at, len(golden))
        return compared(await self._serving_name(kb), name, asked)

    async def _past_questions(self, kb: KnowledgeBase) -> builtins.list[GoldenQuestion]:
        traces = await self.catalog.traces(kb.id, limit=200)
        texts = dict.fromkeys(str(trace.body.get("question", "")) for trace in traces)
        return [GoldenQuestion(question=text) for text in texts if text.strip()]

    async def _asked_of_both(self, row: ModelSpace, golden: GoldenQuestion) -> Asked:
        request = await self._request(golden.question, _GOLDEN_K, (), None, cut=False, use_model=False)
        one, ms_before = await timed(search(await self._retrieval(request.kb), request, trace_id=new_id()))
        two, ms_after = await timed(self._search_with(row, request))
        right = set(golden.relevant)
        before, after = [_named_as(one.passages, right), _named_as(two.passages, right)]
        return Asked(
            question=golden.question,
            before=tuple(passage.source for passage in one.passages),
            after=tuple(passage.source for passage in two.passages),
            overlap=round(overlap(chunk_ids(one), chunk_ids(two)), 4),
            ndcg_before=ndcg(before, right) if right else None,
            ndcg_after=ndcg(after, right) if right else None,
            ms_before=ms_before,
            ms_after=ms_after,
        )

    async def try_model(self, name: str, share: float, *, answers: bool = False) -> ModelSpace:
        """Ask another model too, for a share of the questions (0 ends it), and keep what both found.

        With `answers`, those who ask get what the other model finds; otherwise nobody notices. The same question is
        always in the share or never.
        """
        if not 0 <= share <= 1:
            raise UsageError(f"{share:g} is no share.", hint="0 to 1, or 0 % to 100 %.")
        kb = await self._kb()
        row = await self._ready_row(kb, name)
        if row.space == kb.space:
            raise UsageError(f"{name!r} answers all questions already.")
        made = replace(row, share=share, answers=answers and share > 0, changed_at=self._clock())
        await self.catalog.save_model_space(kb.id, made)
        return made

    async def model_trials(self, name: str) -> builtins.list[ModelTrial]:
        """Return what was kept of the questions that were asked of a model too, oldest first."""
        kb = await self._kb()
        return await self.catalog.trials(kb.id, (await self._row(kb, name)).name)

    async def switch_model(self, name: str) -> ModelSpace:
        """Let another model serve readers, from one moment to the next. The one that served is kept up to date."""
        kb = await self._kb()
        row = await self._ready_row(kb, name)
        model = self._models.model_of(row)
        await model.embedder.embed_query("开卷有益 reading")
        await self._index_of(row)  # what cannot be opened or asked must not serve
        await self.catalog.switch_model(kb.id, name, now=self._clock())
        telemetry.event("model.switched", base=kb.id, model=name)
        return await self._row(kb, name)

    async def roll_back_model(self) -> ModelSpace:
        """Let the model serve again that served before."""
        kb = await self._kb()
        rows = [row for row in await self.catalog.spaces_of_models(kb.id) if row.state is SpaceState.FORMER]
        if not rows:
            raise UsageError("No model served before.", hint="`kaijuan models list` shows them.")
        return await self.switch_model(max(rows, key=lambda row: row.changed_at).name)

    async def retire_model(self, name: str) -> None:
        """Remove a model that does not serve, its index and its trials."""
        kb = await self._kb()
        row = await self._row(kb, name)
        if row.space == kb.space:
            raise UsageError(f"{name!r} serves readers.", hint="Switch to another model first.")
        opened = self._open_spaces.pop(row.space, None)
        if opened is not None:
            await opened.close()
        await building.retire(self._ingest(), kb, row)

    # --- shared ---------------------------------------------------------------------------------------------------

    async def _row(self, kb: KnowledgeBase, name: str) -> ModelSpace:
        rows = await self.catalog.spaces_of_models(kb.id) or [self._own_row(kb)]
        for row in rows:
            if row.name == name:
                return row
        raise NotFoundError(f"There is no model {name!r}.", hint="`kaijuan models list` shows them.")

    async def _ready_row(self, kb: KnowledgeBase, name: str) -> ModelSpace:
        row = await self._row(kb, name)
        if row.state is SpaceState.BUILDING:
            why = f" {row.note}" if row.note else ""
            raise UsageError(f"The model {name!r} is not ready.{why}", hint=f"`kaijuan models add {name}` goes on.")
        return row

    async def _serving_name(self, kb: KnowledgeBase) -> str:
        rows = await self.catalog.spaces_of_models(kb.id)
        return next((row.name for row in rows if row.space == kb.space), self.config.embedder.name)


def _named_as(passages: Sequence[Passage], right: set[str]) -> builtins.list[str]:
    """Return the documents by the names that a golden question gives them, others by their source."""
    return [_name_in(passage, right) or passage.source for passage in passages]


def _name_in(passage: Passage, right: set[str]) -> str | None:
    for name in right:
        if passage.source == name or passage.document_id == name or passage.source.endswith((f"/{name}", f"#{name}")):
            return name
    return None


def _index_part(row: ModelSpace) -> str:
    return json.dumps(json.loads(row.settings).get("index", {}), sort_keys=True)


def _told(progress: ProgressCallback | None, done: int, total: int) -> None:
    if progress is not None:
        progress(Progress(stage=Stage.INDEXING, done=done, total=total, failed=0, source="", chunks=0, indexed=0))
