"""Named configurations in one TOML file: a baseline, and variants that each change one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from kaijuan.config import Config
from kaijuan.errors import UsageError
from kaijuan.evals.experiments.changes import ROUTE_K, changed, check_depth, check_effect, differences, flattened
from kaijuan.evals.experiments.plan_file import PlanFile, read_plan, set_folders

BASELINE = "baseline"
"""Name of the configuration that the variants are compared with."""
ALLOW_MANY = "allow_many"


class ExperimentFile(PlanFile):
    """The keys of an experiment file."""

    allow_many: bool = False
    """Whether a variant may change several settings at once; a variant may say so for itself too."""
    variants: dict[str, dict[str, Any]] = Field(min_length=1)
    """Name -> the settings that change."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One configuration. `changes` is what differs from the baseline's, by dotted name."""

    name: str
    config: Config
    changes: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is run: every variant on every set, the baseline first."""

    name: str
    folders: tuple[Path, ...]
    variants: tuple[Variant, ...]
    metric: str
    limit: int
    seed: int
    k: int


def read_experiment(path: Path, config: Config) -> Experiment:
    """Read an experiment file over the settings of the home; errors name the key or setting that is wrong."""
    plan = read_plan(path, ExperimentFile)
    base = changed(config, flattened(plan.base, f"[base] of {path.name}"), str(path))
    variants = [_variant(base, name, table, plan) for name, table in plan.variants.items()]
    return Experiment(
        name=plan.name,
        folders=tuple(set_folders(path, plan)),
        variants=(Variant(name=BASELINE, config=base, changes={}), *variants),
        metric=plan.metric,
        limit=plan.limit,
        seed=plan.seed,
        k=plan.k,
    )


def variant_of(base: Config, name: str, changes: Mapping[str, Any]) -> Variant:
    """Return the variant that makes these changes; UsageError when it would be the baseline itself."""
    check_effect(changes, f"The variant {name}")
    config = changed(base, changes, f"The variant {name}")
    made = differences(base, config)
    if not made:
        raise UsageError(f"The variant {name} changes nothing.", hint="Give a setting that differs from the baseline.")
    return Variant(name=name, config=config, changes=made)


def _variant(base: Config, name: str, table: Mapping[str, Any], plan: ExperimentFile) -> Variant:
    if name == BASELINE or not name.strip():
        raise UsageError(f"A variant cannot be called {name!r}.", hint="That is the name of what it is compared with.")
    many = plan.allow_many or table.get(ALLOW_MANY) is True
    settings = {key: value for key, value in table.items() if key != ALLOW_MANY}
    changes = flattened(settings, f"The variant {name}")
    if len(changes) > 1 and not many:
        raise UsageError(
            f"The variant {name} changes {len(changes)} settings: {', '.join(changes)}.",
            hint="Change one thing at a time, or write allow_many = true.",
        )
    variant = variant_of(base, name, changes)
    if ROUTE_K in variant.changes:
        check_depth([variant.changes[ROUTE_K]], base, plan.k, f"The variant {name}")
    return variant
