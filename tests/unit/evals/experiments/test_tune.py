"""Search over settings: what may be tried, the two parts, and going on after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kaijuan.config import Config
from kaijuan.errors import EvalDataError, KaijuanError, UsageError
from kaijuan.evals.experiments.changes import changed
from kaijuan.evals.experiments.run import Watch
from kaijuan.evals.experiments.space import Choices, Range, grid_of, opened, read_space
from kaijuan.evals.experiments.split import split
from kaijuan.evals.experiments.store import load_runs
from kaijuan.evals.experiments.tune import Tuned, Tuning, read_tuning, tune
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.testing.embedders import HashEmbedder

WriteSet = Callable[..., Path]
MEMORY = Config.model_validate({"stores": {"index": "memory"}})
SPACE = {"retrieve": {"dense_weight": [0.0, 0.5, 1.0], "cut_ratio": {"low": 0.0, "high": 0.4, "step": 0.1}}}


def many(write_set: WriteSet, name: str = "many", count: int = 24) -> Path:
    """Write a set in which the words find everything and the vectors little."""
    documents = {
        f"d{n}": ("", f"The part XK-{n:03} costs {n * 7} yuan and is kept in hall {n % 5}.") for n in range(count)
    }
    questions = {f"q{n}": f"price of XK-{n:03}" for n in range(count)}
    judgements = [(f"q{n}", f"d{n}", 1) for n in range(count)]
    return write_set(name, documents=documents, questions=questions, judgements=judgements)


def test_no_question_is_in_both_parts(write_set: WriteSet) -> None:
    data = load_set(many(write_set))
    dev, test = split(data, data.judged, held_out=0.25, seed=1)
    assert dev.grades.keys() | test.grades.keys() == data.grades.keys()
    assert not dev.grades.keys() & test.grades.keys()
    assert len(test.judged) == 6
    assert split(data, data.judged, held_out=0.25, seed=1)[1].grades == test.grades
    assert split(data, data.judged, held_out=0.25, seed=2)[1].grades != test.grades


def test_questions_of_the_same_words_stay_together(write_set: WriteSet) -> None:
    data = load_set(
        write_set(
            questions={f"q{n}": ("年假 有几天？", "ＡＢＣ of it", "abc of it")[n % 3] + str(n // 6) for n in range(24)},
            judgements=[(f"q{n}", "d1", 1) for n in range(24)],
        )
    )
    dev, test = split(data, data.judged, held_out=0.5, seed=3)
    words = [{query.text.lower().replace("ａｂｃ", "abc") for query in part.judged} for part in (dev, test)]
    assert not words[0] & words[1]


def test_too_few_questions_cannot_be_parted(write_set: WriteSet) -> None:
    data: EvalSet = load_set(many(write_set, count=3))
    with pytest.raises(EvalDataError, match="too few different questions"):
        split(data, data.judged, held_out=0.5, seed=0)


def test_a_space_is_read() -> None:
    space = read_space(
        {"retrieve": {"route_k": [30, 50], "cut_relevance": {"low": 0.001, "high": 0.1, "log": True}},
         "chunk.child_tokens": {"low": 100, "high": 250, "step": 100}},
        Config(),
        k=10,
    )  # fmt: skip
    assert space["retrieve.route_k"] == Choices(values=(30, 50))
    assert space["retrieve.cut_relevance"] == Range(low=0.001, high=0.1, log=True)
    assert space["chunk.child_tokens"].grid() == (100, 200)
    assert Range(low=0.2, high=0.8, step=0.2).grid() == (0.2, 0.4, 0.6, 0.8)
    assert Range(low=2, high=5).grid() == (2, 3, 4, 5)


def test_a_depth_that_differs_is_searched() -> None:
    deep = changed(Config(), {"retrieve.route_k": 500}, "home")
    assert read_space({"retrieve.route_k": [30, 401]}, Config())
    assert read_space({"retrieve.route_k": {"low": 30, "high": 300}}, deep)
    assert read_space({"retrieve.route_k": [30, 50]}, Config(), k=12)


def test_a_grid_has_every_combination_once() -> None:
    grid = grid_of(read_space(SPACE, Config()))
    assert len(grid) == 15
    assert grid[:2] == [
        {"retrieve.dense_weight": 0.0, "retrieve.cut_ratio": 0.0},
        {"retrieve.dense_weight": 0.0, "retrieve.cut_ratio": 0.1},
    ]
    with pytest.raises(UsageError, match="no step"):
        grid_of(read_space({"retrieve.dense_weight": {"low": 0.1, "high": 0.9}}, Config()))
    with pytest.raises(UsageError, match="990000 combinations"):
        grid_of({"a": Range(low=1, high=990), "b": Range(low=1, high=1000)})
    with pytest.raises(UsageError, match="1000000000000 combinations"):
        grid_of({"a": Range(low=1, high=10**12)})


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({}, "names no setting"),
        ({"retrieve": {"rout_k": [1]}}, "Do you mean retrieve.route_k?"),
        ({"retrieve": {"route_k": 3}}, "one value, 3"),
        ({"retrieve": {"route_k": []}}, "no list of values"),
        ({"retrieve": {"route_k": [[1]]}}, "no list of values"),
        ({"retrieve": {"route_k": [0, 5]}}, "the setting retrieve.route_k is wrong"),
        ({"retrieve": {"fusion": ["minmax", "sum"]}}, "the setting retrieve.fusion is wrong"),
        ({"retrieve": {"dense_weight": {"low": 0.5}}}, "cannot be read"),
        ({"retrieve": {"dense_weight": {"low": 0.5, "high": "1"}}}, "cannot be read"),
        ({"retrieve": {"dense_weight": {"low": 0.1, "high": 0.5, "steps": 3}}}, "cannot be read"),
        ({"retrieve": {"dense_weight": {"low": 0.5, "high": 0.1}}}, "impossible range"),
        ({"retrieve": {"dense_weight": {"low": 0.5, "high": 1.5}}}, "the setting retrieve.dense_weight is wrong"),
        ({"retrieve": {"dense_weight": {"low": 0, "high": 1, "log": True}}}, "impossible range"),
        ({"retrieve": {"dense_weight": {"low": 0, "high": 1, "step": 1e-9}}}, "more than 10,000 values"),
        ({"retrieve": {"dense_weight": {"low": 0, "high": 1, "step": 1e-320}}}, "more than 10,000 values"),
        ({"retrieve": {"route_k": [30, "50", 400], "fusion": ["rrf"]}}, "without effect: with k = 100"),
        ({"retrieve": {"route_k": {"low": 30, "high": 400}}}, "without effect"),
        ({"retrieve": {"rrf_k": {"low": 1, "high": 10**400}}}, "impossible range"),
        ({"retrieve": {"rrf_k": {"low": 1, "high": float("inf"), "step": 1}}}, "impossible range"),
    ],
)
def test_a_space_that_cannot_be_searched_is_refused(tree: dict[str, Any], said: str) -> None:
    with pytest.raises(KaijuanError) as caught:
        read_space(tree, Config())
    assert said in str(caught.value)


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    space = read_space(SPACE, Config())

    def steps(path: Path, count: int, stop_at: int = -1) -> list[Any]:
        search = opened(path, "trial", space, grid=False, seed=5)
        while len(search.trials) < count:
            with search.next() as attempt:
                if attempt.number == stop_at:
                    raise KeyboardInterrupt
                attempt.score = 1 - abs(attempt.values["retrieve.dense_weight"] - 0.5)
        return search.trials

    whole = steps(tmp_path / "a", 14)
    with pytest.raises(KeyboardInterrupt):
        steps(tmp_path / "b", 14, stop_at=12)
    assert steps(tmp_path / "b", 14) == whole
    assert len({str(trial.values) for trial in whole}) > 3
    # Steps of a range are read as they were written.
    assert {trial.values["retrieve.cut_ratio"] for trial in whole} <= {0.0, 0.1, 0.2, 0.3, 0.4}


def test_nothing_is_tried_twice_and_a_small_space_comes_to_its_end(tmp_path: Path) -> None:
    space = read_space(SPACE, Config())
    search = opened(tmp_path / "log", "trial", space, grid=False, seed=5)
    total = search.total(40)
    assert total == 15
    while len(search.trials) < total:
        with search.next() as attempt:
            attempt.score = 1 - abs(attempt.values["retrieve.dense_weight"] - 0.5)
    assert sorted(str(trial.values) for trial in search.trials) == sorted(str(values) for values in grid_of(space))
    endless = read_space({"retrieve.cut_ratio": {"low": 0.0, "high": 0.4}}, Config())
    assert opened(tmp_path / "other", "trial", endless, grid=False, seed=5).total(40) == 40


def tuning(write_set: WriteSet, tmp_path: Path, more: str = "") -> Tuning:
    many(write_set)
    path = tmp_path / "search.toml"
    path.write_text(f'sets = ["many"]\nseed = 1\nmetric = "mrr@10"\n{more}', encoding="utf-8")
    return read_tuning(path, MEMORY)


class Told:
    """Notes which trials were asked, and stops at one."""

    def __init__(self, stop_at: int = -1) -> None:
        self.asked: list[int] = []
        self._stop_at = stop_at

    @contextmanager
    def __call__(self, _set: str, number: int, _total: int, _values: object) -> Iterator[Watch]:
        if number == self._stop_at:
            raise KeyboardInterrupt
        self.asked.append(number)
        yield Watch()


async def tuned(plan: Tuning, tmp_path: Path, told: Told) -> Tuned:
    return await tune(plan, tmp_path / "home", tmp_path / "results", embedder=HashEmbedder, watcher=told)


async def test_a_better_setting_is_found_and_held_against_other_questions(write_set: WriteSet, tmp_path: Path) -> None:
    # The codes of the set are found by a route of their own, which would leave nothing to gain.
    base = "[base]\nroutes.exact = false\nretrieve.rerank = false\nretrieve.dense_weight = 1.0\n"
    more = f'method = "grid"\n{base}[space]\nretrieve.dense_weight = [0.5, 0.0]\n'
    found = await tuned(tuning(write_set, tmp_path, more), tmp_path, Told())
    assert [trial.values for trial in found.trials] == [{"retrieve.dense_weight": 0.5}, {"retrieve.dense_weight": 0.0}]
    assert found.best is not None
    assert found.best.score == max(trial.score or 0 for trial in found.trials)
    assert found.best.score > found.baseline_dev
    assert (found.dev_questions, found.test_questions) == (12, 12)
    assert found.held_out is not None
    assert found.held_out.pooled.comparison.questions == 12
    assert found.gained
    stored = load_runs([Path("search")], tmp_path / "results")
    assert [run.variant for run in stored] == ["baseline", "best"]
    assert all(len(run.questions) == 12 for run in stored)


async def test_without_a_gain_it_says_so(write_set: WriteSet, tmp_path: Path) -> None:
    more = 'method = "grid"\n[base]\nretrieve.dense_weight = 0.0\n[space]\nretrieve.cut_ratio = [0.0, 0.1]\n'
    found = await tuned(tuning(write_set, tmp_path, more), tmp_path, Told())
    assert (found.best, found.held_out, found.gained) == (None, None, False)


async def test_a_tuning_goes_on_and_settings_that_do_not_fit_are_named(write_set: WriteSet, tmp_path: Path) -> None:
    more = 'method = "grid"\n[space]\nchunk.child_tokens = [20, 500]\nchunk.max_tokens = [400, 600]\n'
    plan = tuning(write_set, tmp_path, more)
    with pytest.raises(KeyboardInterrupt):
        await tuned(plan, tmp_path, Told(stop_at=2))
    found = await tuned(plan, tmp_path, told := Told())
    # 0 is the baseline, 1 was stored; 500 tokens do not fit into 400 and are not asked.
    assert told.asked[:3] == [0, 2, 4]
    assert [trial.score is None for trial in found.trials] == [False, False, True, False]
    assert "child_tokens <= max_tokens" in found.trials[2].reason
    assert found.trials[0].score is not None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "has no space"),
        ("method = 'random'\n[space]\nretrieve.route_k = [1]", "method is wrong"),
        ("trials = 0\n[space]\nretrieve.route_k = [1]", "trials is wrong"),
        ("held_out = 1.0\n[space]\nretrieve.route_k = [1]", "held_out is wrong"),
        ("[spaces]\nretrieve.route_k = [1]", "Do you mean space?"),
    ],
)
def test_faults_of_a_file_are_named(write_set: WriteSet, tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(KaijuanError) as caught:
        tuning(write_set, tmp_path, more)
    assert said in str(caught.value)
