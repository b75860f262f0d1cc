"""Texts put in order over HTTP by the reranker that ships with the package, with the real embedding model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.serving import config_of

from kaijuan import Kaijuan
from kaijuan.server.app import make_app

ASKED = [
    ("年假有几天？", ["食堂中午十二点开饭。", "员工每年享有五天年假。", "会议室须提前一天预订。"], 1),
    (
        "How many days of annual leave are there?",
        [
            "The canteen opens at noon.",
            "Rooms are booked a day ahead.",
            "Everybody has five days of annual leave a year.",
        ],
        2,
    ),
]


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    engine = Kaijuan(tmp_path / "home", config=config_of())
    app = make_app(engine, host="127.0.0.1")
    transport = httpx.ASGITransport(app)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client
    finally:
        await app.state.service.close()


async def _scores(http: httpx.AsyncClient, query: str, documents: list[str]) -> dict[str, float]:
    answer = await http.post("/v1/rerank", json={"query": query, "documents": documents, "return_documents": True})
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    told = [one["relevance_score"] for one in results]
    assert told == sorted(told, reverse=True)
    assert all(documents[one["index"]] == one["document"]["text"] for one in results)
    return {one["document"]["text"]: one["relevance_score"] for one in results}


@pytest.mark.parametrize(("query", "documents", "best"), ASKED)
async def test_what_answers_comes_first_however_the_texts_are_ordered_and_whatever_was_asked_before(
    http: httpx.AsyncClient, query: str, documents: list[str], best: int
) -> None:
    first = await _scores(http, query, documents)
    assert next(iter(first)) == documents[best]
    for other, texts, _ in ASKED:
        await _scores(http, other, texts)
    assert await _scores(http, query, documents[::-1]) == pytest.approx(first, abs=1e-4)
    assert await _scores(http, query, documents) == pytest.approx(first, abs=1e-4)


async def test_only_the_first_few_come_back_where_that_is_wanted(http: httpx.AsyncClient) -> None:
    query, documents, best = ASKED[0]
    answer = await http.post("/v1/rerank", json={"query": query, "documents": documents, "top_n": 1})
    assert [one["index"] for one in answer.json()["results"]] == [best]
    twice = await http.post("/v1/rerank", json={"query": query, "documents": [documents[1]] * 2})
    assert len({one["relevance_score"] for one in twice.json()["results"]}) == 1
