"""A language model behind an OpenAI-compatible service, asked for JSON of a known form. Retries, repairs once, counts.

Evaluations alone use it, for making sets; the judge of answers has the same manners in `answers/judges/chat.py` and may
be put on top of this.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from kaijuan.core.redaction import redact
from kaijuan.errors import ModelRefusedError, UsageError

if TYPE_CHECKING:
    from httpx import AsyncClient

    from kaijuan.config import EvalSettings

Form = TypeVar("Form", bound=BaseModel)
Messages = list[dict[str, str]]

ATTEMPTS = 3
MOST_IN_A_ROW = 5
"""Failures of the service one after the other, after which it is no longer asked."""
MOST_BYTES = 1_000_000
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MOST_STARTS = 40
"""Opening braces of a reply at which its object is looked for."""
_QUOTED = 200


class _FailedError(Exception):
    """No reply came; `word` is what the failure is counted by."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class Chat:
    """Asks one model. Failures are counted in `failures` by a word, and the tokens that the service names in `used`."""

    def __init__(
        self,
        settings: EvalSettings,
        *,
        reply_tokens: int = 400,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        address = urlsplit(settings.judge_url)
        if address.scheme not in {"http", "https"} or not address.hostname or not settings.judge_model:
            raise UsageError(
                "A model needs eval.judge_url and eval.judge_model.",
                hint="Set them in config.toml or as KAIJUAN_EVAL__JUDGE_URL and KAIJUAN_EVAL__JUDGE_MODEL.",
            )
        self.model = settings.judge_model
        self.failures: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self._url = _chat_address(settings.judge_url)
        self._key = settings.judge_key.get_secret_value()
        self._seconds = settings.judge_seconds
        self._reply_tokens = reply_tokens
        self._sleep = sleep
        self._client: AsyncClient | None = None
        self._plain = False
        self._failed_in_a_row = 0

    async def ask(self, prompt: str, form: type[Form], again: Callable[[str], str]) -> tuple[Form | None, str]:
        """Return the model's reply in the form wanted, and its text; (None, "") where there is none.

        `again` words the one further request, from what was wrong with the first reply. ModelRefusedError where no
        later call could mend it (a wrong key or model).
        """
        if self._failed_in_a_row >= MOST_IN_A_ROW:
            self.failures["not_asked"] += 1
            return None, ""
        messages: Messages = [{"role": "user", "content": prompt}]
        try:
            said = await self._said(messages)
            found, fault = read_form(said, form)
            if found is None:
                self.used["asked_again"] += 1
                messages += [
                    {"role": "assistant", "content": said[:_QUOTED]},
                    {"role": "user", "content": again(fault)},
                ]
                said = await self._said(messages)
                found, fault = read_form(said, form)
        except _FailedError as error:
            self._failed_in_a_row += 1
            self.failures[error.word] += 1
            return None, ""
        self._failed_in_a_row = 0
        if found is None:
            self.failures["unreadable"] += 1
        return found, said if found is not None else ""

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _said(self, messages: Messages) -> str:
        status = 0
        for attempt in range(ATTEMPTS):
            status, body = await self._post(messages)
            if status == 200:
                return self._text_of(body)
            if status == 400 and not self._plain:
                self._plain = True  # a service that does not know all of the optional fields
                continue
            if status not in _AGAIN:
                raise ModelRefusedError(
                    f"The model's service answered {status}: {redact(body, self._key)}",
                    hint="Check eval.judge_url, eval.judge_model and eval.judge_key.",
                )
            if attempt < ATTEMPTS - 1:
                await self._sleep(2.0**attempt)
        raise _FailedError("unavailable")

    async def _post(self, messages: Messages) -> tuple[int, str]:
        import httpx

        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if not self._plain:
            body |= {"temperature": 0, "max_tokens": self._reply_tokens, "response_format": {"type": "json_object"}}
        # Half code points, which a text may hold and a model may reply with, are no UTF-8.
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async with (
                # The client's own limit is for each read: a service that drips would hang for ever.
                asyncio.timeout(self._seconds),
                self._connection().stream("POST", self._url, content=data) as response,
            ):
                return response.status_code, await _bounded(response.aiter_bytes())
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _FailedError("timeout") from error
        except httpx.HTTPError as error:
            raise _FailedError("unreachable") from error

    def _connection(self) -> AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Content-Type": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._client = httpx.AsyncClient(headers=headers, timeout=self._seconds)
        return self._client

    def _text_of(self, body: str) -> str:
        """Return the message's text and count its tokens; "" where the body is something else."""
        try:
            reply = json.loads(body)
            text = reply["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return ""
        self.used["calls"] += 1
        usage = reply.get("usage")
        for name in ("prompt_tokens", "completion_tokens"):
            count = usage.get(name) if isinstance(usage, dict) else None
            self.used[name] += count if isinstance(count, int) else 0
        # Replies are kept in files, which hold UTF-8.
        return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else ""


def read_form(said: str, form: type[Form]) -> tuple[Form | None, str]:
    """Return the first object of the form wanted in a reply, or what is wrong with it."""
    fault = "it holds no JSON object"
    starts = [at for at, letter in enumerate(said) if letter == "{"][:_MOST_STARTS]
    for at in starts:
        try:
            found, _ = json.JSONDecoder().raw_decode(said, at)
            # Escapes, too, can spell half a code point, which no file of a set could hold.
            whole = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
            return form.model_validate(whole), ""
        except ValidationError as error:
            first = error.errors()[0]
            fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except (ValueError, RecursionError) as error:
            fault = f"it is not JSON ({str(error)[:80]})"
    return None, fault


def _chat_address(url: str) -> str:
    base = url.rstrip("/")
    if base.endswith("/chat/completions"):
        return base
    return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"


async def _bounded(parts: AsyncIterator[bytes]) -> str:
    data = b""
    async for part in parts:
        data += part
        if len(data) > MOST_BYTES:
            raise _FailedError("unreadable")
    return data.decode("utf-8", "replace")
