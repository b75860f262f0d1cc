"""A small base in both languages for tests of what a question means."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.testing.embedders import HashEmbedder

RECORDS: Sequence[Mapping[str, Any]] = (
    {
        "_id": "travel-2022",
        "title": "差旅管理办法（2022版）",
        "text": "住宿标准：一线城市每晚上限 500 元。",
        "year": 2022,
        "department": "人事部",
        "version": "1.0",
    },
    {
        "_id": "travel-2024",
        "title": "差旅管理办法（2024版）",
        "text": "住宿标准：一线城市每晚上限 600 元。",
        "year": 2024,
        "department": "人事部",
        "version": "2.0",
        "published": "2024-01-05",
    },
    {
        "_id": "expense",
        "title": "费用报销制度",
        "text": "员工报销须在三十天内提交发票。报销流程：填单、审批、付款。",
        "year": 2023,
        "department": "财务部",
    },
    {"_id": "invoice", "title": "发票说明", "text": "报销时发票抬头写公司全称。发票遗失应补开。", "year": 2023},
    {
        "_id": "sla",
        "title": "服务承诺",
        "text": "本公司与客户签订服务级别协议（SLA）。服务级别协议规定可用性为 99.9%。",
    },
    {
        "_id": "refund",
        "title": "Refund policy",
        "text": "Customers may request reimbursement within 14 days of purchase.",
    },
    {
        "_id": "kpi",
        "title": "Goals",
        "text": "Every team has a Key Performance Indicator (KPI). Reimbursement is monthly.",
    },
    {
        "_id": "holiday",
        "title": "Holidays",
        "text": "Employees have 25 days of paid leave.",
        "department": "Human Resources",
    },
)


@asynccontextmanager
async def base(folder: Path, records: Sequence[Mapping[str, Any]] = RECORDS, **settings: Any) -> AsyncIterator[Kaijuan]:
    """Open an engine over these records."""
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    # The vectors are a test's, so that the words decide.
    retrieve = {"languages_apart": False, "dense_weight": 0.1, **settings.pop("retrieve", {})}
    # Tests run beside others: what is tested here is never that a step is late.
    understanding = {"step_seconds": 60.0, **settings.pop("understanding", {})}
    given = {"retrieve": retrieve, "understanding": understanding, **settings}
    config = Config.model_validate({"stores": {"index": "memory"}, **given})
    async with Kaijuan(folder / "home", config=config, embedder=HashEmbedder()) as engine:
        report = await engine.add(str(corpus))
        assert report.added == len(records), report.failed
        yield engine
