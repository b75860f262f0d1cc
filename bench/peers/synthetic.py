"""The filtered test's data: texts, fields of known selectivity, clustered vectors, and the exact neighbours."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.peers.protocol import Vectors
from bench.texts import paragraphs

FIELDS = {"50 %": ("half", 2), "5 %": ("twentieth", 20), "0.5 %": ("part200", 200), "0.05 %": ("part2000", 2000)}
"""Share of the rows that one value of a field matches: the field and the number of its values."""
DIMENSIONS = 384
CHUNK = 220
"""Characters of a row: each becomes one chunk everywhere."""
QUESTIONS = 100
SPREAD = 0.8
DELETED = 0.2
K = 10

Fields = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """What was generated, kept for scoring."""

    vectors: Vectors
    questions: Vectors
    fields: Fields
    deleted: npt.NDArray[np.bool_]


def generate(rows: int, seed: int = 7) -> Synthetic:
    """Draw vectors around rows / 100 centres, questions around the same ones, fields independent of them."""
    chance = np.random.default_rng(seed)
    centres = _unit(chance.standard_normal((max(1, rows // 100), DIMENSIONS)))

    def around(count: int) -> Vectors:
        noise = chance.standard_normal((count, DIMENSIONS)) * (SPREAD / DIMENSIONS**0.5)
        return _unit(centres[chance.integers(len(centres), size=count)] + noise)

    deleted = np.zeros(rows, dtype=np.bool_)
    vectors, questions = around(rows), around(QUESTIONS)
    deleted[chance.choice(rows, int(rows * DELETED), replace=False)] = True
    fields = {field: chance.permutation(rows) % values for field, values in FIELDS.values()}
    return Synthetic(vectors=vectors, questions=questions, fields=fields, deleted=deleted)


def _unit(rows: npt.NDArray[np.float64]) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def row_id(number: int) -> str:
    """Return the id of a row."""
    return f"rec{number:06d}"


def write(data: Synthetic, folder: Path) -> None:
    """Write rows.jsonl, questions.json, and both arrays."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "passages.npy", data.vectors)
    np.save(folder / "questions.npy", data.questions)
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(len(data.vectors)):
            text = f"{row_id(number)} " + "\n".join(paragraphs(number, CHUNK))[:CHUNK]
            fields = {name: int(values[number]) for name, values in data.fields.items()}
            row = {"id": row_id(number), "title": "", "text": text, "metadata": fields}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    (folder / "questions.json").write_text(json.dumps(plan(data), ensure_ascii=False), encoding="utf-8")


def plan(data: Synthetic) -> dict[str, Any]:
    """Return the questions at each selectivity, what is deleted, and the questions after that."""
    plain = [{"text": _question(number), "where": {}} for number in range(len(data.questions))]
    filtered = {
        name: [{"text": _question(number), "where": _where(name, number)} for number in range(len(data.questions))]
        for name in FIELDS
    }
    deleted = [row_id(int(number)) for number in np.flatnonzero(data.deleted)]
    return {"filters": {"none": plain, **filtered}, "deleted": deleted, "after": plain}


def _question(number: int) -> str:
    return f"ask{number:06d} {next(_sentences(number))}"


def _sentences(number: int) -> Iterator[str]:
    return (text[:40] for text in paragraphs(1_000_000 + number, 60))


def _where(name: str, number: int) -> Mapping[str, int]:
    field, values = FIELDS[name]
    return {field: random.Random(f"{field} {number}").randrange(values)}


def truth(data: Synthetic, number: int, where: Mapping[str, int], *, after: bool) -> list[str]:
    """Return the exact best rows for a question under a filter, before or after the deletion."""
    admitted = ~data.deleted if after else np.ones(len(data.vectors), dtype=np.bool_)
    for field, value in where.items():
        admitted &= data.fields[field] == value
    places = np.flatnonzero(admitted)
    scores = data.vectors[places] @ data.questions[number]
    best = np.argsort(-scores, kind="stable")[:K]
    return [row_id(int(place)) for place in places[best]]


def scores(data: Synthetic, name: str, lists: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return recall@10 against the exact rows, and how many answers should not have been there."""
    after = name == "deleted"
    found, wanted, wrong = 0, 0, 0
    for number, ranked in enumerate(lists):
        where = {} if name in ("none", "deleted") else _where(name, number)
        best = truth(data, number, where, after=after)
        found += len(set(best) & set(ranked))
        wanted += len(best)
        wrong += sum(not _admitted(data, id, where, after=after) for id in ranked)
    return {"recall@10": round(found / wanted, 4) if wanted else 0.0, "wrong": wrong}


def _admitted(data: Synthetic, id: str, where: Mapping[str, int], *, after: bool) -> bool:
    number = int(id.removeprefix("rec"))
    if after and data.deleted[number]:
        return False
    return all(data.fields[field][number] == value for field, value in where.items())
