"""The Python client and the retrievers of other frameworks, against a service on a port of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document
from tests.serving import config_of, on_a_port

from kaijuan.client import Client
from kaijuan.core.identity import Role
from kaijuan.errors import AccessError, NotFoundError, ServiceError, UnauthenticatedError, UsageError
from kaijuan.frameworks.langchain import KaijuanRetriever as LangChainRetriever
from kaijuan.frameworks.llamaindex import KaijuanRetriever as LlamaIndexRetriever
from kaijuan.sync import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

QUESTION = "How many barrels does the cellar hold?"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with on_a_port(tmp_path_factory.mktemp("served") / "home") as (started, _):
        folder = tmp_path_factory.mktemp("papers") / "papers"
        (folder / "deep").mkdir(parents=True)
        (folder / "cellar.md").write_text("# Cellar\n\nThe cellar holds forty barrels of cider.\n")
        (folder / "deep" / "roof.md").write_text("# Roof\n\nThe roof was mended in spring by two carpenters.\n")
        (folder / "deep" / "garden.md").write_text("# Garden\n\nThe garden has three gates and one well.\n")
        with Client(started) as base:
            base.make_base()
            assert base.add(folder)["added"] == 3
        yield started


@pytest.fixture
def base(address: str) -> Iterator[Client]:
    with Client(address) as opened:
        yield opened


def test_the_client_has_the_verbs(base: Client, tmp_path: Path) -> None:
    assert base.me()["local"] is True
    assert [one["name"] for one in base.bases()] == ["default"]
    assert base.status()["documents"] == 3
    assert [one["title"] for one in base.list()] == ["Cellar", "Garden", "Roof"]
    assert "forty barrels" in base.search(QUESTION)["passages"][0]["text"]
    answer = base.ask(QUESTION)
    assert "forty barrels" in answer["answer"]
    assert base.cite(answer["citations"][0]["ref"])["citation"]["quote"] == answer["citations"][0]["quote"]
    events = list(base.ask_stream(QUESTION))
    assert events[-1][0] == "done"
    assert events[-1][1]["answer"] == answer["answer"]
    assert base.show("cellar.md")["text"].startswith("# Cellar") or "Cellar" in base.show("cellar.md")["text"]
    assert base.original("cellar.md").startswith(b"# Cellar")
    assert base.explain(QUESTION, contains="forty")["targets"]
    assert base.converse(QUESTION, session="s1")["answer"] == answer["answer"]
    assert base.give_feedback(QUESTION, "good", trace_id=answer["trace_id"])["verdict"] == "good"
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nA note about nothing in particular.\n")
    assert base.add(note)["added"] == 1
    assert base.snapshots()[-1]["documents"] == 4
    assert base.remove("note.md")["removed"] == 1


def test_a_large_file_goes_in_pieces_and_on_from_where_it_was(base: Client, tmp_path: Path) -> None:
    large = tmp_path / "large.md"
    large.write_text("# Large\n\n" + "".join(f"Line {number} of the large file.\n\n" for number in range(3000)))
    assert base.upload(large, piece_bytes=20_000)["added"] == 1
    assert base.original("large.md") == large.read_bytes()
    base.remove("large.md")


def test_errors_are_those_of_the_engine(base: Client, address: str, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="none"):
        base.show("none.md")
    with pytest.raises(UsageError):
        base.search("")
    with pytest.raises(UsageError):
        base.add(tmp_path)
    with Client(address, kb="nowhere") as other, pytest.raises(NotFoundError):
        other.status()
    with Client("http://127.0.0.1:9") as nobody, pytest.raises(ServiceError):
        nobody.me()


def test_a_client_with_a_key_is_its_user(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Kaijuan(home, config=config_of(), embedder=HashEmbedder()) as engine:
        engine.put_user("olga", role=Role.OWNER)
        engine.put_user("rita")
        olga, rita = engine.create_key("olga")[1], engine.create_key("rita")[1]
    with on_a_port(home) as (address, _):
        with Client(address, key=olga) as base:
            base.make_base()
            assert base.me()["name"] == "olga"
        with Client(address, key=rita) as base, pytest.raises(AccessError):
            base.make_base()
        with Client(address, key="wrong") as base, pytest.raises(UnauthenticatedError):
            base.me()


# --- retrievers: what LangChain's standard tests ask of one, and the same of LlamaIndex's -------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_langchain_gets_as_many_documents_as_were_asked_for(base: Client, k: int) -> None:
    words = "cellar roof garden"
    found = LangChainRetriever(base=base, k=k).invoke(words)
    assert len(found) == k
    assert all(isinstance(one, Document) for one in found)
    assert len(LangChainRetriever(base=base).invoke(words, k=k)) == k
    later = asyncio.run(LangChainRetriever(base=base, k=k).ainvoke(words))
    assert [one.page_content for one in later] == [one.page_content for one in found]


def test_documents_say_where_their_words_stand(base: Client) -> None:
    [found] = LangChainRetriever(base=base, k=1, filters=("title = Cellar",)).invoke(QUESTION)
    assert "forty barrels" in found.page_content
    start, end = found.metadata["span"]
    text = base.show("cellar.md")["text"]
    assert text[start:end] == found.page_content
    assert found.metadata["source"] == "upload:/papers/cellar.md"


def test_llamaindex_gets_nodes_with_scores(base: Client) -> None:
    found = LlamaIndexRetriever(base, k=2).retrieve(QUESTION)
    assert len(found) == 2
    assert "forty barrels" in found[0].node.get_content()
    assert found[0].score is not None
    assert found[0].node.metadata["title"] == "Cellar"
    later = asyncio.run(LlamaIndexRetriever(base, k=2).aretrieve(QUESTION))
    assert [one.node.node_id for one in later] == [one.node.node_id for one in found]


def test_retrievers_work_with_the_engine_in_the_same_process(tmp_path: Path) -> None:
    note = tmp_path / "cellar.md"
    note.write_text("# Cellar\n\nThe cellar holds forty barrels of cider.\n")
    with Kaijuan(tmp_path / "home", config=config_of(), embedder=HashEmbedder()) as engine:
        engine.add(note)
        assert "forty" in LangChainRetriever(base=engine).invoke(QUESTION)[0].page_content
        assert "forty" in LlamaIndexRetriever(engine).retrieve(QUESTION)[0].node.get_content()
