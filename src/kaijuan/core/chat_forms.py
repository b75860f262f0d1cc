"""Replies that must be an object of a known form: asked for by schema, read from whatever came, repaired once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from kaijuan import telemetry
from kaijuan.core.chat import ChatModel, ChatRequest, Message, Role, Usage
from kaijuan.core.text.language import language_of

Form = TypeVar("Form", bound=BaseModel)

_MOST_STARTS = 40
"""Opening braces of a reply at which its object is looked for."""
_QUOTED = 400
"""Characters of a reply that could not be read, which the model is shown again."""
_AGAIN = {
    "zh": "这个回复无法使用：{fault}。请只输出一个符合要求的 JSON 对象，不要输出任何其他内容。",
    "en": "That reply cannot be used: {fault}. Reply with one JSON object as described and nothing else.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled(Generic[Form]):
    """What came of asking for a form. `form` is None where the model gave none; `fault` says what was wrong last."""

    form: Form | None
    text: str
    usage: Usage
    fault: str = ""
    repaired: bool = False


async def fill(
    chat: ChatModel, request: ChatRequest, form: type[Form], *, again: Callable[[str], str] | None = None
) -> Filled[Form]:
    """Ask for a form; where the reply cannot be read, ask once more and say what is wrong. ModelError as the model's.

    `again` words the second request, from the fault; by default in the language of the last message. Counted as
    `chat.form_repaired` and `chat.form_unreadable`.
    """
    asked = replace(request, schema=form.model_json_schema())
    reply = await chat.reply(asked)
    found, fault = read_form(reply.text, form)
    if found is not None:
        return Filled(form=found, text=reply.text, usage=reply.usage)
    more = (
        Message(Role.ASSISTANT, reply.text[:_QUOTED]),
        Message(Role.USER, again(fault) if again else _again(request, fault)),
    )
    second = await chat.reply(replace(asked, messages=(*asked.messages, *more)))
    usage = reply.usage + second.usage
    found, fault = read_form(second.text, form)
    telemetry.count("chat.form_repaired" if found is not None else "chat.form_unreadable")
    return Filled(form=found, text=second.text, usage=usage, fault=fault, repaired=True)


def read_form(said: str, form: type[Form]) -> tuple[Form | None, str]:
    """Return the first object of the form wanted in a reply, or what is wrong with it."""
    fault = "it holds no JSON object"
    starts = [at for at, letter in enumerate(said) if letter == "{"][:_MOST_STARTS]
    for at in starts:
        try:
            found, _ = json.JSONDecoder().raw_decode(said, at)
            # Escapes can spell half a code point, which no file could hold.
            whole = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
            return form.model_validate(whole), ""
        except ValidationError as error:
            first = error.errors()[0]
            fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except (ValueError, RecursionError) as error:
            fault = f"it is not JSON ({str(error)[:80]})"
    return None, fault


def _again(request: ChatRequest, fault: str) -> str:
    language = "zh" if language_of(request.messages[-1].text) == "zh" else "en"
    return _AGAIN[language].format(fault=fault)
