"""Text recognition inside a parser process: loaded at the first picture, and held to a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from kaijuan.errors import KaijuanError
from kaijuan.ingest.ports import RecognisedLine, Recogniser

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage

_LEAST_SIDE = 8
"""Dots; nothing smaller holds a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognising:
    """What a parser process is told of recognition: by what ("module:Class", "" for none), and within what."""

    address: str = ""
    threads: int = 1
    seconds: float = 0.0
    """For all pictures of one document."""

    def words(self) -> list[str]:
        """Return it as words for a command line, none where nothing is recognised."""
        return [self.address, str(self.threads), repr(self.seconds)] if self.address else []


def recogniser_from(words: Sequence[str], *, working: Callable[[], None]) -> LateRecogniser | None:
    """Return the recogniser that `Recognising.words` tell."""
    if not words:
        return None
    address, threads, seconds = words
    return LateRecogniser(address, threads=int(threads), seconds=float(seconds), working=working)


class PictureError(Exception):
    """A picture could not be read; the rest of its document can."""


class TimeUsedUpError(PictureError):
    """No time is left for further pictures of this document."""


class LateRecogniser:
    """The recogniser at an address, imported and made at its first picture.

    `seconds` is the time for all pictures of one document, which `begin` starts anew; once it is used up every
    further picture is refused (TimeUsedUpError). `working` is called before each picture, so that the parent knows
    that this process is alive.
    """

    def __init__(self, address: str, *, threads: int, seconds: float, working: Callable[[], None]) -> None:
        self._address = address
        self._threads = threads
        self._seconds = seconds
        self._working = working
        self._used = 0.0
        self._loaded: Recogniser | None = None

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the recogniser itself."""
        return self._recogniser().fingerprint

    def begin(self) -> None:
        """Start the time of a new document."""
        self._used = 0.0

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        """Return the lines of text in a picture; none where it is too small for any."""
        if min(image.shape[:2]) < _LEAST_SIDE:
            return []
        if self._used >= self._seconds:
            raise TimeUsedUpError(f"Text recognition has used its {self._seconds:g} seconds.")
        self._working()
        start = time.monotonic()
        try:
            return self._recogniser().recognise(image)
        except (MemoryError, KaijuanError):
            raise
        except Exception as error:  # the recogniser may be anybody's; one page must not cost the others
            raise PictureError(f"{type(error).__name__}: {error}") from error
        finally:
            self._used += time.monotonic() - start

    def _recogniser(self) -> Recogniser:
        if self._loaded is None:
            module, _, name = self._address.partition(":")
            self._loaded = cast(Recogniser, getattr(import_module(module), name)(self._threads))
        return self._loaded
