"""A judge that asks a language model behind an OpenAI-compatible service, by rubric, where rules are not sure."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from kaijuan import telemetry
from kaijuan.config import EvalSettings
from kaijuan.core.redaction import redact
from kaijuan.errors import ModelRefusedError, UsageError
from kaijuan.evals.answers.correctness import compare
from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.judges import prompts
from kaijuan.evals.answers.ports import Grade, Ruling
from kaijuan.evals.answers.support import Support, support

if TYPE_CHECKING:
    from httpx import AsyncClient

ATTEMPTS = 3
MOST_IN_A_ROW = 5
"""Failures of the service one after the other, after which it is no longer asked: a dead one costs minutes a ruling."""
MOST_BYTES = 1_000_000
"""Of one reply. What is longer is none of a judge's."""
REPLY_TOKENS = 300
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MOST_STARTS = 40
"""Opening braces of a reply at which its object is looked for."""
_QUOTED = 200

Messages = list[dict[str, str]]


class _Reply(BaseModel):
    """What the model is asked to reply."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    grade: Literal["full", "part", "none"]
    reason: str = ""


class _FailedError(Exception):
    """The service gave no reply; `word` is what the failure is counted by."""

    def __init__(self, word: str, said: str) -> None:
        super().__init__(said)
        self.word = word


class ChatJudge:
    """Rules by a model's reply, which must be a JSON object of a known form; one that is not is asked for once more.

    Exact matches and verbatim quotations are ruled without the model: there is nothing to weigh.
    """

    def __init__(self, settings: EvalSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        address = urlsplit(settings.judge_url)
        if address.scheme not in {"http", "https"} or not address.hostname or not settings.judge_model:
            raise UsageError(
                "A model as judge needs eval.judge_url and eval.judge_model.",
                hint="Set them in config.toml or as KAIJUAN_EVAL__JUDGE_URL and KAIJUAN_EVAL__JUDGE_MODEL.",
            )
        self._url = _chat_address(settings.judge_url)
        self._model = settings.judge_model
        self._key = settings.judge_key.get_secret_value()
        self._seconds = settings.judge_seconds
        self._sleep = sleep
        self._client: AsyncClient | None = None
        self._plain = False
        self._failed_in_a_row = 0

    @classmethod
    def from_settings(cls, settings: EvalSettings) -> Self:
        """Return the judge that is configured; UsageError where none is."""
        return cls(settings)

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model

    @property
    def fingerprint(self) -> str:
        """Return service, model and prompts in short; never the key."""
        service = hashlib.sha256(self._url.encode()).hexdigest()[:8]
        return f"chat-1/{service}/{self._model}/{prompts.fingerprint()}"

    async def correct(self, question: str, answer: str, gold: Groups) -> Ruling:
        """Rule by rubric; an exact match is full without asking."""
        if compare(answer, gold).exact:
            return Ruling(grade=Grade.FULL, reason="exact match")
        expected = "\n".join(" / ".join(group) for group in gold)
        asked = prompts.prompt("correct", question, question=question, expected=expected, answer=answer)
        return await self._rule(question, asked)

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:
        """Rule by rubric; a quotation is carried and a statement without citations is not, without asking."""
        found = support(statement, cited)
        if found is Support.VERBATIM or not any(text.strip() for text in cited):
            return Ruling(grade=Grade.FULL if found is Support.VERBATIM else Grade.NONE, reason=str(found))
        asked = prompts.prompt("carried", question, question=question, statement=statement, cited="\n\n".join(cited))
        return await self._rule(question, asked)

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _rule(self, question: str, asked: str) -> Ruling:
        if self._failed_in_a_row >= MOST_IN_A_ROW:
            return Ruling(grade=None, failure="not_asked", reason="the service had failed several times in a row")
        messages = [{"role": "user", "content": asked}]
        try:
            said = await self._ask(messages)
            reply, fault = _read(said)
            if reply is None:
                telemetry.count("judge.asked_again")
                again = prompts.prompt("again", question, fault=fault)
                messages += [{"role": "assistant", "content": said[:_QUOTED]}, {"role": "user", "content": again}]
                reply, fault = _read(await self._ask(messages))
        except _FailedError as error:
            self._failed_in_a_row += 1
            return Ruling(grade=None, failure=error.word, reason=str(error))
        self._failed_in_a_row = 0
        if reply is None:
            return Ruling(grade=None, failure="unreadable", reason=fault)
        return Ruling(grade=Grade(reply.grade), reason=redact(reply.reason, self._key, most=_QUOTED))

    async def _ask(self, messages: Messages) -> str:
        """Return the model's text; _FailedError after the last attempt, ModelRefusedError for what no attempt mends."""
        for attempt in range(ATTEMPTS):
            status, body = await self._post(messages)
            if status == 200:
                return _text_of(body)
            if status == 400 and not self._plain:
                self._plain = True  # a service that does not know all of the optional fields
                continue
            if status not in _AGAIN:
                raise ModelRefusedError(
                    f"The judging service answered {status}: {redact(body, self._key)}",
                    hint="Check eval.judge_url, eval.judge_model and eval.judge_key.",
                )
            if attempt < ATTEMPTS - 1:
                await self._sleep(2.0**attempt)
        raise _FailedError("unavailable", f"the service answered {status}")

    async def _post(self, messages: Messages) -> tuple[int, str]:
        import httpx

        body: dict[str, Any] = {"model": self._model, "messages": messages}
        if not self._plain:
            body |= {"temperature": 0, "max_tokens": REPLY_TOKENS, "response_format": {"type": "json_object"}}
        # Half code points, which a model may reply with, are no UTF-8.
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async with (
                # The client's own limit is for each read: a service that drips would hang for ever.
                asyncio.timeout(self._seconds),
                self._connection().stream("POST", self._url, content=data) as response,
            ):
                return response.status_code, await _bounded(response.aiter_bytes())
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _FailedError("timeout", f"no reply within {self._seconds:g} s") from error
        except httpx.LocalProtocolError as error:
            # Such errors quote the headers, and with them the key.
            raise _FailedError("unreachable", "the request could not be written") from error
        except httpx.HTTPError as error:
            raise _FailedError("unreachable", redact(repr(error), self._key)) from error

    def _connection(self) -> AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Content-Type": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._client = httpx.AsyncClient(headers=headers, timeout=self._seconds)
        return self._client


def _chat_address(url: str) -> str:
    base = url.rstrip("/")
    if base.endswith("/chat/completions"):
        return base
    return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"


async def _bounded(parts: Any) -> str:
    data = b""
    async for part in parts:
        data += part
        if len(data) > MOST_BYTES:
            raise _FailedError("unreadable", "the reply is too long")
    return data.decode("utf-8", "replace")


def _text_of(body: str) -> str:
    """Return the message's text; "" where the body is something else, which is then unreadable like other garbage."""
    try:
        text = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return text if isinstance(text, str) else ""


def _read(said: str) -> tuple[_Reply | None, str]:
    """Return the first object of the known form in a reply, or what is wrong with it."""
    fault = "it holds no JSON object"
    starts = [at for at, letter in enumerate(said) if letter == "{"][:_MOST_STARTS]
    for at in starts:
        try:
            found, _ = json.JSONDecoder().raw_decode(said, at)
            return _Reply.model_validate(found), ""
        except ValidationError as error:
            first = error.errors()[0]
            fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except (ValueError, RecursionError) as error:
            fault = f"it is not JSON ({str(error)[:80]})"
    return None, fault
