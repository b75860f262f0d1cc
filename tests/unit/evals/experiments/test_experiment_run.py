"""Experiments through the engine: shared corpora, stored runs, and going on after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kaijuan.config import Config
from kaijuan.evals.bases import stored_bases
from kaijuan.evals.experiments import run as running
from kaijuan.evals.experiments.outcome import outcome_of
from kaijuan.evals.experiments.run import Watch, run_experiment
from kaijuan.evals.experiments.store import StoredRun, load_runs, run_path
from kaijuan.evals.experiments.variants import Experiment, read_experiment
from kaijuan.testing.embedders import HashEmbedder

WriteSet = Callable[..., Path]
MEMORY = Config.model_validate({"stores": {"index": "memory"}, "embedder": {"key": "s3cret"}})
FILE = """
sets = ["tiny"]
[variants.rrf]
retrieve.fusion = "rrf"
[variants.small]
chunk.child_tokens = 4
"""


@pytest.fixture
def plan(write_set: WriteSet, tmp_path: Path) -> Experiment:
    write_set()
    (tmp_path / "trial.toml").write_text(FILE, encoding="utf-8")
    return read_experiment(tmp_path / "trial.toml", MEMORY)


class Told:
    """Notes which runs were made."""

    def __init__(self, stop_at: str = "") -> None:
        self.made: list[str] = []
        self._stop_at = stop_at

    @contextmanager
    def __call__(self, _set: str, variant: str) -> Iterator[Watch]:
        if variant == self._stop_at:
            raise KeyboardInterrupt
        self.made.append(variant)
        yield Watch()


async def ran(plan: Experiment, tmp_path: Path, told: Told, *, fresh: bool = False) -> list[StoredRun]:
    return await run_experiment(
        plan,
        tmp_path / "home",
        tmp_path / "results",
        embedder=HashEmbedder,
        watcher=told,
        clock=lambda: 0.0,
        fresh=fresh,
    )


async def test_every_variant_is_run_and_stored(plan: Experiment, tmp_path: Path) -> None:
    runs = await ran(plan, tmp_path, Told())
    assert [run.variant for run in runs] == ["baseline", "rrf", "small"]
    for run in runs:
        assert run.scores("final").means["hit@1"] == 1.0
        assert run.origin.date == "1970-01-01T00:00:00Z"
        assert run.questions["q4"].grades == {"d3": 2}
        assert run.documents["d3"].title == "报销"
        assert "s3cret" not in str(run)
    assert runs[1].settings["retrieve"]["fusion"] == "rrf"
    assert {run.run.chunks for run in runs[:2]} == {4}
    assert runs[2].run.chunks > 4
    # Two ways of cutting, two bases; the change of fusion shares the baseline's.
    assert len(stored_bases(tmp_path / "home")) == 2
    assert len(outcome_of(runs).variants) == 2


async def test_a_run_that_was_stopped_goes_on(plan: Experiment, tmp_path: Path) -> None:
    first, second = Told(stop_at="small"), Told()
    with pytest.raises(KeyboardInterrupt):
        await ran(plan, tmp_path, first)
    runs = await ran(plan, tmp_path, second)
    assert (first.made, second.made) == (["baseline", "rrf"], ["small"])
    assert await ran(plan, tmp_path, third := Told()) == runs
    assert third.made == []
    await ran(plan, tmp_path, fourth := Told(), fresh=True)
    assert fourth.made == ["baseline", "rrf", "small"]


async def test_what_no_longer_holds_is_made_anew(
    plan: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ran(plan, tmp_path, Told())
    path = run_path(tmp_path / "results", "trial", "tiny", "rrf")
    path.write_bytes(path.read_bytes()[:50])
    await ran(plan, tmp_path, damaged := Told())
    assert damaged.made == ["rrf"]
    with (tmp_path / "tiny" / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("q1\td2\t1\n")
    await ran(plan, tmp_path, other_data := Told())
    assert len(other_data.made) == 3
    key = running.key_of
    monkeypatch.setattr(running, "key_of", lambda *words: key(*words) + "other code")
    await ran(plan, tmp_path, other_code := Told())
    assert len(other_code.made) == 3


async def test_variants_that_are_gone_are_not_compared_any_more(plan: Experiment, tmp_path: Path) -> None:
    await ran(plan, tmp_path, Told())
    text = (tmp_path / "trial.toml").read_text(encoding="utf-8").replace("variants.rrf", "variants.zrrf")
    (tmp_path / "trial.toml").write_text(text, encoding="utf-8")
    with (tmp_path / "tiny" / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("q1\td2\t1\n")
    await ran(read_experiment(tmp_path / "trial.toml", MEMORY), tmp_path, Told())
    assert run_path(tmp_path / "results", "trial", "tiny", "rrf").exists()
    found = load_runs([Path("trial")], tmp_path / "results")
    assert [run.variant for run in found] == ["baseline", "zrrf", "small"]
    assert len(outcome_of(found).variants) == 2
