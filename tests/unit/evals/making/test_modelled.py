"""A model that writes questions, against real HTTP: one that behaves, and services that reply with garbage."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import BaseModel, SecretStr

from kaijuan.config import Config, EvalSettings, StoreSettings
from kaijuan.engine import Kaijuan
from kaijuan.errors import ModelRefusedError, UsageError
from kaijuan.evals.chat import ATTEMPTS, MOST_IN_A_ROW, Chat
from kaijuan.evals.making import prompts
from kaijuan.evals.making.items import Kind
from kaijuan.evals.making.modelled import ModelWriter
from kaijuan.evals.making.pipeline import Made, Request, documents_of, make
from kaijuan.evals.making.replies import Replies
from kaijuan.evals.making.splits import Shares
from kaijuan.testing.embedders import HashEmbedder

KEY = "sk-very-secret"
QUAY = """# Quay Notes

## Fees

The mooring fee is 45 euros a night. Guests pay it at the harbour office before they leave in the morning.

## History

In 1931 the old quay was torn down. The new quay was opened by Lena Holt two years later, with forty berths.

| Berth | Length |
| --- | --- |
| North | 12 metres |
| South | 18 metres |
"""


class _Form(BaseModel):
    question: str


Speak = Callable[[str], str | bytes | int]
"""From a prompt to the model's text, to a raw body, or to a status."""


class Service:
    """A chat service that speaks as a test wants it to."""

    def __init__(self) -> None:
        self.speak: Speak = lambda _: "{}"
        self.asked: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.refusal = b"no"
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append(body)
                time.sleep(service.seconds)
                said = service.speak(body["messages"][-1]["content"])
                status, data = (said, service.refusal) if isinstance(said, int) else (200, _body(said))
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _body(said: str | bytes) -> bytes:
    if isinstance(said, bytes):
        return said
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    return json.dumps({"choices": [{"message": {"content": said}}], "usage": usage}).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.close()


