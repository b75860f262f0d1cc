"""Who calls, what they may do, and that the very next request sees a change."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Action, Role

SECRET = "The vault code is 4711 and nobody else knows."
OPEN = "Lunch is served at noon in the canteen."


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home") as service:
        yield service


@pytest.fixture
async def shared(served: Served) -> Served:
    """One base with an open and a closed document; an owner, an editor, a reader and a stranger."""
    await served.upload("default", {"open.md": f"# Open\n\n{OPEN}\n", "secret.md": f"# Secret\n\n{SECRET}\n"})
    await served.user("olga", role=Role.OWNER)
    await served.user("ed")
    await served.user("rita", groups=["staff"])
    await served.user("sam")
    base = served.of("default")
    await base.grant("ed", role=Role.EDITOR)
    await base.grant("group:staff")
    await base.grant("group:board", on="secret.md")
    return served


async def test_without_keys_there_is_one_local_user_who_may_everything(served: Served) -> None:
    told = (await served.get("/me")).json()
    assert told["local"] is True
    assert told["identity"] is False
    assert set(told["actions"]) == {"read", "write", "manage", "audit"}


async def test_the_first_key_turns_identity_on(served: Served) -> None:
    await served.user("olga", role=Role.OWNER)
    answer = await served.get("/me")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert (await served.get("/me", user="olga")).json()["name"] == "olga"


async def test_a_key_is_kept_as_a_hash_and_shown_once(shared: Served) -> None:
    made = (await shared.post("/keys", {"user": "rita"}, user="olga")).json()
    listed = await shared.get("/keys", user="olga")
    assert made["key"] not in listed.text
    assert "digest" not in listed.text
    home = shared.engine.home
    secret = made["key"].split("_", 2)[2].encode()
    assert all(secret not in path.read_bytes() for path in home.glob("catalog.db*"))


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer nonsense", "Bearer kj_" + "0" * 16 + "_" + "A" * 43, "Basic b2xnYTp4"]
)
async def test_wrong_keys_are_refused_alike(shared: Served, given: str) -> None:
    headers = {"Authorization": given} if given else {}
    answer = await shared.get("/kbs", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthenticated"


async def test_a_key_with_one_other_character_opens_nothing(shared: Served) -> None:
    key = shared.keys["olga"]
    other = key[:-1] + ("a" if key[-1] != "a" else "b")
    assert (await shared.get("/kbs", headers={"X-API-Key": other})).status_code == 401
    assert (await shared.get("/kbs", headers={"X-API-Key": key})).status_code == 200


async def test_roles_allow_what_they_say(shared: Served) -> None:
    ways = [("GET", "/kbs/default/documents"), ("GET", "/kbs/default/reviews"), ("GET", "/kbs/default/access")]
    found = {
        user: [(await shared.call(method, path, user=user)).status_code for method, path in ways]
        for user in ("olga", "ed", "rita", "sam")
    }
    # A base that is not the caller's is not there.
    assert found == {"olga": [200] * 3, "ed": [200, 200, 403], "rita": [200, 403, 403], "sam": [404] * 3}


async def test_an_auditor_reads_the_log_and_no_document(shared: Served) -> None:
    await shared.user("ann", role=Role.AUDITOR)
    assert (await shared.get("/audit", user="ann")).status_code == 200
    assert (await shared.get("/kbs/default/documents", user="ann")).status_code == 404
    assert (await shared.get("/kbs", user="ann")).json()["kbs"] == []


async def test_the_auditor_of_one_base_reads_none_of_its_documents(shared: Served) -> None:
    await shared.user("ann")
    await shared.of("default").grant("ann", role=Role.AUDITOR)
    assert (await shared.get("/kbs/default/documents", user="ann")).status_code == 403
    assert (await shared.post("/kbs/default/search", {"query": "lunch"}, user="ann")).status_code == 403


async def test_scopes_and_bases_narrow_a_key(shared: Served) -> None:
    await shared.user("olga", role=Role.OWNER, scopes=[Action.READ])
    assert (await shared.get("/kbs/default/documents", user="olga")).status_code == 200
    assert (await shared.post("/kbs/default/runs", {"kind": "rebuild"}, user="olga")).status_code == 403
    assert (await shared.get("/keys", user="olga")).status_code == 403
    await shared.user("olga", role=Role.OWNER, bases=["other"])
    assert (await shared.get("/kbs/default/documents", user="olga")).status_code == 404
    assert (await shared.post("/kbs", {"name": "third"}, user="olga")).status_code == 403


async def test_an_expired_key_opens_nothing(tmp_path: Path) -> None:
    async with in_process(tmp_path / "home") as service:
        await service.user("olga", role=Role.OWNER)
        now = time.time()
        service.service.gate._clock = lambda: now
        _, text = await service.of("default").create_key("olga", days=1)
        service.keys["olga"] = text
        assert (await service.get("/me", user="olga")).status_code == 200
        service.service.gate._clock = lambda: now + 90_000
        assert (await service.get("/me", user="olga")).status_code == 401


async def test_revoking_a_key_and_shutting_out_a_user_hold_at_the_next_request(shared: Served) -> None:
    assert (await shared.get("/kbs", user="rita")).status_code == 200
    key = next(one for one in (await shared.get("/keys", user="olga")).json()["keys"] if one["user"] == "rita")
    await shared.call("DELETE", f"/keys/{key['id']}", user="olga")
    assert (await shared.get("/kbs", user="rita")).status_code == 401
    assert (await shared.get("/kbs", user="ed")).status_code == 200
    await shared.post("/users", {"name": "ed", "disabled": True}, user="olga")
    assert (await shared.get("/kbs", user="ed")).status_code == 401


async def _sees(service: Served, user: str, words: str) -> set[str]:
    """Return the routes on which a user meets words."""
    found = set()
    answers = {
        "search": await service.post("/kbs/default/search", {"query": "vault code", "cut": False}, user=user),
        "ask": await service.post("/kbs/default/ask", {"question": "What is the vault code?"}, user=user),
        "list": await service.get("/kbs/default/documents", user=user),
        "show": await service.get("/kbs/default/documents/secret.md?include=text,blocks,chunks", user=user),
        "original": await service.get("/kbs/default/documents/secret.md/original", user=user),
        "suggest": await service.get("/kbs/default/suggest?q=Sec", user=user),
        "diff": await service.get("/kbs/default/diff?before=0", user=user),
    }
    for name, answer in answers.items():
        if words in answer.text or "secret.md" in answer.text.replace("'secret.md'", ""):
            found.add(name)
    return found


async def test_a_document_with_readers_of_its_own_is_closed_to_others_until_the_next_request_after_a_grant(
    shared: Served,
) -> None:
    assert await _sees(shared, "rita", "4711") == set()
    await shared.of("default").join_group("board", "rita")
    seen = await _sees(shared, "rita", "4711")
    assert {"search", "list", "show", "original"} <= seen
    await shared.of("default").leave_group("board", "rita")
    assert await _sees(shared, "rita", "4711") == set()


async def test_a_closed_document_is_opened_again_by_those_who_manage_the_base_alone(shared: Served) -> None:
    inherit = "/kbs/default/access/inherit"
    for user in ("ed", "rita", "sam"):
        assert (await shared.post(inherit, {"on": "secret.md"}, user=user)).status_code in {403, 404}
    assert await _sees(shared, "rita", "4711") == set()
    told = await shared.post(inherit, {"on": "secret.md"}, user="olga")
    assert told.status_code == 200
    assert [one.rsplit("/", 1)[-1] for one in told.json()["documents"]] == ["secret.md"]
    assert {"search", "list", "show", "original"} <= await _sees(shared, "rita", "4711")
    for body in ({"on": ""}, {}, {"on": "secret.md", "more": 1}):
        assert (await shared.post(inherit, body, user="olga")).status_code == 422
    assert (await shared.post(inherit, {"on": "no such.md"}, user="olga")).status_code == 404


async def test_nobody_writes_over_what_they_may_not_read(shared: Served) -> None:
    base = shared.of("default")
    await base.grant("group:board", on="upload:/closed/")
    ticket = await shared.upload(
        "default", {"secret.md": "# Mine\n\nMine.\n", "closed/new.md": "# Mine\n\nMine.\n", "free.md": OPEN}, user="ed"
    )
    failed = {one["source"]: one["code"] for one in ticket["report"]["failed"]}
    assert failed == {"upload:/secret.md": "access_denied", "upload:/closed/new.md": "access_denied"}
    assert ticket["report"]["added"] == 1
    assert (await shared.call("DELETE", "/kbs/default/documents/secret.md", user="ed")).status_code == 404
    assert (await shared.post("/kbs/default/rollback", {"snapshot": 0}, user="ed")).status_code == 403
    assert SECRET in (await shared.get("/kbs/default/documents/secret.md?include=text", user="olga")).text


async def test_the_makers_of_a_base_own_it(shared: Served) -> None:
    await shared.user("ed", role=Role.EDITOR)
    assert (await shared.post("/kbs", {"name": "mine"}, user="ed")).status_code == 201
    assert (await shared.post("/kbs", {"name": "mine"}, user="ed")).status_code == 200
    assert (await shared.post("/kbs/mine/access/grant", {"principal": "rita"}, user="ed")).status_code == 200
    assert {"name": "mine", "head": 0, "actions": ["read"]} in (await shared.get("/kbs", user="rita")).json()["kbs"]
    assert (await shared.post("/kbs", {"name": "hers"}, user="rita")).status_code == 403


# --- limits -----------------------------------------------------------------------------------------------------


async def test_a_caller_who_asks_too_often_is_told_to_wait(tmp_path: Path) -> None:
    config = config_of(identity={"requests_per_minute": 6})
    async with in_process(tmp_path / "home", config) as service:
        await service.user("olga", role=Role.OWNER)
        await service.user("rita")
        codes = [(await service.get("/me", user="olga")).status_code for _ in range(4)]
        assert codes == [200, 200, 429, 429]
        assert (await service.get("/me", user="rita")).status_code == 200
        refused = await service.get("/me", user="olga")
        assert refused.headers["retry-after"]
        assert refused.json()["retry"] is True


async def test_wrong_keys_from_one_address_are_slowed_down_and_right_ones_are_not(tmp_path: Path) -> None:
    async with in_process(tmp_path / "home") as service:
        await service.user("olga", role=Role.OWNER)
        codes = [(await service.get("/me", headers={"X-API-Key": "wrong"})).status_code for _ in range(40)]
        assert codes[0] == 401
        assert codes[-1] == 429
        assert (await service.get("/me", user="olga")).status_code == 200


# --- tokens of a provider ---------------------------------------------------------------------------------------

ISSUER, AUDIENCE = "https://login.example", "kaijuan"


class Provider:
    """An OpenID Connect provider as far as its keys go."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "jwks.json"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.write({"one": self.key.public_key()})

    def write(self, keys: dict[str, Any]) -> None:
        listed = [{**jwt.algorithms.RSAAlgorithm.to_jwk(key, as_dict=True), "kid": kid} for kid, key in keys.items()]
        self.file.write_text(json.dumps({"keys": listed}))

    def token(self, *, kid: str = "one", key: Any = None, algorithm: str = "RS256", **claims: object) -> str:
        now = time.time()
        body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "rita", "exp": now + 300, "iat": now, **claims}
        kept = {name: value for name, value in body.items() if value is not None}
        return jwt.encode(kept, key or self.key, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def provider(tmp_path: Path) -> Provider:
    return Provider(tmp_path)


@pytest.fixture
async def trusting(tmp_path: Path, provider: Provider) -> AsyncIterator[Served]:
    identity = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": str(provider.file), "skew_seconds": 30}
    async with in_process(tmp_path / "home", config_of(identity={**identity, "role_claim": "role"})) as service:
        yield service


async def _me(service: Served, token: str) -> tuple[int, dict[str, Any]]:
    answer = await service.get("/me", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code, answer.json()


async def test_a_token_says_who_calls_and_in_which_groups(trusting: Served, provider: Provider) -> None:
    status, told = await _me(trusting, provider.token(groups=["staff"], role="editor"))
    assert status == 200
    assert (told["name"], told["groups"], told["role"]) == ("rita", ["staff"], "editor")


async def test_tokens_that_are_wrong_in_any_way_are_refused(trusting: Served, provider: Provider) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    elliptic = ec.generate_private_key(ec.SECP256R1())
    public = provider.key.public_key()
    now = time.time()
    wrong = {
        "expired": provider.token(exp=now - 60),
        "not yet": provider.token(nbf=now + 120),
        "another issuer": provider.token(iss="https://evil.example"),
        "another audience": provider.token(aud="mail"),
        "no end": provider.token(exp=None),
        "no name": provider.token(sub=None),
        "another's key": provider.token(key=stranger),
        "unknown key": provider.token(kid="two"),
        "another algorithm": provider.token(key=elliptic, algorithm="ES256"),
        "unsigned": jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "rita", "exp": now + 300}, "", "none"),
        "a name that is none": provider.token(sub="a\x00b"),
        "changed": provider.token()[:-4] + "AAAA",
    }
    # The public key as the secret of a symmetric signature: the classic confusion.
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    import base64
    import hashlib
    import hmac

    def part(data: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT", "kid": "one"})
    body = part({"iss": ISSUER, "aud": AUDIENCE, "sub": "rita", "exp": now + 300})
    mac = hmac.new(pem, f"{head}.{body}".encode(), hashlib.sha256).digest()
    wrong["confused"] = f"{head}.{body}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"
    assert {name: (await _me(trusting, token))[0] for name, token in wrong.items()} == dict.fromkeys(wrong, 401)


async def test_the_issuers_clock_may_be_off_a_little(trusting: Served, provider: Provider) -> None:
    assert (await _me(trusting, provider.token(exp=time.time() - 10)))[0] == 200


async def test_keys_may_change_while_the_service_runs(trusting: Served, provider: Provider) -> None:
    gate = trusting.service.gate
    assert gate._tokens is not None
    now = time.time()
    gate._tokens._keys._clock = lambda: now
    assert (await _me(trusting, provider.token()))[0] == 200
    fresh = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    provider.write({"two": fresh.public_key()})
    # Not at once: forged tokens must not make the service ask at will.
    assert (await _me(trusting, provider.token(kid="two", key=fresh)))[0] == 401
    gate._tokens._keys._clock = lambda: now + 31
    assert (await _me(trusting, provider.token(kid="two", key=fresh)))[0] == 200
    assert (await _me(trusting, provider.token()))[0] == 401


async def test_a_token_of_somebody_shut_out_opens_nothing(trusting: Served, provider: Provider) -> None:
    assert (await _me(trusting, provider.token()))[0] == 200
    await trusting.of("default").put_user("rita", disabled=True)
    assert (await _me(trusting, provider.token()))[0] == 401


async def test_groups_of_a_token_open_what_is_shared_with_them(trusting: Served, provider: Provider) -> None:
    base = trusting.of("default")
    await base.make_base()
    await base.grant("group:staff")
    staff, other = provider.token(groups=["staff"]), provider.token(groups=["guests"])
    path = "/kbs/default/documents"
    assert (await trusting.get(path, headers={"Authorization": f"Bearer {staff}"})).status_code == 200
    assert (await trusting.get(path, headers={"Authorization": f"Bearer {other}"})).status_code == 404
