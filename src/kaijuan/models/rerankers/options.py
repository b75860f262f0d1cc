"""What a reranker may be told by the configuration, as seen from below it; and how texts are put before a model."""

from __future__ import annotations

from typing import Protocol

from kaijuan.models.embedders.e5_tokens import readable
from kaijuan.models.embedders.options import Secret
from kaijuan.retrieve.ports import Reading


class RerankerOptions(Protocol):
    """The settings of section `reranker`; each adapter takes what it needs."""

    @property
    def url(self) -> str:
        """Address of a service."""

    @property
    def model(self) -> str:
        """Name of the model at the service, or the folder that holds one."""

    @property
    def key(self) -> Secret:
        """Key of the service."""

    @property
    def shape(self) -> str:
        """How the service is spoken to."""

    @property
    def characters(self) -> int:
        """Most characters of a candidate that are sent."""

    @property
    def threads(self) -> int:
        """Cores to use; 0 means all."""


def passage_text(reading: Reading, characters: int) -> str:
    """Return title, headings and text of a candidate, at most so many characters: what a network reads of it."""
    names = [name for name in dict.fromkeys((reading.title, *reading.title_path)) if name.strip()]
    head = " > ".join(names)
    whole = f"{head}\n{reading.text}" if head else reading.text
    return readable(whole[:characters])
