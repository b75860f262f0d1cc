"""The stored cells: one for each system, measure and set, kept as soon as it is measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one run of one system gave, and what it was run on."""

    state: str
    """`done`, `stopped ...` or `failed: ...`."""
    versions: Mapping[str, str]
    data: str
    """Fingerprint of the data and the model."""
    commit: str
    date: str
    peak_mb: int
    disk_mb: float
    values: Mapping[str, Any]


class Results:
    """Cells by system, measure and set, in a JSON file that is written whole after each."""

    def __init__(self, path: Path, machine: Mapping[str, str]) -> None:
        self._path = path
        self._machine = dict(machine)
        self._cells = self._stored()

    def _stored(self) -> dict[str, dict[str, Any]]:
        if not self._path.exists():
            return {}
        cells: dict[str, dict[str, Any]] = json.loads(self._path.read_text(encoding="utf-8"))["cells"]
        return cells

    def has(self, system: str, measure: str, set: str, *, versions: Mapping[str, str], data: str) -> bool:
        """Say whether a cell is there and was run on the same versions, data and model. Failures are run again."""
        cell = self._cells.get(key(system, measure, set))
        if cell is None or str(cell["state"]).startswith("failed"):
            return False
        return bool(cell["versions"] == dict(versions) and cell["data"] == data)

    def put(self, system: str, measure: str, set: str, cell: Cell) -> None:
        """Keep a cell and write the file; a cell of another version or data is replaced."""
        # Another call may have stored others meanwhile.
        self._cells = self._stored() | {key(system, measure, set): asdict(cell)}
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.document(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(self._path)

    def document(self) -> dict[str, Any]:
        """Return everything, as it is stored."""
        return {"machine": self._machine, "cells": dict(sorted(self._cells.items()))}


def key(system: str, measure: str, set: str) -> str:
    """Return the name of a cell."""
    return "|".join((system, measure, set))
