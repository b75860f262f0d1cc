"""Models beside each other, and the upkeep of indexes and homes: for who answers for a base, every request recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.identity import Action, Who
from kaijuan.engine import Kaijuan
from kaijuan.errors import AccessError
from kaijuan.server.service import Caller, Managing, Reply, Service, The, by
from kaijuan.server.tickets import ticket_shape
from kaijuan.verbs.backing_up import backup_place
from kaijuan.verbs.models import GoldenQuestion, ModelView
from kaijuan.verbs.shapes import Json, fields_of

router = APIRouter(tags=["upkeep"])
Name = Annotated[str, Path(min_length=1, max_length=100, description="Name of a model of the base.")]
Backup = Annotated[str, Path(pattern=r"^[A-Za-z0-9][\w.-]{0,79}$", description="Name of a backup.")]
_MOST_QUESTIONS = 500


class NewModel(BaseModel):
    """A model to build an index for: one of `[models]` in the configuration, or of an embedder."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    settings: dict[str, Annotated[str, Field(max_length=1000)]] = Field(
        default_factory=dict, max_length=20, description="As `kaijuan models add --set`: embedder.dimensions and so on."
    )


class Golden(BaseModel):
    """A question, and the documents in which its answer stands."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=2000)
    relevant: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=100)


class Questions(BaseModel):
    """Questions to ask of two models; none for those of saved requests."""

    model_config = ConfigDict(extra="forbid")

    questions: list[Golden] = Field(default_factory=list, max_length=_MOST_QUESTIONS)


class Share(BaseModel):
    """How many of the questions a model is asked too."""

    model_config = ConfigDict(extra="forbid")

    share: float = Field(ge=0, le=1)
    answers: bool = Field(default=False, description="Whether who asks gets what it finds.")


class Care(BaseModel):
    """How thoroughly a base is looked at."""

    model_config = ConfigDict(extra="forbid")

    deep: bool = Field(default=False, description="Read every stored text, original and vector, too.")
    repair: bool = Field(default=False, description="Mend what can be mended without losing anything.")


@router.get("/kbs/{kb}/models")
async def models(base: Managing) -> Reply:
    """List the models of a base: which serves, which are ready, how many chunks each holds."""
    return Reply({"models": [_shape(one) for one in await base.models()]})


def _shape(one: ModelView) -> Json:
    more = {"points": one.points, "trials": one.trials, "agreement": one.agreement}
    return {**fields_of(one.space), **more}


@router.post("/kbs/{kb}/models", status_code=202)
async def add(body: NewModel, base: Managing, who: Caller, service: The) -> Reply:
    """Build the index of another model beside the one that serves. Answers at once with a run to watch.

    For who runs the service: a model may send every text of the base to wherever it is served.
    """
    _check_runs_home(service, who)
    return _begun(service, base, who, "model", lambda: base.add_model(body.name, settings=body.settings))


@router.post("/kbs/{kb}/models/rollback")
async def roll_back(base: Managing) -> Reply:
    """Let the model serve again that served before."""
    return Reply(fields_of(await base.roll_back_model()))


@router.post("/kbs/{kb}/models/{name}/compare")
async def compare(body: Questions, base: Managing, name: Name) -> Reply:
    """Ask the model that serves and this one the same questions; nDCG@10 where it is known what is right."""
    golden = [GoldenQuestion(question=one.question, relevant=tuple(one.relevant)) for one in body.questions]
    return Reply(fields_of(await base.compare_models(name, golden)))


@router.post("/kbs/{kb}/models/{name}/canary")
async def canary(body: Share, base: Managing, name: Name) -> Reply:
    """Ask this model a share of the questions too, and keep what both find; 0 ends it."""
    return Reply(fields_of(await base.try_model(name, body.share, answers=body.answers)))


@router.get("/kbs/{kb}/models/{name}/trials")
async def trials(base: Managing, name: Name, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Reply:
    """List the newest questions that this model was asked too, oldest first."""
    return Reply({"trials": [fields_of(one) for one in (await base.model_trials(name))[-limit:]]})


@router.post("/kbs/{kb}/models/{name}/switch")
async def switch(base: Managing, name: Name) -> Reply:
    """Let this model serve everybody, from one moment to the next."""
    return Reply(fields_of(await base.switch_model(name)))


@router.delete("/kbs/{kb}/models/{name}")
async def retire(base: Managing, name: Name) -> Reply:
    """Remove a model that does not serve, its index and its trials."""
    await base.retire_model(name)
    return Reply({"retired": name})


@router.post("/kbs/{kb}/optimise", status_code=202)
async def optimise(base: Managing, who: Caller, service: The) -> Reply:
    """Build the next generation of the index, while readers go on. Answers at once with a run to watch."""
    return _begun(service, base, who, "optimise", base.optimise)


@router.post("/kbs/{kb}/doctor", status_code=202)
async def doctor(body: Care, base: Managing, who: Caller, service: The) -> Reply:
    """Look at everything that is stored, and mend it if wanted. Answers at once with a run to watch."""
    return _begun(service, base, who, "doctor", lambda: base.doctor(deep=body.deep, repair=body.repair))


@router.get("/backups")
async def backups(request: Request, who: Caller, service: The) -> Reply:
    """List the backups that were made through this service, oldest first."""
    await _owning(request, who, service)
    return Reply({"backups": [fields_of(one) for one in await service.engine.backups()]})


@router.post("/backups/{name}", status_code=202)
async def back_up(request: Request, who: Caller, service: The, name: Backup) -> Reply:
    """Copy the whole home, all bases, to `backups/NAME` below it. Answers at once with a run to watch."""
    base = await _owning(request, who, service)
    return _begun(service, base, who, "backup", lambda: service.engine.back_up(backup_place(service.engine.home, name)))


@router.post("/backups/{name}/check", status_code=202)
async def check_backup(request: Request, who: Caller, service: The, name: Backup) -> Reply:
    """Compare every hash of a backup, as restoring it would. Answers at once with a run to watch."""
    base = await _owning(request, who, service)
    place = backup_place(service.engine.home, name)
    return _begun(service, base, who, "backup check", lambda: service.engine.check_backup(place))


async def _owning(request: Request, who: Who, service: Service) -> Kaijuan:
    base = await service.gate.owning(request, who, Action.MANAGE)
    _check_runs_home(service, who)
    return base


def _check_runs_home(service: Service, who: Who) -> None:
    if not service.runs_home(who):
        raise AccessError("Only who runs the service may do that.")


def _begun(service: Service, base: Kaijuan, who: Who, kind: str, work: Callable[[], Awaitable[object]]) -> Reply:
    ticket = service.tickets.begin(base.tenant, base.kb_name, by=by(who), kind=kind, work=lambda _: work())
    return Reply(ticket_shape(ticket), status_code=202)
