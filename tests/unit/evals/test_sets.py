"""Evaluation sets: what is read, what is left out and named, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kaijuan.errors import EvalDataError
from kaijuan.evals.sets import load_set

WriteSet = Callable[..., Path]


def test_a_set_is_read(write_set: WriteSet) -> None:
    data = load_set(write_set())
    assert (data.name, data.problems) == ("tiny", ())
    assert [query.id for query in data.judged] == ["q1", "q2", "q3", "q4"]
    assert data.grades["q4"] == {"d3": 2}


def test_the_corpus_may_lie_in_another_folder(write_set: WriteSet) -> None:
    whole, pointing = write_set("whole"), write_set("pointing")
    (pointing / "corpus.jsonl").unlink()
    (pointing / "CORPUS").write_text("../whole\n", encoding="utf-8")
    assert load_set(pointing).corpus_hash == load_set(whole).corpus_hash


def test_the_fingerprint_is_of_the_content(write_set: WriteSet) -> None:
    first = load_set(write_set("one")).fingerprint
    assert load_set(write_set("two")).fingerprint == first
    assert load_set(write_set("three", judgements=(("q1", "d1", 2),))).fingerprint != first


def test_what_a_line_says_beside_is_kept(write_set: WriteSet) -> None:
    folder = write_set()
    rows = [
        {"_id": 7, "text": "几天？", "answers": ["十五天", " "], "answerable": True, "kind": "x", "history": ["年假"]},
        {"_id": "q2", "text": "how?", "answer": "yes", "answerability": "UNANSWERABLE", "history": [{"text": "a"}]},
        {"_id": "q3", "text": "and?", "history": "one turn"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, second, third = load_set(folder).queries
    assert (first.id, first.answers, first.answerable, first.history) == ("7", ("十五天",), True, ("年假",))
    assert first.fields == {"answerable": True, "kind": "x"}
    assert (second.answers, second.answerable, second.history) == (("yes",), False, ("a",))
    assert (third.answerable, third.history) == (None, ("one turn",))


def test_what_is_left_out_is_named(write_set: WriteSet) -> None:
    folder = write_set(
        questions={"q1": "年假有几天？", "q2": " \n"},
        judgements=(
            *(("q1", "d1", 1), ("q2", "d2", 1), ("q7", "d2", 1), ("q1", "d8", 1), ("q1", "d9", 1)),
            *(("q1", "d2", 0), ("q1", "d1", 3)),
        ),
    )
    with (folder / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"_id": "q1", "text": "again"}\n')
    data = load_set(folder)
    assert [query.text for query in data.judged] == ["年假有几天？"]
    assert data.grades == {"q1": {"d1": 1}}
    assert data.problems == (
        "1 question is blank: q2.",
        "1 question id comes twice; the first is kept: q1.",
        "1 judgement names a question that the set does not have: q7.",
        "2 judgements name documents that the corpus does not have: d8, d9.",
        "1 judgement comes twice, and the first counts: q1 d1.",
    )


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("corpus.jsonl", None, "no corpus"),
        ("corpus.jsonl", b"", "holds no document"),
        ("corpus.jsonl", b'{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "b"}\n', "more than one document: d1"),
        ("corpus.jsonl", b"<html>", "Line 1 of .* is not JSON"),
        ("corpus.jsonl", b'{"text": "a"}', "Line 1 of .* has no _id"),
        ("queries.jsonl", None, "no questions"),
        ("queries.jsonl", b"", "holds no question"),
        ("queries.jsonl", b'{"_id": "q1"}', "has no text"),
        ("queries.jsonl", b'["q1"]', "not a JSON object"),
        ("queries.jsonl", b'{"_id": ' + b"[" * 100_000, "is not JSON"),
        ("queries.jsonl", b'{"_id": "q1", "text": "\xff"}', "not UTF-8"),
        ("qrels.tsv", None, "no judgements"),
        ("qrels.tsv", b"", "No judgement in .* can be used"),
        ("qrels.tsv", b"q1\td1\t0.5\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\t1001\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\tnan\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\t-1\nqx\td1\t1\n", "does not have: qx.*no relevant document: q1"),
        ("qrels.tsv", b"query-id\tcorpus-id\tscore\nx\ty\t1\n", "do not|does not|No judgement"),
        ("qrels.tsv", b"q1 d1 1\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\tyes\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\tinf\n", "Line 1 of .* is not a judgement"),
        ("qrels.tsv", b"q1\td1\t\xff\n", "not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_refused(write_set: WriteSet, file: str, content: bytes | None, words: str) -> None:
    folder = write_set()
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(EvalDataError, match=words):
        load_set(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalDataError, match="no folder"):
        load_set(tmp_path / "none")


def test_a_pointer_to_the_corpus_may_have_a_mark_at_the_start(write_set: WriteSet) -> None:
    folder, other = write_set("one"), write_set("two")
    (folder / "corpus.jsonl").unlink()
    (folder / "CORPUS").write_bytes(b"\xef\xbb\xbf../two\r\n")
    assert load_set(folder).corpus.resolve() == (other / "corpus.jsonl").resolve()


@pytest.mark.parametrize(
    ("content", "words"), [(b"\xff\xfe", "not UTF-8"), (b" \n", "no folder"), (b"x" * 5000, "no folder")]
)
def test_a_pointer_that_names_nothing_is_refused(write_set: WriteSet, content: bytes, words: str) -> None:
    folder = write_set()
    (folder / "CORPUS").write_bytes(content)
    with pytest.raises(EvalDataError, match=words):
        load_set(folder)


def test_windows_line_ends_and_marks_at_the_start_are_read(write_set: WriteSet) -> None:
    folder = write_set()
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        path = folder / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(load_set(folder).judged) == 4
