"""Making whole sets from small knowledge bases: exact evidence, the same bytes, versions that keep what still holds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from kaijuan.config import Config, StoreSettings
from kaijuan.engine import Kaijuan
from kaijuan.errors import EvalDataError
from kaijuan.evals.making.folder import read_items, read_reviewed, version_folder, versions_of
from kaijuan.evals.making.items import Item, Kind, Split
from kaijuan.evals.making.pipeline import Made, Request, make
from kaijuan.evals.making.reviews import Action, Review, append
from kaijuan.evals.making.splits import Shares
from kaijuan.evals.sets import load_set
from kaijuan.samples import sample_folder
from kaijuan.testing.embedders import HashEmbedder

MOMENT = 1_700_000_000.0
EVERYWHERE = Shares(train=100, dev=0, test=0)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[Kaijuan]:
    config = Config(stores=StoreSettings(index="memory"))
    async with Kaijuan(folder / "home", config=config, embedder=HashEmbedder()) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def engine(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    async with _opened(tmp_path) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def samples(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kaijuan]:
    """Return the base of the bundled samples, which no test changes."""
    async with _opened(tmp_path_factory.mktemp("samples")) as opened:
        await opened.add(sample_folder())
        yield opened


async def made(engine: Kaijuan, root: Path, **more: object) -> Made:
    request = Request(root=root, **({"shares": EVERYWHERE, "count": 12} | more))  # type: ignore[arg-type] # as named
    return await make(engine, request, clock=lambda: MOMENT)


def by_question(items: tuple[Item, ...] | list[Item]) -> dict[str, Item]:
    return {item.question: item for item in items}


async def test_the_samples_give_questions_of_every_kind(samples: Kaijuan, tmp_path: Path) -> None:
    result = await made(samples, tmp_path / "set", count=6)
    kinds = {kind: [item for item in result.items if item.kind is kind] for kind in Kind}
    assert {kind: bool(found) for kind, found in kinds.items()} == dict.fromkeys(Kind, True)
    assert max(map(len, kinds.values())) <= 6
    assert {item.language for item in result.items} == {"zh", "en"}
    assert result.facts["splits"]["train"] == {str(kind): len(found) for kind, found in kinds.items()}


async def test_evidence_is_exact_in_the_corpus_and_holds_the_answer(samples: Kaijuan, tmp_path: Path) -> None:
    result = await made(samples, tmp_path / "set")
    lines = (result.folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n")
    texts = {row["_id"]: row["text"] for row in map(json.loads, filter(None, lines))}
    assert len(texts) == 7
    for item in result.items:
        for piece in item.evidence:
            assert texts[piece["document"]][piece["start"] : piece["end"]] == piece["quote"]
    data = load_set(result.folder / "train")
    assert data.problems == ()
    assert {query.id for query in data.judged} == {item.id for item in result.items if item.answerable}


async def test_the_same_base_and_seed_give_the_same_bytes(samples: Kaijuan, tmp_path: Path) -> None:
    folders = [(await made(samples, tmp_path / name)).folder for name in ("one", "other")]
    assert _bytes(folders[0]) == _bytes(folders[1])
    changed = await made(samples, tmp_path / "seeded", seed=1)
    assert by_question(changed.items).keys() != by_question(read_items(folders[0])).keys()


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def test_made_again_without_a_change_it_is_no_new_version(samples: Kaijuan, tmp_path: Path) -> None:
    first = await made(samples, tmp_path / "set", count=4)
    again = await made(samples, tmp_path / "set", count=4)
    assert again.unchanged
    assert again.folder == first.folder
    assert versions_of(tmp_path / "set") == [1]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    folder = tmp_path / "documents"
    folder.mkdir()

    def put(name: str, text: str) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    return put


QUAY = """# Quay Staff Handbook

## Fees

The mooring fee is 45 euros a night.

## Keys

