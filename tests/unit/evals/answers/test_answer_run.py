"""Asking a set of answers: what is asked of which documents, what goes wrong, and going on after a stop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.evals.answers.made import item

from kaijuan.answer.results import Status
from kaijuan.config import Config
from kaijuan.core.filters import In, Not
from kaijuan.engine import Kaijuan
from kaijuan.errors import CorruptStoreError, ModelError, UsageError
from kaijuan.evals.answers import run as running
from kaijuan.evals.answers.items import AnswerSet
from kaijuan.evals.answers.report import save, summary_of
from kaijuan.evals.answers.run import AnswerRun, Options, document_name, measure, sample
from kaijuan.evals.answers.sets import Wishes, load
from kaijuan.testing.embedders import HashEmbedder

MEMORY = Config.model_validate({"stores": {"index": "memory"}})
DOCUMENTS = {
    "leave": "员工每年有十五天年假，需提前三天申请。",
    "backups": "Full backups are kept for ninety days on the second site.",
    "claims": "差旅报销须在三十天内提交，附发票。",
    "valves": "ERR-9988 means that the valve did not close.",
}
QUESTIONS = [
    {"_id": "q1", "text": "员工每年有几天年假？", "answer": "15天"},
    {"_id": "q2", "text": "how long are full backups kept", "answer": ["ninety days", "90 days"]},
    {"_id": "q3", "text": "What does ERR-9988 mean?", "answer": "the valve did not close"},
    {"_id": "q4", "text": "What does ERR-1234 mean?", "answerability": "UNANSWERABLE"},
]
JUDGED = {"q1": "leave", "q2": "backups", "q3": "valves"}

Ask = Callable[..., Any]


def write(folder: Path) -> Path:
    folder.mkdir()
    corpus = [{"_id": id, "text": text} for id, text in DOCUMENTS.items()]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", QUESTIONS)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in JUDGED.items())]
    (folder / "qrels.tsv").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> AnswerSet:
    return load(write(tmp_path / "tiny"), Wishes(corpora=tmp_path / "corpora", withheld=True))


async def ask(data: AnswerSet, home: Path, options: Options | None = None, **more: Any) -> AnswerRun:
    return await measure(data, home, MEMORY, options or Options(), embedder=HashEmbedder, **more)


async def test_answers_are_kept_with_their_quotes(data: AnswerSet, tmp_path: Path) -> None:
    found = await ask(data, tmp_path / "home")
    by_id = {one.item.id: one for one in found.assessments}
    assert list(by_id) == ["q1", "q2", "q3", "q4", "q1/withheld", "q2/withheld", "q3/withheld"]
    first = by_id["q1"]
    assert first.given.status is Status.ANSWERED
    (quote,) = first.given.quotes
    assert (quote.document, quote.text, quote.exact) == ("leave", DOCUMENTS["leave"], True)
    assert first.given.statements[0].quotes == (0,)
    assert first.correctness is not None
    assert first.correctness.hit is True  # 十五天 is 15天
    assert first.cited_relevant == first.relevant_cited == 1.0
    assert by_id["q4"].given.status is Status.REFUSED
    assert "valves" not in {quote.document for quote in by_id["q3/withheld"].given.quotes}
    assert (found.documents, found.judge, found.resumed) == (4, "rules", 0)


async def test_the_figures(data: AnswerSet, tmp_path: Path) -> None:
    summary = summary_of(await ask(data, tmp_path / "home"))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert list(summary["by_kind"]) == ["answerable", "unanswerable", "withheld"]
    answerable = summary["by_kind"]["answerable"]
    assert (answerable["questions"], answerable["answered"], answerable["hit"]) == (3, 1.0, 1.0)
    assert answerable["faithful"] == answerable["citation_recall"] == answerable["quotes_exact"] == 1.0
    assert summary["by_kind"]["unanswerable"]["exact"] is None  # nothing to compare with
    assert summary["refusal"]["table"]["answer"]["answered"] == 3
    assert summary["refusal"]["answerable_answered"] == 1.0
    assert sum(summary["refusal"]["table"]["refuse"].values()) == 4
    assert summary["judge"]["answers"] == {"full": 3, "part": 0, "none": 0, "undecided": 0}
    assert summary["judge"]["failed"] == 0
    assert summary["conflicts"] == {}


async def test_documents_are_chosen_by_filters(
    data: AnswerSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    asked = Kaijuan.ask

    async def noted(self: Kaijuan, question: str, **more: Any) -> Any:
        seen.append(more.get("filters", []))
        return await asked(self, question, **more)

    monkeypatch.setattr(Kaijuan, "ask", noted)
    only = item(id="only", question="backups?", among=("backups", "gone"), without=("leave",))
    both = AnswerSet(
        name="x",
        items=(item(id="all", question="backups?"), only),
        corpus=data.corpus,
        corpus_hash=data.corpus_hash,
        fingerprint="f",
        labels={"answerable": ""},
    )
    await ask(both, tmp_path / "home")
    address = data.corpus.resolve().as_uri()
    assert seen[1] == []
    assert seen[2] == [In("source", (f"{address}#backups",)), Not(In("source", (f"{address}#leave",)))]


async def test_a_run_that_was_stopped_goes_on(data: AnswerSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await ask(data, tmp_path / "home", asked=stop)
    asked: list[str] = []
    original = Kaijuan.ask

    async def noted(self: Kaijuan, question: str, **more: Any) -> Any:
        asked.append(question)
        return await original(self, question, **more)

    monkeypatch.setattr(Kaijuan, "ask", noted)
    again = await ask(data, tmp_path / "home")
    assert again.resumed == 3
    assert len(asked) == 1 + len(data.items) - 3  # and the one that warms up
    whole = await ask(data, tmp_path / "other")
    for left, right in zip(again.assessments, whole.assessments, strict=True):
        assert (left.given.text, left.given.quotes, left.correctness) == (
            right.given.text,
            right.given.quotes,
            right.correctness,
        )
    assert (await ask(data, tmp_path / "home")).resumed == 0  # a finished run leaves nothing behind


async def test_fresh_forgets_what_was_found(data: AnswerSet, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await ask(data, tmp_path / "home", asked=stop)
    assert (await ask(data, tmp_path / "home", Options(fresh=True))).resumed == 0


async def test_a_question_that_fails_is_counted_and_left_out(
    data: AnswerSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Kaijuan.ask

    async def failing(self: Kaijuan, question: str, **more: Any) -> Any:
        if "backups" in question:
            raise ModelError("The model is away.")
        return await original(self, question, **more)

    monkeypatch.setattr(Kaijuan, "ask", failing)
    summary = summary_of(await ask(data, tmp_path / "home"))
    assert summary["failed"] == {"model_failed": 2}  # q2, and once more withheld
    assert (summary["questions"], summary["metrics"]["questions"]) == (7, 5)
    assert summary["by_kind"]["answerable"]["hit"] == 1.0


async def test_a_store_at_fault_ends_the_run(data: AnswerSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await ask(data, tmp_path / "home")

    async def broken(self: Kaijuan, question: str, **more: Any) -> Any:
        raise CorruptStoreError("The index is broken.")

    monkeypatch.setattr(Kaijuan, "ask", broken)
    with pytest.raises(CorruptStoreError):
        await ask(data, tmp_path / "home")


async def test_words_that_are_not_the_document_s_are_noticed(
    data: AnswerSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_is_exact", _never)
    summary = summary_of(await ask(data, tmp_path / "home"))
    assert summary["metrics"]["quotes_exact"] == 0.0
    assert summary["metrics"]["quotes"] >= 3


async def _never(engine: object, citation: object) -> bool:
    return False


def test_a_sample_takes_of_each_kind_and_the_larger_holds_the_smaller() -> None:
    items = [item(id=f"{kind}{at}", kind=kind) for at in range(20) for kind in ("a", "b")]
    few, more = sample(items, 3), sample(items, 6)
    assert [one.kind for one in few].count("a") == [one.kind for one in few].count("b") == 3
    assert {one.id for one in few} < {one.id for one in more}
    assert few == sample(list(reversed(items)), 3)[::-1]
    assert few != sample(items, 3, seed=1)
    assert sample(items, 0) == items


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("file:///a/corpus.jsonl#d%201%2F%E4%B8%80", "d 1/一"),
        ("file:///a/pages/t.html", "t.html"),
        ("file:///a/pages/%E4%B8%80.html", "一.html"),
    ],
)
def test_names_of_documents(source: str, name: str) -> None:
    assert document_name(source) == name


async def test_save_writes_every_answer(data: AnswerSet, tmp_path: Path) -> None:
    found = await ask(data, tmp_path / "home", Options(limit=1))
    path = tmp_path / "answers.json"
    save(path, [summary_of(found)], [found])
    (one,) = json.loads(path.read_text("utf-8"))["sets"]
    assert len(one["answers"]) == 3
    first = one["answers"][0]
    assert {"id", "question", "gold", "status", "text", "quotes", "correctness", "ruling", "handling"} <= set(first)


async def test_an_unknown_judge_is_named_before_anything_is_taken_in(data: AnswerSet, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="judge"):
        await ask(data, tmp_path / "home", Options(judge="oracle"))
    with pytest.raises(UsageError, match="judge_url"):
        await ask(data, tmp_path / "home", Options(judge="model"))
    assert not (tmp_path / "home").exists()
