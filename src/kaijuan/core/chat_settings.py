"""Settings of language models: which services write, and within which limits."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError


class ServedModel(BaseModel):
    """A model at a service that speaks OpenAI's chat protocol."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = ""
    """Base address of the service, before or after `/v1`. Empty: no model here."""
    model: str = ""
    """Name of the model at that service."""
    key: SecretStr = SecretStr("")
    """Key of that service; better in the environment than in a file."""
    context_tokens: int = Field(default=8192, ge=1024)
    """Tokens that the model reads and writes in one call, together."""
    reply_tokens: int = Field(default=1024, ge=16)
    """Tokens of its longest reply."""
    structured: Literal["auto", "schema", "json", "none"] = "auto"
    """How it is held to JSON: by a schema, by asking for JSON, not at all; auto finds out what the service offers."""
    input_price: float = Field(default=0.0, ge=0)
    """Price of a million tokens read, in any currency; costs in traces and answers are in it."""
    output_price: float = Field(default=0.0, ge=0)
    """Price of a million tokens written."""

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        if url:
            try:
                address = urlsplit(url)
                good = address.scheme in {"http", "https"} and bool(address.hostname) and not address.username
            except ValueError:
                good = False
            if not good:
                said = "it must be the http or https address of a service, without a user name"
                raise PydanticCustomError("url", said)
        return url

    @field_validator("key")
    @classmethod
    def _can_be_sent(cls, key: SecretStr) -> SecretStr:
        """Refuse a key that no HTTP header holds; the message must not show it."""
        if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
            said = "it holds a space, a line break, a control character or a character outside ASCII, which no key has"
            raise PydanticCustomError("key", said)
        return key

    @property
    def configured(self) -> bool:
        """Say whether a model is named here."""
        return bool(self.url and self.model)


class ChatSettings(ServedModel):
    """Which language model writes answers. Without one, answers are put together from the documents' sentences."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    """Chance in the choice of words; 0 repeats itself as far as the service does."""
    seconds: float = Field(default=120.0, gt=0, le=3600)
    """Longest wait for a whole reply."""
    first_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Longest wait for the first word, and for each further one."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Tries of one request while a service is busy or cannot be reached."""
    requests: int = Field(default=4, ge=1, le=1000)
    """Requests under way at once; others wait for their turn."""
    per_minute: int = Field(default=0, ge=0)
    """Most requests begun in a minute; 0 for no limit."""
    rest_seconds: float = Field(default=30.0, ge=0, le=3600)
    """How long a service that failed several times in a row is left alone, and the fallback asked at once."""
    small: ServedModel = ServedModel()
    """A quicker model for simple requests: rewriting, summing up. What is not set is as in `chat`."""
    fallback: ServedModel = ServedModel()
    """The model that is asked when the first one fails."""

    @property
    def small_model(self) -> ServedModel | None:
        """Return the quicker model; at the first one's service where it has no address of its own."""
        return self._resolved(self.small)

    @property
    def fallback_model(self) -> ServedModel | None:
        """Return the second model; at the first one's service where it has no address of its own."""
        return self._resolved(self.fallback)

    def _resolved(self, served: ServedModel) -> ServedModel | None:
        if not served.model:
            return None
        if served.url:
            # The first one's key is not sent to another service.
            return served
        key = served.key if served.key.get_secret_value() else self.key
        return served.model_copy(update={"url": self.url, "key": key})
