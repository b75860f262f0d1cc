"""Settings of the service and of who may use it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


def _listed(given: object) -> object:
    """Return the words of a text as a list: the environment holds one text."""
    return tuple(given.replace(",", " ").split()) if isinstance(given, str) else given


class ServeSettings(BaseModel):
    """Where `kaijuan serve` listens, and its limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. Anything but this machine's own (127.0.0.1, ::1, localhost) needs identity."""
    port: int = Field(default=8470, ge=0, le=65535)
    """Port to listen on; 0 for any free one."""
    hosts: tuple[str, ...] = ()
    """Names under which the service is reached besides `host`, those of a proxy for instance; "*" for any. Requests
    under other names are refused, so that no page elsewhere can make a browser talk to the service."""
    body_kb: int = Field(default=1024, ge=1, le=1_048_576)
    """Largest request, in KiB, that is no upload."""
    upload_mb: int = Field(default=1024, ge=1, le=1_048_576)
    """Largest upload, in MiB, all files of one request together. Each file is also held to ingest.max_bytes."""
    upload_files: int = Field(default=1000, ge=1, le=100_000)
    """Most files in one upload."""
    upload_hours: float = Field(default=24.0, gt=0, le=8760)
    """How long an upload in pieces waits for its next piece before it is forgotten."""
    body_seconds: float = Field(default=30.0, gt=0, le=3600)
    """Longest wait for the next piece of a request's body: slow senders are cut off."""
    ask_seconds: float = Field(default=120.0, gt=0, le=3600)
    """Longest time for one answer."""
    stop_seconds: float = Field(default=20.0, gt=0, le=3600)
    """How long requests under way may take to end when the service is stopped; runs are then undone cleanly."""
    most_connections: int = Field(default=512, ge=1, le=100_000)
    """Connections beyond these are told that the service is busy."""

    _words = field_validator("hosts", mode="before")(_listed)


class TelemetrySettings(BaseModel):
    """What the service tells those who run it about its requests."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    log: Literal["text", "json"] = "text"
    """How `kaijuan serve` logs to standard error: text, and requests with -v alone; or json, an object a line, and a
    line for every request."""
    questions: bool = False
    """Whether log lines (json) and spans hold the question that was asked. Off, none of its words are in either."""

    otlp_url: str = ""
    """Collector that spans are sent to, over OTLP and HTTP, such as `http://127.0.0.1:4318/v1/traces`. "" sends nothing
    to anybody. Needs the extra `otel`."""
    otlp_headers: SecretStr = SecretStr("")
    """Headers of what is sent, as `name=value, name=value`; better in the environment than in a file."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of requests whose spans are sent."""

    @field_validator("otlp_url")
    @classmethod
    def _reached(cls, url: str) -> str:
        """Refuse what is no address of a web service."""
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("an address that begins with http:// or https://, or nothing")
        return url


class IdentitySettings(BaseModel):
    """Who may use the service. Without identity there is one local user, who may do everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["auto", "on", "off"] = "auto"
    """auto: on as soon as there is an API key or an issuer, off before. on: always. off: never, on this machine's
    own addresses alone."""
    issuer: str = ""
    """Whose JSON web tokens are believed (the claim `iss`): an OpenID Connect provider. "" for nobody's."""
    audience: str = ""
    """For whom the tokens must be (the claim `aud`); needed with `issuer`."""
    jwks: str = ""
    """Address (https) or file of the issuer's public keys; needed with `issuer`."""
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    """Signatures that are accepted. Only ones with public keys can be."""
    skew_seconds: float = Field(default=60.0, ge=0, le=600)
    """How far the issuer's clock may be off."""
    user_claim: str = "sub"
    """Claim that holds the user's name."""
    groups_claim: str = "groups"
    """Claim that holds a list of groups."""
    tenant_claim: str = ""
    """Claim that holds the tenant; "" puts everybody into `tenant`."""
    role_claim: str = ""
    """Claim that holds the role (owner, editor, reader, auditor) in the tenant; "" makes everybody a reader whom
    `kaijuan access user` has not given another."""
    tenant: str = "default"
    """The tenant of tokens without a claim for it."""
    requests_per_minute: int = Field(default=600, ge=1, le=1_000_000)
    """Most requests of one key or token in a minute; twice as many seconds' worth may come at once."""
    tenant_requests_per_minute: int = Field(default=6000, ge=1, le=10_000_000)
    """Most requests of one tenant in a minute."""
    tenant_bases: int = Field(default=0, ge=0)
    """Most knowledge bases of one tenant; 0 for any number. Quotas hold for callers who say who they are; the command
    line and the one local user have none."""
    tenant_documents: int = Field(default=0, ge=0)
    """Most documents of one tenant, all its bases together; 0 for any number."""
    tenant_mb: int = Field(default=0, ge=0)
    """Most MiB of original files that the newest snapshots of one tenant show; 0 for any amount."""
    audit: bool = True
    """Record who did what in the audit log, where identity is on. Changes of access are always recorded."""

    _words = field_validator("algorithms", mode="before")(_listed)

    @field_validator("algorithms")
    @classmethod
    def _public(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse signatures that whoever checks them could make, and none at all."""
        if not names or any(name.upper().startswith("HS") or name.lower() == "none" for name in names):
            raise ValueError("only algorithms with public keys, such as RS256, ES256 or EdDSA")
        return names
