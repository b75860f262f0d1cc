"""An answer as an object of the form that the asker gave: filled by a model from the answer and what it cites."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace

from kaijuan import telemetry
from kaijuan.answer import prompts
from kaijuan.answer.results import Answer, Structured, StructuredStatus
from kaijuan.core.chat import ChatModel, ChatRequest, Effort, Message, Role, prompt
from kaijuan.core.reply_schemas import Schema, read_reply
from kaijuan.errors import ModelError

_QUOTED = 2000
"""Characters of a reply that did not fit, which the model is shown again."""


async def shaped(answer: Answer, schema: Schema, chat: ChatModel) -> Answer:
    """Return the answer with an object of `schema`, a checked one, made from its sentences and the words they cite.

    An answer that is refused or asks back has none, and no model is asked. A reply that does not fit is sent back
    once with what is wrong; one that still does not is counted (`answer.schema_unfit`) and left out. A model that
    fails leaves the answer as it was.
    """
    if not answer.sentences:
        return replace(answer, structured=Structured(status=StructuredStatus.UNANSWERED))
    request = _request(answer, schema)
    usage = answer.usage
    try:
        reply = await chat.reply(request)
        usage += reply.usage
        found, fault = await asyncio.to_thread(read_reply, reply.text, schema)
        status = StructuredStatus.FITS
        if found is None:
            telemetry.count("answer.schema_repaired")
            again = await chat.reply(_again(request, answer, reply.text, fault))
            usage += again.usage
            found, fault = await asyncio.to_thread(read_reply, again.text, schema)
            status = StructuredStatus.REPAIRED
    except ModelError as error:
        telemetry.count("answer.schema_failed")
        failed = Structured(status=StructuredStatus.FAILED, fault=f"{error.code}: {error.message}")
        return replace(answer, structured=failed, usage=usage)
    if found is None:
        telemetry.count("answer.schema_unfit")
        return replace(answer, structured=Structured(status=StructuredStatus.UNFIT, fault=fault), usage=usage)
    return replace(answer, structured=Structured(status=status, data=found), usage=usage)


def _request(answer: Answer, schema: Schema) -> ChatRequest:
    language = prompts.language(answer.question)
    quotes = [f"[{one.id}] {one.title}\n{one.quote}" for one in answer.citations]
    said = [f"{one.text} {''.join(f'[{id}]' for id in one.citations)}" for one in answer.sentences]
    inside = "\n".join([*said, *quotes, *answer.notes])
    # What stands in a document cannot close the fence: its name is a hash of all that is inside.
    fence = f"data-{hashlib.blake2b(inside.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
    system = prompts.prompt(
        "shape", language, fence=fence, schema=json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    )
    asked = prompts.prompt(
        "fill",
        language,
        fence=fence,
        question=" ".join(answer.question.split()),
        answer="\n".join([*said, *answer.notes]),
        quotes="\n".join(quotes),
    )
    return ChatRequest(messages=prompt(system, asked), purpose="shape", effort=Effort.LARGE, schema=schema)


def _again(request: ChatRequest, answer: Answer, said: str, fault: str) -> ChatRequest:
    asked = prompts.prompt("unfit", prompts.language(answer.question), fault=fault)
    more = (Message(Role.ASSISTANT, said[:_QUOTED]), Message(Role.USER, asked))
    return replace(request, messages=(*request.messages, *more))
