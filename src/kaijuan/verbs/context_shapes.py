"""The JSON shapes of what a language model would be asked about passages, and of what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kaijuan.verbs.shapes import Json

if TYPE_CHECKING:
    from kaijuan.jobs.context_plan import ContextPlan
    from kaijuan.jobs.contexts import WrittenContexts


def plan_shape(plan: ContextPlan) -> Json:
    """What would be asked, and what it would cost."""
    return {
        "model": plan.model,
        "documents": plan.documents,
        "passages": plan.passages,
        "known": plan.known,
        "requests": plan.requests,
        "prompt_tokens": plan.prompt_tokens,
        "completion_tokens": plan.completion_tokens,
        "cost": plan.cost,
        "unpublished": [version.source for version in plan.stale],
    }


def written_shape(done: WrittenContexts) -> Json:
    """What was written, what it cost, and the snapshot that has it."""
    return {
        "written": done.written,
        "failed": done.failed,
        "why": done.why,
        "prompt_tokens": done.usage.prompt_tokens,
        "completion_tokens": done.usage.completion_tokens,
        "cost": done.usage.cost,
        "snapshot": done.report.snapshot if done.report else None,
        "updated": done.report.updated if done.report else 0,
    }
