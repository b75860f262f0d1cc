"""The folder of index spaces: which there are, what each was built for, and which generation of it serves.

    index/NAME/space.json     specification, token and the number of the serving generation
    index/NAME/g000001/       a shard

A space is there when its space.json is; everything else is rubbish from a crash and is swept away. Blocking.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kaijuan.errors import CorruptStoreError, DiskFullError, NotFoundError, SpaceMismatchError
from kaijuan.index.ports import SpaceSpec
from kaijuan.index.sparse_copy import copy_tree
from kaijuan.stores.index.checks import check_space, mismatch
from kaijuan.stores.index.protocol import pack_spec, unpack_spec

_FORMAT = 1
_CARD = "space.json"
_DROPPED = ".dropped-"
ROOM = 96 * 2**20
"""Bytes that must be free to write. The engine maps files with holes, 32 MiB at a time: a hole that the disk has no
room for kills the process, so a full disk must be noticed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What space.json says."""

    spec: SpaceSpec
    token: str
    """Differs between a space and a later one of the same name."""
    generation: int


class SpaceFolder:
    """Reads and changes the folder of all spaces."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def sweep(self) -> None:
        """Remove what a crash left of dropped spaces and unfinished generations."""
        for folder in self._root.iterdir():
            if folder.name.startswith(_DROPPED):
                shutil.rmtree(folder, ignore_errors=True)
        for name in self.names():
            try:
                card = self.card(name)
            except CorruptStoreError:
                continue  # opening it will say so; nothing is thrown away on a guess
            for folder in (self._root / name).iterdir():
                if folder.is_dir() and folder != self.generation(card):
                    shutil.rmtree(folder, ignore_errors=True)

    def names(self) -> list[str]:
        """Return the names of all spaces, sorted."""
        return sorted(folder.parent.name for folder in self._root.glob(f"*/{_CARD}"))

    def card(self, name: str) -> Card:
        """Return what is known of a space; NotFoundError when there is none."""
        place = self._root / check_space(name) / _CARD
        try:
            body: dict[str, Any] = json.loads(place.read_text("utf-8"))
            if body["format"] != _FORMAT:
                raise CorruptStoreError(f"{place} has the unknown format {body['format']!r}.")
            return Card(spec=unpack_spec(body["spec"]), token=body["token"], generation=body["generation"])
        except FileNotFoundError as error:
            raise NotFoundError(f"There is no index space {name!r}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptStoreError(f"{place} cannot be read.") from error

    def verified(self, spec: SpaceSpec) -> Card:
        """Return the card of the space of that name if it was built for the same specification."""
        card = self.card(spec.name)
        if card.spec != spec:
            raise SpaceMismatchError(mismatch(card.spec, spec))
        return card

    def generation(self, card: Card) -> Path:
        """Return the folder of the serving shard."""
        return self._root / card.spec.name / f"g{card.generation:06d}"

    def prepare(self, spec: SpaceSpec) -> Card:
        """Make room for a new space and return its card, which `commit` must still write."""
        folder = self._root / spec.name
        shutil.rmtree(folder, ignore_errors=True)
        with _disk():
            folder.mkdir(parents=True)
        return Card(spec=spec, token=uuid.uuid4().hex, generation=1)

    def successor(self, card: Card) -> Card:
        """Return the card of the next generation, its folder cleared."""
        following = replace(card, generation=card.generation + 1)
        shutil.rmtree(self.generation(following), ignore_errors=True)
        return following

    def commit(self, card: Card) -> None:
        """Make a card the one that counts, by renaming it into place."""
        place = self._root / card.spec.name / _CARD
        body = {
            "format": _FORMAT,
            "spec": pack_spec(card.spec),
            "token": card.token,
            "generation": card.generation,
        }
        draft = place.with_suffix(".draft")
        with _disk():
            with draft.open("w", encoding="utf-8") as file:
                json.dump(body, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(place)
            _sync_folder(place.parent)

    def copy(self, source: Card, target: Card) -> None:
        """Copy a flushed shard; nothing may write to it meanwhile."""
        with _disk():
            copy_tree(self.generation(source), self.generation(target))

    def copy_out(self, card: Card, folder: Path) -> None:
        """Copy the card and the flushed shard of a space to another folder of spaces; nothing may write meanwhile."""
        other = SpaceFolder(folder)
        with _disk():
            (folder / card.spec.name).mkdir(parents=True)
            copy_tree(self.generation(card), other.generation(card))
        other.commit(card)

    def check_room(self, copying: Card | None = None) -> None:
        """Raise DiskFullError unless there is room to write, or to copy a shard and optimise the copy."""
        wanted = ROOM + (2 * _size(self.generation(copying)) if copying else 0)
        free = shutil.disk_usage(self._root).free
        if free < wanted:
            raise DiskFullError(f"The index needs {wanted >> 20} MiB of free disk; {free >> 20} MiB are left.")

    def remove_generation(self, card: Card) -> None:
        """Remove the folder of a shard that no longer, or does not yet, serve."""
        shutil.rmtree(self.generation(card), ignore_errors=True)

    def drop(self, name: str) -> None:
        """Remove a space, whole or damaged; the missing is quiet. A crash leaves it whole or gone."""
        grave = self._root / f"{_DROPPED}{uuid.uuid4().hex}"
        try:
            (self._root / check_space(name)).rename(grave)
        except FileNotFoundError:
            return
        shutil.rmtree(grave, ignore_errors=True)


@contextmanager
def _disk() -> Iterator[None]:
    """Turn a full disk into our error."""
    try:
        yield
    except shutil.Error as error:
        if "No space left" in str(error):
            raise DiskFullError("The disk was full while copying the index.") from error
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError("The disk was full while writing the index.") from error
        raise


def _size(folder: Path) -> int:
    return sum(place.stat().st_blocks * 512 for place in folder.rglob("*"))


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
