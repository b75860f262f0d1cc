"""Every judge of answers keeps the promises of the port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.unit.evals.answers.chat_service import Service, says

from kaijuan.config import EvalSettings
from kaijuan.evals.answers.judges.chat import ChatJudge
from kaijuan.evals.answers.judges.remembered import RememberedJudge
from kaijuan.evals.answers.judges.rules import RuleJudge
from kaijuan.evals.answers.ports import Judge
from kaijuan.evals.journal import Journal
from kaijuan.testing.contracts.judge import JudgeContract


async def no_sleep(seconds: float) -> None:
    return


class TestRuleJudge(JudgeContract):
    @pytest.fixture
    def judge(self) -> Judge:
        return RuleJudge()


class TestChatJudge(JudgeContract):
    @pytest.fixture
    async def judge(self) -> AsyncIterator[Judge]:
        service = Service()
        judge = ChatJudge(EvalSettings(judge_url=service.url, judge_model="m"), sleep=no_sleep)
        yield judge
        await judge.close()
        service.close()


class TestChatJudgeOfABrokenModel(JudgeContract):
    @pytest.fixture
    async def judge(self) -> AsyncIterator[Judge]:
        service = Service()
        service.replies = [says("no object {")]
        judge = ChatJudge(EvalSettings(judge_url=service.url, judge_model="m"), sleep=no_sleep)
        yield judge
        await judge.close()
        service.close()


class TestRememberedJudge(JudgeContract):
    @pytest.fixture
    def judge(self, tmp_path: Path) -> Iterator[Judge]:
        with Journal(tmp_path, ("contract",)) as journal:
            yield RememberedJudge(RuleJudge(), journal)
