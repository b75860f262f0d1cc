"""The part of the index contract about filters: every node, over every kind of value, for every verb."""

from __future__ import annotations

from kaijuan.core.filters import (
    EVERYTHING,
    And,
    Eq,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Range,
    at_snapshot,
    matches,
)
from kaijuan.core.snapshots import OPEN
from kaijuan.index.ports import Index
from kaijuan.testing.contracts.index import SharedTests, ids, scanned
from kaijuan.testing.contracts.index_points import chunk, judged, point, vector

_FILTERED = (
    point(1, kind="pdf", size=3, draft=True, acl=("a", "b"), note="", year=2020),
    point(2, kind="html", size=3.5, draft=False, acl=("b",), year=2021.0),
    point(3, kind="pdf", size=-1, acl=(), draft="true", flag=1),
    point(4, size="3", year="2020", acl=("c", "a"), flag=True, kind="\x00true"),
    point(5),
    point(6, kind="中文 kind", acl=("组",), fields={"meta.lang": "zh", "meta.size": 10}),
    point(7, kind="PDF", size=0, draft=True, fields={"meta.lang": "en"}, valid_from=3, valid_to=5),
)
_FILTERS: tuple[Filter, ...] = (
    EVERYTHING,
    Or(()),
    Not(EVERYTHING),
    Not(Or(())),
    Eq("kind", "pdf"),
    Eq("kind", "中文 kind"),
    Eq("kind", "\x00true"),
    Eq("missing", "x"),
    Eq("note", ""),
    Eq("size", 3),
    Eq("size", 3.0),
    Eq("size", 3.5),
    Eq("size", "3"),
    Eq("size", -1),
    Eq("size", 0),
    Eq("size", -0.0),
    Eq("year", 2021),
    Eq("draft", True),
    Eq("draft", False),
    Eq("draft", "true"),
    Eq("flag", 1),
    Eq("flag", True),
    Eq("flag", 1.0),
    Eq("acl", "a"),
    Eq("meta.lang", "zh"),
    Eq("size", 2**53 + 1),
    In("kind", ("pdf", "PDF")),
    In("kind", ()),
    In("size", (3, "3", True)),
    In("draft", (True, "true")),
    In("acl", ("b", "c", "组")),
    In("flag", (1, True)),
    Range(field="size", gte=3),
    Range(field="size", gt=3),
    Range(field="size", gte=-1, lt=3),
    Range(field="size", gt=0, lte=3.5),
    Range(field="draft", gte=0),
    Range(field="acl", gte=0),
    Range(field="meta.size", lte=10),
    Range(field="valid_from", gte=1),
    Eq("valid_to", OPEN),
    Exists("kind"),
    Exists("acl"),
    Exists("note"),
    Exists("draft"),
    Exists("meta.lang"),
    Exists("missing"),
    Exists("valid_from"),
    Not(Eq("kind", "pdf")),
    Not(Exists("acl")),
    Not(Range(field="size", gte=3)),
    Not(In("kind", ())),
    And((Eq("kind", "pdf"), Eq("acl", "a"))),
    And((In("acl", ("a", "b")), Not(Eq("draft", True)))),
    Or((Eq("size", 3), And((Eq("kind", "PDF"), Range(field="size", lte=0))))),
    Not(Or((Eq("kind", "pdf"), Not(Exists("kind"))))),
    And((Or((Exists("draft"), Exists("flag"))), Not(And((Exists("draft"), Exists("acl")))))),
    at_snapshot(4),
    at_snapshot(5),
    And((at_snapshot(4), Or((Eq("kind", "PDF"), Eq("acl", "c"))))),
)


class Filtering(SharedTests):
    """Every filter means what `core.filters.matches` says, for every verb."""

    async def test_every_operator_over_every_kind_of_value(self, index: Index) -> None:
        await index.upsert(_FILTERED)
        for where in _FILTERS:
            expected = [int(item.id, 16) for item in _FILTERED if matches(where, judged(item))]
            assert await scanned(index, where) == expected, where
            assert await index.count(where) == len(expected), where
            assert ids(await index.search_dense(vector(1.0), 9, where)) == expected, where
            assert ids(await index.search_lexical({1: 1.0}, 9, where)) == expected, where

    async def test_every_operator_among_many_points(self, index: Index) -> None:
        """Engines plan otherwise, and index fields, when there is more to look through."""
        crowd = [point(number, terms={2: 1.0}, kind="txt", size=number, acl=("z",)) for number in range(100, 2_600)]
        await index.upsert([*_FILTERED, *crowd])
        for where in _FILTERS:
            expected = [int(item.id, 16) for item in (*_FILTERED, *crowd) if matches(where, judged(item))]
            assert await index.count(where) == len(expected), where
            rare = [number for number in expected if number < 100]
            assert ids(await index.search_lexical({1: 1.0}, 9, where)) == rare, where
            nearest = await index.search_dense(vector(1.0), len(_FILTERED), where)
            assert ids(nearest) == expected[: len(_FILTERED)], where

    async def test_intervals_open_and_close(self, index: Index) -> None:
        await index.upsert([point(1, valid_from=2), point(2, valid_from=3, valid_to=5)])
        seen = {snapshot: await scanned(index, at_snapshot(snapshot)) for snapshot in range(7)}
        assert seen == {0: [], 1: [], 2: [1], 3: [1, 2], 4: [1, 2], 5: [1], 6: [1]}
        await index.close_interval([chunk(1)], 4)
        assert ids(await index.search_dense(vector(1.0), 5, at_snapshot(4))) == [2]
        assert ids(await index.search_lexical({1: 1.0}, 5, at_snapshot(3))) == [1, 2]
        await index.close_interval([chunk(1), chunk(2)], OPEN)
        assert ids(await index.search_lexical({1: 1.0}, 5, at_snapshot(6))) == [1, 2]
