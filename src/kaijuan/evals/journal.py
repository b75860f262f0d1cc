"""What an unfinished evaluation has found so far, a line a question, so that a second run goes on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kaijuan.core.ids import stable_id
from kaijuan.core.shipped import fingerprint
from kaijuan.errors import StoreError

NOT_MEASURED = frozenset({"cli", "samples", "testing"})
Row = Mapping[str, Any]
"""What was found for one question, as JSON has it."""


class Journal:
    """Rows by question id in one file, which is gone once the evaluation has finished. Use with `with`.

    `key` names everything that the rows depend on: data, settings, what is asked. The code of this package is added to
    it, so that rows of an older version are never taken for those of the present one. With `fresh`, what an earlier
    run left is forgotten.
    """

    def __init__(self, evals: Path, key: tuple[str, ...], *, fresh: bool = False) -> None:
        self._path = evals / "unfinished" / f"{stable_id('journal', *key, code_fingerprint())}.jsonl"
        if fresh:
            self._path.unlink(missing_ok=True)
        self.rows: dict[str, Row] = _read(self._path)
        """What earlier runs found and this one has added, by question id."""
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
            self._file = self._path.open("a", encoding="utf-8")
            if torn:
                self._file.write("\n")  # ends the line that a killed run was writing
        except OSError as error:
            raise StoreError(
                f"{self._path} cannot be written: {error.strerror}.", hint="Choose another home with --home."
            ) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        if kind is None or not self.rows:
            self._path.unlink(missing_ok=True)

    def add(self, id: str, row: Row) -> None:
        """Keep the row of one question; it is in the file when this returns."""
        if self._file is None:
            raise RuntimeError("the journal is not open")
        self.rows[id] = row
        self._file.write(json.dumps({"id": id, "row": row}, ensure_ascii=True) + "\n")
        self._file.flush()


def _read(path: Path) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    if not path.is_file():
        return rows
    for line in path.read_bytes().splitlines():
        try:
            found = json.loads(line)
            rows[found["id"]] = found["row"]
        except (ValueError, KeyError, TypeError):
            continue  # the line that was being written when the run was killed
    return rows


def code_fingerprint() -> str:
    """Return a hash of the code and the data files of this package, without the rooms that no result depends on."""
    return fingerprint(NOT_MEASURED)
