"""Whatever the history of granting, revoking, moving, deleting and uploading again: every route shows what an oracle of
ten lines says, at the very next request."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role

USERS = ("ann", "ben", "cem")
GROUPS = ("red", "blue")
PATHS = ("a/one.md", "a/two.md", "a/deep/three.md", "b/four.md")
WORDS = dict(zip(PATHS, ("walnut", "cherry", "almond", "quince"), strict=True))
FOLDERS = ("upload:/a/", "upload:/a/deep/")
PRINCIPALS = (*USERS, *(f"group:{name}" for name in GROUPS), "tenant")
QUESTION = "Where do walnut, cherry, almond and quince grow?"


@dataclass(slots=True)
class Oracle:
    """Who may read which document, by the rules alone."""

    there: set[str] = field(default_factory=set)
    bound: dict[str, set[str]] = field(default_factory=lambda: {"": set()})
    """Principals by resource: "" is the base, then folders and paths."""
    members: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in GROUPS})

    def names(self, user: str) -> set[str]:
        return {user, "tenant", *(f"group:{group}" for group, users in self.members.items() if user in users)}

    def readers(self, path: str) -> set[str]:
        over = [each for each in self.bound if each == path or (each and f"upload:/{path}".startswith(each))]
        return self.bound[path if path in over else max(over, key=len, default="")]

    def sees(self, user: str) -> set[str]:
        return {path for path in self.there if self.readers(path) & self.names(user)}


operations = st.one_of(
    st.tuples(st.just("upload"), st.sampled_from(PATHS)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    st.tuples(st.just("move"), st.permutations(PATHS).map(lambda two: tuple(two[:2]))),
    st.tuples(
        st.sampled_from(("grant", "grant", "revoke")),
        st.tuples(st.sampled_from(PRINCIPALS), st.sampled_from(("", "", *FOLDERS, *PATHS))),
    ),
    st.tuples(st.just("inherit"), st.sampled_from((*FOLDERS, *PATHS))),
    st.tuples(st.sampled_from(("join", "leave")), st.tuples(st.sampled_from(GROUPS), st.sampled_from(USERS))),
)


class History:
    """A service, the oracle beside it, and what is done to both."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._oracle = Oracle()
        self._round = 0
        self._versions: dict[str, str] = {}

    async def begin(self) -> None:
        await self._served.of("default").make_base()
        await self._served.user("olga", role=Role.OWNER)
        for name in USERS:
            await self._served.user(name)
        await self.take(("upload", PATHS[0]))

    async def take(self, step: tuple[str, Any]) -> None:
        kind, what = step
        await getattr(self, f"_{kind}")(what)
        await self._check()

    async def _upload(self, path: str) -> None:
        self._round += 1
        text = f"# The {WORDS[path]}\n\nThe {WORDS[path]} grows in row {self._round} of the garden.\n"
        ticket = await self._served.upload("default", {path: text}, user="olga")
        assert ticket["state"] == "done", ticket
        self._oracle.there.add(path)
        shown = await self._served.get(_at(path), user="olga")
        self._versions[path] = shown.json()["version"]["version_id"]

    async def _delete(self, path: str) -> None:
        if path in self._oracle.there and "all" in self._owners(path):
            assert (await self._served.call("DELETE", _at(path), user="olga")).status_code == 200
            self._oracle.there.discard(path)

    def _owners(self, path: str) -> set[str]:
        return {"all"} | self._oracle.readers(path)

    async def _move(self, two: tuple[str, str]) -> None:
        await self._delete(two[0])
        await self._upload(two[1])

    async def _grant(self, what: tuple[str, str]) -> None:
        principal, on = what
        if on in PATHS and on not in self._oracle.there:
            return
        await self._ruled("grant", principal, on)
        self._oracle.bound.setdefault(on, set()).add(principal)

    async def _revoke(self, what: tuple[str, str]) -> None:
        principal, on = what
        if on in PATHS and on not in self._oracle.there:
            return
        await self._ruled("revoke", principal, on)
        if on in self._oracle.bound:
            self._oracle.bound[on].discard(principal)

    async def _ruled(self, verb: str, principal: str, on: str) -> None:
        body = {"principal": principal, "on": f"upload:/{on}" if on in PATHS else on}
        answer = await self._served.post(f"/kbs/default/access/{verb}", body, user="olga")
        assert answer.status_code == 200, answer.text

    async def _inherit(self, on: str) -> None:
        if on in FOLDERS or on in self._oracle.there:
            await self._served.of("default").inherit(f"upload:/{on}" if on in PATHS else on)
            self._oracle.bound.pop(on, None)

    async def _join(self, what: tuple[str, str]) -> None:
        await self._served.of("default").join_group(*what)
        self._oracle.members[what[0]].add(what[1])

    async def _leave(self, what: tuple[str, str]) -> None:
        await self._served.of("default").leave_group(*what)
        self._oracle.members[what[0]].discard(what[1])

    # --- what every route shows ---------------------------------------------------------------------------------

    async def _check(self) -> None:
        for user in USERS:
            wanted = {WORDS[path] for path in self._oracle.sees(user)}
            exact, within = await self._shown(user)
            for route, words in exact.items():
                assert words == wanted, (user, route)
            for route, words in within.items():
                assert words <= wanted, (user, route)

    async def _shown(self, user: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Return the words that routes show a user: those that must show all, and those that may show fewer."""
        served, at = self._served, "/kbs/default"
        found = await served.post(f"{at}/search", {"query": QUESTION, "k": 50, "cut": False}, user=user)
        listed = await served.get(f"{at}/documents", user=user)
        single: set[str] = set()
        for path, version in self._versions.items():
            if path in self._oracle.there:
                texts = [
                    (await served.get(f"{at}/versions/{version}/{part}", user=user)).text.casefold()
                    for part in ("text", "chunks", "blocks", "original")
                ]
                assert len({WORDS[path] in text for text in texts}) == 1, (user, path)
                single |= {word for word in WORDS.values() if word in texts[0]}
        passages = " ".join(one["text"] for one in found.json().get("passages", ()))
        titles = " ".join(one["title"] for one in listed.json().get("documents", ()))
        exact = {"search": _words(passages), "list": _words(titles), "versions": single}
        answer = (await served.post(f"{at}/ask", {"question": QUESTION}, user=user)).json()
        said = f"{answer.get('answer', '')} {answer.get('citations', '')}"
        model = {"model": "default", "messages": [{"role": "user", "content": QUESTION}]}
        chat = (await served.call("POST", "/v1/chat/completions", json=model, user=user)).json()
        suggested = await served.get(f"{at}/suggest", params={"q": "The "}, user=user)
        diff = await served.get(f"{at}/diff?before=0", user=user)
        within = {
            "ask": _words(said) if answer.get("status") != "refused" else set(),
            "chat": _words(str(chat.get("kaijuan", {}).get("citations", ""))),
            "suggest": _words(suggested.text),
            "diff": _words(diff.text),
        }
        return exact, within


def _at(path: str) -> str:
    return f"/kbs/default/documents/{path.rpartition('/')[2]}"


def _words(text: str) -> set[str]:
    return {word for word in WORDS.values() if word in text.casefold()}


@pytest.mark.slow
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a step takes a second: shrinking would take an hour
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps=st.lists(operations, min_size=3, max_size=8))
async def test_every_route_shows_what_the_oracle_says_after_every_step(steps: list[tuple[str, Any]]) -> None:
    limits = {"requests_per_minute": 1_000_000, "tenant_requests_per_minute": 10_000_000}
    with tempfile.TemporaryDirectory() as folder:
        async with in_process(Path(folder) / "home", config_of(identity=limits)) as served:
            history = History(served)
            await history.begin()
            for step in steps:
                await history.take(step)
