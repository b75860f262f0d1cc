"""What each stage is worth: the search without it, or with it done another way, against the whole search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kaijuan.config import Config
from kaijuan.evals.experiments.outcome import READER_STAGE, Arm, Outcome, judge, table_of
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.experiments.variants import BASELINE, Experiment, Variant, variant_of
from kaijuan.evals.metrics import METRICS
from kaijuan.evals.results import DEPTH, STAGES

NAME = "ablation"
WHOLE = "the whole search"
STAGE_ARMS = MappingProxyType({"dense": "dense only", "lexical": "lexical only", "fused": "without the cut"})
"""What a reader would be given if the search ended with a stage; no run of its own is needed to know."""
OTHER_FUSION = MappingProxyType({"minmax": "rrf", "rrf": "minmax"})
DEEP: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "without overlap": {"chunk.child_overlap": 0.0},
        "titles not weighed": {"index.title_weight": 0.0, "index.path_weight": 0.0},
        "titles not embedded": {"index.prefix_tokens": 0},
    }
)
"""Ablations that need another index."""


def ablation(
    folders: Sequence[Path],
    config: Config,
    *,
    metric: str = METRICS[0],
    limit: int = 0,
    seed: int = 0,
    k: int = DEPTH,
    deep: bool = False,
) -> Experiment:
    """Return the runs that an ablation of these settings needs; with `deep`, those with another index too."""
    fusion = OTHER_FUSION.get(config.retrieve.fusion, "minmax")
    variants = [variant_of(config, f"fused by {fusion}", {"retrieve.fusion": fusion})]
    for name, changes in DEEP.items() if deep else ():
        # What the settings leave out already cannot be left out once more.
        if any(getattr(getattr(config, key.partition(".")[0]), key.partition(".")[2]) for key in changes):
            variants.append(variant_of(config, name, changes))
    return Experiment(
        name=NAME,
        folders=tuple(folders),
        variants=(Variant(name=BASELINE, config=config, changes={}), *variants),
        metric=metric,
        limit=limit,
        seed=seed,
        k=k,
    )


def ablated(runs: Sequence[StoredRun], *, metric: str = "") -> Outcome:
    """Judge every ablation, the ends of the single stages first, against the whole search of the baseline."""
    table = table_of(runs)
    whole, *others = table
    metric, seed = metric or runs[0].metric, int(runs[0].run.config["seed"])
    arms = [_arm(STAGE_ARMS.get(stage, f"as after {stage}"), table[whole], metric, stage) for stage in STAGES[:-1]]
    arms += [_arm(name, table[name], metric, READER_STAGE) for name in others]
    return Outcome(
        experiment=runs[0].experiment,
        metric=metric,
        stage=READER_STAGE,
        seed=seed,
        sets=tuple(table[whole]),
        variants=judge(_arm(WHOLE, table[whole], metric, READER_STAGE), arms, seed=seed),
    )


def _arm(name: str, row: dict[str, StoredRun], metric: str, stage: str) -> Arm:
    return Arm(
        name=name,
        changes=next(iter(row.values())).changes,
        scores={each: run.scores(stage).by_query[metric] for each, run in row.items()},
    )
