"""Which drafts a set takes: from every rule by turns, in an order that the seed settles, until there are enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kaijuan.core.ids import stable_id
from kaijuan.evals.making.items import Draft, Kind

MOST_FROM_ONE_DOCUMENT = 20
"""Drafts of one kind that one document may offer: a long one must not fill the memory."""


def offered(drafts: Iterable[Draft], seed: int) -> list[Draft]:
    """Return at most so many drafts of each kind of one document, chosen by the seed."""
    by_kind: dict[Kind, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_kind[draft.kind].append(draft)
    kept: list[Draft] = []
    for found in by_kind.values():
        kept += in_turns(found, seed)[:MOST_FROM_ONE_DOCUMENT]
    return kept


def in_turns(drafts: Iterable[Draft], seed: int) -> list[Draft]:
    """Return the drafts so that rules and languages take turns; within a rule the order is that of a seeded hash.

    Rules that give many questions (what is X?) do not crowd out those that give few.
    """
    groups: dict[tuple[str, str], dict[str, Draft]] = defaultdict(dict)
    for draft in drafts:
        groups[(draft.how, draft.language)].setdefault(draft.id, draft)
    queues = [
        sorted(found.values(), key=lambda draft: (stable_id("choice", seed, draft.id), draft.id))
        for _, found in sorted(groups.items())
    ]
    return list(_round_robin(queues))


def _round_robin(queues: list[list[Draft]]) -> Iterator[Draft]:
    at = 0
    while queues:
        for queue in queues:
            yield queue[at]
        at += 1
        queues = [queue for queue in queues if len(queue) > at]
