"""Reading sets: which layout, what is asked of what, and what is said where a file is at fault."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.answers.items import AnswerSet, Expected, Groups
from kaijuan.evals.answers.sets import Wishes, load
from kaijuan.evals.answers.sets.rgb import SNIPPETS

Read = Callable[..., AnswerSet]
SHARED = Path(__file__).parents[4].parent / "shared" / "data"


def lines(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(folder: Path, **wishes: Any) -> AnswerSet:
        return load(folder, Wishes(corpora=tmp_path / "corpora", **wishes))

    return reader


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    lines(folder / "corpus.jsonl", [{"_id": "d1", "text": "Paris."}, {"_id": "d2", "text": "Rome."}])
    rows = [
        {"_id": "q1", "text": "a?", "answer": ["Paris", "paris"]},
        {"_id": "q2", "text": "b?", "answer": "I do not know.", "answerability": "UNANSWERABLE"},
        {"_id": "q3", "text": "c?", "answer": "Rome", "answerability": "PARTIAL"},
        {"_id": "q4", "text": "d?", "answer": "Which?", "answerability": "UNDERSPECIFIED"},
        {"_id": "q5", "text": "e?"},
        {"_id": "q6", "text": " "},
    ]
    lines(folder / "queries.jsonl", rows)
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq3\td2\t1\n", encoding="utf-8")
    return folder


def test_beir_with_answers(read: Read, beir: Path) -> None:
    data = read(beir)
    by_id = {item.id: item for item in data.items}
    assert {id: (item.kind, item.expected) for id, item in by_id.items()} == {
        "q1": ("answerable", Expected.ANSWER),
        "q2": ("unanswerable", Expected.REFUSE),
        "q3": ("partial", Expected.ANSWER),
        "q4": ("underspecified", Expected.CLARIFY),
        "q5": ("unjudged", Expected.UNKNOWN),
    }
    assert by_id["q1"].gold == (("Paris", "paris"),)
    assert by_id["q2"].gold == by_id["q4"].gold == ()  # a sentence that declines is no answer to look for
    assert by_id["q1"].relevant == {"d1"}
    assert any("blank" in problem for problem in data.problems)
    assert set(data.labels) == {item.kind for item in data.items}


@pytest.mark.parametrize(
    ("parts", "gold"),
    [
        (["Paris", ["9 am", "9:00"]], (("Paris",), ("9 am", "9:00"))),
        (["Paris", " "], (("Paris; 9 am",),)),
        ([], (("Paris; 9 am",),)),
        ("Paris", (("Paris; 9 am",),)),
    ],
)
def test_every_part_of_an_answer_is_asked_for(read: Read, beir: Path, parts: Any, gold: Groups) -> None:
    lines(beir / "queries.jsonl", [{"_id": "q1", "text": "a?", "answer": "Paris; 9 am", "answer_parts": parts}])
    (item,) = read(beir).items
    assert item.gold == gold


def test_withheld_asks_again_without_the_documents(read: Read, beir: Path) -> None:
    data = read(beir, withheld=True)
    again = [item for item in data.items if item.kind == "withheld"]
    assert [(item.id, item.without, item.expected) for item in again] == [
        ("q1/withheld", ("d1",), Expected.REFUSE),
        ("q3/withheld", ("d2",), Expected.REFUSE),
    ]
    assert again[0].gold == (("Paris", "paris"),)  # so that a right answer all the same is noticed
    assert data.fingerprint == read(beir).fingerprint


def test_a_set_without_answers_says_so(read: Read, beir: Path) -> None:
    lines(beir / "queries.jsonl", [{"_id": "q1", "text": "a?"}])
    assert any("expected answer" in problem for problem in read(beir).problems)


def test_judgements_may_be_missing(read: Read, beir: Path) -> None:
    (beir / "qrels.tsv").unlink()
    by_id = {item.id: item for item in read(beir).items}
    assert (by_id["q1"].expected, by_id["q1"].relevant) == (Expected.ANSWER, frozenset())  # it has an answer
    assert by_id["q2"].expected is Expected.REFUSE
    assert not any(item.kind == "withheld" for item in read(beir, withheld=True).items)  # nothing known to withhold


def test_a_set_may_name_its_kinds(read: Read, beir: Path) -> None:
    rows = [
        {"_id": "q1", "text": "a?", "answer": "Paris", "kind": "table"},
        {"_id": "q2", "text": "b?", "kind": "unanswerable", "answerability": "UNANSWERABLE"},
        {"_id": "q3", "text": "c?", "answer": "Rome", "kind": 7},
    ]
    lines(beir / "queries.jsonl", rows)
    data = read(beir)
    assert [item.kind for item in data.items] == ["table", "unanswerable", "answerable"]
    assert list(data.labels) == ["table", "answerable", "unanswerable"]


def test_strangers_are_asked_of_another_corpus(read: Read, beir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "strangers"
    rows = [
        {"_id": "s1", "text": "谁？", "answer": "某人"},
        {"_id": "s1", "text": "twice"},
        {"_id": "s2", "text": "何？"},
    ]
    lines(folder / "questions.jsonl", rows)
    data = read(folder, over=beir)
    assert data.name == "strangers over beir"
    assert data.corpus == beir / "corpus.jsonl"
    assert [(item.id, item.expected, item.gold) for item in data.items] == [
        ("s1", Expected.REFUSE, (("某人",),)),
        ("s2", Expected.REFUSE, ()),
    ]
    assert len(data.problems) == 1
    with pytest.raises(EvalDataError, match="--over"):
        read(folder)
    with pytest.raises(UsageError, match="--over"):
        read(beir, over=beir)


def snippets(word: str, count: int) -> list[str]:
    return [f"{word} {at}" for at in range(count)]


@pytest.fixture
def rgb(tmp_path: Path) -> Path:
    folder = tmp_path / "rgb"
    noisy = {"query": "何时？", "answer": ["1月3日"], "positive": snippets("right", 6), "negative": snippets("no", 7)}
    short = {"query": "几？", "answer": [["4次", "四次"]], "positive": ["right"], "negative": ["no"]}
    lines(folder / "zh_refine.jsonl", [noisy, short])
    parts = {
        "query": "两者？",
        "answer": ["A", ["B", "b"]],
        "positive": [["a0", "a1"], ["b0"]],
        "negative": snippets("no", 9),
    }
    lines(folder / "zh_int.jsonl", [parts])
    fact = {
        "query": "who",
        "answer": "Ann",
        "fakeanswer": "Bob",
        "positive": ["It was Ann.", "Ann."],
        "positive_wrong": ["It was Bob.", "Bob."],
        "negative": snippets("no", 8),
    }
    lines(folder / "en_fact.jsonl", [fact])
    return folder


def test_rgb_gives_five_snippets_of_which_a_share_is_noise(read: Read, rgb: Path) -> None:
    data = read(rgb)
    by_id = {item.id: item for item in data.items}
    for share, noise in (("0%", 0), ("20%", 1), ("40%", 2), ("60%", 3), ("80%", 4)):
        among = by_id[f"zh_refine-1/noise {share}"].among
        assert among is not None
        assert (len(among), sum("-n-" in id for id in among)) == (SNIPPETS, noise)
    assert len(by_id["zh_refine-2/noise 0%"].among or ()) == 2  # there are no more
    refused = by_id["zh_refine-1/negatives only"]
    assert refused.expected is Expected.REFUSE
    assert all("-n-" in id for id in refused.among or ())
    assert by_id["zh_refine-2/noise 0%"].gold == (("4次", "四次"),)


def test_rgb_integration_gives_a_snippet_for_every_part(read: Read, rgb: Path) -> None:
    by_id = {item.id: item for item in read(rgb).items}
    noisy = by_id["zh_int-1/integration, noise 40%"]
    assert noisy.gold == (("A",), ("B", "b"))
    corpus = {row["_id"]: row["text"] for row in map(json.loads, read(rgb).corpus.read_text("utf-8").splitlines())}
    assert [corpus[id] for id in noisy.among or ()][:3] == ["a0", "b0", "a1"]


def test_rgb_counterfactual(read: Read, rgb: Path) -> None:
    by_id = {item.id: item for item in read(rgb).items}
    planted, disputed = by_id["en_fact-1/planted, en"], by_id["en_fact-1/disputed, en"]
    assert (planted.expected, planted.conflict, planted.planted) == (Expected.UNKNOWN, True, (("Bob",),))
    assert not any("-p-" in id for id in planted.among or ())
    assert Counter(id.split("-")[2] for id in disputed.among or ()) == {"w": 2, "p": 2, "n": 1}
    assert (disputed.expected, disputed.gold) == (Expected.ANSWER, (("Ann",),))


def test_ramdocs(read: Read, tmp_path: Path) -> None:
    folder = tmp_path / "ram"
    documents = [
        {"text": "1856", "type": "correct"},
        {"text": "1900", "type": "misinfo"},
        {"text": " ", "type": "noise"},
    ]
    row = {
        "question": "When?",
        "documents": documents,
        "gold_answers": ["1856"],
        "wrong_answers": ["1900", "1900", "1856"],
    }
    lines(folder / "ramdocs.jsonl", [row, {**row, "wrong_answers": [], "gold_answers": ["1856", "1857"]}])
    first, second = read(folder).items
    assert (first.kind, first.gold, first.planted) == ("misinformed", (("1856",),), (("1900",),))
    assert first.among == ("ramdocs-1-0", "ramdocs-1-1")  # a blank document is none
    assert (second.kind, second.planted, second.conflict) == ("several answers", (), True)


def test_tatqa_makes_pages_with_a_table(read: Read, tmp_path: Path) -> None:
    folder = tmp_path / "tat"
    questions = [
        {"uid": "u1", "question": "Sales?", "answer": ["$1,496.5", ""], "answer_type": "span", "scale": "million"},
        {"uid": "u2", "question": "Change?", "answer": -22.22, "answer_type": "arithmetic", "scale": "percent"},
        {"uid": "u3", "question": " ", "answer": ["x"], "answer_type": "span", "scale": ""},
    ]
    row = {
        "table": {"uid": "t", "table": [["", "2019"], ["Sales <net>", "1"]]},
        "paragraphs": [{"order": 2, "text": "second"}, {"order": 1, "text": "first & only"}],
        "questions": questions,
    }
    lines(folder / "tatqa_dev.jsonl", [row])
    data = read(folder)
    page = (data.corpus / "t.html").read_text("utf-8")
    assert "<td>Sales &lt;net&gt;</td><td>1</td>" in page
    assert page.index("first &amp; only") < page.index("second") < page.index("<table>")
    assert [(item.id, item.gold, item.among) for item in data.items] == [
        ("u1", (("$1,496.5", "$1,496.5 million"),), ("t.html",)),
        ("u2", (("-22.22", "-22.22%"),), ("t.html",)),
    ]


def test_a_made_corpus_is_written_once_and_named_by_its_content(read: Read, rgb: Path) -> None:
    first = read(rgb)
    stamp = first.corpus.stat().st_mtime_ns
    second = read(rgb)
    assert (second.corpus, second.corpus_hash) == (first.corpus, first.corpus_hash)
    assert second.corpus.stat().st_mtime_ns == stamp
    lines(rgb / "zh_int.jsonl", [])
    assert read(rgb).corpus != first.corpus
    assert read(rgb).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("file", "rows", "said"),
    [
        ("ramdocs.jsonl", [{"question": "q", "gold_answers": ["a"]}], "Line 1 .* no documents"),
        ("ramdocs.jsonl", [{"question": "q", "documents": [{"text": "t"}]}], "Line 1 .* no gold_answers"),
        ("ramdocs.jsonl", [], "no question"),
        ("zh_refine.jsonl", [{"query": "q", "positive": ["x"]}], "Line 1 .* no answer"),
        ("zh_refine.jsonl", [{"answer": ["a"], "positive": ["x"]}], "Line 1 .* no query"),
        ("tatqa.jsonl", [{"table": []}], "Line 1 .* no context"),
        ("tatqa.jsonl", [[1, 2]], "Line 1 .* not a JSON object"),
        ("something.jsonl", [], "no answer set"),
    ],
)
def test_what_is_at_fault_is_named(read: Read, tmp_path: Path, file: str, rows: list[Any], said: str) -> None:
    lines(tmp_path / "bad" / file, rows)
    with pytest.raises(EvalDataError, match=said):
        read(tmp_path / "bad")


def test_the_splits_of_a_made_set_are_named(read: Read, beir: Path, tmp_path: Path) -> None:
    beir.rename(tmp_path / "test")
    with pytest.raises(EvalDataError, match="several sets") as several:
        read(tmp_path)
    assert str(tmp_path / "test") in several.value.hint


def test_no_folder(read: Read, tmp_path: Path) -> None:
    with pytest.raises(EvalDataError, match="no folder"):
        read(tmp_path / "nowhere")


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not here")
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("rgb_zh_en", {"negatives only": 197, "disputed, zh": 74, "planted, en": 74, "integration, noise 0%": 76}),
        ("ramdocs_en", {"misinformed": 202, "several answers": 111, "noise only": 25}),
        ("tatqa_en", {"arithmetic": 458, "span": 437, "multi-span": 146, "count": 21}),
        ("clapnq_en", {"answerable": 202, "unanswerable": 196}),
        ("mtrag_un_en", {"answerable": 179, "partial": 32, "unanswerable": 55, "underspecified": 51}),
        ("financebench_en", {"answerable": 64}),
    ],
)
def test_public_sets(read: Read, name: str, kinds: dict[str, int]) -> None:
    data = read(SHARED / name)
    found = Counter(item.kind for item in data.items)
    assert kinds.items() <= found.items()
    assert len({item.id for item in data.items}) == len(data.items)
