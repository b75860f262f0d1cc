"""Uploads in pieces: one that breaks off goes on where it was, after a restart of the service too.

Each upload is a folder with what was said of it and the bytes so far, whose number is the offset of the next piece.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from kaijuan.core.identity import Who
from kaijuan.core.service_settings import ServeSettings
from kaijuan.errors import NotFoundError, QuotaError
from kaijuan.server.problems import RequestError
from kaijuan.verbs.holding import upload_address
from kaijuan.verbs.shapes import Json

_ID = re.compile(r"[0-9a-f]{32}")
_SAID, _BYTES = "upload.json", "bytes"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Piecewise:
    """What was said of an upload when it began."""

    id: str
    tenant: str
    kb: str
    by: str
    name: str
    size: int
    sha256: str = ""
    """Of the whole, where the sender wants it checked."""
    begun_at: float


class Pieces:
    """The uploads under way. Each is its sender's alone."""

    def __init__(self, folder: Path, settings: ServeSettings, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._settings = settings
        self._clock = clock
        self._busy: set[str] = set()

    def begin(self, who: Who, kb: str, *, name: str, size: int, sha256: str = "") -> Json:
        """Make room for a file of so many bytes."""
        upload_address(name)
        if size > self._settings.upload_mb * 2**20:
            raise RequestError(413, f"Uploads end at {self._settings.upload_mb:,} MiB.", hint="Split the file.")
        self.forget()
        mine = [one for one in self._all() if (one.tenant, one.by) == (who.tenant, who.name)]
        if len(mine) >= self._settings.upload_files:
            raise QuotaError(f"{len(mine):,} uploads are under way.", hint="Finish or drop some of them.")
        made = Piecewise(
            id=uuid.uuid4().hex,
            tenant=who.tenant,
            kb=kb,
            by=who.name,
            name=name,
            size=size,
            sha256=sha256.lower(),
            begun_at=self._clock(),
        )
        place = self._folder / made.id
        place.mkdir(mode=0o700, parents=True)
        (place / _BYTES).touch(0o600)
        (place / _SAID).write_text(json.dumps(asdict(made)), encoding="utf-8")
        return self._shape(made)

    def of(self, who: Who, kb: str) -> list[Json]:
        """Return one's own uploads to a base, the oldest first."""
        self.forget()
        mine = [one for one in self._all() if (one.tenant, one.kb, one.by) == (who.tenant, kb, who.name)]
        return [self._shape(one) for one in sorted(mine, key=lambda one: one.begun_at)]

    def find(self, who: Who, kb: str, id: str) -> Piecewise:
        """Return an upload; NotFoundError for those of others too."""
        found = self._read(self._folder / id) if _ID.fullmatch(id) else None
        if found is None or (found.tenant, found.kb, found.by) != (who.tenant, kb, who.name):
            raise NotFoundError(f"There is no upload {id!r}.", hint="Uploads that nothing is sent to are forgotten.")
        return found

    def shape(self, who: Who, kb: str, id: str) -> Json:
        """Return an upload as JSON."""
        return self._shape(self.find(who, kb, id))

    async def take(self, upload: Piecewise, offset: int, data: AsyncIterator[bytes]) -> Json:
        """Add bytes behind those that came before. What has come of a piece that breaks off stays."""
        if upload.id in self._busy:
            raise RequestError(
                409, "Another piece is just coming.", hint="Send one piece after the other.", code="busy"
            )
        self._busy.add(upload.id)
        try:
            await self._append(upload, offset, data)
        finally:
            self._busy.discard(upload.id)
        return self._shape(upload)

    async def _append(self, upload: Piecewise, offset: int, data: AsyncIterator[bytes]) -> None:
        path = self._folder / upload.id / _BYTES
        at = path.stat().st_size
        if offset != at:
            raise RequestError(409, f"The upload is at byte {at:,}, not {offset:,}.", hint="GET it to see where it is.")
        waiting = bytearray()
        try:
            async for each in data:
                if at + len(waiting) + len(each) > upload.size:
                    raise RequestError(413, f"The upload was said to have {upload.size:,} bytes.")
                waiting += each
                if len(waiting) >= _BLOCK:
                    at += await asyncio.to_thread(_written, path, bytes(waiting))
                    waiting.clear()
        finally:
            if waiting:
                await asyncio.to_thread(_written, path, bytes(waiting))

    def check_whole(self, upload: Piecewise) -> None:
        """Refuse an upload of which bytes are missing; RequestError then."""
        at = (self._folder / upload.id / _BYTES).stat().st_size
        if upload.id in self._busy or at != upload.size:
            raise RequestError(409, f"{upload.name} has {at:,} of {upload.size:,} bytes.", hint="Send the rest first.")

    async def finished(self, upload: Piecewise, to: Path) -> None:
        """Move a whole upload to a path and forget it; RequestError where other bytes came than were announced."""
        path = self._folder / upload.id / _BYTES
        digest = await asyncio.to_thread(_digest, path) if upload.sha256 else ""
        if digest == upload.sha256:
            path.replace(to)
        self.drop(upload)
        if digest != upload.sha256:
            raise RequestError(422, f"{upload.name} did not come as it was sent.", hint="Upload it again.")

    def drop(self, upload: Piecewise) -> None:
        """Forget an upload."""
        shutil.rmtree(self._folder / upload.id, ignore_errors=True)

    def forget(self) -> None:
        """Forget uploads that nothing was sent to for a while."""
        for place in self._folder.glob("*"):
            try:
                quiet = self._clock() - (place / _BYTES).stat().st_mtime
            except OSError:
                quiet = 0.0 if (place / _BYTES).exists() else float("inf")
            if quiet > self._settings.upload_hours * 3600 and place.name not in self._busy:
                shutil.rmtree(place, ignore_errors=True)

    def _all(self) -> list[Piecewise]:
        return [one for place in self._folder.glob("*") if (one := self._read(place)) is not None]

    @staticmethod
    def _read(place: Path) -> Piecewise | None:
        try:
            return Piecewise(**json.loads((place / _SAID).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None  # half made when the service was killed

    def _shape(self, upload: Piecewise) -> Json:
        path = self._folder / upload.id / _BYTES
        until = path.stat().st_mtime + self._settings.upload_hours * 3600
        told: Json = {"id": upload.id, "name": upload.name, "size": upload.size, "sha256": upload.sha256}
        return {**told, "offset": path.stat().st_size, "begun_at": upload.begun_at, "expires_at": until}


def _written(path: Path, data: bytes) -> int:
    with path.open("ab") as file:
        return file.write(data)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
