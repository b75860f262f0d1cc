"""Corpora made from sets whose questions bring documents of their own: written once, named by their content."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kaijuan.evals.sets import file_hash

CORPUS_FILE = "corpus.jsonl"


def write_corpus(corpora: Path, name: str, documents: Mapping[str, str]) -> tuple[Path, str]:
    """Write texts by id as a corpus file; return its path and the SHA-256 of its content."""
    lines = [json.dumps({"_id": id, "text": text}, ensure_ascii=False) for id, text in documents.items()]
    data = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
    digest = hashlib.sha256(data).hexdigest()
    folder = _made(corpora / f"{name}-{digest[:16]}", {CORPUS_FILE: data})
    return folder / CORPUS_FILE, digest


def write_pages(corpora: Path, name: str, pages: Mapping[str, str]) -> tuple[Path, str]:
    """Write pages by file name into a folder; return its path and the SHA-256 of its content."""
    files = {file: text.encode("utf-8", "backslashreplace") for file, text in pages.items()}
    parts = [f"{file}\0{hashlib.sha256(data).hexdigest()}" for file, data in sorted(files.items())]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return _made(corpora / f"{name}-{digest[:16]}" / "pages", files), digest


def hash_of(paths: Sequence[Path], *settings: str) -> str:
    """Return the SHA-256 over files and what they were read with."""
    return hashlib.sha256("\0".join([*map(file_hash, paths), *settings]).encode()).hexdigest()


def numbered(prefix: str, texts: Iterable[object]) -> dict[str, str]:
    """Return the texts that are not blank, by ids that count all of them."""
    return {f"{prefix}-{at}": text for at, text in enumerate(texts) if isinstance(text, str) and text.strip()}


def _made(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files into a new folder and move it into place whole, so that a stopped run leaves no half corpus."""
    if folder.is_dir():
        return folder
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, data in files.items():
        (fresh / name).write_bytes(data)
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(fresh)  # another run was quicker
    return folder
