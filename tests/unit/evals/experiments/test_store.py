"""Runs come back as they were stored, and a file that is not whole is refused by name."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kaijuan.errors import EvalDataError
from kaijuan.evals.experiments import origin
from kaijuan.evals.experiments.origin import origin_at
from kaijuan.evals.experiments.store import StoredRun, load_run, load_runs, run_path, save_run

MakeRun = Callable[..., StoredRun]


def test_a_run_comes_back_as_it_was(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("一 <b>", changes={"retrieve.fusion": "rrf"})
    path = run_path(tmp_path, run.experiment, run.set, run.variant)
    save_run(path, run)
    assert load_run(path) == run
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_id_is_in_memory_once(make_run: MakeRun, tmp_path: Path) -> None:
    save_run(tmp_path / "run.json.gz", make_run())
    queries = load_run(tmp_path / "run.json.gz").run.queries
    names = [name for query in queries for ranking in query.rankings.values() for name in ranking]
    assert len({id(name) for name in names}) == len(set(names)) < len(names)


def test_names_never_leave_the_folder_nor_meet(tmp_path: Path) -> None:
    paths = [run_path(tmp_path, "../x", "a/b", name) for name in ("..", "a b", "a_b", "a/b", "é", "x" * 300, "x" * 301)]
    assert all(path.parent.parent == tmp_path and len(path.name) < 255 for path in paths)
    assert len(set(paths)) == len(paths)


def test_long_names_are_shortened_by_bytes(make_run: MakeRun, tmp_path: Path) -> None:
    names = ["长" * 33, "长" * 85, "长" * 86]
    paths = [run_path(tmp_path, name, name, name) for name in names]
    assert len({path.name for path in paths} | {path.parent.name for path in paths}) == 6
    for name, path in zip(names, paths, strict=True):
        assert len(path.name.encode()) <= 240
        save_run(path, make_run(name))
        assert [run.variant for run in load_runs([Path(name)], tmp_path)] == [name]
    assert "长" * 33 in paths[0].name


@pytest.mark.parametrize("kept", [0, 10, 30, 200, -1])
def test_a_file_cut_short_is_refused(make_run: MakeRun, tmp_path: Path, kept: int) -> None:
    path = tmp_path / "run.json.gz"
    save_run(path, make_run())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(EvalDataError, match=r"cut short|damaged"):
        load_run(path)


def test_an_edited_run_is_found_out(make_run: MakeRun, tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    save_run(path, make_run())
    tree = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps(tree, indent=1, sort_keys=True).encode()))
    assert load_run(path).key == tree["run"]["key"]  # written otherwise, it says the same
    tree["run"]["questions"] = {}
    path.write_bytes(gzip.compress(json.dumps(tree).encode()))
    with pytest.raises(EvalDataError, match="checksum does not match"):
        load_run(path)


def test_what_is_no_run_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    for content, said in (
        (b'{"runs": []}', "holds no stored run"),
        (gzip.compress(b"not json"), "damaged"),
        (gzip.compress(b"[1]"), "holds no stored run"),
        (gzip.compress(json.dumps({"format": 0, "run": {}}).encode()), "format 0, this version reads format 2"),
        (gzip.compress(json.dumps({"format": 99}).encode()), "format 99"),
        (gzip.compress(json.dumps({"format": 2}).encode()), "not whole"),
        (gzip.compress(json.dumps({"format": 2, "run": {"key": "x"}}).encode()), "not whole: 'checksum' is missing"),
    ):
        path.write_bytes(content)
        with pytest.raises(EvalDataError, match=said):
            load_run(path)
    with pytest.raises(EvalDataError, match="cannot be read"):
        load_run(tmp_path / "none")
    with pytest.raises(EvalDataError, match="cannot be read"):
        load_run(tmp_path)


def test_runs_are_found_by_file_folder_and_name(make_run: MakeRun, tmp_path: Path) -> None:
    for place, experiment in enumerate(("old", "new")):
        for variant in ("baseline", "rrf"):
            path = run_path(tmp_path, experiment, "tiny", variant)
            save_run(path, make_run(variant))
            os.utime(path, (place, place))
    file = run_path(tmp_path, "old", "tiny", "rrf")
    assert [run.variant for run in load_runs([file], tmp_path)] == ["rrf"]
    assert [run.variant for run in load_runs([file.parent], tmp_path)] == ["baseline", "rrf"]
    assert [run.variant for run in load_runs([Path("old")], tmp_path)] == ["baseline", "rrf"]
    assert len(load_runs([], tmp_path)) == 2
    with pytest.raises(EvalDataError, match=r"nothing.*cannot be read"):
        load_runs([Path("nothing")], tmp_path)
    with pytest.raises(EvalDataError, match="no results"):
        load_runs([], tmp_path / "elsewhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvalDataError, match="holds no runs"):
        load_runs([tmp_path / "empty"], tmp_path)


def test_the_origin_says_what_a_number_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = origin_at(0.0)
    assert found.date == "1970-01-01T00:00:00Z"
    assert {"kaijuan", "numpy", "scipy"} <= found.packages.keys()
    assert found.cores >= 1
    assert found.processor


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert origin._git(Path.cwd(), "rev-parse", "HEAD") == ""
    monkeypatch.undo()
    assert origin._git(Path("/"), "rev-parse", "HEAD") == ""
