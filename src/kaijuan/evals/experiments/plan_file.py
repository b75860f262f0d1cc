"""What experiment files and tuning files share: TOML, closed, with the sets, the sample and the base settings."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.metrics import METRICS
from kaijuan.evals.results import DEPTH

DEEPEST = 10
"""Tables in each other; a variant's setting stands four deep."""
IN_THE_GUIDE = "The guide has an example, under Experiments."


class PlanFile(BaseModel):
    """The keys that both kinds of files have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    """What the results are called; by default the name of the file."""
    sets: tuple[str, ...] = Field(min_length=1)
    """Folders of sets, relative to the file."""
    limit: int = Field(default=0, ge=0)
    """Questions asked of each set, a sample chosen by `seed`; 0 means all."""
    seed: int = Field(default=0, ge=0)
    k: int = Field(default=DEPTH, ge=1, le=1000)
    """Passages that each question asks for."""
    metric: str = METRICS[0]
    """The metric that decides."""
    base: dict[str, Any] = {}
    """Settings that all runs share, over those of the home."""

    @field_validator("name")
    @classmethod
    def _named(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("it is empty")
        return name

    @field_validator("metric")
    @classmethod
    def _known(cls, metric: str) -> str:
        return checked_metric(metric)


Read = TypeVar("Read", bound=PlanFile)


def read_plan(path: Path, kind: type[Read]) -> Read:
    """Read a file as `kind` says, its name filled in; EvalDataError names the line or key that is wrong."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvalDataError(f"{path} cannot be read: {error.strerror}.", hint="Name a TOML file.") from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        raise EvalDataError(f"{path} is not TOML: {error}.", hint=IN_THE_GUIDE) from error
    if _deeper(tree, DEEPEST):
        raise _too_deep(path)
    try:
        plan = kind.model_validate({"name": path.stem, **tree})
    except ValidationError as error:
        raise _told(path, error, kind) from error
    return plan


def checked_metric(metric: str) -> str:
    """Return a known metric; ValueError names the nearest otherwise."""
    if metric not in METRICS:
        near = difflib.get_close_matches(metric, METRICS, n=1)
        known = f"do you mean {near[0]}?" if near else f"known: {', '.join(METRICS)}"
        raise ValueError(f"there is no metric {metric!r}; {known}")
    return metric


def set_folders(path: Path, plan: PlanFile) -> list[Path]:
    """Return the folders of the sets; EvalDataError when two have one name, since results go by it."""
    folders = [(path.parent / name).resolve() for name in plan.sets]
    names = [folder.name for folder in folders]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EvalDataError(f"{path} names two sets {twice[0]}.", hint="Name each set once; rename one of two folders.")
    return folders


def _deeper(tree: object, most: int) -> bool:
    """Say whether tables and lists stand in each other more than `most` deep, without recursion."""
    level = [tree]
    for _ in range(most + 1):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
        ]
    return bool(level)


def _too_deep(path: Path) -> UsageError:
    return UsageError(f"{path} nests its tables or lists too deep.", hint=IN_THE_GUIDE)


def _told(path: Path, error: ValidationError, kind: type[PlanFile]) -> EvalDataError | UsageError:
    # A key that is not known first: where one is misspelt, the right one is missing too.
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(place, kind.model_fields, n=1)
        hint = f"Do you mean {near[0]}?" if near else f"Known: {', '.join(kind.model_fields)}."
        return UsageError(f"{path} has a key {place}, which is not known.", hint=hint)
    if place == "sets":
        return EvalDataError(f"{path} names no sets.", hint='Write: sets = ["path/to/a/set"].')
    if first["type"] == "missing":
        return EvalDataError(f"{path} has no {place}.", hint=IN_THE_GUIDE)
    return EvalDataError(f"{path}: {place} is wrong: {first['msg']}.", hint=IN_THE_GUIDE)
