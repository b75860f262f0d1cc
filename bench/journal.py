"""Rows of a long benchmark kept as they are measured, so that a killed run goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """A JSON file of rows by key. Without a path nothing is kept and everything is measured."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def row(self, key: str, measure: Callable[[], Any]) -> Any:
        """Return the row of a key: as kept, or measured now and kept at once."""
        known = self._read()
        if key not in known:
            row = measure()
            # Another run may have written meanwhile.
            known = self._read() | {key: row}
            self._write(known)
        return known[key]

    def known(self, key: str) -> Any:
        """Return the row of a key, None where none is kept."""
        return self._read().get(key)

    def keep(self, key: str, row: Any) -> None:
        """Keep a row at once."""
        self._write(self._read() | {key: row})

    def _read(self) -> dict[str, Any]:
        if self._path is None or not self._path.exists():
            return {}
        kept: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        return kept

    def _write(self, rows: dict[str, Any]) -> None:
        if self._path is None:
            return
        whole = self._path.with_suffix(".part")
        whole.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        os.replace(whole, self._path)
