"""Runs on disk: each in one compressed JSON file with all that is needed to compare, to show and to repeat it."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kaijuan.core.ids import stable_id
from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.experiments.origin import Origin
from kaijuan.evals.journal import code_fingerprint
from kaijuan.evals.metrics import Scores, score
from kaijuan.evals.results import RetrievalRun
from kaijuan.evals.sets import EvalSet

FORMAT = 2
ENDING = ".json.gz"
CONTENTS = "runs.json"
SHOWN = 5
"""Documents of each ranking whose text is kept with the run."""
LONGEST_TEXT = 4000
"""Characters kept of one document."""
LONGEST_NAME = 100
"""Bytes kept of a name: a file is called after two of them, and file systems allow 255."""
CUT = gzip.compress(b"")[:-1]
"""What an empty file is read as: the library takes it for a whole file that holds nothing."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked, and the graded documents that were expected."""

    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Document:
    """The beginning of a document that was expected, or stood among the first."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """One configuration on one set. `changes` is what differs from the baseline, `settings` everything, secrets out."""

    key: str
    """Names data, settings, sample and code: an equal key is the same run."""
    experiment: str
    variant: str
    metric: str
    changes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Origin
    run: RetrievalRun
    questions: Mapping[str, Question]
    documents: Mapping[str, Document]

    @property
    def set(self) -> str:
        """Name of the set."""
        return self.run.set

    def scores(self, stage: str) -> Scores:
        """Score one stage; computed once."""
        if stage not in self._scored:
            rankings = {query.query_id: query.rankings.get(stage, ()) for query in self.run.queries}
            self._scored[stage] = score(rankings, {id: self.questions[id].grades for id in rankings})
        return self._scored[stage]

    @cached_property
    def _scored(self) -> dict[str, Scores]:
        return {}


def run_key(data: EvalSet, settings: Mapping[str, Any], sample: Mapping[str, int]) -> str:
    """Return the key of a run that has not been made yet; `sample` is what chooses the questions and the depth."""
    parts = [json.dumps(part, sort_keys=True) for part in (settings, sample)]
    return stable_id("experiment run", data.fingerprint, *parts, code_fingerprint())


def run_path(results: Path, experiment: str, set_name: str, variant: str) -> Path:
    """Return the file that a run is stored in."""
    return results / _file_name(experiment) / f"{_file_name(set_name)}--{_file_name(variant)}{ENDING}"


def save_run(path: Path, stored: StoredRun) -> None:
    """Write a run, whole or not at all."""
    run = _adapter().dump_python(stored, mode="json")
    tree = {"format": FORMAT, "checksum": _checksum(run), "run": run}
    _replace(path, gzip.compress(json.dumps(tree, allow_nan=False).encode()))


def load_run(path: Path) -> StoredRun:
    """Read a run; EvalDataError says whether the file is missing, cut short, of another format or something else."""
    tree = _read(path)
    found = tree.get("format") if isinstance(tree, dict) else None
    if not isinstance(found, int):
        raise EvalDataError(f"{path} holds no stored run.", hint="Name a file that an experiment wrote.")
    if found != FORMAT:
        raise EvalDataError(
            f"{path} has format {found}, this version reads format {FORMAT}.",
            hint="Run the experiment again with this version, or read the file with the one that wrote it.",
        )
    try:
        if tree["checksum"] != _checksum(tree["run"]):
            raise EvalDataError(
                f"{path} was changed after it was written: its checksum does not match.",
                hint="Run the experiment again; figures of an edited run prove nothing.",
            )
        return _shared_ids(_adapter().validate_python(tree["run"]))
    except (ValidationError, KeyError) as error:
        raise EvalDataError(f"{path} is not whole: {_first_line(error)}.", hint="Run the experiment again.") from error


def _checksum(run: Any) -> str:
    """Return the SHA-256 of a run as it is written: whoever edits figures by hand is found out, though not stopped."""
    return hashlib.sha256(json.dumps(run, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_contents(paths: Sequence[Path]) -> None:
    """Write down which runs belong to an experiment: others in its folder are of variants that it no longer has."""
    folder = paths[0].parent
    _replace(folder / CONTENTS, json.dumps({"format": FORMAT, "runs": [path.name for path in paths]}).encode())


def load_runs(words: Sequence[Path], results: Path) -> list[StoredRun]:
    """Return the runs in files, folders, or experiments called by name below `results`; by default the newest there.

    EvalDataError when a word names nothing.
    """
    return [load_run(path) for path in _files(words, results)]


def documents_of(data: EvalSet, run: RetrievalRun) -> dict[str, Document]:
    """Return the documents that a reader of the results wants to see: the expected and the first found."""
    wanted = {id for query in run.queries for id in query.rankings.get("final", ())[:SHOWN]}
    wanted |= {id for query in run.queries for id in data.grades.get(query.query_id, ())}
    found = {}
    with data.corpus.open(encoding="utf-8-sig") as file:
        for line in file:
            if line.strip() and (id := str((row := json.loads(line))["_id"])) in wanted:
                text = str(row.get("text") or "")
                found[id] = Document(title=str(row.get("title") or ""), text=text[:LONGEST_TEXT])
    return found


def _read(path: Path) -> Any:
    again = "Run the experiment again: what it finished is not repeated."
    try:
        return json.loads(gzip.decompress(path.read_bytes() or CUT))
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise EvalDataError(f"{path} holds no stored run.", hint="Name a file that an experiment wrote.") from error
        raise EvalDataError(f"{path} cannot be read: {error.strerror}.") from error
    except EOFError as error:
        raise EvalDataError(f"{path} is cut short.", hint=again) from error
    except (zlib.error, ValueError) as error:
        raise EvalDataError(f"{path} is damaged: {error}.", hint=again) from error


def _shared_ids(stored: StoredRun) -> StoredRun:
    """Return the run with each id in memory once: as they were read, many runs would take a gigabyte."""
    known: dict[str, str] = {}
    queries = tuple(
        replace(
            query,
            rankings={
                stage: tuple(known.setdefault(id, id) for id in ranking) for stage, ranking in query.rankings.items()
            },
        )
        for query in stored.run.queries
    )
    return replace(stored, run=replace(stored.run, queries=queries))


def _files(words: Sequence[Path], results: Path) -> Iterable[Path]:
    if not words:
        yield from _within(_newest(results))
    for word in words:
        named = results / _file_name(str(word))
        # Not by Path's own methods: they raise where the word is too long for a file.
        if os.path.isdir(word):
            yield from _within(word)
        elif not os.path.exists(word) and named.is_dir():
            yield from _within(named)
        else:
            yield word


def _replace(path: Path, body: bytes) -> None:
    fresh = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(body)
        os.replace(fresh, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", hint="Choose another folder.") from error


def _within(folder: Path) -> list[Path]:
    found = sorted(folder.glob(f"*{ENDING}"))
    try:
        listed = json.loads((folder / CONTENTS).read_bytes())["runs"]
        # In the order of the plan, which the page keeps.
        found = sorted((path for path in found if path.name in listed), key=lambda path: listed.index(path.name))
    except (OSError, ValueError, KeyError, TypeError):
        pass  # files put together by hand: all of them are meant
    if not found:
        raise EvalDataError(f"{folder} holds no runs.", hint="Run `kaijuan eval experiment FILE` first.")
    return found


def _newest(results: Path) -> Path:
    folders = [path for path in results.glob("*") if path.is_dir() and any(path.glob(f"*{ENDING}"))]
    if not folders:
        raise EvalDataError(f"There are no results in {results}.", hint="Run `kaijuan eval experiment FILE` first.")
    return max(folders, key=lambda folder: max(path.stat().st_mtime for path in folder.glob(f"*{ENDING}")))


def _file_name(name: str) -> str:
    """Return a name as a file may have it; another name gives another file."""
    plain = re.sub(r"[^\w.+-]+", "_", name)[:80].lstrip(".")
    plain = plain.encode()[:LONGEST_NAME].decode(errors="ignore")
    return plain if plain == name else f"{plain}-{stable_id('name', name)[:8]}"


def _first_line(error: ValidationError | KeyError) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'][:4])}: {first['msg']}"


@cache
def _adapter() -> TypeAdapter[StoredRun]:
    return TypeAdapter(StoredRun)