@pytest.fixture
def settings(service: Service) -> EvalSettings:
    return EvalSettings(judge_url=service.url, judge_model="m", judge_key=SecretStr(KEY), judge_seconds=5)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kaijuan]:
    """Return a base that no test changes: taking documents in starts a process."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "quay.md").write_text(QUAY, encoding="utf-8")
    config = Config(stores=StoreSettings(index="memory"))
    async with Kaijuan(folder / "home", config=config, embedder=HashEmbedder()) as opened:
        await opened.add(folder / "quay.md")
        yield opened


def request_of(tmp_path: Path, *kinds: Kind) -> Request:
    everything = Shares(train=100, dev=0, test=0)
    return Request(root=tmp_path / "set", kinds=kinds or (Kind.SINGLE,), count=2, shares=everything)


async def run(engine: Kaijuan, settings: EvalSettings, request: Request) -> tuple[Made, dict[str, Any]]:
    async def no_sleep(_: float) -> None: ...

    writer = ModelWriter(settings, request, chat=Chat(settings, sleep=no_sleep))
    try:
        made = await make(engine, request, writer=writer, clock=lambda: 0.0)
        return made, dict(writer.used())
    finally:
        await writer.close()


WRITTEN = {
    "question": "Who opened the new quay?",
    "answer": "Lena Holt",
    "quotes": ["The new quay was opened by Lena Holt two years later, with forty berths."],
}


def good(prompt: str) -> str:
    if '"answerable"' in prompt:
        return json.dumps({"answerable": True, "answer": "Lena Holt"})
    return f"Here it is:\n```json\n{json.dumps(WRITTEN)}\n```"


def by_model(made: Made) -> list[str]:
    return [item.question for item in made.items if item.how.startswith("model") or "prompt" in item.extra]


async def test_a_question_that_the_second_look_answers_alike_is_kept(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    service.speak = good
    made, used = await run(engine, settings, request_of(tmp_path))
    (item,) = [item for item in made.items if item.how == "model/single"]
    assert (item.question, item.answers) == (WRITTEN["question"], ("Lena Holt",))
    assert item.evidence[0]["quote"] == WRITTEN["quotes"][0]
    assert made.facts["made_with"]["model"] == "m"
    assert used["calls"] == len(service.asked) == 2
    assert (used["prompt_tokens"], used["completion_tokens"]) == (200, 40)
    assert made.facts["model_use"] == used


@pytest.mark.parametrize(
    ("written", "answered", "reason"),
    [
        ({**WRITTEN, "quotes": ["Not in the document at all."]}, {}, "quote_not_in_passage"),
        ({**WRITTEN, "quotes": []}, {}, "quote_not_in_passage"),
        (WRITTEN, {"answerable": False}, "not_answerable"),
        (WRITTEN, {"answerable": True, "answer": "forty cranes"}, "answers_differ"),
        (WRITTEN, {"answerable": True, "answer": ""}, "answers_differ"),
    ],
)
async def test_what_the_model_itself_doubts_is_turned_down(
    service: Service,
    settings: EvalSettings,
    engine: Kaijuan,
    tmp_path: Path,
    written: dict[str, Any],
    answered: dict[str, Any],
    reason: str,
) -> None:
    service.speak = lambda prompt: json.dumps(answered if '"answerable"' in prompt else written)
    made, used = await run(engine, settings, request_of(tmp_path))
    assert by_model(made) == []
    assert used["turned_down"] == {reason: 1}


async def test_the_model_s_questions_pass_the_same_checks_as_all_others(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    given_away = {**WRITTEN, "question": "Did Lena Holt open the new quay?"}
    service.speak = lambda prompt: good(prompt) if '"answerable"' in prompt else json.dumps(given_away)
    made, _ = await run(engine, settings, request_of(tmp_path))
    assert by_model(made) == []
    assert made.facts["left_out"]["single"]["answer_in_question"] == 1


async def test_an_unanswerable_question_must_stay_so_for_what_the_search_finds(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    written = {"question": "Who swept the new quay?", "answer": "", "quotes": WRITTEN["quotes"]}
    service.speak = lambda prompt: json.dumps({"answerable": False} if '"answerable"' in prompt else written)
    made, _ = await run(engine, settings, request_of(tmp_path, Kind.UNANSWERABLE))
    assert by_model(made) == ["Who swept the new quay?"]
    assert "mooring fee" in service.asked[-1]["messages"][0]["content"]  # what the search found was shown
    service.speak = lambda prompt: json.dumps({"answerable": True} if '"answerable"' in prompt else written)
    again = Request(root=tmp_path / "other", kinds=(Kind.UNANSWERABLE,), count=2)
    made, used = await run(engine, settings, again)
    assert by_model(made) == []
    assert used["turned_down"] == {"answerable_after_all": 1}


async def test_a_second_run_pays_nothing_and_makes_the_same(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    service.speak = good
    first, _ = await run(engine, settings, request_of(tmp_path))
    asked = len(service.asked)
    second, used = await run(engine, settings, request_of(tmp_path))
    assert len(service.asked) == asked
    assert second.unchanged
    assert [item.question for item in second.items] == [item.question for item in first.items]
    assert used.get("calls", 0) == 0


async def test_the_estimate_counts_what_is_not_known_yet(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    request = request_of(tmp_path, Kind.SINGLE, Kind.TABLE, Kind.TIME)
    snapshot, documents = await documents_of(engine, request)
    writer = ModelWriter(settings, request)
    expected = await writer.estimate(engine, documents, request, snapshot)
    assert (expected.questions, expected.calls) == (3, 6)
    assert expected.prompt_tokens > 600
    assert service.asked == []
    service.speak = good
    await run(engine, settings, request)
    later = ModelWriter(settings, request)
    assert (await later.estimate(engine, documents, request, snapshot)).calls == 0


@pytest.mark.parametrize(
    "said", ["no idea", '{"question": ', "[]", "", '{"question": ""}', "{" * 3000, b"<html>", b"\xff", b"{}"]
)
async def test_garbage_is_asked_for_once_more_then_counted(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path, said: str | bytes
) -> None:
    service.speak = lambda _: said
    made, used = await run(engine, settings, request_of(tmp_path))
    assert by_model(made) == []
    assert used["failures"] == {"unreadable": 1}
    assert [len(asked["messages"]) for asked in service.asked] == [1, 3]


async def test_a_reply_is_mended_once(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    broken = iter(["sorry"])
    service.speak = lambda prompt: (
        next(broken, None) or (json.dumps(WRITTEN) if "could not be used" in prompt else good(prompt))
    )
    made, used = await run(engine, settings, request_of(tmp_path))
    assert by_model(made) == [WRITTEN["question"]]
    assert used["asked_again"] == 1


async def test_a_service_that_is_down_costs_questions_not_the_run(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    service.speak = lambda _: 503
    made, used = await run(engine, settings, request_of(tmp_path))
    assert made.facts["model_use"]["failures"] == {"unavailable": 1}
    assert len(service.asked) == ATTEMPTS
    assert used.get("calls", 0) == 0


async def test_a_service_that_hangs_is_left(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    service.seconds = 1.0
    _, used = await run(engine, settings.model_copy(update={"judge_seconds": 0.2}), request_of(tmp_path))
    assert used["failures"] == {"timeout": 1}


async def test_a_dead_service_is_soon_no_longer_asked(service: Service, settings: EvalSettings) -> None:
    async def no_sleep(_: float) -> None: ...

    chat = Chat(settings, sleep=no_sleep)
    service.speak = lambda _: 500
    for _ in range(MOST_IN_A_ROW + 2):
        assert await chat.ask("x", _Form, str) == (None, "")
    assert chat.failures == {"unavailable": MOST_IN_A_ROW, "not_asked": 2}
    assert len(service.asked) == MOST_IN_A_ROW * ATTEMPTS
    await chat.close()


async def test_a_wrong_key_stops_the_run_and_is_not_told(
    service: Service, settings: EvalSettings, engine: Kaijuan, tmp_path: Path
) -> None:
    service.speak = lambda _: 401
    with pytest.raises(ModelRefusedError) as caught:
        await run(engine, settings, request_of(tmp_path))
    assert KEY not in str(caught.value)


async def test_the_key_is_hidden_where_the_words_are_cut(service: Service, settings: EvalSettings) -> None:
    chat = Chat(settings)
    for before in range(150, 201, 10):
        service.refusal = ("x" * before + f" {KEY} " + "y" * 300).encode()
        service.speak = lambda _: 401
        with pytest.raises(ModelRefusedError) as caught:
            await chat.ask("x", _Form, str)
        assert "sk-" not in str(caught.value)
        assert "xxx" in str(caught.value)
    await chat.close()


async def test_half_a_code_point_in_the_text_or_the_reply_is_no_crash(
    service: Service, settings: EvalSettings, tmp_path: Path
) -> None:
    chat = Chat(settings)
    replies = Replies(chat, tmp_path)
    said = iter(["\ud83d", '{"question": "\\ud83d"}', 'so \ud83d {"question": "q"}'])
    service.speak = lambda _: next(said)
    assert await replies.ask("a text with \ud83d", _Form, str) == _Form(question="?")
    found = await replies.ask("another", _Form, str)
    assert found == _Form(question="q")
    assert service.asked[0]["messages"][0]["content"] == "a text with ?"
    assert service.asked[1]["messages"][1]["content"] == "?"
    assert await Replies(chat, tmp_path).ask("another", _Form, str) == found
    assert len(service.asked) == 3
    await chat.close()


async def test_a_model_must_be_named() -> None:
    with pytest.raises(UsageError, match="judge_url"):
        Chat(EvalSettings())


@pytest.mark.parametrize("language", prompts.LANGUAGES)
@pytest.mark.parametrize("kind", list(Kind))
async def test_prompts_show_passages_as_data(kind: Kind, language: str) -> None:
    text = prompts.writing(kind, language, "A $title", ["one", "</passage> two" + "x" * 9000])
    assert "$task" not in text
    assert "A $title" in text
    assert len(re.findall(r"</passage>", text)) == 2
    assert "&lt;/passage> two" in text
    assert "[...]" in text
