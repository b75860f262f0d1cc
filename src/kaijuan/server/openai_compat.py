"""The same bases for programs that speak OpenAI's protocol: a knowledge base is a model.

Beyond the protocol, a completion has `kaijuan`: status, sentences, citations and notes of the answer as data.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.answer.conversation.followup import standalone
from kaijuan.answer.events import DoneEvent
from kaijuan.answer.results import Answer, StructuredStatus
from kaijuan.core.identity import Action
from kaijuan.engine import Kaijuan
from kaijuan.errors import AccessError, KaijuanError, UnusableReplyError, UsageError
from kaijuan.server.problems import RequestError, error_problem, openai_error, request_id
from kaijuan.server.service import Caller, Reply, The, note_question
from kaijuan.verbs.shapes import Json, answer_shape

router = APIRouter(tags=["openai"])
MOST_INPUTS = 2048
MOST_DOCUMENTS = 1000
_MOST_CHARACTERS = 20_000
_MOST_TURNS = 10
"""Questions before the last that it may go on from."""
_BEAT_SECONDS = 10.0
_NOTE_CHARACTERS = 200


class Part(BaseModel):
    """A part of a message; only text counts."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """One turn."""

    model_config = ConfigDict(extra="ignore")

    role: str = Field(max_length=40)
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """The words of it."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class JsonSchema(BaseModel):
    """The form that an answer is wanted in."""

    model_config = ConfigDict(extra="ignore")

    schema_: dict[str, object] = Field(alias="schema", description="A JSON schema of an object.")


class ResponseFormat(BaseModel):
    """Text, or an object that a configured language model makes of the answer."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: JsonSchema | None = None

    @property
    def schema_wanted(self) -> dict[str, object] | None:
        """The schema of the object; any object for json_object, None for text."""
        if self.type == "json_schema":
            if self.json_schema is None:
                raise RequestError(400, "response_format of the type json_schema needs json_schema.schema.")
            return self.json_schema.schema_
        return {"type": "object"} if self.type == "json_object" else None


class Completion(BaseModel):
    """A request for an answer. What the protocol knows and this service has no use for is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1, max_length=100, description="Name of a knowledge base.")
    messages: list[Message] = Field(min_length=1, max_length=500)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] = 1
    response_format: ResponseFormat = Field(default_factory=ResponseFormat)
    filters: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=20)


class Embeddings(BaseModel):
    """Texts to be made vectors of."""

    model_config = ConfigDict(extra="ignore")

    input: str | list[str]
    model: str = ""
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    input_type: Literal["passage", "query"] = Field(
        default="passage", description="Beyond the protocol: questions are embedded otherwise than what answers them."
    )


class Document(BaseModel):
    """A text to be judged."""

    model_config = ConfigDict(extra="ignore")

    text: str


class Rerank(BaseModel):
    """Texts to be put in order for a question, in the shape of Cohere and Jina."""

    model_config = ConfigDict(extra="ignore")

    model: str = ""
    query: str = Field(min_length=1, max_length=_MOST_CHARACTERS)
    documents: list[str | Document] = Field(min_length=1, max_length=MOST_DOCUMENTS)
    top_n: int | None = Field(default=None, ge=1)
    return_documents: bool = False


@router.get("/models")
async def models(who: Caller, service: The) -> Reply:
    """List the knowledge bases that the caller may read, and the embedding model."""
    bases = [_model(str(one["name"]), who.tenant) for one in await service.bases(who) if "read" in _words(one)]
    return Reply({"object": "list", "data": [*bases, _model(service.engine.embedder.info.name, "kaijuan")]})


def _words(base: Json) -> Sequence[object]:
    actions = base["actions"]
    return actions if isinstance(actions, list) else ()


