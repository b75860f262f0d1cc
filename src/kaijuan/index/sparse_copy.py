"""Copies files without filling their holes: engines map files that are mostly empty."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_PIECE = 2**20


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with everything in it."""
    shutil.copytree(source, target, copy_function=copy_file)


def copy_file(source: str | Path, target: str | Path) -> str:
    """Copy a file with its times; where the system can tell, its holes stay holes."""
    if not hasattr(os, "SEEK_DATA"):
        return str(shutil.copy2(source, target))
    with open(source, "rb", buffering=0) as read, open(target, "wb", buffering=0) as written:
        end = os.fstat(read.fileno()).st_size
        written.truncate(end)
        at = 0
        while at < end:
            try:
                begin = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:
                break  # nothing but a hole is left
            at = os.lseek(read.fileno(), begin, os.SEEK_HOLE)
            _copy_part(read.fileno(), written.fileno(), begin, at)
    shutil.copystat(source, target)
    return str(target)


def _copy_part(read: int, written: int, begin: int, end: int) -> None:
    while begin < end:
        piece = os.pread(read, min(_PIECE, end - begin), begin)
        if not piece:
            return  # it was cut short meanwhile
        done = 0
        while done < len(piece):
            done += os.pwrite(written, piece[done:], begin + done)
        begin += len(piece)
