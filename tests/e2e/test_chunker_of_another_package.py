"""A strategy that another package brings: found by its entry point, chosen by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = '''
from kaijuan.core.documents import ChunkLevel
from kaijuan.core.spans import Span
from kaijuan.ingest.ports import ChunkDraft


class Halves:
    """Two children under one parent, for a document of one line."""

    def __init__(self, settings):
        self.fingerprint = "halves-1"

    def chunk(self, text, blocks, tokenizer):
        def draft(level, span, parent):
            tokens = len(tokenizer.token_spans(span.of(text)))
            return ChunkDraft(level=level, span=span, parent=parent, title_path=(), tokens=tokens)

        start, end = blocks[0].span.start, blocks[-1].span.end
        middle = text.index(" ", (start + end) // 2)
        whole = draft(ChunkLevel.PARENT, Span(start, end), None)
        return [
            whole,
            draft(ChunkLevel.CHILD, Span(start, middle), 0),
            draft(ChunkLevel.CHILD, Span(middle + 1, end), 0),
        ]
'''


def installed(site: Path) -> None:
    (site / "halves.py").write_text(MODULE, encoding="utf-8")
    about = site / "halves-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[kaijuan.adapters]\nchunker.halves = halves:Halves\n", encoding="utf-8")


def test_it_is_chosen_by_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    installed(site)
    note = tmp_path / "note.txt"
    note.write_text("one two three four five six seven", encoding="utf-8")
    path = os.pathsep.join(part for part in (str(site), os.environ.get("PYTHONPATH", "")) if part)
    words = ["--home", str(tmp_path / "home"), "--json", "chunks", "preview", str(note), "--strategy", "halves"]
    done = subprocess.run(
        [sys.executable, "-m", "kaijuan", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (document,) = json.loads(done.stdout)["documents"]
    (trial,) = document["trials"]
    assert trial["strategy"] == "halves"
    assert [one["text"] for one in trial["chunks"] if one["level"] == "child"] == [
        "one two three four",
        "five six seven",
    ]
