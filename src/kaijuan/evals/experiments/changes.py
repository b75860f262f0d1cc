"""Settings by their dotted names: what may be changed, and the configuration that a change gives."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from kaijuan.config import Config
from kaijuan.errors import UsageError
from kaijuan.retrieve.pipeline import depth

Changes = Mapping[str, Any]
"""New values by dotted name, such as {"retrieve.fusion": "rrf"}."""

INGEST_SECTIONS = frozenset({"ingest", "chunk", "embedder", "index", "stores"})
"""Sections whose settings may change what is in the index; all others are read when a question is asked."""
ROUTE_K = "retrieve.route_k"
WITHOUT_EFFECT = frozenset({"answer", "eval", "jobs"})
"""Sections that change nothing of what is found, which is what experiments measure."""


@cache
def _kinds() -> Mapping[str, Any]:
    """Return the type of every setting by dotted name."""
    return {
        f"{section}.{name}": setting.annotation
        for section, field in Config.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        for name, setting in field.annotation.model_fields.items()
    }


def known_settings() -> frozenset[str]:
    """Return the dotted names of all settings."""
    return frozenset(_kinds())


def secret_settings() -> frozenset[str]:
    """Return the dotted names of settings that are never stored."""
    return frozenset(name for name, kind in _kinds().items() if kind is SecretStr)


def check_effect(changes: Iterable[str], where: str) -> None:
    """Raise UsageError for a setting that cannot change what is found."""
    for name in changes:
        if name.partition(".")[0] in WITHOUT_EFFECT:
            raise UsageError(
                f"{where} changes {name}, which changes nothing of what is found.",
                hint="Experiments measure retrieval; for answers see `kaijuan eval answers`.",
            )


def check_depth(values: Iterable[Any], base: Config, k: int, where: str) -> None:
    """Raise UsageError where none of these values of retrieve.route_k asks the routes for more or less than `base`.

    `k` is the number of passages that each question asks for.
    """
    now = depth(base.retrieve, k)
    if all(depth(changed(base, {ROUTE_K: value}, where).retrieve, k) == now for value in values):
        raise UsageError(
            f"{where} changes {ROUTE_K} without effect: with k = {k} each route is asked for {now} chunks either way.",
            hint=f"Give more than {now}, a smaller k, or another setting, as retrieve.dense_weight.",
        )


def flattened(tree: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the changes in a tree of tables, `{"retrieve": {"fusion": "rrf"}}` or `{"retrieve.fusion": "rrf"}`.

    UsageError names the nearest setting when one is unknown; `where` says where the tree was read.
    """
    changes: dict[str, Any] = {}
    for name, value in _leaves(tree):
        if name not in known_settings():
            raise UsageError(f"{where} changes {name}, which is no setting.", hint=nearest(name, known_settings()))
        if name in secret_settings():
            raise UsageError(
                f"{where} holds {name}, a secret.", hint="Set it in the environment; results and files are shared."
            )
        changes[name] = value
    return changes


def changed(config: Config, changes: Changes, where: str) -> Config:
    """Return the configuration with the changes made; UsageError when a value is not allowed."""
    tree = config.model_dump()
    for name, value in changes.items():
        section, _, setting = name.partition(".")
        tree[section][setting] = value
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: the setting {place} is wrong: {first['msg']}.") from error


def differences(config: Config, other: Config) -> dict[str, Any]:
    """Return the values of `other` by dotted name where it differs from `config`; secrets are left out."""
    mine, theirs = public_settings(config), public_settings(other)
    return {
        f"{section}.{name}": value
        for section, table in theirs.items()
        for name, value in table.items()
        if mine[section][name] != value
    }


def public_settings(config: Config) -> dict[str, dict[str, Any]]:
    """Return all settings as JSON has them, without the secrets."""
    tree: dict[str, dict[str, Any]] = config.model_dump(mode="json")
    for name in secret_settings():
        section, _, setting = name.partition(".")
        del tree[section][setting]
    return tree


def needs_ingest(changes: Iterable[str]) -> bool:
    """Say whether a change of these settings needs another index."""
    return any(name.partition(".")[0] in INGEST_SECTIONS for name in changes)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the known settings most like an unknown one."""
    known = sorted(known)
    section, _, last = name.rpartition(".")
    # The last part alone too: people forget the section, or take another one.
    by_last = {each.rpartition(".")[2]: each for each in known}
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    found = found or [by_last[word] for word in difflib.get_close_matches(last, by_last, n=1)]
    if not found and (siblings := [each for each in known if section and each.startswith(f"{section}.")]):
        return f"There are {', '.join(siblings)}."
    found = found or difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"Do you mean {found[0]}?"


def shown(value: object) -> str:
    """Return a value as a settings file has it."""
    return json.dumps(value, ensure_ascii=False)


def _leaves(tree: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in tree.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping) and path not in known_settings():
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value
