"""What experiments found, for those who run the service: stored runs compared, as figures and as a page."""

from __future__ import annotations

import asyncio
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from kaijuan.core.identity import Who
from kaijuan.errors import AccessError, NotFoundError
from kaijuan.server.service import Caller, Reply, Service, The
from kaijuan.verbs.shapes import Json, plain

if TYPE_CHECKING:
    from kaijuan.evals.experiments.outcome import ArmOutcome, Judged
    from kaijuan.evals.experiments.store import StoredRun

router = APIRouter(tags=["evaluations"])
Name = Annotated[str, Path(pattern=r"^[^/\\\x00-\x1f\x7f]{1,200}$", description="Name of an experiment.")]


@router.get("/evaluations")
async def evaluations(who: Caller, service: The) -> Reply:
    """List the experiments whose runs are stored in the home, the newest first."""
    found = await asyncio.to_thread(_listed, _results(service, who))
    return Reply({"evaluations": found})


@router.get("/evaluations/{name}")
async def evaluation(name: Name, who: Caller, service: The) -> Reply:
    """Show one experiment: every variant against the baseline, and the baseline stage by stage."""
    return Reply(await asyncio.to_thread(_outcome, _folder(_results(service, who), name)))


@router.get("/evaluations/{name}/report", response_model=None)
async def report(
    name: Name, who: Caller, service: The, language: Annotated[Literal["en", "zh"], Query()] = "en"
) -> Response:
    """Return the whole report as one HTML page that needs nothing else, to be kept or sent on."""
    page = await asyncio.to_thread(_page, _folder(_results(service, who), name), language)
    return Response(
        page.encode("utf-8", "replace"),
        media_type="text/html; charset=utf-8",
        # A page with styles and scripts of its own: to be saved, not to be run as one of the service's.
        headers={"Content-Disposition": 'attachment; filename="report.html"'},
    )


def _results(service: Service, who: Who) -> FilePath:
    from kaijuan.evals.experiments.run import evals_results

    # The sets are the whole home's, and may hold anybody's words.
    if not service.runs_home(who):
        raise AccessError("Only who runs the service sees its evaluations.")
    return evals_results(service.engine.home)


def _folder(results: FilePath, name: str) -> FilePath:
    if name not in {one["name"] for one in _listed(results)}:
        raise NotFoundError(f"There is no experiment {name!r}.", hint="`kaijuan eval experiment FILE` makes one.")
    return results / name


def _listed(results: FilePath) -> list[Json]:
    from kaijuan.evals.experiments.store import ENDING

    found: list[tuple[float, Json]] = []
    for folder in results.glob("*"):
        runs = list(folder.glob(f"*{ENDING}")) if folder.is_dir() else []
        if runs:
            newest = max(path.stat().st_mtime for path in runs)
            found.append((newest, {"name": folder.name, "runs": len(runs), "at": newest}))
    return [one for _, one in sorted(found, key=lambda pair: pair[0], reverse=True)]


def _outcome(folder: FilePath) -> Json:
    from kaijuan.evals.experiments.outcome import outcome_of, table_of
    from kaijuan.evals.experiments.store import load_runs

    runs = load_runs([folder], folder.parent)
    found = outcome_of(runs)
    baseline = next(iter(table_of(runs).values()))
    return {
        "name": folder.name,
        "experiment": found.experiment,
        "metric": found.metric,
        "sets": [_set(name, run) for name, run in baseline.items()],
        "variants": [_variant(arm) for arm in found.variants],
    }


def _set(name: str, run: StoredRun) -> Json:
    from kaijuan.evals.results import STAGES

    return {
        "name": name,
        "questions": len(run.run.queries),
        "date": run.origin.date,
        "stages": [{"name": stage, "scores": plain(run.scores(stage).means)} for stage in STAGES],
    }


def _variant(arm: ArmOutcome) -> Json:
    return {
        "name": arm.name,
        "changes": plain(arm.changes),
        "pooled": _judged(arm.pooled),
        "sets": {name: _judged(judged) for name, judged in arm.sets.items()},
    }


def _judged(judged: Judged) -> Json:
    shape = plain(judged.comparison)
    assert isinstance(shape, dict)
    return {**shape, "p_holm": judged.p_holm, "verdict": judged.verdict()}


def _page(folder: FilePath, language: str) -> str:
    from kaijuan.evals.experiments.store import load_runs
    from kaijuan.evals.report.page import report_page

    return report_page(load_runs([folder], folder.parent), language=language)
