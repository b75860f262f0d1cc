"""Settings of sources: one model a kind. A table [sources.NAME] of the configuration is one of these."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    Tag,
    field_validator,
    model_validator,
)


def _several(given: object) -> object:
    return (given,) if isinstance(given, str) else given


Patterns = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""Globs as in .gitignore; one may stand bare."""
Columns = Annotated[tuple[str, ...], BeforeValidator(_several)]
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_READS = re.compile(r"[\s(]*(?:select|with|values|table)\b", re.IGNORECASE)


class SourceSettings(BaseModel):
    """What the settings of every kind share."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    kind: str
    """Which adapter reads it: files, web, s3, sql, faq, git, or one of another package."""

    schedule: str = ""
    """When `kaijuan sync --forever` brings it up to date: five fields as cron has them, in local time ("0 3 * * *" is
    every night at three); never when empty."""

    @field_validator("schedule")
    @classmethod
    def _is_cron(cls, schedule: str) -> str:
        """Refuse what is no schedule when the configuration is read, and not some night."""
        if schedule:
            from cronsim import CronSim, CronSimError  # late: most sources have none

            try:
                next(CronSim(schedule, datetime.now()))
            except (CronSimError, StopIteration) as error:
                raise ValueError(f"it is no cron expression of five fields ({str(error) or 'never due'})") from error
        return schedule

    def target(self, name: str) -> str:
        """Return what the adapter is asked to walk; `name` is that of the table."""
        return str(getattr(self, "at", "")) or f"{self.kind}:{name}"


class _Place(SourceSettings):
    at: str = Field(min_length=1)
    """Where the documents are."""


class _Selected(_Place):
    include: Patterns = ()
    """Only documents whose path below `at` fits one of these patterns, written as in .gitignore; all when empty."""
    exclude: Patterns = ()
    """Never documents whose path fits one of these patterns."""


class FilesSettings(_Selected):
    """A file, a folder or a corpus on this machine."""

    kind: Literal["files"] = "files"
    follow_links: bool = True
    """Whether links that lead out of the folder are followed. Turn it off where others may write to the folder."""


class WebSettings(_Selected):
    """A page, or the pages of one site."""

    kind: Literal["web"] = "web"
    depth: int = Field(default=0, ge=0, le=20)
    """How many links to follow from the address; only pages of the same host below the same folder count."""
    pages: int = Field(default=1000, ge=1, le=1_000_000)
    """Most pages that one walk fetches."""


class S3Settings(_Selected):
    """Objects of a store that speaks S3. What is not set here comes from AWS_ACCESS_KEY_ID and its like."""

    kind: Literal["s3"] = "s3"
    endpoint: str = ""
    """Address of the store, such as https://minio.example:9000; empty for Amazon's own."""
    region: str = ""
    """Region of the bucket."""
    key_id: str = ""
    """Access key id."""
    secret: SecretStr = SecretStr("")
    """Secret access key; better in the environment than in a file."""
    anonymous: bool = False
    """Whether the bucket is public and requests are not signed."""


class SqlSettings(SourceSettings):
    """Rows of a query. A row, or all rows of one id, becomes a document."""

    kind: Literal["sql"] = "sql"
    url: SecretStr = SecretStr("")
    """The database, as SQLAlchemy writes it: postgresql+pg8000://user:password@host/name, sqlite:////path/file.db.
    Better in the environment than in a file; only who adds or syncs needs it."""
    query: str = Field(min_length=1)
    """One SELECT; ordered by the id when rows are grouped."""
    id: Columns = ("id",)
    """Columns that together name a document for good."""
    title: str = ""
    """Column that holds the title."""
    text: Columns = ()
    """Columns that make up the text, each on a line after its name; one alone stands bare. By default all others."""
    template: str = ""
    """The text instead, with {column} where values go."""
    metadata: Columns | None = None
    """Columns that filters may ask for; by default those that are in neither id, title nor text."""
    group: bool = False
    """Whether rows of one id that follow each other are one document."""
    rows: int = Field(default=1_000_000, ge=1)
    """Most rows that one walk reads."""
    seconds: float = Field(default=300.0, gt=0, le=86_400)
    """Longest wait for the database, where its driver can be told."""

    @field_validator("id")
    @classmethod
    def _named(cls, id: Columns) -> Columns:
        if not id:
            raise ValueError("at least one column must name a document")
        return id

    @field_validator("query")
    @classmethod
    def _reads(cls, query: str) -> str:
        if not _READS.match(_COMMENT.sub(" ", query)):
            raise ValueError("a query begins with SELECT, WITH, VALUES or TABLE")
        return query

    @model_validator(mode="after")
    def _one_text(self) -> SqlSettings:
        if self.text and self.template:
            raise ValueError("set text or template, not both")
        return self


class FaqSettings(_Place):
    """A CSV, TSV or JSONL file of questions and answers; each pair is a document."""

    kind: Literal["faq"] = "faq"
    question: str = ""
    """Column of the questions; by default question, 问题 and the like."""
    answer: str = ""
    """Column of the answers; by default answer, 答案 and the like."""
    id: str = ""
    """Column that names a pair for good; by default id, 编号 and the like, else the question names it."""


class GitSettings(_Selected):
    """The files of one commit."""

    kind: Literal["git"] = "git"
    ref: str = ""
    """Branch, tag or commit; by default what the repository's HEAD says."""
    token: SecretStr = SecretStr("")
    """Sent as the password to an https host; better in the environment than in a file."""
    seconds: float = Field(default=600.0, gt=0, le=86_400)
    """Most time for fetching from a remote host."""

    def target(self, name: str) -> str:
        """Return `at` with git+ before it, which may be left out here: the kind says it."""
        target = super().target(name)
        return target if target.lower().startswith("git+") else f"git+{target}"


class OtherSourceSettings(SourceSettings):
    """A source of another package, which checks its own settings."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    at: str = ""
    """Where the documents are."""


def _kind_of(given: Any) -> str:
    kind = given.get("kind", "") if isinstance(given, dict) else getattr(given, "kind", "")
    return kind if kind in BUILT_IN else "other"


BUILT_IN: dict[str, type[SourceSettings]] = {
    "files": FilesSettings,
    "web": WebSettings,
    "s3": S3Settings,
    "sql": SqlSettings,
    "faq": FaqSettings,
    "git": GitSettings,
}
NamedSource = Annotated[
    Annotated[FilesSettings, Tag("files")]
    | Annotated[WebSettings, Tag("web")]
    | Annotated[S3Settings, Tag("s3")]
    | Annotated[SqlSettings, Tag("sql")]
    | Annotated[FaqSettings, Tag("faq")]
    | Annotated[GitSettings, Tag("git")]
    | Annotated[OtherSourceSettings, Tag("other")],
    Discriminator(_kind_of),
]
