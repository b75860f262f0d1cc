"""What an embedder may be told by the configuration, as seen from below it."""

from __future__ import annotations

from typing import Protocol


class Secret(Protocol):
    """Holds a key that must not be printed by accident (pydantic's SecretStr)."""

    def get_secret_value(self) -> str:
        """Return the key itself."""


class EmbedderOptions(Protocol):
    """The settings of section `embedder`; each adapter takes what it needs."""

    @property
    def url(self) -> str:
        """Base address of a service."""

    @property
    def model(self) -> str:
        """Name of the model at the service."""

    @property
    def key(self) -> Secret:
        """Key of the service."""

    @property
    def dimensions(self) -> int:
        """Length of the vectors, 0 where the first answer shall tell."""

    @property
    def max_tokens(self) -> int:
        """Longest input of the model."""

    @property
    def query_prefix(self) -> str:
        """Put before questions."""

    @property
    def passage_prefix(self) -> str:
        """Put before passages."""

    @property
    def threads(self) -> int:
        """Cores to use; 0 means all."""
