"""Embedding models with their spaces, and the questions that were tried on two of them."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from kaijuan.core.ids import KbId
from kaijuan.errors import UsageError
from kaijuan.index.model_spaces import ModelSpace, ModelTrial, SpaceState
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.bases import kb_by_id, set_space

_spaces, _trials = tables.embedding_space, tables.model_trial


def spaces_of_models(connection: Connection, kb: KbId) -> list[ModelSpace]:
    """Return the models of a base by name."""
    query = select(_spaces).where(_spaces.c.kb_id == kb).order_by(_spaces.c.name)
    return [_space_of(row) for row in connection.execute(query)]


def _space_of(row: Row[Any]) -> ModelSpace:
    return ModelSpace(
        name=row.name,
        space=row.space,
        settings=row.settings,
        fingerprint=row.fingerprint,
        dimensions=row.dimensions,
        state=SpaceState(row.state),
        share=row.share,
        answers=bool(row.answers),
        note=row.note,
        created_at=row.created_at,
        changed_at=row.changed_at,
    )


def save_model_space(connection: Connection, kb: KbId, space: ModelSpace) -> None:
    """Keep a model, in place of an earlier state of it."""
    connection.execute(delete(_spaces).where(_spaces.c.kb_id == kb, _spaces.c.name == space.name))
    values = {
        "kb_id": kb,
        "name": space.name,
        "space": space.space,
        "settings": space.settings,
        "fingerprint": space.fingerprint,
        "dimensions": space.dimensions,
        "state": space.state.value,
        "share": space.share,
        "answers": int(space.answers),
        "note": space.note,
        "created_at": space.created_at,
        "changed_at": space.changed_at,
    }
    connection.execute(insert(_spaces), values)


def drop_model_space(connection: Connection, kb: KbId, name: str) -> None:
    """Forget a model with its trials."""
    mine = (_spaces.c.kb_id == kb, _spaces.c.name == name)
    state = connection.execute(select(_spaces.c.state).where(*mine)).scalar_one_or_none()
    if state == SpaceState.SERVING.value:
        raise UsageError(f"The model {name!r} serves readers.", hint="Switch to another first.")
    connection.execute(delete(_trials).where(_trials.c.kb_id == kb, _trials.c.model == name))
    connection.execute(delete(_spaces).where(*mine))


def fall_behind(connection: Connection, kb: KbId, space: str, note: str, now: float) -> bool:
    """Let the model of a space count as building again, unless it serves."""
    mine = (_spaces.c.kb_id == kb, _spaces.c.space == space)
    base = kb_by_id(connection, kb)
    if base.space == space:
        return False
    values = {"state": SpaceState.BUILDING.value, "share": 0.0, "answers": 0, "note": note, "changed_at": now}
    connection.execute(update(_spaces).where(*mine).values(**values))
    return True


def switch_model(connection: Connection, kb: KbId, name: str, now: float) -> None:
    """Let the space of a model serve readers, and the one that served be a former one."""
    kb_by_id(connection, kb)
    wanted = next((space for space in spaces_of_models(connection, kb) if space.name == name), None)
    if wanted is None or wanted.state is SpaceState.BUILDING:
        raise UsageError(f"The model {name!r} is not ready.", hint="`kaijuan models list` shows how far it is.")
    serving = (_spaces.c.kb_id == kb, _spaces.c.state == SpaceState.SERVING.value, _spaces.c.name != name)
    connection.execute(update(_spaces).where(*serving).values(state=SpaceState.FORMER.value, changed_at=now))
    mine = (_spaces.c.kb_id == kb, _spaces.c.name == name)
    values = {"state": SpaceState.SERVING.value, "share": 0.0, "answers": 0, "changed_at": now}
    connection.execute(update(_spaces).where(*mine).values(**values))
    set_space(connection, kb, wanted.space)


def save_trial(connection: Connection, kb: KbId, trial: ModelTrial, keep: int) -> None:
    """Keep a trial and drop all but the newest of that model."""
    values = {"id": trial.id, "kb_id": kb, "model": trial.model, "created_at": trial.created_at}
    connection.execute(insert(_trials), values | {"body": json.dumps(trial.body, ensure_ascii=False)})
    ours = (_trials.c.kb_id == kb, _trials.c.model == trial.model)
    newest = select(_trials.c.id).where(*ours).order_by(_trials.c.created_at.desc(), _trials.c.id.desc()).limit(keep)
    connection.execute(delete(_trials).where(*ours, _trials.c.id.not_in(newest)))


def trials(connection: Connection, kb: KbId, model: str) -> list[ModelTrial]:
    """Return the trials of a model, oldest first."""
    ours = (_trials.c.kb_id == kb, _trials.c.model == model)
    query = select(_trials).where(*ours).order_by(_trials.c.created_at, _trials.c.id)
    return [
        ModelTrial(id=row.id, model=row.model, created_at=row.created_at, body=json.loads(row.body))
        for row in connection.execute(query)
    ]
