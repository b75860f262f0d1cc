"""The same question at the same snapshot: the same result, byte for byte, in every process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.retrieve.understood import RECORDS

from kaijuan import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

SCRIPT = """
import asyncio, json, sys
from dataclasses import asdict
from kaijuan import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

async def main():
    home, *questions = sys.argv[1:]
    async with Kaijuan(home, embedder=HashEmbedder()) as engine:
        for question in questions:
            for k in (3, 8):
                result = await engine.search(question, k=k, as_of=1)
                trace = asdict(result.trace)
                for name in ("id", "timings_ms"):
                    trace.pop(name)
                for step in (*trace["routes"], *trace["understanding"]["steps"], trace["reranker"] or {}):
                    step.pop("milliseconds", None) if isinstance(step, dict) else None
                passages = [asdict(passage) for passage in result.passages]
                print(json.dumps([passages, trace], ensure_ascii=False, default=str))

asyncio.run(main())
"""
FIXED = [
    "2023年以来人事部发布的住宿规定",
    "报消流程",
    "SLA 的可用性",
    "SLA 和 KPI 有什么区别",
    "reimbursemnet",
    "它什么时候生效",
]
WORDS = [
    "报销",
    "流程",
    "住宿",
    "标准",
    "2022年",
    "财务部",
    "refund",
    "policy",
    "KPI",
    "不",
    "最新",
    "holiday",
    "invoice",
]


def made(seed: int, count: int) -> list[str]:
    """Return questions of chance words, the same for a seed."""
    chance = random.Random(seed)
    return [" ".join(chance.sample(WORDS, chance.randint(1, 5))) for _ in range(count)]


def asked(home: Path, questions: list[str], seed: str) -> bytes:
    """Ask in a process of its own, with its own order of sets."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(home), *questions], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.slow
async def test_every_process_gives_the_same_bytes(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for record in RECORDS:
        (papers / f"{record['_id']}.md").write_text(
            f"# {record.get('title', '')}\n\n{record['text']}\n", encoding="utf-8"
        )
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        await engine.add([str(papers)])
        # Equal texts tie in every route: only their ids order them.
        (papers / "more.md").write_text("# 后来\n\n报销流程：填单。\n", encoding="utf-8")
        await engine.add([str(papers)])
    questions = [*FIXED, *made(11, 14)]
    first = asked(tmp_path / "home", questions, "0")
    assert len(first.splitlines()) == 2 * len(questions)
    for seed in ("1", "4711"):
        assert asked(tmp_path / "home", questions, seed) == first
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process