Lost keys must be reported to the harbour office within 12 hours.
"""


async def test_a_new_version_keeps_what_holds_and_retires_what_does_not(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    root = tmp_path / "set"
    await engine.add(write("quay.md", QUAY))
    first = by_question((await made(engine, root, kinds=(Kind.SINGLE,))).items)
    fee = "According to the Quay Staff Handbook, how much is the mooring fee a night?"
    key = next(question for question in first if "keys be reported" in question)
    assert first[fee].answers == ("45 euros",)

    changed = QUAY.replace("45 euros", "60 euros").replace(
        "# Quay Staff Handbook", "# Quay Staff Handbook\n\nNew text."
    )
    await engine.add(write("quay.md", changed))
    result = await made(engine, root, kinds=(Kind.SINGLE,))
    second = by_question(result.items)
    assert result.facts["version"] == 2
    assert second[key].id == first[key].id
    assert second[key].since == 1
    assert second[key].evidence[0]["start"] > first[key].evidence[0]["start"]  # it moved with the text
    assert second[fee].answers == ("60 euros",)
    assert (second[fee].id != first[fee].id, second[fee].since) == (True, 2)
    assert result.facts["retired"] >= 1
    assert by_question(read_items(version_folder(root, 1)))[fee] == first[fee]


async def test_a_rejected_question_does_not_come_back_and_an_edit_stays(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    root = tmp_path / "set"
    await engine.add(write("quay.md", QUAY))
    items = (await made(engine, root, kinds=(Kind.SINGLE,))).items
    bad, good = items[0], items[1]
    append(root, [Review(at="", by="Lena", item=bad.id, action=Action.REJECT)])
    append(root, [Review(at="", by="Lena", item=good.id, action=Action.EDIT, question="What was meant?")])
    await engine.add(
        write("crane.md", "# Crane Rules\n\n## Loads\n\nThe test period of the crane is 30 days a year.\n")
    )
    await made(engine, root, kinds=(Kind.SINGLE,))
    now = {item.id: item for item in read_reviewed(root)}
    assert bad.id not in now
    assert bad.question not in {item.question for item in now.values()}
    assert (now[good.id].question, now[good.id].status) == ("What was meant?", "approved")


async def test_an_unanswerable_question_that_can_be_answered_now_is_retired(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    root = tmp_path / "set"
    body = "# Quay Employee Handbook\n\n## Leave\n\nEvery employee has fifteen days of leave a year.\n"
    await engine.add(write("quay.md", body))
    first = (await made(engine, root, kinds=(Kind.UNANSWERABLE,), count=30)).items
    parking = next(item for item in first if "parking" in item.question)
    await engine.add(write("parking.md", "# Notes\n\nEmployees use the parking spaces behind the office.\n"))
    second = await made(engine, root, kinds=(Kind.UNANSWERABLE,), count=30)
    assert parking.id not in {item.id for item in second.items}
    assert len(second.items) >= 5
    assert second.facts["left_out"]["unanswerable"]["answer_is_there"] >= 1


async def test_editions_of_one_title_are_in_one_split(samples: Kaijuan, tmp_path: Path) -> None:
    result = await made(samples, tmp_path / "set", shares=Shares(train=34, dev=33, test=33))
    homes: dict[str, set[Split]] = {}
    for item in result.items:
        for piece in item.evidence:
            homes.setdefault(piece["document"], set()).add(item.split)
    assert all(len(splits) == 1 for splits in homes.values())
    assert homes["差旅管理办法-2023.md"] == homes["差旅管理办法-2025.docx"]


async def test_another_document_that_says_the_same_counts_as_relevant(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    await engine.add(write("quay.md", QUAY))
    await engine.add(write("copy.md", QUAY))
    result = await made(engine, tmp_path / "set", kinds=(Kind.SINGLE,))
    item = next(item for item in result.items if item.how == "en/how-much")
    assert len(item.also) == 1
    assert sorted(load_set(result.folder / "train").grades[item.id].values()) == [1, 2]


async def test_a_question_whose_answer_stands_in_another_split_too_is_left_out(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    await engine.add(write("quay.md", QUAY))
    root = tmp_path / "set"
    await made(engine, root, kinds=(Kind.SINGLE,), shares=Shares(train=100, dev=0, test=0))
    await engine.add(write("copy.md", QUAY.replace("# Quay Staff Handbook", "# Pier Staff Handbook")))
    (root / "splits.tsv").write_text(
        (root / "splits.tsv").read_text(encoding="utf-8")
        + f"{(tmp_path / 'documents' / 'copy.md').as_uri()}\tpier staff handbook\ttest\n",
        encoding="utf-8",
    )
    result = await made(engine, root, kinds=(Kind.SINGLE,))
    for item in result.items:
        assert {piece["document"] for piece in item.evidence} | set(item.also) in ({"quay.md"}, {"copy.md"})
    assert {item.split for item in result.items} == {Split.TRAIN, Split.TEST}


async def test_what_fails_leaves_nothing_behind(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.add(write("quay.md", QUAY))

    async def stopped(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "search", stopped)
    with pytest.raises(KeyboardInterrupt):
        await made(engine, tmp_path / "set")
    assert list((tmp_path / "set").iterdir()) == []


async def test_a_question_with_two_answers_is_left_out(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    await engine.add(write("quay.md", QUAY))
    await engine.add(write("copy.md", QUAY.replace("45", "60")))
    result = await made(engine, tmp_path / "set", kinds=(Kind.SINGLE,))
    assert not [item for item in result.items if item.how == "en/how-much"]
    assert result.facts["left_out"]["single"]["ambiguous"] >= 1


async def test_hostile_text_gives_no_markup_and_breaks_nothing(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    text = (
        "# <script>alert(1)</script> Handbook\n\n## =cmd|' /C calc'!A1\n\nThe <b>fee</b> is 45 euros a night.\n\n"
        "| a | b |\n| --- | --- |\n| =1+1 | <img src=x> |\n| {{x}} | $y |\n\n## \u202egnp\n\nThe fee is "
        "12 euros a \u2028night.\n"
    )
    # The reversed reading order in it is held; somebody may let it in.
    await engine.add(write("hostile.md", text))
    await engine.approve("hostile.md", by="test")
    result = await made(engine, tmp_path / "set")
    for item in result.items:
        assert "<" not in item.question
        assert "\u2028" not in item.question
    assert read_items(result.folder) == list(result.items)


async def test_a_base_without_documents_is_named(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    await engine.add(write("quay.md", QUAY))
    await engine.remove("quay.md")
    with pytest.raises(EvalDataError, match="holds no document"):
        await made(engine, tmp_path / "set")


async def test_an_earlier_snapshot_gives_its_own_questions(
    engine: Kaijuan, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    before = await engine.add(write("quay.md", QUAY))
    await engine.add(write("quay.md", QUAY.replace("45", "60")))
    result = await made(engine, tmp_path / "set", kinds=(Kind.SINGLE,), snapshot=before.snapshot)
    assert ("45 euros",) in {item.answers for item in result.items}