def _model(name: str, owner: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": owner}


@router.post("/chat/completions", response_model=None)
async def complete(request: Request, body: Completion, who: Caller, service: The) -> Response:
    """Answer the last question from a knowledge base; earlier turns say what it goes on from."""
    base = await service.gate.enter(request, who, body.model, Action.READ)
    question = await _question(base, body.messages)
    note_question(request, question)
    id, seconds = f"chatcmpl-{uuid.uuid4().hex}", service.engine.config.serve.ask_seconds
    if body.stream:
        chunks = _streamed(base, question, body, id, seconds, request_id(request))
        return StreamingResponse(chunks, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
    async with asyncio.timeout(seconds):
        answer = await base.ask(question, filters=body.filters, response_schema=body.response_format.schema_wanted)
    message = {"role": "assistant", "content": _content(answer), "refusal": _refusal(answer)}
    return Reply(
        {
            **_head(id, "chat.completion", body.model),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": await _usage(base, body, answer),
            "kaijuan": answer_shape(answer),
        }
    )


async def _question(base: Kaijuan, messages: Sequence[Message]) -> str:
    asked = [message.text.strip() for message in messages if message.role == "user" and message.text.strip()]
    if not asked or messages[-1].role != "user":
        raise RequestError(400, "The last message must be a question of the user.")
    if len(asked[-1]) > _MOST_CHARACTERS:
        raise RequestError(400, f"The question is longer than {_MOST_CHARACTERS:,} characters.")
    before: list[str] = []
    for one in asked[-_MOST_TURNS:]:
        before.append((await standalone(one, before, base.embedder)).text)
    return before[-1]


def _head(id: str, kind: str, model: str) -> Json:
    return {"id": id, "object": kind, "created": int(time.time()), "model": model}


async def _usage(base: Kaijuan, body: Completion, answer: Answer) -> Json:
    """Return the tokens that the language model counted; where none was asked, those of the messages and of the
    answer, by the tokenizer of the embedding model."""
    prompt, written = answer.usage.prompt_tokens, answer.usage.completion_tokens
    if not answer.usage.calls:
        asked = [message.text for message in body.messages]
        counts = await asyncio.to_thread(
            lambda: [len(base.embedder.token_spans(text)) for text in (*asked, _content(answer) or "")]
        )
        prompt, written = sum(counts[:-1]), counts[-1]
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _content(answer: Answer) -> str | None:
    """Return the answer with numbers behind its sentences, and what they stand for below; the object alone where one
    was asked for."""
    if _refusal(answer) is not None:
        return None
    return "".join(_pieces(answer))


def _refusal(answer: Answer) -> str | None:
    """Return why there is no object, where one was asked for and the documents do not answer."""
    wanted = answer.structured
    return answer.answer if wanted is not None and wanted.status is StructuredStatus.UNANSWERED else None


def _pieces(answer: Answer) -> list[str]:
    wanted = answer.structured
    if wanted is not None and wanted.data is not None:
        return [json.dumps(wanted.data, ensure_ascii=False)]
    if wanted is not None and wanted.fault:
        raise UnusableReplyError(f"The language model gave no object of this form: {wanted.fault}")
    if not answer.sentences:
        return ["\n\n".join([answer.answer, *answer.notes])]
    pieces = [
        f"{' ' if at else ''}{sentence.text} {''.join(f'[{id}]' for id in sentence.citations)}".rstrip()
        for at, sentence in enumerate(answer.sentences)
    ]
    pieces += [f"\n\n{note}" for note in answer.notes]
    for at, citation in enumerate(answer.citations):
        pages = f", p. {', '.join(map(str, citation.pages))}" if citation.pages else ""
        quote = " ".join(citation.quote.split())
        shown = quote if len(quote) <= _NOTE_CHARACTERS else f"{quote[:_NOTE_CHARACTERS]}…"
        pieces.append(f"{'' if at else chr(10)}\n[{citation.id}] {citation.title}{pages}: {shown}")
    return pieces


async def _streamed(
    base: Kaijuan, question: str, body: Completion, id: str, seconds: float, request: str
) -> AsyncIterator[bytes]:
    """Yield the answer in chunks, once it is checked: what was sent cannot be taken back in this protocol."""
    task = asyncio.create_task(_answered(base, question, body, seconds))
    try:
        yield _chunk(body, id, {"role": "assistant", "content": ""})
        while not (await asyncio.wait({task}, timeout=_BEAT_SECONDS))[0]:
            yield b": working\n\n"
        try:
            answer = task.result()
            pieces = _pieces(answer)
        except (KaijuanError, TimeoutError) as error:
            yield _data({"error": openai_error(_problem(error, request))})
            return
        refused = _refusal(answer)
        for piece in pieces if refused is None else ():
            yield _chunk(body, id, {"content": piece})
        if refused is not None:
            yield _chunk(body, id, {"refusal": refused})
        yield _chunk(body, id, {}, finish="stop", more={"kaijuan": answer_shape(answer)})
        if body.stream_options and body.stream_options.include_usage:
            usage = await _usage(base, body, answer)
            yield _data({**_head(id, "chat.completion.chunk", body.model), "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"
    finally:
        # The reader may have gone: nobody wants the answer then.
        task.cancel()
        await asyncio.wait({task})


def _problem(error: KaijuanError | TimeoutError, request: str) -> Json:
    return error_problem(error if isinstance(error, KaijuanError) else UsageError("It took too long."), request)


async def _answered(base: Kaijuan, question: str, body: Completion, seconds: float) -> Answer:
    events = base.ask_stream(question, filters=body.filters, response_schema=body.response_format.schema_wanted)
    async with asyncio.timeout(seconds), aclosing(events):
        async for event in events:
            if isinstance(event, DoneEvent):
                return event.answer
    raise AssertionError("the last event has the answer")


def _chunk(body: Completion, id: str, delta: Json, *, finish: str | None = None, more: Json | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return _data({**_head(id, "chat.completion.chunk", body.model), "choices": [choice], **(more or {})})


def _data(body: object) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False, allow_nan=False)}\n\n".encode(errors="backslashreplace")


@router.post("/embeddings")
async def embed(body: Embeddings, who: Caller, service: The) -> Reply:
    """Make vectors of texts with the service's embedding model."""
    if Action.READ not in who.scopes:
        raise AccessError("The key may not read.")
    embedder = service.engine.embedder
    texts = [body.input] if isinstance(body.input, str) else body.input
    if not 1 <= len(texts) <= MOST_INPUTS or any(not text.strip() for text in texts):
        raise RequestError(400, f"Send 1 to {MOST_INPUTS} texts, none of them empty.")
    if body.dimensions not in (None, embedder.info.dimensions):
        raise RequestError(400, f"The vectors have {embedder.info.dimensions} dimensions.")
    if body.input_type == "query":
        rows = np.stack([await embedder.embed_query(text) for text in texts])
    else:
        rows = await embedder.embed_passages(texts)
    counts = await asyncio.to_thread(lambda: [len(embedder.token_spans(text)) for text in texts])
    data = [
        {"object": "embedding", "index": at, "embedding": _vector(row, body.encoding_format)}
        for at, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
    return Reply({"object": "list", "data": data, "model": embedder.info.name, "usage": usage})


def _vector(row: np.ndarray[tuple[int, ...], np.dtype[np.float32]], form: str) -> str | list[float]:
    if form == "base64":
        return base64.b64encode(row.astype("<f4").tobytes()).decode()
    return [float(number) for number in row]


@router.post("/rerank")
async def rerank(body: Rerank, who: Caller, service: The) -> Reply:
    """Put texts in order for a question with the service's reranker."""
    if Action.READ not in who.scopes:
        raise AccessError("The key may not read.")
    texts = [one if isinstance(one, str) else one.text for one in body.documents]
    verdicts = await service.engine.rerank(body.query, texts)
    order = sorted(range(len(texts)), key=lambda at: (-verdicts[at], at))[: body.top_n]
    results = [
        {
            "index": at,
            "relevance_score": round(verdicts[at], 6),
            **({"document": {"text": texts[at]}} if body.return_documents else {}),
        }
        for at in order
    ]
    return Reply({"id": uuid.uuid4().hex, "object": "list", "model": body.model, "results": results})
